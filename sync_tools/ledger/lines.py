"""Lines as git counts them, and their digests."""

import hashlib
from collections.abc import Iterable, Sequence


def split(data: bytes) -> list[bytes]:
    """The lines of a file without their newline: only `\\n` ends a line, as in `git diff --numstat`."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def normal(line: bytes) -> bytes:
    """A line as digests see it: line endings and trailing blanks do not count."""
    return line.rstrip()


def digest(lines: Iterable[bytes]) -> str:
    """SHA-256 of normalised lines, in hex."""
    return hashlib.sha256(b"".join(normal(line) + b"\n" for line in lines)).hexdigest()


def unit_digest(removed: Sequence[bytes], added: Sequence[bytes]) -> str:
    """SHA-256 of what a unit removes and adds."""
    return digest([b"-" + line for line in removed] + [b"+" + line for line in added])


def unit_id(commit: str, old_path: str, new_path: str, content: str, nth: int) -> str:
    """The id of a unit: `content` is its `unit_digest`, `nth` tells equal units of one file apart."""
    return hashlib.sha256(
        "\0".join((commit, old_path, new_path, content, str(nth))).encode("utf-8", "surrogateescape")
    ).hexdigest()[:16]
