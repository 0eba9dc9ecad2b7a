"""The share of a window that waits, from the ledgers of a fork."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.window_share import LIMIT, share
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.ledger.store import read_all

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "window_share.py"


@pytest.fixture
def ported(imported, sync, upstream: Path) -> Path:
    fork = imported(1920)
    sync("port", 1920, 1921, "--as", "two", repo=fork, upstream=upstream)
    return fork


def test_the_operations_add_up_to_upstreams_lines(ported: Path) -> None:
    ledgers = read_all(Repo.open(ported).tree("sync/slime-two"), Config())
    found = share(ledgers)
    assert found.ledgers == 2
    assert found.lines == sum(row.added + row.removed for row in found.operations)
    assert found.lines == sum(e.added + e.removed for ledger in ledgers for e in ledger.entries)
    assert found.waiting == 0.0 and found.longest == ()


def test_what_waits_is_a_share_of_all_lines_and_is_named(ported: Path) -> None:
    first, second = read_all(Repo.open(ported).tree("sync/slime-two"), Config())
    entry = max(first.entries, key=lambda e: e.added)
    waits = entry.model_copy(update={"op": "deferred", "reason": "for a person"})
    found = share([first.model_copy(update={"entries": (waits,)}), second])
    rest = sum(e.added + e.removed for e in second.entries)
    mine = entry.added + entry.removed
    assert found.waiting == round(mine / (mine + rest), 5)
    assert found.of_limit == round(mine / (mine + rest) / LIMIT, 2)
    [place] = found.longest
    assert (place.ledger, place.path, place.op, place.lines, place.reason) == (
        first.upstream.stem,
        entry.upstream.name,
        "deferred",
        mine,
        "for a person",
    )


def test_no_ledgers_are_no_lines_and_nothing_waits() -> None:
    found = share([])
    assert (found.ledgers, found.lines, found.waiting, found.operations) == (0, 0, 0.0, ())


def test_the_command_prints_one_object(ported: Path) -> None:
    command = [sys.executable, str(BENCHMARK), "--repo", str(ported), "--rev", "sync/slime-two", "--json"]
    value = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert value["schema"] == 1 and value["ledgers"] == 2
