"""What a walk-through stands on: it says what comes, prints each command before it runs it, and remembers surprises."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

IDENTITY = {
    "GIT_AUTHOR_NAME": "Robin Demo",
    "GIT_AUTHOR_EMAIL": "robin@example.com",
    "GIT_COMMITTER_NAME": "Robin Demo",
    "GIT_COMMITTER_EMAIL": "robin@example.com",
}


@dataclass
class Stage:
    """Commands run in `folder` with an identity of the demo's own, so that a machine without one can show it too."""

    folder: Path
    console: Console
    surprises: list[str] = field(default_factory=list)

    def chapter(self, title: str, text: str = "") -> None:
        self.console.print()
        self.console.rule(f"[bold]{title}", align="left")
        self.say(text)

    def say(self, markdown: str) -> None:
        if markdown:
            self.console.print(Markdown(markdown))

    def sync(self, *args: str, expect: Sequence[int] = (0,), first: int | None = None) -> bool:
        """Runs `sync` as the user would, and shows the `first` lines of what it says; True when it ended with an expected
        exit code."""
        return self._run(["vime-sync", *args], [sys.executable, "-m", "sync_tools", *args], expect, first)

    def git(self, repo: str, *args: str) -> bool:
        command = ["git", "-C", repo, *args]
        return self._run(command, [*command[:3], "--no-pager", *args], (0,))

    def read(self, repo: str, revision: str, path: str) -> str:
        """A file at a revision; empty where there is none."""
        command = ["git", "-C", repo, "show", f"{revision}:{path}"]
        shown = subprocess.run(command, cwd=self.folder, capture_output=True, env=self._env())
        return shown.stdout.decode("utf-8", "replace")

    def _run(self, shown: Sequence[str], argv: Sequence[str], expect: Sequence[int], first: int | None = None) -> bool:
        line = shlex.join(shown)
        self.console.print(f"\n[bold cyan]$[/] [bold]{_plain(line)}[/]", soft_wrap=True)
        self.console.file.flush()
        out = None if first is None else subprocess.PIPE
        ended = subprocess.run(argv, cwd=self.folder, env=self._env(), stdout=out, stderr=subprocess.PIPE)
        if first is not None:
            self._beginning(ended.stdout.decode("utf-8", "replace").splitlines(), first)
        errors = ended.stderr.decode("utf-8", "replace")
        print(errors, end="", file=sys.stderr, flush=True)
        if ended.returncode in expect and "Traceback (most recent call last)" not in errors:
            if ended.returncode:
                self.console.print(f"[dim](exit code {ended.returncode}: done, and a person is needed)[/]")
            return True
        surprise = f"exit code {ended.returncode}, expected {' or '.join(map(str, expect))} and no traceback"
        self.surprises.append(f"{line}: {surprise}")
        self.console.print(f"[bold red]{surprise}[/]")
        return False

    def _beginning(self, lines: Sequence[str], first: int) -> None:
        for line in lines[:first]:
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)
        if len(lines) > first:
            self.console.print(f"[dim]... {len(lines) - first} more lines[/]")
        self.console.file.flush()

    def _env(self) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if k not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(p for p in (root, clean.get("PYTHONPATH")) if p)
        return clean | IDENTITY | {"PYTHONPATH": path}


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
