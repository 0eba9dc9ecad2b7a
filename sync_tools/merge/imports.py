"""Three-way merge of import statements as sets of names."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sync_tools.merge.source import Source
from sync_tools.merge.units import Unit

WIDTH = 119
Name = tuple[str, str, str | None]
"""Module (empty for `import`), imported name, alias."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One import statement: its lines with the comments above it, and the names in order."""

    lines: tuple[bytes, ...]
    names: tuple[Name, ...]
    plain: bool

    @property
    def module(self) -> str:
        return self.names[0][0]

    @property
    def commented(self) -> bool:
        return any(b"#" in line for line in self.lines)

    @property
    def order(self) -> tuple[bool, str]:
        """Where sorting puts it: `import` before `from`, then by module or name."""
        return not self.plain, (self.names[0][1] if self.plain else self.module).lower()


def statements(source: Source, found: Sequence[Unit]) -> list[Statement]:
    result = []
    for unit in found:
        node = unit.node
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        plain = isinstance(node, ast.Import)
        module = "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
        names = tuple((module, alias.name, alias.asname) for alias in node.names)
        result.append(Statement(tuple(source.lines[unit.lead : unit.end]), names, plain))
    return result


def merge_imports(base: list[Statement], ours: list[Statement], theirs: list[Statement]) -> list[bytes] | None:
    """Ours with the names that theirs added and without those that theirs removed. None where a comment or an indented
    block makes that unclear."""
    before, after = _names(base), _names(theirs)
    added = [name for name in after if name not in before and name not in _names(ours)]
    removed = {name for name in before if name not in after}
    result: list[Statement] = []
    for statement in ours:
        changed = _changed(statement, added, removed)
        if changed == statement.names:
            result.append(statement)
        elif changed:
            rewritten = _rewritten(statement, changed, theirs)
            if rewritten is None:
                return None
            result.append(rewritten)
        elif statement.commented:
            return None
    done = {name for statement in result for name in statement.names}
    for statement in theirs:
        names = tuple(name for name in statement.names if name in added and name not in done)
        if names and not _inserted(result, statement, names, theirs):
            return None
    return [line for statement in result for line in statement.lines]


def _names(found: Sequence[Statement]) -> dict[Name, None]:
    return {name: None for statement in found for name in statement.names}


def _changed(statement: Statement, added: list[Name], removed: set[Name]) -> tuple[Name, ...]:
    """The statement's names after the merge; new ones where sorting puts them if the others are sorted."""
    names = [name for name in statement.names if name not in removed]
    if statement.plain:
        return tuple(names)
    for name in (n for n in added if n[0] == statement.module and n not in names):
        names.insert(_place(names, name), name)
    return tuple(names)


def _place(names: list[Name], new: Name) -> int:
    for key in (lambda n: n[1], lambda n: n[1].lower()):
        if [key(n) for n in names] == sorted(key(n) for n in names):
            return sum(key(n) <= key(new) for n in names)
    return len(names)


def _rewritten(statement: Statement, names: tuple[Name, ...], theirs: list[Statement]) -> Statement | None:
    """The statement with other names: as theirs writes it if the names are the same, else in our layout."""
    for other in theirs:
        if other.names == names and not (statement.commented or other.commented):
            return other
    if statement.commented:
        return None
    return replace(statement, lines=tuple(_written(statement, names)), names=names)


def _written(statement: Statement, names: tuple[Name, ...]) -> list[bytes]:
    first, last = statement.lines[0], statement.lines[-1]
    indent = first[: len(first) - len(first.lstrip())]
    ending = last[len(last.rstrip(b"\r\n")) :]
    texts = [(f"{name} as {alias}" if alias else name).encode() for _, name, alias in names]
    if statement.plain:
        return [indent + b"import " + b", ".join(texts) + ending]
    head = indent + b"from " + statement.module.encode() + b" import "
    line = head + b", ".join(texts)
    if len(statement.lines) == 1 and len(line) <= WIDTH and b"(" not in first:
        return [line + ending]
    inner = first[len(first.rstrip(b"\r\n")) :] or b"\n"
    return [head + b"(" + inner, *(indent + b"    " + text + b"," + inner for text in texts), indent + b")" + ending]


def _inserted(result: list[Statement], statement: Statement, names: tuple[Name, ...], theirs: list[Statement]) -> bool:
    """Puts a statement that only theirs has after the one before it there, past ours that sort before it."""
    if names != statement.names:
        if statement.commented:
            return False
        statement = replace(statement, lines=tuple(_written(statement, names)), names=names)
    above = (
        {name for other in theirs[: theirs.index(statement)] for name in other.names} if statement in theirs else set()
    )
    at = max((n + 1 for n, other in enumerate(result) if above.intersection(other.names)), default=0)
    while at < len(result) and result[at].order < statement.order:
        at += 1
    result.insert(at, statement)
    return True
