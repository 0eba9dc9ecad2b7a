"""Writes a told history as a git repository: one `git fast-import`, so that it takes milliseconds, with nothing taken
from the user's git configuration, so that every machine gets the same hashes."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sync_tools.demo.history import Commit, State

IDENTITY_FREE = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
}


def write(commits: Sequence[Commit], to: Path) -> Path:
    """A repository at `to` whose branch main holds `commits`, checked out. Same commits, same hashes."""
    to.mkdir(parents=True, exist_ok=True)
    git(to, "init", "-q", "-b", "main", "--object-format=sha1", "--template=")
    for key, value in (("core.autocrlf", "false"), ("core.symlinks", "true"), ("core.filemode", "true")):
        git(to, "config", key, value)
    git(to, "fast-import", "--quiet", "--done", stdin=b"".join(_stream(commits)))
    git(to, "reset", "-q", "--hard", "main")
    return to


def _stream(commits: Sequence[Commit]) -> list[bytes]:
    out: list[bytes] = []
    state: State = {}
    mark = 0
    for commit in commits:
        step = commit.step
        parent = mark
        if step.merge:
            mark += 1
            out += _commit("refs/heads/side", mark, commit, step.merge, [parent], state)
        mark += 1
        parents = [parent] if parent else []
        message = step.subject + (f"\n\n{step.body}" if step.body else "")
        out += _commit("refs/heads/main", mark, commit, message, parents + ([mark - 1] if step.merge else []), state)
        state = commit.state
    out += [b"reset refs/heads/side\nfrom " + b"0" * 40 + b"\n\n", b"done\n"]
    return out


def _commit(ref: str, mark: int, commit: Commit, message: str, parents: list[int], old: State) -> list[bytes]:
    person = f"{commit.step.author} {commit.step.date}"
    head = f"commit {ref}\nmark :{mark}\nauthor {person}\ncommitter {person}\n"
    links = "".join(f"{'merge' if n else 'from'} :{p}\n" for n, p in enumerate(parents))
    out = [head.encode(), _data((message + "\n").encode()), links.encode()]
    out += [f"D {path}\n".encode() for path in sorted(set(old) - set(commit.state))]
    for path, blob in sorted(commit.state.items()):
        if old.get(path) != blob:
            out += [f"M {blob.mode:o} inline {path}\n".encode(), _data(blob.data)]
    return [*out, b"\n"]


def _data(data: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(data), data)


def git(at: Path, *args: str, stdin: bytes | None = None) -> bytes:
    """What git prints; it sees nothing of the configuration or the environment of who runs it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | IDENTITY_FREE
    command = ["git", "-C", str(at), *args]
    return subprocess.run(command, input=stdin, env=env, check=True, capture_output=True).stdout
