"""Classes of the module: their methods, what they and their bases bind, what `super()` is."""

import ast
from typing import TYPE_CHECKING

from sync_tools.translate.python.lattice import (
    NOTHING,
    UNKNOWN,
    Bound,
    Class,
    Func,
    Inst,
    Super,
    Value,
    join,
    ordered,
    value,
)
from sync_tools.translate.python.scope import Frame, Scope

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis


class Classes:
    """The classes that were defined, each with its scope and its bases."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[ast.ClassDef, Scope, tuple[Value, ...]]] = {}

    def node(self, cls: int) -> ast.ClassDef:
        return self._made[cls][0]

    def define(self, an: "Analysis", node: ast.ClassDef, frame: Frame) -> Value:
        number = an.source.number(node)
        bases = tuple(an.evaluate(base, frame) for base in node.bases)
        scope = an.scope(node, frame.scope)
        body = Frame(scope, depth=frame.depth)
        self._made[number] = (node, scope, bases)
        an.block(node.body, body)
        return value(Class(number))

    def method(self, cls: int, name: str) -> Bound | None:
        """The function that the class, or one of its bases here, defines under the name."""
        for atom in ordered(self.value(cls, name)):
            if isinstance(atom, Func):
                return Bound(atom.node, cls)
        return None

    def inherited(self, of: Super, name: str) -> Bound | None:
        """The method that `super().name` is."""
        for base in self._made[of.of][2]:
            for atom in base:
                if isinstance(atom, Class) and (found := self.method(atom.node, name)) is not None:
                    return Bound(found.func, of.cls)
        return None

    def super_of(self, an: "Analysis", frame: Frame) -> Value:
        """`super()` where the frame runs."""
        cls = frame.scope.parent.node if frame.scope.parent is not None else None
        own = next((a for held in (frame.env or {}).values() for a in held if isinstance(a, Inst)), None)
        if not isinstance(cls, ast.ClassDef) or own is None:
            return UNKNOWN
        return value(Super(an.source.number(cls), own.cls))

    def value(self, cls: int, name: str) -> Value:
        """What the class, or one of its bases here, binds the name to."""
        if cls not in self._made:
            return NOTHING
        _, scope, bases = self._made[cls]
        if name in scope.cells:
            return scope.cells[name]
        for base in bases:
            for atom in base:
                if isinstance(atom, Class):
                    return self.value(atom.node, name)
        return NOTHING

    def receivers(self) -> dict[int, Value]:
        """The objects that methods get, by method."""
        methods: dict[int, Value] = {}
        for number, (_, scope, _) in self._made.items():
            for held in scope.cells.values():
                for atom in ordered(held):
                    if isinstance(atom, Func):
                        methods[atom.node] = join(methods.get(atom.node, NOTHING), value(Inst(number)))
        return methods
