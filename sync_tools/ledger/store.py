"""Ledger files: their names, their text, and reading them from a tree that anyone may have edited."""

import json
import re
from collections.abc import Callable, Iterable

from pydantic import ValidationError

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.ledger.model import SCHEMA, Ledger
from sync_tools.tree import Tree, under

README = "README.md"
Parse = Callable[[bytes, str], Ledger]
PR, HEX = re.compile(r"[1-9]\d{0,9}"), re.compile(r"[0-9a-f]{7,40}")


def dumps(ledger: Ledger) -> str:
    """Canonical JSON: sorted keys, the same for equal ledgers, ending in a newline."""
    raw = ledger.model_dump(mode="json", by_alias=True)
    return json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def loads(content: bytes | str, where: str) -> Ledger:
    """The ledger in a file's text. Raises SyncError for what is not a ledger of this schema, and for paths that leave
    the tree."""
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as e:
        raise SyncError(f"not a ledger: {_first_line(e)}", where, "restore the file from git, or port again") from e
    schema = raw.get("schema") if isinstance(raw, dict) else None
    if schema != SCHEMA or isinstance(schema, bool):
        raise SyncError(
            f"ledger schema {json.dumps(schema)[:40]} is not known, only {SCHEMA}",
            where,
            "use the version of this tool that wrote it, or port again",
        )
    try:
        return Ledger.model_validate_json(content)
    except ValidationError as e:
        first = e.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise SyncError(f"{key}: {what}", where, "restore the file from git, or port again") from e


def json_path(config: Config, stem: str) -> str:
    """Where a ledger is kept."""
    return f"{config.ledgers}/{stem}.json"


def markdown_path(config: Config, stem: str) -> str:
    """Where a ledger's rendering for reviewers is kept."""
    return f"{config.ledgers}/{stem}.md"


def index_path(config: Config) -> str:
    """Where the index of all ledgers is kept."""
    return f"{config.ledgers}/{README}"


def stem_of(config: Config, number: str) -> str:
    """The stem for what a command takes as N: a pull request's number (1921 or #1921), or the hex of a bare commit."""
    number = number.removeprefix("#")
    if PR.fullmatch(number):
        return f"{config.upstream.name}-{number}"
    if HEX.fullmatch(number) and len(number) >= 12:
        return f"{config.upstream.name}-{number[:12]}"
    raise SyncError("not a pull request's number or a commit", number[:40], "give a number, or 12 or more hex digits")


def is_hex(name: str) -> bool:
    """Whether a ledger's name is a commit's and not a pull request's."""
    return len(name) == 12 and HEX.fullmatch(name) is not None


def read(tree: Tree, config: Config, number: str) -> Ledger:
    """The ledger of one change. Raises SyncError where there is none."""
    path = json_path(config, stem_of(config, number))
    found = tree.blob(path)
    if found is None:
        raise SyncError("there is no ledger of this change", path, f"vime-sync port {number}")
    return _read(path, found.data)


def read_all(tree: Tree, config: Config, parse: Parse = loads) -> tuple[Ledger, ...]:
    """Every ledger of the tree, by number, bare commits last."""
    name = re.compile(rf"{re.escape(config.upstream.name)}-([1-9]\d{{0,9}}|[0-9a-f]{{12}})\.json")
    paths = [p for p in under(tree.paths(), config.ledgers) if name.fullmatch(p.removeprefix(config.ledgers + "/"))]
    found = [_read(path, blob.data, parse) for path in paths if (blob := tree.blob(path))]
    return in_order(found)


def in_order(ledgers: Iterable[Ledger]) -> tuple[Ledger, ...]:
    """Ledgers by number, bare commits last."""
    return tuple(sorted(ledgers, key=lambda x: (x.upstream.pr is None, x.upstream.pr or 0, x.upstream.commit)))


def _read(path: str, data: bytes, parse: Parse = loads) -> Ledger:
    ledger = parse(data, path)
    if not path.endswith(f"/{ledger.upstream.stem}.json"):
        raise SyncError(
            f"this is the ledger of {ledger.upstream.ref}", path, "a ledger's file is named after its change"
        )
    return ledger


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
