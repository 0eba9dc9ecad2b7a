"""Conflict markers: how a merge that needs a person is written down, and how what is left of it is found again."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sync_tools.merge.lines import Span, common_ends, newline, split
from sync_tools.merge.result import Conflict

Labels = tuple[str, str, str]
LABELS: Labels = ("ours", "base", "upstream")
SIZE = 7


@dataclass(frozen=True, slots=True)
class Clean:
    """Lines that are settled."""

    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines that a person must choose from."""

    conflict: Conflict
    ours: Sequence[bytes]
    base: Sequence[bytes]
    theirs: Sequence[bytes]


Segment = Clean | Clash


def render(segments: Iterable[Segment], labels: Labels = LABELS) -> bytes:
    """The text with diff3 markers around what clashes. Markers are longer than git's seven characters where a line of
    the content could be taken for one."""
    parts = list(segments)
    content = [line for part in parts for line in _content(part)]
    size = _size(content)
    ending = newline(content)
    result: list[bytes] = []
    for part in parts:
        if isinstance(part, Clean):
            result.extend(part.lines)
        else:
            result.extend(_marked(part, labels, size, ending))
    return b"".join(result)


def ours_only(segments: Iterable[Segment]) -> bytes:
    """The text with our side of everything that clashes."""
    return b"".join(line for part in segments for line in (part.lines if isinstance(part, Clean) else part.ours))


def disputed(parts: Sequence[Segment]) -> int:
    """How many lines clash."""
    return sum(max(len(p.ours) + len(p.theirs), 1) for p in parts if isinstance(p, Clash))


def narrowed(clash: Clash) -> list[Segment]:
    """The clash without the lines that both sides have at its start and end."""
    head, tail = common_ends(clash.ours, clash.theirs)
    if not head and not tail:
        return [clash]
    shrunk = Clash(
        Conflict(
            clash.conflict.symbol,
            clash.conflict.base,
            (clash.conflict.ours[0] + head, clash.conflict.ours[1] - tail),
            (clash.conflict.theirs[0] + head, clash.conflict.theirs[1] - tail),
        ),
        clash.ours[head : len(clash.ours) - tail],
        clash.base,
        clash.theirs[head : len(clash.theirs) - tail],
    )
    parts = [Clean(clash.ours[:head]), shrunk, Clean(clash.ours[len(clash.ours) - tail :])]
    return [part for part in parts if isinstance(part, Clash) or part.lines]


def conflict_regions(data: bytes, labels: Labels = LABELS, known: bytes = b"") -> tuple[Span, ...]:
    """0-based half-open line ranges, markers included, of the conflicts that are left in `data`.

    Only a complete block counts: the four markers in order, of one length (seven or more) and with these labels. A
    block that stands in `known` (the file before the merge) word for word is content, not a conflict.
    """
    lines = split(data)
    found: list[Span] = []
    at = 0
    while at < len(lines):
        end = _block_end(lines, at, labels)
        if end is None:
            at += 1
            continue
        if b"".join(lines[at:end]) not in known:
            found.append((at, end))
        at = end
    return tuple(found)


def ours_of(data: bytes, known: bytes, labels: Labels = LABELS) -> bytes:
    """A text with markers, with our side of every conflict in their place; `known` is the file before the merge."""
    lines, kept, at = split(data), list[bytes](), 0
    for first, last in conflict_regions(data, labels, known):
        ours = range(first + 1, last)
        base = re.compile(rb"\|{7,} " + re.escape(labels[1].encode()) + rb"\r?\n?")
        middle = next(n for n in ours if base.fullmatch(lines[n]))
        kept += [*lines[at:first], *lines[first + 1 : middle]]
        at = last
    text = b"".join([*kept, *lines[at:]])
    # Before a marker a last line has the newline that the file did not end in.
    return text.rstrip(b"\r\n") if at == len(lines) and at and not known.endswith(b"\n") else text


def _content(part: Segment) -> Iterable[bytes]:
    if isinstance(part, Clean):
        return part.lines
    return [*part.ours, *part.base, *part.theirs]


def _size(content: Iterable[bytes]) -> int:
    """Seven, or one more than the longest run of marker characters that starts a line like a marker."""
    runs = (re.match(rb"(?:<{7,}|\|{7,}|={7,}|>{7,})(?=[ \r\n]|$)", line) for line in content)
    return max((len(run[0]) + 1 for run in runs if run), default=SIZE)


def _marked(clash: Clash, labels: Labels, size: int, ending: bytes) -> list[bytes]:
    ours, base, theirs = (label.encode() for label in labels)
    return [
        b"<" * size + b" " + ours + ending,
        *_ended(clash.ours, ending),
        b"|" * size + b" " + base + ending,
        *_ended(clash.base, ending),
        b"=" * size + ending,
        *_ended(clash.theirs, ending),
        b">" * size + b" " + theirs + ending,
    ]


def _ended(lines: Sequence[bytes], ending: bytes) -> list[bytes]:
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + ending]
    return list(lines)


def _block_end(lines: Sequence[bytes], at: int, labels: Labels) -> int | None:
    """Past the end of the block that starts at line `at`, if one does."""
    opening = re.fullmatch(rb"(<{7,}) " + re.escape(labels[0].encode()), lines[at].rstrip(b"\r\n"))
    if opening is None:
        return None
    size = len(opening[1])
    wanted = [b"|" * size + b" " + labels[1].encode(), b"=" * size, b">" * size + b" " + labels[2].encode()]
    for n in range(at + 1, len(lines)):
        line = lines[n].rstrip(b"\r\n")
        if line == wanted[0]:
            wanted.pop(0)
            if not wanted:
                return n + 1
        elif line == lines[at].rstrip(b"\r\n"):
            return None
    return None
