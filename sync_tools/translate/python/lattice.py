"""What a value can be: a set of atoms. Joining is union; `UNKNOWN` is an atom of its own, never the empty set."""

from typing import NamedTuple


class Piece(NamedTuple):
    """Literal text and the node that it stands in."""

    text: str
    node: int


class Text(NamedTuple):
    """A string: its trailing literal pieces; `whole` when nothing unknown stands before them, `engine` when what
    stands before them is an address of the engine."""

    pieces: tuple[Piece, ...]
    whole: bool
    engine: bool = False

    @property
    def tail(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class Opaque(NamedTuple):
    """Something from outside, known by how it is reached: `args`, `args.rm_url`, `sampling_params`."""

    path: str


class Named(NamedTuple):
    """An imported thing or a builtin, by its dotted name."""

    dotted: str


class Dict(NamedTuple):
    """A dict made in this module, by its site."""

    site: int


class Func(NamedTuple):
    node: int


class Bound(NamedTuple):
    """A method of one of the module's classes."""

    func: int
    cls: int


class Class(NamedTuple):
    node: int


class Inst(NamedTuple):
    cls: int


class Super(NamedTuple):
    """`super()` in a method of `of`, for an object of `cls`."""

    of: int
    cls: int


class Seq(NamedTuple):
    """Anything that is iterated and gives the same kind of element each time."""

    element: "Value"


class Tup(NamedTuple):
    elements: "tuple[Value, ...]"


class Partial(NamedTuple):
    """functools.partial at a node, of a function, with positional and keyword arguments bound."""

    node: int
    func: "Value"
    args: "tuple[Value, ...]"
    keywords: "tuple[tuple[str, Value], ...]"


class Dumped(NamedTuple):
    """JSON text (or bytes) of the value of a node."""

    node: int


class Wire(NamedTuple):
    """Something of an exchange with the engine, made by the send at `sink`.

    kind: response, body (its undecoded text), lines, line, chunk (a decoded line), raw (an answer), and the parts of an
    answer: meta, finish, pairs, pair, ...
    """

    kind: str
    sink: int


class Thing(NamedTuple):
    """An object of a kind that matters: tokenizer, state, client, unknown, none."""

    kind: str


Atom = Text | Opaque | Named | Dict | Func | Bound | Class | Inst | Super | Seq | Tup | Partial | Dumped | Wire | Thing
Value = frozenset[Atom]

UNKNOWN: Value = frozenset({Thing("unknown")})
NONE: Value = frozenset({Thing("none")})
TRANSLATED = Thing("translated")
"""What the seam, or a helper of the inline style, has made."""
NOTHING: Value = frozenset()
_WIDEST, _DEEPEST = 40, 4


def value(atom: Atom) -> Value:
    return frozenset({atom})


def join(*values: Value) -> Value:
    """Either of them; unknown when that is too much to follow."""
    distinct = {held for held in values if held}
    if len(distinct) <= 1:
        return distinct.pop() if distinct else NOTHING
    joined = frozenset().union(*distinct)
    if len(joined) <= _WIDEST:
        return joined
    return frozenset(atom for atom in joined if not isinstance(atom, Text | Seq | Tup | Named | Opaque)) | UNKNOWN


def ordered(of: Value) -> list[Atom]:
    """The atoms in an order that is the same in every run."""
    return sorted(of, key=repr) if len(of) > 1 else list(of)


def sequence(element: Value) -> Value:
    return UNKNOWN if depth(element) >= _DEEPEST else value(Seq(element))


def tuple_of(elements: tuple[Value, ...]) -> Value:
    if len(elements) > 8 or any(depth(element) >= _DEEPEST for element in elements):
        return sequence(join(*elements) if elements else UNKNOWN)
    return value(Tup(elements))


def depth(of: Value) -> int:
    deepest = 0
    for atom in of:
        if isinstance(atom, Seq):
            deepest = max(deepest, 1 + depth(atom.element))
        elif isinstance(atom, Tup):
            deepest = max(deepest, 1 + max((depth(element) for element in atom.elements), default=0))
    return deepest


def elements(of: Value) -> Value:
    """What iterating gives."""
    found = [NOTHING]
    for atom in of:
        if isinstance(atom, Seq):
            found.append(atom.element)
        elif isinstance(atom, Tup):
            found.extend(atom.elements)
        elif isinstance(atom, Wire) and atom.kind == "lines":
            found.append(value(Wire("line", atom.sink)))
        elif isinstance(atom, Wire) and atom.kind == "pairs":
            found.append(value(Wire("pair", atom.sink)))
        elif isinstance(atom, Wire) and atom.kind == "prompt_pairs":
            found.append(value(Wire("prompt_pair", atom.sink)))
        else:
            found.append(UNKNOWN)
    return join(*found)


def unpacked(of: Value, count: int) -> list[Value]:
    """What unpacking into `count` targets gives each of them."""
    if of and all(isinstance(atom, Tup) and len(atom.elements) == count for atom in of):
        return [join(*(atom.elements[i] for atom in of)) for i in range(count)]
    each = elements(of)
    return [each] * count


def dicts(of: Value) -> list[int]:
    return sorted(atom.site for atom in of if isinstance(atom, Dict))


def wires(of: Value, *kinds: str) -> list[Wire]:
    return sorted(atom for atom in of if isinstance(atom, Wire) and atom.kind in kinds)


def alone(of: Value) -> bool:
    """Whether nothing but dicts of this module is meant."""
    return all(isinstance(atom, Dict) for atom in of)
