"""A real pair: #2013 takes back all of #1984, and says so by its title alone. And what is left of the names of a real tree."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import translated_tree
from sync_tools.tree import MemoryTree
from sync_tools.verify.census import census
from sync_tools.verify.sites import translations_reason

pytestmark = pytest.mark.upstream
RENAMED = "a3c5462a7"


def test_a_real_revert_is_paired(sync: Callable, slime: Path, parent_import: Callable[[str], Path]) -> None:
    fork = parent_import(RENAMED)
    assert sync("port", 1984, 2013, "--as", "pair", repo=fork, upstream=slime).code in (0, 1)
    subprocess.run(["git", "-C", str(fork), "switch", "-q", "sync/slime-pair"], check=True)
    first, second = (json.loads((fork / f"ledgers/slime-{n}.json").read_text()) for n in (1984, 2013))
    assert {e["op"] for e in first["entries"]} == {"reverted"}
    assert (first["reverted_by"], second["reverts"]) == ("THUDM/slime#2013", ["THUDM/slime#1984"])
    checked = json.loads(sync("ledger", "check", "--json", repo=fork, upstream=slime).out)
    assert (checked["ledgers"], checked["problems"]) == (2, [])


def test_what_an_import_leaves_has_a_reason_and_is_counted_quickly(slime: Path) -> None:
    tree = MemoryTree(translated_tree(Repo.open(slime), "624b824a8", Config()).blobs)
    began = time.process_time()
    found = list(census(tree, Config()))
    assert time.process_time() - began < 2
    reason = translations_reason(tree, Config())
    told = [left for left in found if reason(left)]
    assert 0 < len(found) < 200 and len(told) >= 0.9 * len(found)
