"""Calls: the module's own functions are followed with their arguments, classes keep one object each."""

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from sync_tools.translate.python import arrivals
from sync_tools.translate.python.call import Call
from sync_tools.translate.python.lattice import (
    NOTHING,
    TRANSLATED,
    UNKNOWN,
    Atom,
    Bound,
    Class,
    Func,
    Inst,
    Named,
    Opaque,
    Partial,
    Seq,
    Thing,
    Tup,
    Value,
    Wire,
    elements,
    join,
    ordered,
    sequence,
    tuple_of,
    value,
)
from sync_tools.translate.python.scope import Frame, FunctionNode, Scope, is_generator

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis

_DEEPEST_CALL = 8
INLINE_PREFIXES = ("_vllm_", "_Vllm")


class Calls:
    """Follows calls; remembers, within a round, what a function gave for the same arguments."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[FunctionNode, Scope]] = {}
        self._generators: dict[int, bool] = {}
        self._seen: dict[tuple[object, ...], Value] = {}
        self._running: set[int] = set()
        self.called: set[int] = set()

    def new_round(self) -> None:
        self._seen.clear()

    def evaluate(self, an: "Analysis", node: ast.Call, frame: Frame) -> Value:
        args, nodes, rest = [], [], NOTHING
        for item in node.args:
            held = an.evaluate(item, frame)
            if not isinstance(item, ast.Starred):
                args.append(held)
                nodes.append(item)
            elif len(held) == 1 and isinstance(only := next(iter(held)), Tup):
                args.extend(only.elements)
                nodes.extend([None] * len(only.elements))
            else:
                rest = join(rest, elements(held))
        keywords, keyword_nodes, open_ = {}, {}, False
        for keyword in node.keywords:
            held = an.evaluate(keyword.value, frame)
            if keyword.arg is None:
                keywords |= an.spread(held, copied=_copies(node))
                open_ = True
            else:
                keywords[keyword.arg] = held
                keyword_nodes[keyword.arg] = keyword.value
        call = Call(node, node.func, tuple(args), tuple(nodes), keywords, keyword_nodes, rest, open_)
        if isinstance(node.func, ast.Attribute):
            receiver = an.evaluate(node.func.value, frame)
            return an.method(receiver, node.func.attr, call, frame)
        return self.apply(an, an.evaluate(node.func, frame), call, frame)

    def apply(self, an: "Analysis", callee: Value, call: Call, frame: Frame) -> Value:
        """What calling any of these gives."""
        found = [NOTHING]
        for atom in ordered(callee):
            if self._is_ours(an, atom):
                found.append(value(TRANSLATED))
            elif isinstance(atom, Func):
                found.append(self.invoke(an, atom.node, call, frame))
            elif isinstance(atom, Bound):
                found.append(self.invoke(an, atom.func, call, frame, receiver=value(Inst(atom.cls))))
            elif isinstance(atom, Class):
                found.append(self._construct(an, atom.node, call, frame))
            elif isinstance(atom, Partial):
                whole = replace(
                    call,
                    callee=an.source.nodes[atom.node].args[0],
                    args=(*atom.args, *call.args),
                    arg_nodes=(*an.source.nodes[atom.node].args[1 : 1 + len(atom.args)], *call.arg_nodes),
                    keywords={**dict(atom.keywords), **call.keywords},
                )
                found.append(self.apply(an, atom.func, whole, frame))
            elif isinstance(atom, Named):
                found.append(an.library(atom.dotted, call, frame))
            elif isinstance(atom, Inst) and (method := an.classes.method(atom.cls, "__call__")) is not None:
                found.append(self.invoke(an, method.func, call, frame, receiver=value(atom)))
            else:
                found.append(an.unknown(call, frame))
        return join(*found) or UNKNOWN

    def _is_ours(self, an: "Analysis", atom: Atom) -> bool:
        """Whether this is a product of the seam, or a helper that the inline style wrote."""
        node = None
        if isinstance(atom, Func):
            node = self._functions[atom.node][0]
        elif isinstance(atom, Class):
            node = an.classes.node(atom.node)
        return atom == TRANSLATED or getattr(node, "name", "").startswith(INLINE_PREFIXES)

    def define(self, an: "Analysis", node: FunctionNode, frame: Frame) -> Value:
        number = an.source.number(node)
        scope = an.scope(node, frame.scope)
        self._functions[number] = (node, scope)
        if number not in self._generators:
            self._generators[number] = _gives_elements(node)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            an.evaluate(default, frame)
        return value(Func(number))

    def member(self, an: "Analysis", inst: Inst, name: str, node: ast.AST, frame: Frame) -> Value:
        """An attribute of an object of the module's own class."""
        held = an.heap.attribute(inst.cls, name)
        method = an.classes.method(inst.cls, name)
        if method is not None:
            function, _ = self._functions[method.func]
            names = {d.id for d in getattr(function, "decorator_list", ()) if isinstance(d, ast.Name)}
            if names & {"property", "cached_property"}:
                plain = Call(ast.Call(func=node, args=[], keywords=[]), node, (), (), {}, {})
                return self.invoke(an, method.func, plain, frame, receiver=value(inst))
            return join(held, value(method))
        held = join(held, an.classes.value(inst.cls, name))
        return held or value(Opaque(f"self.{name}"))

    def _construct(self, an: "Analysis", cls: int, call: Call, frame: Frame) -> Value:
        inst = value(Inst(cls))
        init = an.classes.method(cls, "__init__")
        if init is not None:
            self.invoke(an, init.func, call, frame, receiver=inst)
            return inst
        node = an.classes.node(cls)
        names = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        for name, held in (*zip(names, call.args, strict=False), *call.keywords.items()):
            an.heap.set_attribute(cls, name, held)
        return inst

    def invoke(
        self, an: "Analysis", func: int, call: Call | None, frame: Frame, receiver: Value | None = None
    ) -> Value:
        """Run a function of the module with these arguments; with none, as something outside would call it."""
        node, scope = self._functions[func]
        if call is not None:
            self.called.add(func)
        if func in self._running or frame.depth >= _DEEPEST_CALL:
            return NOTHING
        env = self._parameters(an, node, call, receiver)
        key = (func, *sorted(env.items(), key=lambda item: item[0]))
        if key in self._seen:
            return self._seen[key]
        for name, held in env.items():
            if scope.keep(name, held):
                an.heap.changes += 1
        inner = Frame(scope, env, depth=frame.depth + 1)
        self._running.add(func)
        if isinstance(node, ast.Lambda):
            inner.returned = an.evaluate(node.body, inner)
        else:
            an.block(node.body, inner)
        self._running.discard(func)
        given = inner.returned
        if self._generators[func]:
            given = sequence(inner.yielded)
        self._seen[key] = given
        if call is None:
            an.let_go(given)
        else:
            given = arrivals.returned(an, given, call, frame)
        return given

    def _parameters(
        self, an: "Analysis", node: FunctionNode, call: Call | None, receiver: Value | None
    ) -> dict[str, Value]:
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        env: dict[str, Value] = {}
        defaults: dict[str, ast.expr] = dict(
            zip([a.arg for a in positional][len(positional) - len(args.defaults) :], args.defaults, strict=True)
        ) | {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
        if receiver is not None and positional and not _is_static(node):
            env[positional.pop(0).arg] = receiver
        given = () if call is None else call.args
        for param, held in zip(positional, given, strict=False):
            env[param.arg] = held
        if args.vararg is not None:
            spare = given[len(positional) :]
            env[args.vararg.arg] = (
                tuple_of(spare) if call is not None and not call.rest else sequence(call.rest if call else UNKNOWN)
            )
        extra: dict[str, Value] = {}
        for name, held in ({} if call is None else call.keywords).items():
            if any(name == p.arg for p in (*positional, *args.kwonlyargs)):
                env[name] = held
            else:
                extra[name] = held
        if args.kwarg is not None:
            env[args.kwarg.arg] = an.keywords_of(node, extra, call)
        for param in (*positional, *args.kwonlyargs):
            if param.arg in env:
                continue
            outside = call is None
            held = an.seed(param) if outside or call.open or call.rest else NOTHING
            if call is not None and call.rest and param in positional:
                held = join(held, call.rest)
            if param.arg in defaults:
                held = join(held, an.evaluate(defaults[param.arg], Frame(an.module_scope)))
            env[param.arg] = held or an.seed(param)
        return env

    def entered(self, an: "Analysis", manager: Value, frame: Frame) -> Value:
        """What `with manager as x` binds."""
        found = [NOTHING]
        for atom in manager:
            if isinstance(atom, Wire | Thing | Opaque):
                found.append(value(atom))
            elif isinstance(atom, Seq):
                found.append(atom.element)
            elif isinstance(atom, Inst):
                method = an.classes.method(atom.cls, "__aenter__") or an.classes.method(atom.cls, "__enter__")
                plain = Call(ast.Call(), ast.Name(id=""), (), (), {}, {})
                found.append(
                    value(atom) if method is None else self.invoke(an, method.func, plain, frame, receiver=value(atom))
                )
            else:
                found.append(UNKNOWN)
        return join(*found)

    def run_entries(self, an: "Analysis") -> None:
        """Run the functions that nothing here calls, as something outside would.

        Those that nothing here even names come first: what they call is then known to be called, wherever it stands.
        """
        named = _named_in(an.source.nodes)
        done: set[int] = set()
        while pending := [func for func in sorted(self._functions) if func not in done | self.called]:
            unnamed = [func for func in pending if getattr(self._functions[func][0], "name", "") not in named]
            receivers = an.classes.receivers()
            for func in unnamed or pending[:1]:
                done.add(func)
                if func not in self.called and not self._is_ours(an, Func(func)):
                    self.invoke(an, func, None, Frame(an.module_scope), receiver=receivers.get(func))


def _named_in(nodes: list[ast.AST]) -> set[str]:
    """The names that are read somewhere, as variables or as attributes."""
    read = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)]
    return {node.id if isinstance(node, ast.Name) else node.attr for node in read}


def _copies(node: ast.Call) -> bool:
    """dict(**x), d.update(**x): the names stay keys."""
    return (isinstance(node.func, ast.Name) and node.func.id == "dict") or (
        isinstance(node.func, ast.Attribute) and node.func.attr == "update"
    )


def _is_static(node: FunctionNode) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in getattr(node, "decorator_list", ()))


def _gives_elements(node: FunctionNode) -> bool:
    """Whether a call gives what the function yields, one by one or to a `with`."""
    return is_generator(node) or any(_is_context_manager(d) for d in getattr(node, "decorator_list", ()))


def _is_context_manager(decorator: ast.expr) -> bool:
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in ("contextmanager", "asynccontextmanager")
