"""Applies unified diffs to trees in memory, strictly: a line that is not where the patch says is an error."""

import re
from collections.abc import Iterator
from dataclasses import replace

from sync_tools.tree import Blob

HUNK = re.compile(rb"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


def patched(state: dict[str, Blob], patch: bytes) -> dict[str, Blob]:
    """`state` with the edits of `patch` made; each file that it names is there, and keeps its mode."""
    edits = {}
    for path, hunks in _files(patch):
        lines = state[path].data.splitlines(keepends=True)
        edits[path] = replace(state[path], data=b"".join(_edited(path, lines, hunks)))
    return {**state, **edits}


def _files(patch: bytes) -> Iterator[tuple[str, list[tuple[int, list[bytes]]]]]:
    """Each file's path with its hunks: the first line of the old side, and the body."""
    for part in re.split(rb"(?m)^--- a/", patch)[1:]:
        path, target, *body = part.splitlines(keepends=True)
        assert target == b"+++ b/" + path, f"{path!r}: a patch edits files in place"
        hunks: list[tuple[int, list[bytes]]] = []
        for line in body:
            if head := HUNK.match(line):
                hunks.append((int(head[1]), []))
            else:
                hunks[-1][1].append(line)
        yield path.decode().strip(), hunks


def _edited(path: str, lines: list[bytes], hunks: list[tuple[int, list[bytes]]]) -> Iterator[bytes]:
    at = 0
    for start, body in hunks:
        yield from lines[at : start - 1]
        at = start - 1
        for line in body:
            sign, text = (line[:1], line[1:]) if line.strip() else (b" ", b"\n")
            if sign == b"+":
                yield text
                continue
            if at >= len(lines) or lines[at] != text:
                raise ValueError(f"{path}:{at + 1}: the patch does not fit")
            at += 1
            if sign == b" ":
                yield text
    yield from lines[at:]
