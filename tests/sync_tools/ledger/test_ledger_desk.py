"""Ledgers in a repository: the fork around each port is told by its commits, whatever was committed or edited since."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from ledger_world import COMMIT, RULES, Port, change_set, port, sample

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.ledger.check import check
from sync_tools.ledger.decide import resolve
from sync_tools.ledger.desk import Desk
from sync_tools.ledger.markdown import index, render
from sync_tools.ledger.model import Ledger
from sync_tools.ledger.store import dumps
from sync_tools.tree import Blob, MemoryTree, Tree

LEDGER = "ledgers/slime-1921.json"
ENV = {
    "GIT_AUTHOR_NAME": "T",
    "GIT_AUTHOR_EMAIL": "t@e.org",
    "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@e.org",
}
Commit = Callable[[Mapping[str, bytes | None], str], str]


@pytest.fixture(scope="module")
def told() -> Port:
    files, fork = sample()
    return port(change_set(files.changes()), fork)


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    def git(*args: str) -> str:
        env = os.environ | ENV | {"GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *args], cwd=tmp_path, check=True, capture_output=True, text=True, env=env
        ).stdout.strip()

    def committed(files: Mapping[str, bytes | None], message: str) -> str:
        for path, data in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            if data is None:
                (tmp_path / path).unlink()
            else:
                (tmp_path / path).write_bytes(data)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message)
        return git("rev-parse", "HEAD")

    git("init", "-q", "-b", "main")
    return committed


def texts(ledger: Ledger) -> dict[str, bytes]:
    return {
        LEDGER: dumps(ledger).encode(),
        "ledgers/slime-1921.md": render(ledger).encode(),
        "ledgers/README.md": index([ledger]).encode(),
    }


def between(old: Tree, new: Tree) -> dict[str, bytes | None]:
    return dict.fromkeys(old.paths() - new.paths()) | {p: new.blob(p).data for p in new.paths()}


def ported(told: Port, commit: Commit) -> None:
    """The history of a port: the fork, the mechanical commit, the adaptation."""
    commit(between(MemoryTree(), told.landing.before), "fork")
    commit(between(told.landing.before, told.landing.written), f"Port\n\nUpstream-Commit: {COMMIT}")
    commit(texts(told.landing.ledger), f"Adapt\n\nUpstream-Commit: {COMMIT}")


def desk(tmp_path: Path) -> Desk:
    return Desk(Repo.open(tmp_path), Config())


def problems(told: Port, tmp_path: Path) -> list[str]:
    at = desk(tmp_path)
    (landing,) = at.landings(None)
    return [p.what for p in check(landing, told.changes, RULES, at.head(None))]


def test_the_fork_before_and_after_is_found(told: Port, commit: Commit, tmp_path: Path) -> None:
    ported(told, commit)
    (landing,) = desk(tmp_path).landings("1921")
    assert landing.before.blob("vime/rollout/streaming.py") is None
    assert landing.written.blob("vime/rollout/streaming.py") is not None
    assert problems(told, tmp_path) == []


def test_decisions_and_other_commits_leave_it_there(told: Port, commit: Commit, tmp_path: Path) -> None:
    ported(told, commit)
    commit({"vime/ray/group.py": b"# ours\n" + told.landing.written.blob("vime/ray/group.py").data}, "own work")
    ledger = told.landing.ledger
    decided = resolve(ledger, ledger.open[0].id, "dropped", "not wanted", "Ada")
    commit(texts(decided), "decide")
    assert problems(told, tmp_path) == []


def test_a_squashed_port_is_found(told: Port, commit: Commit, tmp_path: Path) -> None:
    commit(between(MemoryTree(), told.landing.before), "fork")
    commit(between(told.landing.before, told.landing.written) | texts(told.landing.ledger), "squashed")
    assert problems(told, tmp_path) == []


def test_edits_that_are_not_committed_count(told: Port, commit: Commit, tmp_path: Path) -> None:
    ported(told, commit)
    place = tmp_path / "vime/ray/group.py"
    kept = place.read_bytes()
    place.write_bytes(kept.replace(b"gamma_2 + 1", b"gamma_2 + 7"))
    assert len(problems(told, tmp_path)) == 1
    place.write_bytes(kept)
    assert problems(told, tmp_path) == []
    (tmp_path / LEDGER).write_text((tmp_path / LEDGER).read_text().replace('"op": "translated"', '"op": "ported"'))
    assert len(problems(told, tmp_path)) == told.landing.ledger.counts["translated"]


def test_a_ledger_is_written_with_its_markdown_and_the_index(told: Port, commit: Commit, tmp_path: Path) -> None:
    ported(told, commit)
    ledger, tree = desk(tmp_path).find("1921")
    assert tree.blob(LEDGER) == Blob((tmp_path / LEDGER).read_bytes())
    decided = resolve(ledger, ledger.open[0].id, "dropped", "not wanted", "Ada")
    assert desk(tmp_path).write(decided) == [LEDGER, "ledgers/slime-1921.md", "ledgers/README.md"]
    assert desk(tmp_path).find("1921")[0] == decided


def test_a_ledger_that_is_nowhere_is_an_error_with_a_fix(commit: Commit, tmp_path: Path) -> None:
    commit({"a": b""}, "fork")
    for ask in (desk(tmp_path).find, desk(tmp_path).landings):
        with pytest.raises(SyncError, match="vime-sync port 1921"):
            ask("1921")
