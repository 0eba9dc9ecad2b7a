"""The literals of a template's `set` blocks, as nodes that know where they stand.

The grammar is what a matrix is written in: strings, numbers, names, lists, dicts, and lists added with `+`. Anything else
(filters, calls, conditions) is an `Opaque` node, so a template that says more than a literal can still be edited around it.
"""

import re
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 40

_OPENING = re.compile(r"(?P<comment>\{#)|<%[-+]?\s*(?:(?P<raw>raw)\s*[-+]?%>|set\s+(?P<name>\w+)\s*=)")
_CLOSING_OF = {"comment": re.compile(r"#\}"), "raw": re.compile(r"<%[-+]?\s*endraw\s*[-+]?%>")}
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#(?:(?!%>)[^\n])*)
      | (?P<end>[-+]?%>)
      | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d[\w.]*)
      | (?P<name>[^\W\d]\w*)
      | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_NEWLINE = re.compile(r"\r?\n")
_CONSTANTS = {"True": True, "true": True, "False": False, "false": False, "None": None, "none": None}
_CLOSING = {"[": "]", "{": "}", "(": ")"}


class LiteralError(ValueError):
    """The text is no literal: where it stops making sense, and why."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.what, self.offset = what, offset


@dataclass(frozen=True)
class Scalar:
    start: int
    end: int
    value: str | int | float | bool | None


@dataclass(frozen=True)
class Name:
    start: int
    end: int
    id: str


@dataclass(frozen=True)
class Opaque:
    start: int
    end: int


@dataclass(frozen=True)
class Seq:
    start: int
    end: int
    items: tuple["Node", ...]


@dataclass(frozen=True)
class Entry:
    """`key: value` of a dict."""

    start: int
    end: int
    key: "Node"
    value: "Node"


@dataclass(frozen=True)
class Map:
    start: int
    end: int
    items: tuple[Entry, ...]


@dataclass(frozen=True)
class Sum:
    start: int
    end: int
    parts: tuple["Node", ...]


Node = Scalar | Name | Opaque | Seq | Map | Sum


@dataclass(frozen=True)
class Block:
    """`<% set name = value %>`; `start`..`end` spans the tag and, where the tag ends its line, the newline."""

    start: int
    end: int
    name: str
    value: Node


def set_blocks(text: str) -> tuple[Block, ...]:
    """Every `set` tag that assigns an expression, in order. Raises LiteralError for one that never ends."""
    blocks, at = [], 0
    while found := _OPENING.search(text, at):
        if found["name"]:
            value, at = _Parser(text, found.end()).block()
            newline = _NEWLINE.match(text, at)
            at = newline.end() if newline else at
            blocks.append(Block(found.start(), at, found["name"], value))
        elif closing := _CLOSING_OF[str(found.lastgroup)].search(text, found.end()):
            at = closing.end()
        else:
            break
    return tuple(blocks)


def names(node: Node | Entry) -> Iterator[str]:
    """The variables that an expression names."""
    if isinstance(node, Name):
        yield node.id
    elif isinstance(node, Entry):
        yield from names(node.value)
    elif isinstance(node, (Seq, Map, Sum)):
        for child in node.parts if isinstance(node, Sum) else node.items:
            yield from names(child)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str, at: int) -> Iterator[_Token]:
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None and found.lastgroup is not None
        if found[0] in ("'", '"'):
            raise LiteralError("a string never ends", at)
        if found.lastgroup != "space":
            yield _Token(found.lastgroup, found[0], at, found.end())
        at = found.end()
    raise LiteralError("a set block never ends", at)


class _Parser:
    """Recursive descent with one token of lookahead."""

    def __init__(self, text: str, at: int) -> None:
        self.tokens = _tokens(text, at)
        self.token = next(self.tokens)
        self.last_end = at

    def block(self) -> tuple[Node, int]:
        """The expression up to `%>`, and where the tag ends."""
        value = self.expression(0)
        if self.token.kind != "end":
            raise LiteralError(f"unexpected {self.token.text!r} in a set block", self.token.start)
        return value, self.token.end

    def advance(self) -> _Token:
        token, self.last_end = self.token, self.token.end
        self.token = next(self.tokens)
        return token

    def expression(self, depth: int) -> Node:
        """Terms added with `+`; opaque as a whole when it goes on with anything else."""
        start = self.token.start
        parts = [self.term(depth)]
        while self.token.text == "+":
            self.advance()
            parts.append(self.term(depth))
        if self.token.text not in (",", ":", "]", "}", ")") and self.token.kind != "end":
            self.skip()
            return Opaque(start, self.last_end)
        return parts[0] if len(parts) == 1 else Sum(start, self.last_end, tuple(parts))

    def term(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise LiteralError("nested too deeply", self.token.start)
        token = self.token
        if token.text == "[":
            return self.sequence(depth)
        if token.text == "{":
            return self.mapping(depth)
        if token.kind == "string":
            return self.string()
        if token.kind in ("number", "name"):
            self.advance()
            if token.text in _CONSTANTS:
                return Scalar(token.start, token.end, _CONSTANTS[token.text])
            return _number(token) if token.kind == "number" else Name(token.start, token.end, token.text)
        self.skip()
        return Opaque(token.start, self.last_end)

    def string(self) -> Node:
        """A string; adjacent ones are one, as in the language of the templates."""
        start, value = self.token.start, ""
        while self.token.kind == "string":
            try:
                value += self.advance().text[1:-1].encode("ascii", "backslashreplace").decode("unicode-escape")
            except UnicodeDecodeError as e:
                raise LiteralError("a string with a bad escape", start) from e
        return Scalar(start, self.last_end, value)

    def sequence(self, depth: int) -> Seq:
        start, items = self.advance().start, []
        while self.token.text != "]":
            items.append(self.expression(depth + 1))
            self.comma("]")
        return Seq(start, self.advance().end, tuple(items))

    def mapping(self, depth: int) -> Map:
        start, items = self.advance().start, []
        while self.token.text != "}":
            key = self.expression(depth + 1)
            if self.token.text != ":":
                raise LiteralError("a dict entry without a value", self.token.start)
            self.advance()
            value = self.expression(depth + 1)
            items.append(Entry(key.start, value.end, key, value))
            self.comma("}")
        return Map(start, self.advance().end, tuple(items))

    def comma(self, closing: str) -> None:
        if self.token.text == ",":
            self.advance()
        elif self.token.text != closing:
            raise LiteralError(f"expected a comma or {closing!r}", self.token.start)

    def skip(self) -> None:
        """Past everything up to the comma or bracket that ends this expression."""
        closing: list[str] = []
        while self.token.kind != "end":
            if not closing and self.token.text in (",", ":", "]", "}", ")"):
                return
            token = self.advance()
            if token.text in _CLOSING:
                closing.append(_CLOSING[token.text])
            elif closing and token.text == closing[-1]:
                closing.pop()


def _number(token: _Token) -> Node:
    try:
        return Scalar(token.start, token.end, literal_eval(token.text))
    except (ValueError, SyntaxError):
        return Opaque(token.start, token.end)
