"""One reader of history: what it says is what a change set says, whatever files hold and users like; lines keep their way."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.gitio import Repo
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.collect import collect
from sync_tools.upstream.history import diffs, messages, names
from sync_tools.upstream.marks import carried
from sync_tools.upstream.patch import FileDiff, Side
from sync_tools.upstream.resolve import Landing
from sync_tools.upstream.shift import Shift

ODD = 'a "b"\tc\\ \x1b\n é.py'
LOOKS = b"diff --git a/x b/x\n@@ -1 +1 @@\n:100644 100644 1 2 M\tx\n\x01" + b"a" * 40 + b"\n--- a/x\n+++ b/x\n"


@pytest.fixture
def strange(tmp_path: Path) -> Repo:
    """A history with files that look like diffs, odd paths, every kind of change, and a merge."""
    at = tmp_path / "upstream"

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(at), *words], check=True, capture_output=True)

    def land(subject: str, **_: object) -> None:
        git("add", "--all")
        git("commit", "-q", "--allow-empty", "-m", subject)

    at.mkdir()
    git("init", "-q", "-b", "main")
    (at / ODD).write_bytes(b"A = 1\n" * 9)
    (at / "looks").write_bytes(LOOKS)
    (at / "late").write_bytes(b"x" * 9000 + b"\n\0\n")
    (at / "bin").write_bytes(b"\0\1")
    (at / "link").symlink_to("late")
    land("begin (#1)")
    (at / ODD).rename(at / "moved.py")
    (at / "looks").write_bytes(LOOKS * 2 + b"\rno end")
    (at / "late").write_bytes(b"y\n\0" + b"x" * 9000 + b"\n\0\n")
    (at / "bin").write_bytes(b"\0\2")
    (at / "link").unlink()
    (at / "link").write_bytes(b"now\na file\n")
    land("\x01change\x1b (#2)\n\nbody\n\x01" + "b" * 40)
    git("switch", "-q", "-c", "side")
    (at / "aside").write_bytes(b"1\n2\n")
    land("aside")
    git("switch", "-q", "main")
    (at / "looks").unlink()
    (at / "late").chmod(0o755)
    land("delete (#3)")
    git("merge", "-q", "--no-ff", "-m", "merged (#4)", "side")
    return Repo.open(at)


def told(repo: Repo) -> list[object]:
    read = diffs(repo, "HEAD")
    return [[(f.status, f.before, f.after, f.binary, f.hunks) for f in read[m.commit]] for m in messages(repo, "HEAD")]


def test_the_reader_and_a_change_set_say_the_same(strange):
    read, paths = diffs(strange, "HEAD"), names(strange, "HEAD")
    assert [m.pr for m in messages(strange, "HEAD")] == [4, 3, 2, 1]
    for message in messages(strange, "HEAD"):
        files = collect(strange, Landing(message.pr, message.commit)).files
        assert files
        assert [(f.old, f.new, f.hunks, f.binary) for f in read[message.commit]] == [
            (f.old, f.new, f.hunks, f.binary) for f in files
        ]
        assert [(f.old, f.new) for f in paths[message.commit]] == [(f.old, f.new) for f in files]
    assert any(f.path == ODD for files in read.values() for f in files)


def test_what_a_user_likes_changes_nothing(strange, tmp_path, monkeypatch):
    before = told(strange)
    likes = tmp_path / "likes"
    likes.write_text(
        "[diff]\n noprefix = true\n mnemonicPrefix = true\n renames = false\n context = 9\n algorithm = histogram\n"
        "[log]\n showRoot = false\n diffMerges = off\n[core]\n quotePath = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(likes))
    assert told(Repo.open(strange.git_dir)) == before


def test_changed_lines_are_those_of_the_file(strange):
    found = {f.path: f.changed for files in diffs(strange, "HEAD").values() for f in files if f.status == "D"}
    assert found["looks"] == tuple(b"-" + line for line in (LOOKS * 2 + b"\rno end").split(b"\n"))


PIECES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 4)), max_size=6)


def hunks_of(pieces: list[tuple[int, int, int]]) -> tuple[tuple[Hunk, ...], int]:
    """Hunks with so many lines kept before each, and the length of the file before."""
    old = new = 0
    found = []
    for kept, cut, put in pieces:
        old, new = old + kept + 1, new + kept + 1
        if cut or put:
            found.append(Hunk.of(range(old, old + cut), range(new, new + put)))
        old, new = old + cut, new + put
    return tuple(found), old + 3


@given(PIECES)
@settings(max_examples=60, deadline=None)
def test_a_line_that_stays_comes_back_to_its_place_and_the_others_are_the_hunks(pieces):
    hunks, length = hunks_of(pieces)
    shift = Shift(hunks)
    there = {at: shift.line(at) for at in range(length)}
    assert {at for at, to in there.items() if to is None} == {n for h in hunks for n in h.old}
    kept = [to for to in there.values() if to is not None]
    assert kept == sorted(kept) and not set(kept) & {n for h in hunks for n in h.new}
    assert all(shift.back.line(to) == at for at, to in there.items() if to is not None)


def test_marks_go_with_files_that_change_places():
    def moved(old: str, new: str) -> FileDiff:
        return FileDiff("R100", Side(old, 0o100644, "0" * 40), Side(new, 0o100644, "0" * 40))

    marks = {"a": {1: "of a"}, "b": {2: "of b"}}
    carried(marks, [moved("a", "b"), moved("b", "a")])
    assert marks == {"b": {1: "of a"}, "a": {2: "of b"}}
    carried(marks, [moved("a", "b"), moved("b", "a")], back=True)
    assert marks == {"a": {1: "of a"}, "b": {2: "of b"}}
