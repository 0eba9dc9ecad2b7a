"""What a brought file needs beside it: the modules that it imports, which upstream has and the fork lacks."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from sync_tools.port.edits import Edits
from sync_tools.syntax import parsed
from sync_tools.tree import Blob, Overlay, Tree


def needed(brought: Mapping[str, Blob | None], fork: Tree, theirs: Tree) -> Edits:
    """The files, as upstream has them after the change, that the brought ones import, directly or through each other."""
    found: Edits = {}
    waiting = [(path, blob.data) for path, blob in brought.items() if blob]
    while waiting:
        path, data = waiting.pop()
        have = Overlay(fork, {**brought, **found})
        for sibling in _imported(path, data, theirs.paths()):
            blob = theirs.blob(sibling) if have.blob(sibling) is None else None
            if blob is not None and sibling not in found:
                found[sibling] = blob
                waiting.append((sibling, blob.data))
    return found


def _imported(path: str, data: bytes, known: frozenset[str]) -> Iterator[str]:
    """The files of a tree that a Python file imports: by dotted name, relatively, or by bare name from its folder."""
    if not path.endswith(".py"):
        return
    tree, folder = parsed(data), PurePosixPath(path).parent
    for node in ast.walk(tree) if tree else ():
        for module in _modules(node, folder):
            yield from (place for place in (f"{module}.py", f"{module}/__init__.py") if place in known)


def _modules(node: ast.AST, folder: PurePosixPath) -> Iterator[str]:
    """Where the modules of an import may stand, without the ending."""
    if isinstance(node, ast.Import):
        for name in (alias.name.replace(".", "/") for alias in node.names):
            yield from (name, str(folder / name))
    elif isinstance(node, ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if node.level:
            up = [folder, *folder.parents][node.level - 1 : node.level]
            yield from _and_members([str(base / (node.module or "").replace(".", "/")) for base in up], names)
        elif node.module:
            module = node.module.replace(".", "/")
            yield from _and_members([module, str(folder / module)], names)


def _and_members(modules: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    names = list(names)
    for module in modules:
        yield module
        yield from (f"{module}/{name}" for name in names)
