"""A fork with edits of its own takes a window: at once and one by one, with conflicts and without."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_window_law import assert_the_law, problems
from window_world import FIRST, Both, histories, text, upstream_of

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.port import paused
from sync_tools.port.fork import Fork
from sync_tools.port.request import Request
from sync_tools.port.session import Places, Session, resume
from sync_tools.port.window_session import resume_window, start_window

A, D = "slime/a.py", "docs/d.md"
OURS = {A: "vime/a.py", D: "docs/d.md"}
REGION = re.compile(rb"<<<<<<<[^\n]*\n(.*?)\|\|\|\|\|\|\|[^\n]*\n.*?=======\n(.*?)>>>>>>>[^\n]*\n", re.S)


def imported(path: str) -> list[bytes]:
    return text(path, FIRST[path]).replace(b"slime", b"vime").split(b"\n")


@st.composite
def edits(draw: st.DrawFn) -> dict[str, bytes]:
    """One edit of each of the fork's files, or of one."""
    found = {}
    for path in draw(st.sampled_from([(A,), (D,), (A, D)])):
        lines = imported(path)
        at = draw(st.integers(0, len(lines) - 2))
        match draw(st.sampled_from(["change", "insert", "delete"])):
            case "change":
                lines[at] += b"  # ours"
            case "insert":
                lines.insert(at, b"# ours")
            case "delete":
                del lines[at]
        found[OURS[path]] = b"\n".join(lines)
    return found


def resolved(both: Both, session: Session, side: int) -> None:
    """Every conflict decided for one side (1 the fork's, 2 upstream's), until the port is done."""
    fork = Fork(both.fork)
    while session.worktree:
        place = session.worktree
        said = subprocess.run(["git", "-C", place, "ls-files", "-u", "-z"], capture_output=True, text=True, check=True)
        for path in {record.split("\t")[1] for record in said.stdout.split("\0") if record}:
            (place / path).write_bytes(REGION.sub(lambda m: m[side], (place / path).read_bytes()))
            subprocess.run(["git", "-C", place, "add", path], check=True)
        state = paused.find(fork, session_branch(place))
        go_on = resume_window if state.window else resume
        session = go_on(state, state.recall(Request()), Places(Config(), both.upstream, fork))


def session_branch(place: Path) -> str:
    return place.parent.name.replace("sync-", "sync/", 1)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(states=histories(), mine=edits(), side=st.sampled_from([1, 2]))
def test_a_history_onto_edits(states, mine, side):
    if len(states) < 2:
        return
    with tempfile.TemporaryDirectory() as home:
        upstream = upstream_of(states, Path(home) / "slime")
        try:
            both = Both(upstream, f"main~{len(states) - 1}", "main", Path(home), mine)
        except SyncError as refused:
            assert "two windows" in refused.fix
            return
        sessions = (both.stack, both.window)
        if not any(each.worktree for each in sessions):
            assert_the_law(both)
            return
        for branch, session in zip(("stack", "window"), sessions, strict=True):
            assert not session.worktree or session.status == "conflicts"
            resolved(both, session, side)
            assert all(x.accounted == x.added + x.removed for x in both.ledgers(branch).values())
            assert problems(both, branch) == []


def test_what_came_and_went_between_two_blank_lines_is_no_edit_of_the_fork(tmp_path):
    """Of the lines that 102 removes, the cutoff has only blank ones, and an edit stands near."""
    lines = imported(A)
    lines.insert(lines.index(b"def f5(args):") - 2, b"# ours")
    states = [{A: FIRST[A]}, {A: (1, 106, 103, 4, 5, 6)}, {A: (1, 5, 6)}]
    both = Both(upstream_of(states, tmp_path / "slime"), "main~2", "main", tmp_path, {OURS[A]: b"\n".join(lines)})
    assert_the_law(both)


def test_a_file_that_the_fork_changed_as_upstream_does(tmp_path):
    """101 removes a line that the fork removed before, and so finds its file as it leaves it."""
    states = [{A: FIRST[A], D: FIRST[D]}, {A: FIRST[A], D: FIRST[D][:-1]}]
    mine = {OURS[D]: b"\n".join([*imported(D)[:-2], b""])}
    both = Both(upstream_of(states, tmp_path / "slime"), "main~1", "main", tmp_path, mine)
    assert [session.status for session in (both.stack, both.window)] == ["present", "present"]
    assert_the_law(both)


def test_a_landing_does_not_fail_for_another_ones_conflict(tmp_path):
    """101 and 102 change one file; the fork's edit is in the way of 102 alone."""
    lines = imported(A)
    lines[lines.index(b"    return args.vime_6")] += b"  # ours"
    states = [{A: FIRST[A]}, {A: (10, *FIRST[A][1:])}, {A: (10, *FIRST[A][1:-1], 60)}]
    both = Both(upstream_of(states, tmp_path / "slime"), "main~2", "main", tmp_path, {OURS[A]: b"\n".join(lines)})
    assert both.window.worktree and both.window.status == "conflicts"
    assert [port.status for port in both.window.ports] == ["clean", "conflicts"]


@pytest.mark.parametrize("side", [1, 2])
def test_a_file_that_is_deleted_while_the_fork_edits_it(side, tmp_path):
    lines = imported(A)
    lines.insert(0, b"# ours")
    states = [{A: FIRST[A], D: (7,)}, {A: FIRST[A][:-1], D: (7,)}, {D: (7, 8)}]
    both = Both(upstream_of(states, tmp_path / "slime"), "main~2", "main", tmp_path, {OURS[A]: b"\n".join(lines)})
    for branch, session in (("stack", both.stack), ("window", both.window)):
        assert session.worktree
        resolved(both, session, side)
        assert both.tree(branch)["vime/a.py"].data.startswith(b"# ours")
        assert problems(both, branch) == []


B = "slime/b.py"
TWO_IN_ONE_PLACE = {
    "a file moves where one was deleted": [{A: FIRST[A], B: (20, 21)}, {B: (20, 21)}, {A: (20, 21)}],
    "it is edited after": [{A: FIRST[A], B: (20, 21)}, {B: (20, 21)}, {A: (20, 21)}, {A: (20, 22)}],
    "a copy goes back to where it was made": [{A: FIRST[A]}, {A: FIRST[A], B: (*FIRST[A], 7)}, {B: (*FIRST[A], 7)},
                                              {A: (*FIRST[A], 7)}],
}  # fmt: skip


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("kind", TWO_IN_ONE_PLACE)
def test_another_file_in_the_place_of_an_edited_one_takes_two_windows(kind, side, tmp_path):
    """The first ends where the fork's file is deleted; what a person decides there stands when the other one comes."""
    states, lines = TWO_IN_ONE_PLACE[kind], imported(A)
    lines.insert(3, b"# ours")
    upstream = upstream_of(states, tmp_path / "slime")
    cutoff = f"main~{len(states) - 1}"
    with pytest.raises(SyncError, match=r"vime/a\.py.*two windows") as refused:
        Both(upstream, cutoff, "main", tmp_path / "whole", {OURS[A]: b"\n".join(lines)})
    both = Both(upstream, cutoff, tip(refused.value), tmp_path / "first", {OURS[A]: b"\n".join(lines)})
    resolved(both, both.window, side)
    assert both.tree("window")["vime/a.py"].data.splitlines()[3] == b"# ours"
    assert problems(both, "window") == []
    rest(both, tip(refused.value), side)


def test_a_file_that_is_added_and_moves_to_one_of_the_forks_takes_two_windows(tmp_path):
    states = [{D: FIRST[D]}, {D: FIRST[D], B: (20, 21)}, {D: FIRST[D], A: (20, 21)}, {D: FIRST[D], A: (20, 22)}]
    upstream = upstream_of(states, tmp_path / "slime")
    own = {"vime/a.py": text(A, (20, 30)).replace(b"slime", b"vime")}
    with pytest.raises(SyncError, match=r"vime/a\.py.*two windows") as refused:
        Both(upstream, "main~3", "main", tmp_path / "whole", own)
    both = Both(upstream, "main~3", tip(refused.value), tmp_path / "first", own)
    assert both.window.status == "clean" and problems(both, "window") == []
    rest(both, tip(refused.value), 1)
    assert b"def f30" in both.tree("rest")["vime/a.py"].data


def tip(refused: SyncError) -> str:
    return refused.fix.rpartition(" ")[2]


def rest(both: Both, since: str, side: int) -> None:
    """The window from there on, onto what the first one left, with every conflict decided for one side."""
    both.fork.run("switch", "-q", "sync/slime-window")
    places = Places(Config(), both.upstream, Fork(both.fork))
    resolved(both, start_window(Request(cutoff=since, tip="main", name="rest"), places), side)
    assert problems(both, "rest") == []
