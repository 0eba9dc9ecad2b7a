"""Strings as far as they are addresses: which literal text they end in, and where it stands."""

import re

from sync_tools.translate.python.lattice import UNKNOWN, Opaque, Piece, Text, Thing, Tup, Value, join, ordered, value

_CONVERSION = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[sdrifx]|%\(\w+\)[sd]")
_FIELD = re.compile(r"\{[^{}]*\}")
_ENGINE = re.compile(r"sglang|vllm")
UNCHANGED_BY = frozenset({"lstrip", "lower", "encode", "decode", "format_map", "expandtabs"})


def literal(text: str, node: int) -> Value:
    return value(Text((Piece(text, node),), True))


def concatenated(parts: list[Value]) -> Value:
    """The string that the parts make, end to end; each combination of what they can be."""
    if not parts:
        return value(Text((), True))
    joined = parts[0]
    for part in parts[1:]:
        joined = join(*(_append(left, right) for left in ordered(joined) for right in ordered(part)))
    return joined


def _append(left: object, right: object) -> Value:
    if not isinstance(right, Text):
        return value(Text((), False, _is_engine(left) or _is_engine(right)))
    if not right.whole:
        return value(Text(right.pieces, False, right.engine or _is_engine(left)))
    if isinstance(left, Text):
        return value(Text((*left.pieces, *right.pieces), left.whole, left.engine))
    return value(Text(right.pieces, False, _is_engine(left)))


def _is_engine(atom: object) -> bool:
    if isinstance(atom, Text):
        return atom.engine
    return isinstance(atom, Opaque) and bool(_ENGINE.search(atom.path))


def as_text(of: Value) -> Value:
    """The value as part of a string: what is no string has no known text."""
    return join(*(value(atom) if isinstance(atom, Text) else value(Text((), False, _is_engine(atom))) for atom in of))


def percent(template: str, node: int, argument: Value) -> Value:
    """`template % argument`."""
    last = [atom.elements[-1] if isinstance(atom, Tup) and atom.elements else value(atom) for atom in argument]
    every = join(*(join(*atom.elements) if isinstance(atom, Tup) else value(atom) for atom in argument))
    return _filled(template, node, _CONVERSION, join(*last), every)


def formatted(template: str, node: int, arguments: list[Value]) -> Value:
    """`template.format(...)`."""
    return _filled(template, node, _FIELD, arguments[-1] if arguments else UNKNOWN, join(*arguments))


def _filled(template: str, node: int, hole: re.Pattern[str], last: Value, every: Value) -> Value:
    tail = hole.split(template)[-1]
    if tail == template:
        return literal(template, node)
    engine = any(_is_engine(atom) for atom in every)
    if tail:
        return value(Text((Piece(tail, node),), False, engine))
    known = [atom for atom in last if isinstance(atom, Text) and atom.pieces]
    return join(
        *(value(Text(atom.pieces, False, engine or atom.engine)) for atom in known), value(Text((), False, engine))
    )


def stripped(of: Text, characters: str | None) -> Value:
    """`of.rstrip(characters)`, as far as the end is known."""
    pieces = of.pieces
    while pieces:
        kept = pieces[-1].text.rstrip(characters)
        if kept:
            return value(Text((*pieces[:-1], Piece(kept, pieces[-1].node)), of.whole, of.engine))
        pieces = pieces[:-1]
    return value(Text((), of.whole, of.engine))


def joined_path(base: Value, path: Value) -> Value:
    """urljoin(base, path): the path alone tells where it goes."""
    engine = any(_is_engine(atom) for atom in base)
    found = [value(Text(atom.pieces, False, engine or atom.engine)) for atom in path if isinstance(atom, Text)]
    return join(*found) if found else UNKNOWN


def texts(of: Value) -> list[Text]:
    return sorted((atom for atom in of if isinstance(atom, Text)), key=repr)


def constants(of: Value) -> list[Text]:
    """The strings that are known whole."""
    return [text for text in texts(of) if text.whole]


def one_constant(of: Value) -> str | None:
    """The string, when it is one and known whole."""
    known = constants(of)
    return known[0].tail if len(known) == 1 and len(of) == 1 else None


NONE_VALUE: Value = frozenset({Thing("none")})
