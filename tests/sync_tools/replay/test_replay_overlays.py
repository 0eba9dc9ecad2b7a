"""The forms in which a fork's edits are given, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.modes import EXECUTABLE, SYMLINK
from sync_tools.port.known import known
from sync_tools.replay.overlay import read_overlay
from sync_tools.replay.places import Start

FILE, OTHER = "vime/utils/misc.py", "vime/utils/data.py"


@pytest.fixture
def start(imported: Callable[[int], Path]) -> Start:
    repo = Repo.open(imported(1921))
    cutoff = known(repo, repo.head(), Config()).cutoff
    assert cutoff
    return Start(repo, repo.head(), cutoff, Config())


@pytest.fixture
def fork(start: Start, tmp_path: Path) -> Path:
    """A copy of the import, to edit."""
    assert start.repo.work_tree
    return Path(shutil.copytree(start.repo.work_tree, tmp_path / "edited", symlinks=True))


def files(place: Path, **texts: str) -> Path:
    for name, text in texts.items():
        target = place / name.replace("__", "/").replace("_dot_", ".")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return place


def test_a_folder_lays_removes_and_renames(start, tmp_path):
    place = files(tmp_path / "o", vime__new_dot_py="x = 1\n")
    (place / "vime" / "new.py").chmod(0o755)
    (place / "link").symlink_to("vime/new.py")
    (place / "overlay.toml").write_text(f'remove = ["{OTHER}"]\n[rename]\n"{FILE}" = "vime/utils/small.py"\n')
    edits = read_overlay(place, start)
    assert edits.keys() == {"vime/new.py", "link", OTHER, FILE, "vime/utils/small.py"}
    assert edits[OTHER] is None and edits[FILE] is None
    assert edits["vime/utils/small.py"] == start.tree.blob(FILE)
    assert (edits["vime/new.py"].mode, edits["link"].mode) == (EXECUTABLE, SYMLINK)


def test_a_renamed_file_may_be_edited_too(start, tmp_path):
    place = files(tmp_path / "o", vime__utils__small_dot_py="x = 1\n")
    (place / "overlay.toml").write_text(f'[rename]\n"{FILE}" = "vime/utils/small.py"\n')
    assert read_overlay(place, start)["vime/utils/small.py"].data == b"x = 1\n"


def test_a_fork_and_its_patch_say_the_same(start, fork, tmp_path, git):
    (fork / FILE).write_text((fork / FILE).read_text() + "\n\nOURS = 1\n")
    git(fork, "mv", OTHER, "vime/utils/records.py")
    git(fork, "add", "-A")
    git(fork, "commit", "-q", "-m", "Our edits")
    edits = read_overlay(fork, start)
    assert edits.keys() == {FILE, OTHER, "vime/utils/records.py"} and edits[OTHER] is None
    patch = tmp_path / "ours.patch"
    patch.write_text(git(fork, "diff", "-M", "HEAD^", "HEAD") + "\n")
    assert read_overlay(patch, start) == edits


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('remove = ["vime/nothing.py"]', "no such file"),
        ('[rename]\n"vime/utils/misc.py" = "../out.py"', "leaves the tree"),
        ("remove = 3", "cannot be read"),
        ('wish = ["x"]', "cannot be read"),
        ("", "changes nothing"),
    ],
)
def test_what_a_list_may_not_say(start, tmp_path, said, told):
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "overlay.toml").write_text(said)
    with pytest.raises(SyncError, match=told):
        read_overlay(tmp_path / "o", start)


def test_what_is_no_overlay(start, fork, tmp_path, git):
    with pytest.raises(SyncError, match="no such overlay"):
        read_overlay(tmp_path / "nowhere", start)
    (tmp_path / "x.patch").write_text("--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n")
    with pytest.raises(SyncError, match="does not apply"):
        read_overlay(tmp_path / "x.patch", start)
    (fork / FILE).write_text("x = 1\n")
    git(fork, "commit", "-q", "-a", "-m", "Ours\n\nUpstream-Commit: " + "a" * 40)
    with pytest.raises(SyncError, match="not edits of the import"):
        read_overlay(fork, start)


def test_a_copy_of_the_whole_says_what_it_lacks(start, fork):
    shutil.rmtree(fork / ".git")
    (fork / OTHER).rename(fork / "vime/utils/records.py")
    (fork / FILE).write_text("x = 1\n")
    (fork / "vime/__pycache__").mkdir()
    (fork / "vime/__pycache__/misc.pyc").write_bytes(b"\0")
    edits = read_overlay(fork, start)
    assert edits.keys() == {FILE, OTHER, "vime/utils/records.py"}
    assert edits[OTHER] is None and edits["vime/utils/records.py"] == start.tree.blob(OTHER)


def test_many_edited_files_are_no_copy_of_the_whole(start, fork, tmp_path):
    shutil.rmtree(fork / ".git")
    (fork / OTHER).unlink()
    for path in fork.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes() + b"ours\n")
    edits = read_overlay(fork, start)
    assert OTHER not in edits and all(edits.values())


def test_a_fork_counts_as_it_stands(start, fork, git):
    (fork / FILE).write_text("x = 1\n")
    git(fork, "commit", "-q", "-a", "-m", "Ours")
    (fork / OTHER).unlink()
    (fork / "new.py").write_text("y = 2\n")
    edits = read_overlay(fork, start)
    assert edits.keys() == {FILE, OTHER, "new.py"} and edits[OTHER] is None and edits["new.py"].data == b"y = 2\n"


def test_a_folder_under_git_without_an_import_is_its_files(start, fork, tmp_path, git):
    place = files(tmp_path / "o", vime__new_dot_py="x = 1\n")
    git(place, "init", "-q")
    assert read_overlay(place, start).keys() == {"vime/new.py"}
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "Ours")
    assert read_overlay(place, start).keys() == {"vime/new.py"}
