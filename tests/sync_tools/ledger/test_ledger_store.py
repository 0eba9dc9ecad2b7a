"""Ledger files read back as they were written, and what is not one is refused."""

import json
from collections.abc import Callable

import pytest
from ledger_world import change_set, port, sample

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.store import dumps, loads, read, read_all, stem_of
from sync_tools.tree import Blob, MemoryTree


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    files, fork = sample()
    return port(change_set(files.changes()), fork).landing.ledger


def test_what_is_written_is_read_and_written_again_alike(ledger: Ledger) -> None:
    text = dumps(ledger)
    assert loads(text, "x") == ledger
    assert dumps(loads(text, "x")) == text


def test_the_file_holds_no_line_of_upstream(ledger: Ledger) -> None:
    assert "return first" not in dumps(ledger)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw["entries"][0]["downstream"].update(path="../../etc/passwd"),
        lambda raw: raw["entries"][0]["upstream"].update(path="/etc/passwd"),
        lambda raw: raw["entries"][0]["upstream"].update(old_path="a/../../b"),
        lambda raw: raw["entries"][0].update(op="forgotten"),
        lambda raw: raw["entries"][0].update(added=-1),
        lambda raw: raw["entries"][0].update(added="1"),
        lambda raw: raw["entries"][0].update(more=1),
        lambda raw: raw["upstream"].update(commit="HEAD"),
        lambda raw: raw["upstream"].update(name="../x"),
        lambda raw: raw.pop("entries"),
    ],
)
def test_a_spoilt_ledger_is_refused_and_the_key_is_named(ledger: Ledger, spoil: Callable[[dict], object]) -> None:
    raw = json.loads(dumps(ledger))
    spoil(raw)
    with pytest.raises(SyncError) as told:
        loads(json.dumps(raw), "ledgers/slime-1921.json")
    assert told.value.where == "ledgers/slime-1921.json"
    assert told.value.what.split(":")[0].split(".")[0] in ("entries", "upstream")


@pytest.mark.parametrize("schema", [2, 0, "1", True, None, [1]])
def test_an_unknown_schema_is_refused_with_a_fix(ledger: Ledger, schema: object) -> None:
    with pytest.raises(SyncError, match="schema"):
        loads(json.dumps(json.loads(dumps(ledger)) | {"schema": schema}), "x")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"schema": 1, "x": "\\ud800"}'])
def test_what_is_no_ledger_at_all_is_refused(content: bytes) -> None:
    with pytest.raises(SyncError):
        loads(content, "x")


def test_ledgers_are_read_by_number_and_commit(ledger: Ledger) -> None:
    tree = MemoryTree({"ledgers/slime-1921.json": Blob(dumps(ledger).encode()), "ledgers/notes.json": Blob(b"x")})
    assert read(tree, Config(), "1921") == ledger
    assert read_all(tree, Config()) == (ledger,)
    assert stem_of(Config(), "c" * 40) == f"slime-{'c' * 12}"


@pytest.mark.parametrize("number", ["7", "../1921", "abc", "1921.json", ""])
def test_a_ledger_that_is_not_there_is_an_error_with_a_fix(ledger: Ledger, number: str) -> None:
    with pytest.raises(SyncError):
        read(MemoryTree(), Config(), number)


def test_a_ledger_under_another_name_is_refused(ledger: Ledger) -> None:
    with pytest.raises(SyncError, match="THUDM/slime#1921"):
        read(MemoryTree({"ledgers/slime-7.json": Blob(dumps(ledger).encode())}), Config(), "7")
