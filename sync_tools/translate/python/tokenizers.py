"""An expression for the tokenizer, from the names in reach."""

from typing import TYPE_CHECKING

from sync_tools.translate.python.lattice import Inst, Opaque, Thing, Value
from sync_tools.translate.python.scope import Frame, Scope

if TYPE_CHECKING:
    from sync_tools.translate.python.interpret import Analysis


def tokenizer_in_reach(an: "Analysis", frame: Frame) -> str | None:
    """`tokenizer`, `state.tokenizer`, `self.tokenizer`, ...; None when no name here leads to one."""
    names = _names(frame)
    for name, held in names.items():
        if _is(held, "state"):
            return f"{name}.tokenizer"
    for name, held in names.items():
        if _is(held, "tokenizer"):
            return name
    for name, held in names.items():
        for atom in held:
            if isinstance(atom, Inst):
                for attr in ("tokenizer", "state"):
                    of = an.heap.attribute(atom.cls, attr)
                    if of and (_is(of, attr) or of == frozenset({Opaque(attr)})):
                        return f"{name}.tokenizer" if attr == "tokenizer" else f"{name}.state.tokenizer"
    state = next((name for name, held in names.items() if _is_named(held, "GenerateState")), None)
    args = _args_among(an, names)
    return f"{state}({args}).tokenizer" if state and args else None


def args_in_reach(an: "Analysis", frame: Frame) -> str | None:
    """An expression for the run's arguments; None when no name here leads to them."""
    return _args_among(an, _names(frame))


def _names(frame: Frame) -> dict[str, Value]:
    names: dict[str, Value] = dict(frame.env or {})
    scope: Scope | None = frame.scope.parent
    while scope is not None:
        names = {**scope.cells, **names}
        scope = scope.parent
    return names


def _args_among(an: "Analysis", names: dict[str, Value]) -> str | None:
    args = frozenset({Opaque("args")})
    for name, held in names.items():
        if held == args:
            return name
    for name, held in names.items():
        if any(isinstance(atom, Inst) and an.heap.attribute(atom.cls, "args") == args for atom in held):
            return f"{name}.args"
    return None


def _is(held: Value, kind: str) -> bool:
    return held == frozenset({Thing(kind)}) or (kind == "tokenizer" and _ends_in_tokenizer(held))


def _ends_in_tokenizer(held: Value) -> bool:
    return bool(held) and all(isinstance(atom, Opaque) and atom.path.rpartition(".")[2] == "tokenizer" for atom in held)


def _is_named(held: Value, name: str) -> bool:
    return any(getattr(atom, "dotted", "").endswith(f".{name}") for atom in held)
