"""A window of upstream's history, and what a fork's history says it has of it."""

from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.port.known import known
from sync_tools.upstream.window import window


@pytest.fixture
def line(tmp_path: Path, git) -> Path:
    """A main line with one number that lands twice, and a side branch."""
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "U")
    git(tmp_path, "config", "user.email", "u@example.org")
    for subject in ("start", "one (#1)", "two (#2)", "no number", "one again (#1)"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject)
    git(tmp_path, "switch", "-q", "-c", "side", "HEAD~3")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "elsewhere")
    git(tmp_path, "switch", "-q", "main")
    return tmp_path


def test_the_last_landing_of_a_number_has_it(line: Path, git) -> None:
    found = window(Repo.open(line), "main~4", "main")
    assert [x.pr for x in found.landings] == [None, 2, None, 1]
    assert found.landings[-1].others == (git(line, "rev-parse", "main~3"),)
    assert found.cutoff == git(line, "rev-parse", "main~4")


def test_a_window_may_be_empty(line: Path) -> None:
    assert window(Repo.open(line), "main", "main").landings == ()


@pytest.mark.parametrize(("cutoff", "tip"), [("side", "main"), ("main", "main~1"), ("nowhere", "main")])
def test_ends_that_are_no_window_are_refused(line: Path, cutoff: str, tip: str) -> None:
    with pytest.raises(SyncError):
        window(Repo.open(line), cutoff, tip)


def test_an_import_tells_its_cutoff(imported, upstream: Path, git) -> None:
    fork = imported(1920)
    told = known(Repo.open(fork), "HEAD", Config())
    assert told.cutoff == git(fork, "log", "-1", "--format=%(trailers:key=Upstream-Commit,valueonly)").strip()
    assert told.prs == told.commits == frozenset()


def test_a_port_is_known_by_number_and_commit(imported, upstream: Path, git, sync) -> None:
    fork = imported(1920)
    sync("port", "1920", "--upstream", str(upstream), "--repo", str(fork))
    told = known(Repo.open(fork), "sync/slime-pr-1920", Config())
    assert told.prs == {1920}
    assert told.has(1920, "") and told.cutoff not in told.commits
