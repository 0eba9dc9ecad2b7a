"""Numbers to commits, and where upstream is read from."""

import subprocess

import pytest

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.upstream.history import number_of
from sync_tools.upstream.mirror import fetch, mirror_path, open_upstream, without_secrets
from sync_tools.upstream.resolve import landing


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        ("Add a thing (#12)", 12),
        ('Revert "Add a thing (#12)" (#15)', 15),
        ("Fix (#3) for real", None),
        ("See #7", None),
        ("Two (#1) (#2)", 2),
        ("Trailing space (#4) ", 4),
    ],
)
def test_the_number_is_the_last_one_at_the_end(subject, number):
    assert number_of(subject) == number


def commit(path, message):
    subprocess.run(["git", "-C", str(path), "commit", "-q", "--allow-empty", "-m", message], check=True)
    return subprocess.run(
        ["git", "-C", str(path), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_of_several_landings_the_last_counts_and_the_others_are_named(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    first, _, last = commit(tmp_path, "Try (#5)"), commit(tmp_path, "Other (#6)"), commit(tmp_path, "Again (#5)")
    found = landing(Repo.open(tmp_path), 5)
    assert (found.commit, found.others) == (last, (first,))


def test_only_the_main_line_counts(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    commit(tmp_path, "Main (#1)")
    subprocess.run(["git", "-C", str(tmp_path), "switch", "-qc", "side"], check=True)
    commit(tmp_path, "Side (#2)")
    with pytest.raises(SyncError, match="#2"):
        landing(Repo.open(tmp_path), 2)
    assert landing(Repo.open(tmp_path), 1)


def test_a_url_is_mirrored_once_and_brought_up_to_date_after(upstream, tmp_path, monkeypatch, sync):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", str(upstream), str(source)], check=True)
    url = f"file://{source}"
    with pytest.raises(SyncError, match="fetch"):
        open_upstream(url, Config())
    assert sync("fetch", upstream=url).code == 0
    newest = commit(source, "New (#4242)")
    assert sync("fetch", upstream=url).code == 0
    assert landing(open_upstream(url, Config()), 4242).commit == newest
    assert open_upstream(url, Config()).work_tree is None


def test_a_failed_fetch_leaves_nothing_behind_and_tells_no_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(SyncError) as caught:
        fetch("file:///nowhere/at/all")
    assert "nowhere" in str(caught.value)
    folder = mirror_path("file:///nowhere/at/all").parent
    assert not folder.exists() or {path.suffix for path in folder.iterdir()} <= {".lock"}
    assert without_secrets("https://user:token@example.org/x") == "https://***@example.org/x"


def test_two_urls_of_one_name_have_two_mirrors():
    assert mirror_path("https://a.example/x/slime.git") != mirror_path("https://b.example/x/slime.git")
