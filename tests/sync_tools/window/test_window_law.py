"""A window that is ported at once leaves the tree and the ledgers that its landings leave one by one."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from window_world import Both, histories, told, upstream_of

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import translated_tree
from sync_tools.ledger.desk import Desk
from sync_tools.port.overlays import compared
from sync_tools.port.recheck import Recheck


def problems(both: Both, branch: str) -> list[object]:
    both.fork.run("switch", "-q", f"sync/slime-{branch}")
    desk = Desk(both.fork, Config())
    recheck = Recheck(desk.landings(None), Config(), both.upstream, desk.head(None))
    return [p for landing in desk.landings(None) for p in recheck.checked(landing).problems]


def undeclared(both: Both, branch: str) -> tuple[str, ...]:
    """The files that differ from upstream, with nothing that says why."""
    both.fork.run("switch", "-q", f"sync/slime-{branch}")
    desk = Desk(both.fork, Config())
    return compared(desk.landings(None), Config(), both.upstream, desk.head(None)).undeclared


def assert_at_the_tip(both: Both) -> None:
    """The fork, which had no edits of its own, is what an import of the tip is, and says so."""
    assert both.tree("window") == dict(translated_tree(both.upstream, "main", Config()).blobs)
    for branch in ("window", "stack"):
        assert undeclared(both, branch) == ()


def assert_the_law(both: Both) -> None:
    assert not both.stack.worktree and not both.window.worktree
    assert both.tree("window") == both.tree("stack")
    at_once, one_by_one = both.ledgers("window"), both.ledgers("stack")
    assert at_once.keys() == one_by_one.keys()
    for commit, ledger in at_once.items():
        assert told(ledger) == told(one_by_one[commit]), ledger.upstream.ref
        assert ledger.rules == one_by_one[commit].rules
        assert ledger.accounted == ledger.added + ledger.removed
    for branch in ("window", "stack"):
        assert problems(both, branch) == []


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(states=histories())
def test_histories_of_edits_moves_deletions_and_files_that_come_back(states):
    if len(states) < 2:
        return
    with tempfile.TemporaryDirectory() as home:
        upstream = upstream_of(states, Path(home) / "slime")
        both = Both(upstream, f"main~{len(states) - 1}", "main", Path(home))
        assert_the_law(both)
        assert_at_the_tip(both)


@pytest.mark.parametrize("ends", [(12, 0), (9, 3), (6, 4)])
def test_windows_of_the_miniature(upstream, tmp_path, ends):
    first, last = ends
    assert_the_law(Both(upstream, f"main~{first}", f"main~{last}" if last else "main", tmp_path))


def test_edits_of_the_fork_stand_in_both(upstream, tmp_path):
    import_at = "main~7"
    blob = translated_tree(Repo.open(upstream), import_at, Config()).blobs["vime/utils/http_utils.py"]
    mine = {"vime/utils/http_utils.py": b"# ours\n" + blob.data + b"\n\ndef ours() -> None:\n    pass\n"}
    both = Both(upstream, import_at, "main", tmp_path, mine)
    assert_the_law(both)
    assert b"def ours()" in both.tree("window")["vime/utils/http_utils.py"].data


A, B, C, D = "slime/a.py", "slime/b.py", "slime/deep/c.py", "docs/d.md"
PATHS = {
    "a new file comes where one moved away": [{A: (1, 2, 3)}, {B: (1, 2, 3)}, {B: (1, 2, 3), A: (8, 9)}],
    "two files change places": [
        {A: (1, 2, 3), B: (4, 5, 6)},
        {C: (1, 2, 3), B: (4, 5, 6)},
        {C: (1, 2, 3), A: (4, 5, 6)},
        {B: (1, 2, 3), A: (4, 5, 6)},
    ],
    "a file is deleted and comes back": [{A: (1, 2), B: (4,)}, {B: (4,)}, {A: (1, 9), B: (4,)}],
    "a file is added and deleted again": [{A: (1, 2)}, {A: (1, 2), B: (4, 5)}, {A: (1, 2), B: (4,)}, {A: (1, 2)}],
    "nothing but a file that is added and deleted again": [{A: (1, 2)}, {A: (1, 2), B: (4, 5)}, {A: (1, 2)}],
    "a file comes and goes where another one comes back": [
        {A: (1, 2, 3)},
        {B: (1, 2, 3)},
        {B: (1, 2, 3), A: (8, 9)},
        {B: (1, 2, 3)},
        {A: (1, 2, 3)},
    ],
    "a file moves to where another one came and went": [
        {A: (1, 2, 3)},
        {A: (1, 2, 3), B: (4,)},
        {A: (1, 2, 3)},
        {B: (1, 2, 3)},
    ],
    "a file comes where one moved away, and both go": [
        {A: (1, 2, 3), D: (7, 8)},
        {B: (1, 2, 3), D: (7,)},
        {A: (8,)},
        {},
    ],
    "a file moves there and back and there again": [{A: (1, 2)}, {B: (1, 2)}, {A: (1, 2)}, {B: (1, 2)}],
}


@pytest.mark.parametrize("told_as", PATHS)
def test_files_that_change_places(told_as, tmp_path):
    upstream = upstream_of(PATHS[told_as], tmp_path / "slime")
    both = Both(upstream, f"main~{len(PATHS[told_as]) - 1}", "main", tmp_path)
    assert_the_law(both)
    assert_at_the_tip(both)


NUMBERS = {"numbers that fall": {1: 130, 2: 120, 3: 110}, "one without a number between": {2: None}}


@pytest.mark.parametrize("numbers", NUMBERS)
def test_changes_are_in_upstreams_order_whatever_their_numbers(numbers, tmp_path):
    states = [{A: (1, 2, 3)}, {A: (1, 2, 4)}, {B: (1, 2, 4, 5)}, {B: (1, 6, 4, 5)}]
    both = Both(upstream_of(states, tmp_path / "slime", NUMBERS[numbers]), "main~3", "main", tmp_path)
    assert_the_law(both)
    assert_at_the_tip(both)


def test_a_file_that_differs_from_upstream_is_named(tmp_path):
    both = Both(upstream_of([{A: (1, 2)}, {B: (1, 3)}], tmp_path / "slime"), "main~1", "main", tmp_path)
    for branch in ("window", "stack"):
        assert undeclared(both, branch) == ()
        (tmp_path / "fork/vime/b.py").write_bytes(b"other = 1\n")
        both.fork.run("commit", "-qam", "Other")
        assert undeclared(both, branch) == ("vime/b.py",)
