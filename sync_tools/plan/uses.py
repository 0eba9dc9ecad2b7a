"""What the added lines of a change import from upstream's own modules, and where that is defined."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from sync_tools.ledger.symbols import labels
from sync_tools.syntax import parsed, statements
from sync_tools.tree import Tree
from sync_tools.upstream.changeset import ChangeSet, FileChange


def used(changes: ChangeSet, before: Tree) -> Mapping[str, dict[int, str]]:
    """Path -> line, from 0, of a definition in upstream's tree before the change -> the name that an added line imports.
    What the change itself touches is told by its lines already."""
    touched = {image.path for f in changes.files for image in (f.before, f.after) if image}
    wanted: dict[str, set[str]] = {}
    for file in changes.files:
        for module, name in _imported(file):
            path = next((p for p in (f"{module}.py", f"{module}/__init__.py") if p in before.paths()), None)
            if path and path not in touched:
                wanted.setdefault(path, set()).add(name)
    return {path: dict(_defined(path, names, before)) for path, names in sorted(wanted.items())}


def _imported(file: FileChange) -> Iterator[tuple[str, str]]:
    """(a module's path without its ending, a name from it) of each import in an added line."""
    if not file.after or not file.path.endswith(".py") or b"import" not in file.after.data:
        return
    added = {line + 1 for hunk in file.hunks for line in hunk.new}
    tree = parsed(file.after.data)
    for node in statements(tree) if tree else ():
        if isinstance(node, ast.ImportFrom) and (node.level or node.module):
            above = PurePosixPath(file.path).parents
            folder = str(above[node.level - 1]) if 0 < node.level <= len(above) else ""
            module = "/".join(filter(None, [folder.strip("."), (node.module or "").replace(".", "/")]))
            yield from ((module, alias.name) for alias in node.names if alias.lineno in added)


def _defined(path: str, names: set[str], tree: Tree) -> Iterator[tuple[int, str]]:
    blob = tree.blob(path)
    if blob is None:
        return
    lines = blob.data.split(b"\n")
    left = set(names)
    for at, (name, _) in enumerate(labels(path, blob.data)):
        if name in left and lines[at].lstrip().startswith((b"def ", b"async def ", b"class ")):
            left.discard(name)
            yield at, name
