"""A stretch of the real window, ported at once and one by one onto its import.

25 commits by default; `SYNC_WINDOW=193` takes the whole window, which is a matter of minutes.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree, translated_tree
from sync_tools.ledger import store
from sync_tools.upstream.window import Window, window

FIRST, LAST = "8ef1fb47e", "624b824a8"
COMMITS = int(os.environ.get("SYNC_WINDOW", "25"))

pytestmark = [pytest.mark.upstream, pytest.mark.slow]


@pytest.fixture(scope="module")
def asked(slime: Path) -> Window:
    landings = window(Repo.open(slime), FIRST, LAST).landings[:COMMITS]
    return window(Repo.open(slime), FIRST, landings[-1].commit)


@pytest.fixture(scope="module")
def start(slime: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("start") / "fork"
    import_tree(Repo.open(slime), FIRST, made, Config())
    return made


WAYS: dict[str, Callable[[Window], list[str]]] = {
    "at once": lambda asked: ["--cutoff", asked.cutoff, "--tip", asked.tip],
    "one by one": lambda asked: [str(x.pr or x.commit) for x in asked.landings],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_import_of_the_tip_comes_out_with_every_line_accounted_for(way, asked, start, slime, sync, tmp_path):
    fork = Path(shutil.copytree(start, tmp_path / "fork", symlinks=True))
    value = json.loads(sync("port", *WAYS[way](asked), "--as", "w", "--json", repo=fork, upstream=slime).out)
    assert value["status"] in ("clean", "unresolved") and value["worktree"] is None
    assert [port["upstream_commit"] for port in value["ports"]] == [x.commit for x in asked.landings]
    Repo.open(fork).run("switch", "-q", "sync/slime-w")
    tree = Repo.open(fork).tree("HEAD")
    theirs = translated_tree(Repo.open(slime), asked.tip, Config()).blobs
    ours = {path: tree.blob(path) for path in tree.paths() if not path.startswith("ledgers/")}
    assert {p for p in ours.keys() | theirs.keys() if ours.get(p) != theirs.get(p)} == set()
    ledgers = store.read_all(tree, Config())
    assert all(x.accounted == x.added + x.removed for x in ledgers)
    checked = json.loads(sync("ledger", "check", "--json", repo=fork, upstream=slime).out)
    assert (checked["ledgers"], checked["problems"], checked["undeclared"]) == (len(asked.landings), [], [])
