"""A commit as a change set: every kind of change, and totals that are git's."""

import subprocess
from pathlib import Path

import pytest

from sync_tools.gitio import Repo
from sync_tools.modes import EXECUTABLE, REGULAR, SYMLINK
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import Landing


class Repository:
    """A repository that a test writes one commit after another."""

    def __init__(self, path: Path):
        self.path = path
        subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)

    def write(self, **files: bytes | None) -> None:
        for name, data in files.items():
            place = self.path / name.replace("__", "/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            if data is not None:
                place.write_bytes(data)

    def commit(self, message: str = "Change (#1)") -> str:
        for words in (["add", "--all"], ["commit", "-qm", message, "--allow-empty"]):
            subprocess.run(["git", "-C", str(self.path), *words], check=True)
        return self.git("rev-parse", "HEAD").strip()

    def git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", str(self.path), *words], capture_output=True, text=True, check=True).stdout

    def collect(self, commit: str):
        return collect(Repo.open(self.path), Landing(1, commit))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.write(a=b"one\ntwo\nthree\n", b=b"same\n" * 20)
    made.commit("Begin")
    return made


def only(changes):
    [change] = changes.files
    return change


def test_an_edit_has_zero_context_hunks_in_gits_numbering(repository):
    repository.write(a=b"one\n2\nthree\nfour\n")
    change = only(repository.collect(repository.commit()))
    assert (change.kind, change.added, change.removed) == ("modified", 2, 1)
    assert [(h.old, h.new) for h in change.hunks] == [(range(1, 2), range(1, 2)), (range(3, 3), range(3, 4))]


@pytest.mark.parametrize(
    "data",
    [
        b"crlf\r\nlines\r\n",
        b"no newline at the end",
        b"\xef\xbb\xbfbom\n",
        b"latin \xe9\n",
        b"",
        b"@@ -1 +1 @@\n--- a\n+++ b\n",
    ],
)
def test_bytes_come_through_as_they_are(data, repository):
    repository.write(new=data)
    change = only(repository.collect(repository.commit()))
    assert (change.kind, change.after.data, change.binary) == ("added", data, False)
    assert change.added == len(data.splitlines()) and change.removed == 0


def test_binary_files_have_no_lines(repository):
    repository.write(image=bytes(range(256)))
    change = only(repository.collect(repository.commit()))
    assert change.binary and change.hunks == () and change.after.data == bytes(range(256))


def test_a_rename_with_an_edit_is_one_change(repository):
    repository.write(b=None, moved__b=b"same\n" * 20 + b"more\n")
    change = only(repository.collect(repository.commit()))
    assert (change.kind, change.before.path, change.after.path) == ("renamed", "b", "moved/b")
    assert (change.added, change.removed) == (1, 0) and change.similarity > 90


def test_a_deletion(repository):
    repository.write(a=None)
    change = only(repository.collect(repository.commit()))
    assert (change.kind, change.after, change.removed, change.path) == ("deleted", None, 3, "a")


def test_modes_and_links(repository):
    (repository.path / "a").chmod(0o755)
    (repository.path / "b").unlink()
    (repository.path / "b").symlink_to("../outside")
    (repository.path / "link").symlink_to("a")
    changes = {c.path: c for c in repository.collect(repository.commit()).files}
    assert (changes["a"].kind, changes["a"].before.mode, changes["a"].after.mode) == ("mode", REGULAR, EXECUTABLE)
    assert (changes["b"].kind, changes["b"].after.mode, changes["b"].after.data) == ("type", SYMLINK, b"../outside")
    assert (changes["b"].removed, changes["b"].added) == (20, 1)
    assert (changes["link"].kind, changes["link"].after.data) == ("added", b"a")


def test_paths_with_odd_characters(repository):
    name = 'sp ace "quote" \\ ü\ttab'
    (repository.path / name).write_bytes(b"x\n")
    assert only(repository.collect(repository.commit())).path == name


def test_people_and_their_dates_are_kept(repository):
    repository.write(a=b"x\n")
    commit = repository.commit(
        "Change (#1)\n\nBody.\n\nCo-authored-by: Ada <ada@example.org>\nco-authored-by: Bob <b@example.org>\n"
    )
    changes = repository.collect(commit)
    assert changes.coauthors == ("Ada <ada@example.org>", "Bob <b@example.org>")
    assert changes.subject == "Change (#1)" and changes.body.startswith("Body.")
    assert changes.author.date == repository.git("log", "-1", "--format=%ad", "--date=raw").strip()


def test_a_merge_is_compared_with_its_first_parent(repository):
    repository.git("switch", "-qc", "side")
    repository.write(side=b"side\n")
    repository.commit("Side")
    repository.git("switch", "-q", "main")
    repository.write(main=b"main\n")
    repository.commit("Main")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge (#7)", "side")
    assert [c.path for c in repository.collect(repository.git("rev-parse", "HEAD").strip()).files] == ["side"]


def test_the_first_commit_of_all_adds_everything(repository):
    root = repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    assert {c.kind for c in repository.collect(root).files} == {"added"}


@pytest.mark.upstream
def test_totals_are_those_of_numstat_over_the_real_window(real_upstream):
    if real_upstream is None:
        pytest.skip("needs a clone of slime: SYNC_UPSTREAM=/path/to/slime")
    repo = Repo.open(real_upstream)
    flags = ("-M50%", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv")
    for commit in repo.line("rev-list", "--first-parent", "8ef1fb47e..624b824a8").split("\n"):
        changes = collect(repo, Landing(None, commit))
        rows = [r.split("\t") for r in repo.line("diff", "--numstat", *flags, changes.parent, commit).split("\n") if r]
        expected = [sum(int(r[i]) for r in rows if r[i] != "-") for i in (0, 1)]
        assert [sum(f.added for f in changes.files), sum(f.removed for f in changes.files)] == expected, commit
