"""What running a statement does to the locals: names are rebound in straight-line code, paths are joined where they meet."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sync_tools.translate.python import arrivals, patterns, text
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.python.lattice import (
    NONE,
    UNKNOWN,
    Inst,
    Named,
    Value,
    alone,
    dicts,
    elements,
    join,
    sequence,
    unpacked,
    value,
)
from sync_tools.translate.python.scope import Frame, joined

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_MOST_ROUNDS = 4


def block(an: "Analysis", body: list[ast.stmt], frame: Frame) -> None:
    for statement in body:
        if not frame.live:
            return
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            handler(an, statement, frame)
        else:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    an.evaluate(child, frame)


def assign(an: "Analysis", target: ast.expr, held: Value, frame: Frame) -> None:
    """Bind a target of any shape."""
    if isinstance(target, ast.Name):
        an.bind(target.id, held, frame)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(an, target.elts, held, frame)
    elif isinstance(target, ast.Starred):
        assign(an, target.value, sequence(held), frame)
    elif isinstance(target, ast.Attribute):
        _set_attribute(an, an.evaluate(target.value, frame), target.attr, held)
    elif isinstance(target, ast.Subscript):
        _store(an, target, held, frame)


def _unpack(an: "Analysis", targets: list[ast.expr], held: Value, frame: Frame) -> None:
    starred = any(isinstance(target, ast.Starred) for target in targets)
    parts = [elements(held)] * len(targets) if starred else unpacked(held, len(targets))
    for target, part in zip(targets, parts, strict=True):
        assign(an, target, part, frame)


def _set_attribute(an: "Analysis", of: Value, name: str, held: Value) -> None:
    for atom in of:
        if isinstance(atom, Inst):
            an.heap.set_attribute(atom.cls, name, held)
        else:
            an.let_go(held)


def _store(an: "Analysis", target: ast.Subscript, held: Value, frame: Frame) -> None:
    of = an.evaluate(target.value, frame)
    key = text.one_constant(an.evaluate(target.slice, frame))
    sites = dicts(of)
    for site in sites:
        if key is None:
            an.heap.mark(site, dynamic=True)
            an.heap.write_any(site, held)
        else:
            an.heap.write(site, key, held)
    if key is not None:
        an.heap.use(sites, KeyUse(key, an.source.number(target.slice), "write", alone(of)))
    if not sites:
        an.let_go(held)


def _assign(an: "Analysis", node: ast.Assign, frame: Frame) -> None:
    held = an.evaluate(node.value, frame)
    for target in node.targets:
        assign(an, target, held, frame)
        if isinstance(target, ast.Subscript):
            an.note_prompt(text.one_constant(an.evaluate(target.slice, frame)), target.slice, node.value, frame)


def _annotated(an: "Analysis", node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        assign(an, node.target, an.evaluate(node.value, frame), frame)


def _augmented(an: "Analysis", node: ast.AugAssign, frame: Frame) -> None:
    held = an.evaluate(node.value, frame)
    if isinstance(node.target, ast.Subscript):
        old = an.evaluate(node.target, frame)
        assign(an, node.target, join(old, UNKNOWN), frame)
        return
    old = an.evaluate(node.target, frame)
    if isinstance(node.op, ast.BitOr) and dicts(old):
        for site in dicts(old):
            an.merge(site, held, late=True)
        return
    if any(isinstance(atom, text.Text) for atom in old):
        assign(an, node.target, text.concatenated([text.as_text(old), text.as_text(held)]), frame)
    else:
        assign(an, node.target, join(old, held) if isinstance(node.op, ast.Add) else UNKNOWN, frame)


def _expression(an: "Analysis", node: ast.Expr, frame: Frame) -> None:
    an.evaluate(node.value, frame)


def _return(an: "Analysis", node: ast.Return, frame: Frame) -> None:
    frame.returned = join(frame.returned, an.evaluate(node.value, frame) if node.value else NONE)
    frame.env = None


def _stop(an: "Analysis", node: ast.Raise, frame: Frame) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            an.evaluate(part, frame)
    frame.env = None


def _break(an: "Analysis", node: ast.Break, frame: Frame) -> None:
    assert frame.env is not None
    frame.broken.append(frame.env)
    frame.env = None


def _continue(an: "Analysis", node: ast.Continue, frame: Frame) -> None:
    assert frame.env is not None
    frame.continued.append(frame.env)
    frame.env = None


def _declare(an: "Analysis", node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    for name in node.names:
        frame.scope.declare(name, isinstance(node, ast.Global))


def _if(an: "Analysis", node: ast.If, frame: Frame) -> None:
    an.evaluate(node.test, frame)
    before = dict(frame.env or {})
    block(an, node.body, frame)
    then = frame.env
    frame.env = before
    block(an, node.orelse, frame)
    frame.env = joined(then, frame.env)


def _loop(an: "Analysis", node: ast.For | ast.AsyncFor | ast.While, frame: Frame, enter: Callable[[], object]) -> None:
    """Run the body until the locals at its head stay as they are, then what follows when it was not broken off."""
    outer = frame.broken, frame.continued
    frame.broken = []
    for _ in range(_MOST_ROUNDS):
        head = dict(frame.env or {})
        frame.continued = []
        enter()
        block(an, node.body, frame)
        frame.env = joined(head, frame.env, *frame.continued)
        if frame.env == head:
            break
    broken = frame.broken
    frame.broken, frame.continued = outer
    if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
        frame.env = None
    block(an, node.orelse, frame)
    frame.env = joined(frame.env, *broken)


def _for(an: "Analysis", node: ast.For | ast.AsyncFor, frame: Frame) -> None:
    iterated = arrivals.iterated(an, node, an.evaluate(node.iter, frame), frame)
    element = elements(iterated)
    _loop(an, node, frame, lambda: assign(an, node.target, element, frame))


def _while(an: "Analysis", node: ast.While, frame: Frame) -> None:
    _loop(an, node, frame, lambda: an.evaluate(node.test, frame))


def _with(an: "Analysis", node: ast.With | ast.AsyncWith, frame: Frame) -> None:
    for item in node.items:
        entered = an.calls.entered(an, an.evaluate(item.context_expr, frame), frame)
        if item.optional_vars is not None:
            assign(an, item.optional_vars, entered, frame)
    block(an, node.body, frame)


def _try(an: "Analysis", node: ast.Try, frame: Frame) -> None:
    before = dict(frame.env or {})
    block(an, node.body, frame)
    after = frame.env
    inside = joined(before, after)
    block(an, node.orelse, frame)
    ends = [frame.env]
    for handler in node.handlers:
        frame.env = dict(inside or {})
        if handler.type is not None:
            an.evaluate(handler.type, frame)
        if handler.name:
            an.bind(handler.name, UNKNOWN, frame)
        block(an, handler.body, frame)
        ends.append(frame.env)
    frame.env = joined(*ends)
    if node.finalbody:
        alive = frame.live
        frame.env = frame.env if alive else dict(inside or {})
        block(an, node.finalbody, frame)
        frame.env = frame.env if alive else None


def _function(an: "Analysis", node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    for decorator in node.decorator_list:
        an.evaluate(decorator, frame)
    an.bind(node.name, an.calls.define(an, node, frame), frame)


def _class(an: "Analysis", node: ast.ClassDef, frame: Frame) -> None:
    an.bind(node.name, an.classes.define(an, node, frame), frame)


def _import(an: "Analysis", node: ast.Import, frame: Frame) -> None:
    for alias in node.names:
        top = alias.name if alias.asname else alias.name.partition(".")[0]
        an.bind(alias.asname or top, value(Named(top)), frame)


def _import_from(an: "Analysis", node: ast.ImportFrom, frame: Frame) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            an.starred.setdefault(module)
            continue
        dotted = f"{module}{alias.name}" if module.endswith(".") else f"{module}.{alias.name}"
        an.bind(alias.asname or alias.name, value(Named(dotted)), frame)


def _delete(an: "Analysis", node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name) and frame.env is not None:
            frame.env.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            an.evaluate(target, frame)


_HANDLERS: dict[type, Callable[..., None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _stop,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: patterns.match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Global: _declare,
    ast.Nonlocal: _declare,
}
