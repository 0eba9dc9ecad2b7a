"""Lines of a file as bytes, endings kept, so that joining them gives the file back."""

from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def split(data: bytes) -> list[bytes]:
    """Lines with their endings; only `\\n` ends a line, so `\\r\\n`, form feeds and a missing final newline survive."""
    lines = data.split(b"\n")
    last = lines.pop()
    result = [line + b"\n" for line in lines]
    if last:
        result.append(last)
    return result


def newline(lines: Iterable[bytes]) -> bytes:
    """The ending that the first ended line has."""
    for line in lines:
        if line.endswith(b"\r\n"):
            return b"\r\n"
        if line.endswith(b"\n"):
            break
    return b"\n"


def common_ends(a: Sequence[bytes], b: Sequence[bytes]) -> Span:
    """How many lines are equal at the start and, beyond those, at the end."""
    limit = min(len(a), len(b))
    head = 0
    while head < limit and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < limit - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return head, tail
