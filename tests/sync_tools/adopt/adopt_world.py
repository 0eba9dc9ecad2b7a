"""A small upstream made of trees, and a survey of what a fork's files hold of it."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sync_tools.adopt.survey import Survey, survey
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.translate import Translator
from sync_tools.tree import Blob, MemoryTree
from sync_tools.upstream.window import window

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class World:
    """Upstream's repository; `tree(n)` are the files after the n-th landing, the 0th is the cutoff."""

    folder: Path
    trees: tuple[Files, ...]

    def survey(self, fork: Files, config: Config | None = None) -> Survey:
        repo, config = Repo.open(self.folder), config or Config()
        span = window(repo, f"HEAD~{len(self.trees) - 1}", "HEAD")
        tree = MemoryTree({path: Blob(data.encode() if isinstance(data, str) else data) for path, data in fork.items()})
        return survey(repo, span, tree, config, Translator(config))

    def states(self, fork: Files, config: Config | None = None) -> list[str]:
        """The state of each landing, oldest first."""
        return [verdict.state for verdict in self.survey(fork, config).verdicts]

    def fork(self, n: int, **edits: str) -> dict[str, str | bytes]:
        """The fork at the n-th landing, by plain names: these files hold nothing else to translate."""
        return {path.replace("slime", "vime"): data for path, data in self.trees[n].items()} | edits


def world(folder: Path, *trees: Files, subjects: tuple[str, ...] = ()) -> World:
    """Commit the trees one after another; the n-th landing carries the number n unless `subjects` say otherwise."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)

    folder.mkdir()
    git("init", "-q", "-b", "main")
    for n, files in enumerate(trees):
        for path in [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts]:
            path.unlink()
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        git("add", "-A")
        subject = subjects[n] if n < len(subjects) else f"Landing {n} (#{n})"
        git("commit", "-q", "--allow-empty", "-m", subject)
    return World(folder, trees)
