"""Small upstreams, told commit by commit, and forks imported from them."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree

Files = dict[str, str | bytes | None]


class Upstream:
    """A repository that grows: `land("subject (#1)", {path: text})`, None deletes a file."""

    def __init__(self, at: Path) -> None:
        self.at, self.time = at, 1_780_000_000
        at.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        stamp = {"GIT_AUTHOR_DATE": f"{self.time} +0000", "GIT_COMMITTER_DATE": f"{self.time} +0000"}
        done = subprocess.run(
            ["git", "-C", str(self.at), *words], capture_output=True, check=True, env={**os.environ, **stamp}
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def land(self, subject: str, files: Files, body: str = "", author: str = "Ada <ada@example.org>") -> str:
        """The new commit's hex."""
        self.time += 3600
        for path, text in files.items():
            file = self.at / path
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        message = subject + (f"\n\n{body}" if body else "")
        self.git("commit", "-q", "--allow-empty", f"--author={author}", "-m", message)
        return self.git("rev-parse", "HEAD")

    def move(self, subject: str, old: str, new: str) -> str:
        (self.at / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)
        return self.land(subject, {})


@pytest.fixture
def grown(tmp_path: Path) -> Upstream:
    """An upstream without a commit yet."""
    return Upstream(tmp_path / "slime")


@pytest.fixture
def fork_at(tmp_path: Path) -> Callable[..., Path]:
    """The import of an upstream at a revision."""

    def at(upstream: Path, rev: str) -> Path:
        to = tmp_path / f"fork-{rev[:7]}"
        import_tree(Repo.open(upstream), rev, to, Config())
        return to

    return at


@pytest.fixture
def planned(sync: Any) -> Callable[..., Any]:
    """The object of `sync plan --json`."""

    def plan(number: object, **options: object) -> Any:
        answer = sync("plan", number, "--json", **options)
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    return plan


@pytest.fixture
def numbered() -> Callable[[Any], list[int]]:
    """The pull requests of a list of the object."""
    return lambda found: [each["pr"] for each in found]
