"""Files of rows, converted row by row: JSON lines or Parquet on both sides, a bad row told and left out."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

__all__ = ["BadRow", "main"]

Row = Mapping[str, Any]
Read = Callable[[], Row]
"""The row; BadRow where it is none."""
_SHOWN = 20
_BATCH = 1000


class BadRow(ValueError):
    """A row that is not what the converter takes; says what is wrong with it."""


def main(convert: Callable[[Row], Row], description: str, example: str, argv: list[str] | None = None) -> int:
    """A script that writes `convert(row)` of each row. The exit status: 0, or 2 where nothing was written."""
    parser = argparse.ArgumentParser(
        description=description, epilog=f"example:\n  {example}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--input", type=_there, required=True, help="file to read, .jsonl or .parquet, or a folder of them"
    )
    parser.add_argument("--output", type=_known, required=True, help="file to write, .jsonl or .parquet")
    parser.add_argument("--limit", type=_count, help="no more rows than this")
    parser.add_argument("--unique", action="store_true", help="leave out rows that came before")
    parser.add_argument("--strict", action="store_true", help="write nothing where a row is bad")
    asked = parser.parse_args(argv)
    try:
        good, bad, again = _convert(asked, convert)
    except (OSError, ImportError, ValueError) as error:  # pyarrow's errors are ValueErrors, as BadRow is
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{asked.output}: {good} rows; {bad} bad ones and {again} repeated ones left out")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no whole number above 0")
    return int(text)


def _there(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no {path.absolute()}")
    return path if path.is_dir() else _known(text)


def _known(text: str) -> Path:
    path = Path(text)
    if path.suffix not in _READERS:
        raise argparse.ArgumentTypeError(f"{text} ends in none of {', '.join(_READERS)}")
    return path


def _convert(asked: argparse.Namespace, convert: Callable[[Row], Row]) -> tuple[int, int, int]:
    """(written, bad, repeated). Raises BadRow where there is nothing to write."""
    good = bad = again = 0
    seen: set[bytes] = set()
    with _writer(asked.output) as write:
        for where, read in _rows(asked.input):
            if good == asked.limit:
                break
            try:
                row = _writable(convert(read()))
            except BadRow as error:
                bad += 1
                _tell(asked, where, error, bad)
                continue
            if asked.unique:
                key = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).digest()
                if key in seen:
                    again += 1
                    continue
                seen.add(key)
            write(row)
            good += 1
        if not good:
            raise BadRow(f"{asked.input} has no row that can be used, of {bad + again}")
    return good, bad, again


def _writable(row: Row) -> Row:
    """The row. BadRow where JSON's escapes made half a character, which no file can hold."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRow("half a character (a lone surrogate)") from None
    return row


def _rows(path: Path) -> Iterator[tuple[str, Read]]:
    """Each row's place, and what reads it."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in _READERS and ".cache" not in file.parts)
    return (row for file in files for row in _READERS[file.suffix](file))


def _tell(asked: argparse.Namespace, where: str, error: BadRow, count: int) -> None:
    if asked.strict:
        raise BadRow(f"{where}: {error}")
    if count <= _SHOWN:
        print(f"{where}: {error}; left out", file=sys.stderr)
    elif count == _SHOWN + 1:
        print("further bad rows are counted only", file=sys.stderr)


def _json_lines(path: Path) -> Iterator[tuple[str, Read]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if not line.isspace():
                yield f"{path}, line {number}", lambda line=line: _parsed(line)


def _parsed(line: str) -> Row:
    try:
        line.encode("utf-8")
        row = json.loads(line)
    except UnicodeEncodeError:
        raise BadRow("bytes that are no UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadRow(f"no JSON: {error}") from None
    if not isinstance(row, dict):
        raise BadRow(f"a {type(row).__name__}, no object")
    return row


def _parquet_rows(path: Path) -> Iterator[tuple[str, Read]]:
    number = 0
    with _parquet().ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH):
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", lambda row=row: row


_READERS = {".jsonl": _json_lines, ".parquet": _parquet_rows}


@contextmanager
def _writer(path: Path) -> Iterator[Callable[[Row], None]]:
    """What adds a row. The file is there when the block ends without an error, and not before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.suffix == ".parquet":
            with _parquet_writer(fresh) as write:
                yield write
        else:
            with fresh.open("w", encoding="utf-8") as file:
                yield lambda row: _write_line(file, row)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _write_line(file: TextIO, row: Row) -> None:
    file.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def _parquet_writer(path: Path) -> Iterator[Callable[[Row], None]]:
    parquet, waiting, writers = _parquet(), [], []

    def flush() -> None:
        import pyarrow

        table = pyarrow.Table.from_pylist(waiting, schema=writers[0].schema if writers else None)
        if not writers:
            writers.append(parquet.ParquetWriter(path, table.schema))
        writers[0].write_table(table)
        waiting.clear()

    def write(row: Row) -> None:
        waiting.append(dict(row))
        if len(waiting) == _BATCH:
            flush()

    try:
        yield write
        if waiting:
            flush()
    finally:
        for writer in writers:
            writer.close()


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error
    return pyarrow.parquet
