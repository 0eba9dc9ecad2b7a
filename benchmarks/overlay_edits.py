"""A hundred edits of a fork, drawn by a seed: where merges are hard, each one a line that can be told from all others."""

import ast
import difflib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

Files = Mapping[str, bytes]
NEAR, MOVED, DELETED, RENAMED, ANYWHERE = 40, 20, 10, 10, 20
COMMENTS = {".py": "#", ".sh": "#", ".yml": "#", ".yaml": "#", ".toml": "#", ".txt": "#", ".md": "<!--"}


@dataclass(frozen=True)
class Edit:
    """A line put before line `at` (0-based) of a file of the import; `kind` is why it was put there."""

    kind: str
    path: str
    at: int
    text: str
    symbol: str


@dataclass(frozen=True)
class Drawn:
    edits: tuple[Edit, ...]
    renames: Mapping[str, str]

    def files(self, base: Files) -> dict[str, bytes]:
        """The edited files, at the paths of the import."""
        found = {}
        for path in dict.fromkeys(e.path for e in self.edits):
            lines = base[path].splitlines(keepends=True)
            for edit in sorted((e for e in self.edits if e.path == path), key=lambda e: -e.at):
                lines.insert(edit.at, edit.text.encode())
            found[path] = b"".join(lines)
        return found


def draw(seed: int, base: Files, tip: Files) -> Drawn:
    """The edits for an import `base` whose upstream goes on to `tip` (both as the fork has them)."""
    chance = random.Random(seed)
    fit = sorted(p for p in base if PurePosixPath(p).suffix in COMMENTS and p.count("/") and b"\0" not in base[p])
    renames = _renames(chance, base, tip, fit)
    rest = [p for p in fit if p not in renames]
    pools = (
        ("near", NEAR, [(p, at) for p in rest if p in tip for at in _near(base[p], tip[p])]),
        ("moved", MOVED, [place for p in rest for place in _moved(p, base, tip)]),
        ("deleted", DELETED, [(p, at) for p in rest if p not in tip for at in range(len(base[p].splitlines()))]),
        ("anywhere", ANYWHERE, [(p, at) for p in rest for at in range(len(base[p].splitlines()))]),
    )
    edits: list[Edit] = []
    places: set[tuple[str, int]] = set()
    for kind, wanted, pool in pools:
        chance.shuffle(pool)
        taken = 0
        for path, at in pool:
            if taken == wanted or (path, at) in places:
                continue
            edit = _edit(kind, len(edits), path, at, base[path])
            if edit is not None:
                edits.append(edit)
                places.add((path, edit.at))
                taken += 1
    return Drawn(tuple(edits), renames)


def _renames(chance: random.Random, base: Files, tip: Files, fit: Sequence[str]) -> dict[str, str]:
    """Files that move to another name in their folder, first of all such as upstream edits."""
    plain = [p for p in fit if p.endswith((".py", ".sh")) and not p.endswith("__init__.py") and p in tip]
    edited = [p for p in plain if base[p] != tip[p]]
    still = [p for p in plain if base[p] == tip[p]]
    chance.shuffle(edited)
    chance.shuffle(still)
    chosen = [*edited[: RENAMED - 3], *still[:3]]
    return {p: str(PurePosixPath(p).with_name(f"our_{PurePosixPath(p).name}")) for p in chosen}


def _near(before: bytes, after: bytes) -> Iterator[int]:
    """Lines at most three from one that upstream changes."""
    a, b = before.splitlines(), after.splitlines()
    if a == b:
        return
    found: set[int] = set()
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            found |= {at for at in range(first - 2, last + 4) if 0 <= at < len(a)}
    yield from sorted(found)


def _moved(path: str, base: Files, tip: Files) -> Iterator[tuple[str, int]]:
    """The lines of functions that upstream puts elsewhere in their file, or into another file."""
    if not path.endswith(".py"):
        return
    here = _functions(base[path])
    there = _functions(tip[path]) if path in tip else {}
    if not set(here) - set(there) and list(here) == [n for n in there if n in here]:
        return
    common = [n for n in here if n in there]
    order = {n: i for i, n in enumerate(n for n in there if n in here)}
    stay = difflib.SequenceMatcher(None, common, sorted(common, key=order.__getitem__), autojunk=False)
    still = {common[i] for block in stay.get_matching_blocks() for i in range(block.a, block.a + block.size)}
    for name, lines in here.items():
        gone = name not in there and any(
            name in _functions(data)
            for p, data in tip.items()
            if p.endswith(".py") and data != base.get(p) and name.rpartition(".")[2].encode() in data
        )
        if gone or (name in there and name not in still):
            yield from ((path, at) for at in lines)


@cache
def _functions(data: bytes) -> dict[str, range]:
    """The functions of a module and of its classes, by dotted name, with their lines after the first."""
    found: dict[str, range] = {}
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return found
    for owner in [tree, *(n for n in tree.body if isinstance(n, ast.ClassDef))]:
        prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for node in owner.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[prefix + node.name] = range(node.lineno, node.end_lineno or node.lineno)
    return found


def symbol_at(data: bytes, line: int) -> str:
    """The function that a line (0-based) stands in; empty outside."""
    return next((name for name, lines in _functions(data).items() if line in lines), "")


def _edit(kind: str, number: int, path: str, at: int, data: bytes) -> Edit | None:
    """The edit before line `at`, or, in Python, before the statement at or after it; None where there is no such place."""
    lines = data.splitlines(keepends=True)
    mark = COMMENTS[PurePosixPath(path).suffix]
    if path.endswith(".py"):
        found = _statement(data, at)
        if found is None:
            return None
        at, indent = found
        # A statement and a comment in turn: the one is code that a merge must keep, the other what it may think nothing of.
        text = f"our_edit_{number:03} = {number}" if number % 2 else f"# our_edit_{number:03}"
        return Edit(kind, path, at, f"{indent}{text}\n", symbol_at(data, at))
    if at >= len(lines) or (lines[at - 1 : at] and lines[at - 1].rstrip().endswith(b"\\")):
        return None
    indent = re.match(rb"[ \t]*", lines[at])[0].decode()
    end = " -->" if mark == "<!--" else ""
    return Edit(kind, path, at, f"{indent}{mark} our_edit_{number:03}{end}\n", "")


def _statement(data: bytes, at: int) -> tuple[int, str] | None:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    starts = {}
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            for child in getattr(node, field, []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
                first = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", []))]) - 1
                head = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
                future = isinstance(child, ast.ImportFrom) and child.module == "__future__"
                if (
                    len(head) == child.col_offset
                    and not future
                    and not _is_docstring(child)
                    and "elif" not in lines[first]
                ):
                    starts[first] = head
    line = next((n for n in range(at, min(at + 4, len(lines))) if n in starts), None)
    return None if line is None else (line, starts[line])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
