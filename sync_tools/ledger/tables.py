"""Markdown tables, and the word for nothing."""

from collections.abc import Iterable, Sequence

NONE = "none"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells hold no line ends and no bare `|`."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def sparse(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the columns in which no row has anything."""
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    return table([head[i] for i in used], [[row[i] for i in used] for row in rows])


def lines(added: int, removed: int) -> str:
    """`+3 -1`, without what is zero."""
    return " ".join([f"+{added}"] * bool(added) + [f"-{removed}"] * bool(removed)) or "no lines"
