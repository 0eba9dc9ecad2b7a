"""Rows from files: JSON lines or Parquet, a part of one by `path@[a:b]`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vime.errors import first_line, travels

__all__ = ["DataError", "check_file", "parse_generalized_path", "read_file"]

_PART = re.compile(r"(?P<path>.*)@\[(?P<start>(?:-?\d+)?):(?P<stop>(?:-?\d+)?)\]")
_EXCERPT = 80
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""JSON's escape of half a character; two of them may make a whole one."""


@travels
class DataError(ValueError):
    """Data that cannot be used: names the file and the line, and says how to mend it."""

    def __init__(self, where: str, what: str, fix: str) -> None:
        super().__init__(f"{where}: {what}; {fix}")
        self.where, self.what, self.fix = where, what, fix


def read_file(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a .jsonl or .parquet file, one after the other; of `path@[a:b]` the part that the slice names.

    A bound may be negative, counted from the end. Raises DataError for no such file, and for a row that is no object.
    """
    check_file(path)
    name, part = parse_generalized_path(str(path))
    return _READERS[Path(name).suffix](name, part)


def check_file(path: str) -> None:
    """Raises DataError where `read_file` could not begin."""
    name, _ = parse_generalized_path(str(path))
    if not Path(name).is_file():
        raise DataError(name, "there is no such file", "write it; --prompt-data or --eval-prompt-data names it")
    if Path(name).suffix not in _READERS:
        raise DataError(name, f"files ending in {Path(name).suffix!r} are not read", f"use {' or '.join(_READERS)}")


def parse_generalized_path(s: str) -> tuple[str, slice | None]:
    """("file", slice(a, b)) of "file@[a:b]"; no slice where there is none."""
    found = _PART.fullmatch(s)
    if found is None:
        return s, None
    start, stop = (int(bound) if bound else None for bound in found.group("start", "stop"))
    return found["path"], slice(start, stop)


def _json_lines(path: str, part: slice | None) -> Iterator[dict[str, Any]]:
    def lines() -> Iterator[tuple[int, str]]:
        with Path(path).open(encoding="utf-8-sig", errors="surrogateescape") as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if not line.isspace())

    return (_row(f"{path}:{number}", line) for number, line in _taken(lines, part, lambda: sum(1 for _ in lines())))


def _row(where: str, line: str) -> dict[str, Any]:
    try:
        line.encode("utf-8")
        row = json.loads(line)
    except UnicodeEncodeError:
        raise DataError(where, "bytes that are no UTF-8", "write the file in UTF-8") from None
    except (ValueError, RecursionError) as error:
        hint = f"mend or delete the line, which begins {line[: 2 * _EXCERPT].strip()[:_EXCERPT]!r}"
        what = "nested too deep" if isinstance(error, RecursionError) else f"no JSON: {error}"
        raise DataError(where, what, hint) from None
    if not isinstance(row, dict):
        raise DataError(where, f"a {type(row).__name__} where an object is needed", 'write {"input": ..., ...}')
    if _HALF_CHARACTER.search(line) and not _is_text(row):
        raise DataError(
            where, "half a character (a lone surrogate), which no tokenizer takes", "mend or delete the line"
        )
    return row


def _is_text(row: dict[str, Any]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parquet(path: str, part: slice | None) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(path, "it is read by pyarrow, which is not installed", "pip install pyarrow") from error

    @contextmanager
    def told() -> Iterator[None]:
        try:
            yield
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(path, f"no Parquet that can be read: {first_line(error)}", "write the file anew") from None

    def rows() -> Iterator[dict[str, Any]]:
        with told():
            for batch in file.iter_batches():
                yield from batch.to_pylist()

    with told():
        file = pyarrow.parquet.ParquetFile(path)
    return _taken(rows, part, lambda: file.metadata.num_rows)


def _taken(rows: Any, part: slice | None, count: Any) -> Iterator[Any]:
    """The part of `rows()`; they are counted only where a bound is negative."""
    if part is None:
        return rows()
    if min(part.start or 0, part.stop or 0) < 0:
        part = slice(*part.indices(count()))
    return itertools.islice(rows(), part.start, part.stop)


_READERS = {".jsonl": _json_lines, ".parquet": _parquet}
