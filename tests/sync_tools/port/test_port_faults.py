"""Whatever goes wrong, the checkout, the index and the branches stay as they were, and the next run works."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "sync_tools"]


def state(fork: Path, git) -> tuple[str, ...]:
    return (
        git(fork, "for-each-ref"),
        git(fork, "status", "--porcelain"),
        git(fork, "rev-parse", "HEAD"),
        git(fork, "ls-files", "--stage"),
    )


@pytest.mark.slow
def test_killed_at_random_moments_a_port_leaves_everything_as_it_was(imported, upstream, git):
    fork = imported(1921)
    command = [*PROGRAM, "port", "1921", "--repo", str(fork), "--upstream", str(upstream)]
    began = time.monotonic()
    subprocess.run([*command, "--dry-run"], check=True, capture_output=True)
    length = time.monotonic() - began
    before, chance = state(fork, git), random.Random(1921)
    for _ in range(25):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(chance.uniform(0, length))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if git(fork, "branch", "--list", "sync/*"):
            git(fork, "branch", "-D", "sync/slime-pr-1921")
        assert state(fork, git) == before
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert git(fork, "fsck", "--strict", check=False) is not None


def test_of_two_ports_at_once_one_wins(sync, imported, upstream, git):
    from sync_tools.gitio import Repo
    from sync_tools.port.fork import Fork

    fork = imported(1921)
    with Fork(Repo.open(fork)).lock():
        refused = sync("port", 1921, repo=fork, upstream=upstream)
    assert refused.code == 2 and "another port is running" in refused.err
    assert sync("port", 1921, repo=fork, upstream=upstream).code == 0


def refused(answer, *words: str) -> None:
    assert answer.code == 2, answer.out
    assert len(answer.err.splitlines()) <= 2 and "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


def test_an_unknown_number(sync, imported, upstream, git):
    fork = imported(1921)
    before = state(fork, git)
    refused(sync("port", 4711, repo=fork, upstream=upstream), "#4711")
    assert state(fork, git) == before


def test_a_mirror_that_was_never_fetched(sync, imported):
    refused(sync("port", 1921, repo=imported(1921), upstream="https://example.org/THUDM/slime.git"), "fetch")


def test_a_clone_that_is_too_shallow(sync, imported, upstream, tmp_path, git):
    shallow = tmp_path / "shallow"
    head = git(upstream, "rev-parse", "HEAD")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{upstream}", str(shallow)], check=True)
    refused(sync("port", 1921, repo=imported(1921), upstream=shallow), "unshallow")
    refused(sync("port", "--commit", head, repo=imported(1861), upstream=shallow), "unshallow")


def test_no_git_identity(sync, imported, upstream, git, monkeypatch):
    fork = imported(1921)
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name)
    before = state(fork, git)
    refused(sync("port", 1921, repo=fork, upstream=upstream), "user.name")
    assert state(fork, git) == before


@pytest.mark.parametrize(
    ("content", "where", "word"),
    [
        ("schema = 1\nunknown = 2\n", "sync.toml:2", "unknown"),
        ('[[policies]]\nmatch = "../x"\naction = "skip"\nreason = "no"\n', "sync.toml:2", "policies.0.match"),
        (
            '[[policies]]\nmatch = "a"\naction = "into"\nreason = "because"\ninto = "/etc/passwd"\n',
            "sync.toml:5",
            "into",
        ),
        ("schema = [1\n", "sync.toml", "TOML"),
        ('[ci]\nworkflow = ".git/hooks/post-checkout"\n', "sync.toml:2", "workflow"),
        ('[seam]\nstyle = "other"\n', "sync.toml:2", "seam.style"),
    ],
)
def test_a_bad_configuration_names_line_and_key(content, where, word, sync, imported, upstream):
    fork = imported(1921)
    (fork / "sync.toml").write_text(content)
    refused(sync("port", 1921, repo=fork, upstream=upstream), where, word)


def test_a_branch_with_a_persons_commit_is_not_overwritten(sync, imported, upstream, git):
    fork = imported(1921)
    sync("port", 1921, repo=fork, upstream=upstream)
    git(fork, "switch", "-q", "sync/slime-pr-1921")
    (fork / "mine.txt").write_text("mine")
    git(fork, "add", "mine.txt")
    git(fork, "commit", "-qm", "Mine")
    refused(sync("port", 1921, "--base", "main", repo=fork, upstream=upstream), "checked out")
    git(fork, "switch", "-q", "main")
    before = git(fork, "rev-parse", "sync/slime-pr-1921")
    refused(sync("port", 1921, repo=fork, upstream=upstream), "a person's commit")
    assert git(fork, "rev-parse", "sync/slime-pr-1921") == before


def test_no_such_repository_and_no_such_base(sync, imported, upstream, tmp_path):
    refused(sync("port", 1921, repo=tmp_path / "nowhere", upstream=upstream), "nowhere")
    (tmp_path / "plain").mkdir()
    refused(sync("port", 1921, repo=tmp_path / "plain", upstream=upstream), "not a git repository")
    refused(sync("port", 1921, "--base", "nothing", repo=imported(1921), upstream=upstream), "nothing")


def commit_with(repo: Path, entries: list[tuple[str, str, bytes]], git) -> str:
    """A commit on top of HEAD whose tree holds entries that git itself would not make: (mode, path, data)."""
    lines = []
    for mode, path, data in entries:
        oid = subprocess.run(
            ["git", "-C", str(repo), "hash-object", "-w", "--stdin"], input=data, capture_output=True, check=True
        )
        tree = (
            subprocess.run(
                ["git", "-C", str(repo), "mktree"],
                input=f"{mode} blob {oid.stdout.decode().strip()}\t{path.split('/')[-1]}\n".encode(),
                capture_output=True,
                check=True,
            )
            .stdout.decode()
            .strip()
        )
        for part in reversed(path.split("/")[:-1]):
            raw = b"40000 " + part.encode() + b"\0" + bytes.fromhex(tree)
            tree = (
                subprocess.run(
                    ["git", "-C", str(repo), "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
                    input=raw,
                    capture_output=True,
                    check=True,
                )
                .stdout.decode()
                .strip()
            )
        lines.append(tree)
    return git(repo, "commit-tree", lines[-1], "-p", "HEAD", "-m", "Hostile (#6666)")


@pytest.fixture
def hostile(upstream: Path, tmp_path: Path) -> Path:
    target = tmp_path / "hostile"
    subprocess.run(["git", "clone", "-q", "--bare", str(upstream), str(target)], check=True)
    return target


@pytest.mark.parametrize("path", ["../escape.py", "slime/../../escape.py", ".git/hooks/post-checkout"])
def test_a_path_of_upstreams_that_leaves_the_tree(path, sync, imported, hostile, git, tmp_path):
    fork = imported(1921)
    commit = commit_with(hostile, [("100644", path, b"print('out')\n")], git)
    before = state(fork, git)
    refused(sync("port", "--commit", commit, repo=fork, upstream=hostile), "leaves the tree")
    assert state(fork, git) == before and not (tmp_path / "escape.py").exists()


def test_a_path_of_upstreams_through_a_symlink_of_the_fork(sync, imported, hostile, git, tmp_path):
    fork = imported(1921)
    (tmp_path / "outside").mkdir()
    (fork / "link").symlink_to(tmp_path / "outside")
    git(fork, "add", "link")
    git(fork, "commit", "-qm", "A link")
    commit = commit_with(hostile, [("100644", "link/escape.py", b"x = 1\n")], git)
    refused(sync("port", "--commit", commit, repo=fork, upstream=hostile), "symbolic link")
    assert not list((tmp_path / "outside").iterdir())


def test_errors_are_one_json_object_when_asked_for(sync, imported, upstream):
    import json

    answer = sync("port", 4711, "--json", repo=imported(1921), upstream=upstream)
    value = json.loads(answer.out)
    assert answer.code == 2 and set(value["error"]) == {"what", "where", "fix"} and value["schema"] == 1
