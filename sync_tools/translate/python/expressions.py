"""What an expression may be, and what evaluating it does."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sync_tools.translate.python import arrivals, reads, text, urls
from sync_tools.translate.python.heap import KeyUse
from sync_tools.translate.python.lattice import (
    NONE,
    NOTHING,
    TRANSLATED,
    UNKNOWN,
    Class,
    Dict,
    Inst,
    Named,
    Opaque,
    Thing,
    Tup,
    Value,
    Wire,
    alone,
    dicts,
    elements,
    join,
    sequence,
    tuple_of,
    value,
)
from sync_tools.translate.python.scope import Frame

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_LONGEST_PATH = 5


def evaluate(an: "Analysis", node: ast.expr, frame: Frame) -> Value:
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        return handler(an, node, frame)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            an.evaluate(child, frame)
    return UNKNOWN


def _constant(an: "Analysis", node: ast.Constant, frame: Frame) -> Value:
    if isinstance(node.value, str):
        return text.literal(node.value, an.source.number(node))
    return NONE if node.value is None else UNKNOWN


def _name(an: "Analysis", node: ast.Name, frame: Frame) -> Value:
    return an.lookup(node.id, frame)


def _joined_string(an: "Analysis", node: ast.JoinedStr, frame: Frame) -> Value:
    number = an.source.number(node)
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(text.literal(part.value, number))
        else:
            held = an.evaluate(part.value, frame)
            an.let_go(held)
            parts.append(text.as_text(held))
    return urls.addressed(an, text.concatenated(parts))


def _attribute(an: "Analysis", node: ast.Attribute, frame: Frame) -> Value:
    return attribute(an, an.evaluate(node.value, frame), node.attr, node, frame)


def attribute(an: "Analysis", of: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    """`of.name`, read."""
    found = [NOTHING]
    for atom in of:
        if isinstance(atom, Named):
            found.append(value(Named(f"{atom.dotted}.{name}")))
        elif isinstance(atom, Opaque):
            known = atom.path.count(".") < _LONGEST_PATH
            found.append(value(Opaque(f"{atom.path}.{name}")) if known else UNKNOWN)
        elif isinstance(atom, Inst):
            found.append(an.calls.member(an, atom, name, node, frame))
        elif isinstance(atom, Class):
            method = an.classes.method(atom.node, name)
            found.append(an.classes.value(atom.node, name) or UNKNOWN if method is None else value(method))
        elif isinstance(atom, text.Text) and name == "value":
            found.append(value(atom))
        elif isinstance(atom, Thing) and atom.kind == "state":
            found.append(value(Thing("tokenizer")) if name == "tokenizer" else value(Opaque(f"state.{name}")))
        elif isinstance(atom, Wire) and atom.kind == "response" and name in ("text", "content"):
            found.append(value(Wire("body", atom.sink)))
        elif atom == TRANSLATED:
            found.append(value(atom))
        elif isinstance(atom, Thing) and atom.kind == "none":
            continue
        else:
            found.append(UNKNOWN)
    return join(*found)


def _subscript(an: "Analysis", node: ast.Subscript, frame: Frame) -> Value:
    of = an.evaluate(node.value, frame)
    key = an.evaluate(node.slice, frame)
    constant = text.one_constant(key)
    if constant is not None:
        return read_key(an, of, constant, node, node.slice, frame)
    found = [NOTHING]
    for atom in of:
        if isinstance(atom, Tup) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            at = node.slice.value
            found.append(atom.elements[at] if -len(atom.elements) <= at < len(atom.elements) else UNKNOWN)
        elif isinstance(atom, Dict):
            an.heap.mark(atom.site, dynamic=True)
            found.append(join(UNKNOWN, an.heap.sites[atom.site].rest, *an.heap.sites[atom.site].fields.values()))
        elif isinstance(node.slice, ast.Slice) and not isinstance(atom, Thing):
            found.append(
                value(atom)
                if not isinstance(atom, text.Text)
                else value(text.Text(atom.pieces[-1:], False, atom.engine))
            )
        elif isinstance(atom, Wire):
            found.append(reads.element(atom))
        else:
            found.append(elements(value(atom)))
    return join(*found)


def read_key(an: "Analysis", of: Value, key: str, node: ast.AST, key_node: ast.AST | None, frame: Frame) -> Value:
    """`of[key]`, `of.get(key)`: what is there."""
    sites = dicts(of)
    if key_node is not None:
        an.heap.use(sites, KeyUse(key, an.source.number(key_node), "read", alone(of)))
    found = [an.heap.read(site, key) for site in sites]
    for atom in of:
        if isinstance(atom, Wire):
            arrivals.read(an, atom, key, node)
            found.append(reads.part(atom, key))
        elif not isinstance(atom, Dict) and atom not in NONE:
            found.append(UNKNOWN)
    return join(*found) or UNKNOWN


def _dict(an: "Analysis", node: ast.Dict, frame: Frame) -> Value:
    site = an.source.number(node)
    an.heap.site(site)
    for at, (key, item) in enumerate(zip(node.keys, node.values, strict=True)):
        held = an.evaluate(item, frame)
        if key is None:
            an.merge(site, held, late=any(node.keys[:at]))
            continue
        constant = text.one_constant(an.evaluate(key, frame))
        if constant is None:
            an.heap.mark(site, dynamic=True)
            an.heap.write_any(site, held)
        else:
            an.heap.write(site, constant, held)
            an.note_prompt(constant, key, item, frame)
            an.heap.use([site], KeyUse(constant, an.source.number(key), "write", True))
    return value(Dict(site))


def _comprehension(an: "Analysis", node: ast.ListComp, frame: Frame) -> Value:
    inner = an.generators(node.generators, frame)
    return sequence(an.evaluate(node.elt, inner))


def _dict_comprehension(an: "Analysis", node: ast.DictComp, frame: Frame) -> Value:
    inner = an.generators(node.generators, frame)
    an.evaluate(node.key, inner)
    held = an.evaluate(node.value, inner)
    site = an.source.number(node)
    an.heap.site(site)
    copied = an.source_of_items(node, frame)
    if copied is None:
        an.heap.mark(site, dynamic=True)
        an.heap.write_any(site, held)
    else:
        an.merge(site, copied, late=True)
    return value(Dict(site))


def _lambda(an: "Analysis", node: ast.Lambda, frame: Frame) -> Value:
    return an.calls.define(an, node, frame)


def _either(an: "Analysis", node: ast.IfExp, frame: Frame) -> Value:
    an.evaluate(node.test, frame)
    return join(an.evaluate(node.body, frame), an.evaluate(node.orelse, frame))


def _boolean(an: "Analysis", node: ast.BoolOp, frame: Frame) -> Value:
    values = [an.evaluate(item, frame) for item in node.values]
    return join(*(of - NONE for of in values[:-1]), values[-1])


def _compare(an: "Analysis", node: ast.Compare, frame: Frame) -> Value:
    values = [an.evaluate(item, frame) for item in (node.left, *node.comparators)]
    for i, operator in enumerate(node.ops):
        if isinstance(operator, ast.In | ast.NotIn):
            key = text.one_constant(values[i])
            sites = dicts(values[i + 1])
            if key is None:
                for site in sites:
                    an.heap.mark(site, dynamic=True)
            else:
                use = KeyUse(key, an.source.number((node.left, *node.comparators)[i]), "read", alone(values[i + 1]))
                an.heap.use(sites, use)
        urls.compared(an, values[i], values[i + 1])
    return UNKNOWN


def _binary(an: "Analysis", node: ast.BinOp, frame: Frame) -> Value:
    left, right = an.evaluate(node.left, frame), an.evaluate(node.right, frame)
    if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return urls.addressed(an, text.percent(node.left.value, an.source.number(node.left), right))
    if isinstance(node.op, ast.BitOr) and (dicts(left) or dicts(right)):
        site = an.source.number(node)
        an.heap.site(site)
        an.merge(site, left, late=False)
        an.merge(site, right, late=True)
        return value(Dict(site))
    if isinstance(node.op, ast.Add | ast.Div):
        if any(isinstance(atom, text.Text) for atom in (*left, *right)):
            return urls.addressed(an, text.concatenated([text.as_text(left), text.as_text(right)]))
        if isinstance(node.op, ast.Add):
            return sequence(join(elements(left), elements(right)))
    return UNKNOWN


def _tuple(an: "Analysis", node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
    held = [an.evaluate(item.value if isinstance(item, ast.Starred) else item, frame) for item in node.elts]
    if any(isinstance(item, ast.Starred) for item in node.elts):
        each = [elements(v) if isinstance(n, ast.Starred) else v for n, v in zip(node.elts, held, strict=True)]
        return sequence(join(*each))
    return tuple_of(tuple(held)) if held and not isinstance(node, ast.Set) else sequence(join(*held))


def _await(an: "Analysis", node: ast.Await, frame: Frame) -> Value:
    of = an.evaluate(node.value, frame)
    arrivals.awaited(an, node)
    return of


def _walrus(an: "Analysis", node: ast.NamedExpr, frame: Frame) -> Value:
    of = an.evaluate(node.value, frame)
    an.bind(node.target.id, of, frame)
    return of


def _yield(an: "Analysis", node: ast.Yield, frame: Frame) -> Value:
    frame.yielded = join(frame.yielded, an.evaluate(node.value, frame) if node.value else NONE)
    return UNKNOWN


def _yield_from(an: "Analysis", node: ast.YieldFrom, frame: Frame) -> Value:
    frame.yielded = join(frame.yielded, elements(an.evaluate(node.value, frame)))
    return UNKNOWN


def _starred(an: "Analysis", node: ast.Starred, frame: Frame) -> Value:
    return an.evaluate(node.value, frame)


def _call(an: "Analysis", node: ast.Call, frame: Frame) -> Value:
    return an.calls.evaluate(an, node, frame)


_HANDLERS: dict[type, Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.JoinedStr: _joined_string,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    ast.IfExp: _either,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Set: _tuple,
    ast.Await: _await,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Starred: _starred,
    ast.Call: _call,
}
