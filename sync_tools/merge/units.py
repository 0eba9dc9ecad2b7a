"""What stands in a range of lines: whole statements, or whole elements of one literal, and what they declare."""

import ast
from dataclasses import dataclass

from sync_tools.merge.items import DEFINITIONS, IMPORTS, assigned_names
from sync_tools.merge.layout import Leaf
from sync_tools.merge.lines import Span
from sync_tools.merge.source import Source


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole statement or element on lines [start, end), and the comments directly above it from `lead` on."""

    lead: int
    start: int
    end: int
    leaf: Leaf

    @property
    def node(self) -> ast.AST:
        assert self.leaf.node is not None
        return self.leaf.node


def units(source: Source, span: Span) -> list[Unit] | None:
    """The statements or elements that, with blank lines and comments, make up the span; None where it cuts one."""
    found: list[Unit] = []
    lead = at = span[0]
    while at < span[1]:
        leaf = source.leaf(at)
        if leaf.kind in ("blank", "comment"):
            at += 1
            if leaf.kind == "blank":
                lead = at
            continue
        if leaf.kind == "clause" or leaf.whole[0] != at or leaf.whole[1] > span[1]:
            return None
        found.append(Unit(lead, at, leaf.whole[1], leaf))
        lead = at = leaf.whole[1]
    return found


def are_elements(found: list[Unit]) -> bool:
    return all(unit.leaf.kind == "element" for unit in found)


def are_statements(found: list[Unit]) -> bool:
    return all(unit.leaf.kind != "element" for unit in found)


def are_imports(found: list[Unit]) -> bool:
    return all(unit.leaf.kind != "element" and isinstance(unit.node, IMPORTS) for unit in found)


def commute(ours: list[Unit], theirs: list[Unit]) -> bool:
    """Whether the statements of both may stand in either order: declarations of different names, none of which the
    other side reads, or calls that register different things with the same callee."""
    if not (are_statements(ours) and are_statements(theirs)):
        return False
    nodes = [unit.node for unit in (*ours, *theirs)]
    if all(_registered(node) for node in nodes):
        return _apart([_registered(u.node) for u in ours], [_registered(u.node) for u in theirs])
    if not all(unit.leaf.declares for unit in (*ours, *theirs)) and not are_imports([*ours, *theirs]):
        return False
    bound_ours, bound_theirs = ([_bound(u.node) for u in side] for side in (ours, theirs))
    if not all(bound_ours) or not all(bound_theirs):
        return False
    names_ours, names_theirs = set().union(*bound_ours), set().union(*bound_theirs)
    return not (names_ours & (names_theirs | _read(theirs)) or names_theirs & _read(ours))


def _apart(ours: list[object], theirs: list[object]) -> bool:
    return not set(ours) & set(theirs)


def _bound(node: ast.AST) -> set[str]:
    """Names that a declaration binds; empty for what is not one."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if isinstance(node, IMPORTS):
        return {alias.asname or alias.name for alias in node.names}
    return set(assigned_names(node)) if isinstance(node, ast.stmt) else set()


def _read(found: list[Unit]) -> set[str]:
    """Names read when the statements run; what the bodies of functions read is read later."""
    names: set[str] = set()
    todo: list[ast.AST] = [unit.node for unit in found]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        else:
            todo += ast.iter_child_nodes(node)
    return names


def _registered(node: ast.AST) -> tuple[str, str] | None:
    """Callee and name of a call like `parser.add_argument("--name", ...)` whose value nobody keeps."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args):
        return None
    call, first = node.value, node.value.args[0]
    if not (isinstance(call.func, ast.Attribute) and isinstance(first, ast.Constant) and isinstance(first.value, str)):
        return None
    callee = _dotted(call.func)
    return (callee, first.value) if callee and call.func.attr.startswith(("add_", "register")) else None


def _dotted(node: ast.expr) -> str | None:
    """`a.b.c` for names and attributes."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else None
