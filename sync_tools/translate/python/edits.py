"""Changes to a text, as replacements of spans; everything between them stays as it is."""

from dataclasses import dataclass, field

Span = tuple[int, int]


@dataclass(frozen=True)
class Edit:
    """`parts` are new text, or spans of the old text that are kept, with the edits inside them."""

    span: Span
    parts: tuple[str | Span, ...]


@dataclass
class Edits:
    """A set of edits. They nest; of two with the same span the later one goes around the earlier."""

    _edits: list[Edit] = field(default_factory=list)

    def replace(self, span: Span, *parts: str | Span) -> None:
        self._edits.append(Edit(span, parts))

    def wrap(self, span: Span, before: str, after: str) -> None:
        self.replace(span, before, span, after)

    def insert(self, at: int, text: str) -> None:
        self.replace((at, at), text)

    def __bool__(self) -> bool:
        return bool(self._edits)

    def apply(self, text: str) -> str:
        ordered = sorted(enumerate(self._edits), key=lambda item: _order(item[1].span, item[0]))
        return _render(text, (0, len(text)), [edit for _, edit in ordered])


def _order(span: Span, number: int) -> tuple[int, bool, int, int]:
    start, end = span
    return start, end > start, -end, -number


def _render(text: str, span: Span, edits: list[Edit]) -> str:
    """The span with `edits`, which are ordered: outer before inner."""
    out: list[str] = []
    at, end = span
    while edits:
        outer, edits = edits[0], edits[1:]
        inner = [edit for edit in edits if edit.span[0] < outer.span[1]]
        edits = edits[len(inner) :]
        out.append(text[at : outer.span[0]])
        for part in outer.parts:
            out.append(part if isinstance(part, str) else _render(text, part, _inside(inner, part)))
        at = outer.span[1]
    out.append(text[at:end])
    return "".join(out)


def _inside(edits: list[Edit], span: Span) -> list[Edit]:
    return [edit for edit in edits if span[0] <= edit.span[0] and edit.span[1] <= span[1]]
