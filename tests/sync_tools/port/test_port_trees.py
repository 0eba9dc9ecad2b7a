"""Trees written in this process are those that git writes."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sync_tools.gitio import Repo
from sync_tools.modes import EXECUTABLE, REGULAR, SYMLINK
from sync_tools.port.commits import write_tree
from sync_tools.tree import Blob

NAMES = st.sampled_from(["a", "a.b", "a-b", "b", "ab", "é"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
BLOBS = st.builds(Blob, st.binary(max_size=6), st.sampled_from([REGULAR, EXECUTABLE, SYMLINK]))


def consistent(files: dict[str, Blob]) -> dict[str, Blob]:
    """Without files that lie below others."""
    return {p: b for p, b in files.items() if not any(q != p and p.startswith(q + "/") for q in files)}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    place = tmp_path_factory.mktemp("trees")
    Repo(place, place).run("init", "-q")
    return Repo.open(place)


def by_index(repo: Repo, files: dict[str, Blob], index: Path) -> str:
    index.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(index)}
    lines = []
    for path, blob in files.items():
        oid = repo.run("hash-object", "-w", "--stdin", data=blob.data).decode().strip()
        lines.append(f"{blob.mode:o} {oid}\t".encode() + os.fsencode(path) + b"\0")
    repo.run("update-index", "-z", "--index-info", data=b"".join(lines), env=env)
    return repo.line("write-tree", env=env)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.dictionaries(PATHS, BLOBS, max_size=6), after=st.dictionaries(PATHS, BLOBS, max_size=6))
def test_edits_of_a_tree_give_the_tree_that_git_writes(repo, tmp_path, before, after):
    before, after = consistent(before), consistent(after)
    base = by_index(repo, before, tmp_path / "index")
    assert repo.tree(base).entries.keys() == before.keys()
    edits = dict.fromkeys(before.keys() - after.keys()) | {p: b for p, b in after.items() if before.get(p) != b}
    made = write_tree(repo, base, edits)
    assert made == by_index(repo, after, tmp_path / "index")
    assert {p: repo.tree(made).blob(p) for p in after} == after


def test_a_missing_object_is_a_failure_of_git(repo):
    from sync_tools.gitio import GitFailed

    with pytest.raises(GitFailed, match="no such"):
        repo.read("1" * 40)
    with pytest.raises(GitFailed, match="no such"):
        _ = repo.tree("1" * 40).entries
