"""The fork's repository as a port needs it: who commits, from where, one port at a time, and branches that are ours."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.upstream.changeset import Person

Removal = tuple[str, str | None]
"""The commit that removed a path, and where the file went, if it was renamed."""

TRAILER = re.compile(r"^(Upstream-Commit|Signed-off-by): ", re.M)


@dataclass(frozen=True)
class Fork:
    """The repository that ports go into."""

    repo: Repo

    @property
    def home(self) -> Path:
        """Where ports that wait for a person live: inside the git directory, out of everybody's way."""
        return self.repo.git_dir / "sync"

    def base(self, rev: str | None) -> str:
        """The commit that a port starts from. Raises SyncError when there is none."""
        commit = self.repo.commit_of("HEAD" if rev is None else rev)
        if commit is None:
            what = "no such branch or commit" if rev is not None else "the repository has no commit yet"
            raise SyncError(
                what, rev if rev is not None else str(self.repo.git_dir), "name an existing branch with --base"
            )
        return commit

    def committer(self) -> Person:
        """The user's git identity. Raises SyncError when none is configured."""
        try:
            ident = self.repo.line("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
        except GitFailed as e:
            raise SyncError(
                "git does not know who you are",
                "user.name, user.email",
                "git config user.name NAME; git config user.email EMAIL",
            ) from e
        found = re.fullmatch(r"(.*?) ?<(.*)> (\d+ [+-]\d{4})", ident)
        if not found or not found[1] or not found[2]:
            raise SyncError(
                "git does not know who you are",
                "user.name, user.email",
                "git config user.name NAME; git config user.email EMAIL",
            )
        return Person(found[1], found[2], found[3])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Only one port at a time. The lock is the kernel's, so that a killed port leaves none behind."""
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as e:
                raise SyncError(
                    "another port is running in this repository", str(self.home / "lock"), "wait for it to end"
                ) from e
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Clear away what killed ports left: whoever holds the lock knows that nobody is using it."""
        for path in (*self.home.glob("index.*"), *self.home.glob("sharedindex.*")):
            path.unlink(missing_ok=True)
        halves = [path for path in self.home.glob("paused/*") if not (path / "state.json").exists()]
        for path in halves:
            shutil.rmtree(path, ignore_errors=True)
        if halves:
            self.repo.run("worktree", "prune")

    def tip(self, branch: str) -> str | None:
        return self.repo.commit_of(f"refs/heads/{branch}")

    def may_replace(self, branch: str, base: str) -> str | None:
        """The present tip of a branch that a port may write, None when it is new.

        Raises SyncError when it holds a commit that no port made, or is checked out somewhere.
        """
        tip = self.tip(branch)
        if tip is None:
            return None
        for record in self.repo.run("worktree", "list", "--porcelain").decode("utf-8", "replace").split("\n\n"):
            if f"branch refs/heads/{branch}\n" in record + "\n":
                raise SyncError(
                    f"the branch {branch} is checked out",
                    record.split("\n")[0].removeprefix("worktree "),
                    "switch to another branch first",
                )
        log = self.repo.run(
            "log", "-z", "--format=%H%n%B", tip, f"^{base}", "--not", f"--exclude={branch}", "--branches"
        )
        for message in filter(None, log.decode("utf-8", "replace").split("\0")):
            if len(TRAILER.findall(message)) < 2:
                raise SyncError(
                    f"the branch {branch} holds a person's commit {message[:12]}",
                    branch,
                    f"rename it first: git branch -m {branch} NAME",
                )
        return tip

    def move(self, branch: str, new: str, old: str | None) -> None:
        """The one visible step: the branch points to the new commit, if it still stood where it was."""
        try:
            self.repo.run("update-ref", "-m", "sync port", f"refs/heads/{branch}", new, old or "0" * 40)
        except GitFailed as e:
            raise SyncError(f"the branch {branch} moved while the port was made", branch, "run the port again") from e

    def removed_by(self, path: str, base: str) -> Removal | None:
        """(the fork's commit that removed a path, where the file went if it was renamed), or None if it never was there.

        A file that was renamed several times is followed to its last name: the commit is that of the last step."""
        removal, seen = self._removal(path, base), {path}
        while removal and (moved := removal[1]) and moved not in seen:
            seen.add(moved)
            later = self._removal(moved, base)
            if later is None or self.repo.tree(base).blob(moved) is not None:
                break
            removal = later
        return removal

    def _removal(self, path: str, base: str) -> Removal | None:
        commit = self.repo.line("log", "-1", "--format=%H", "--diff-filter=D", "--no-renames", base, "--", path)
        if not commit:
            return None
        fields = self.repo.line("show", "--format=", "--name-status", "-z", "-M50%", "--diff-filter=R", commit).split(
            "\0"
        )
        moves = {fields[i + 1]: fields[i + 2] for i in range(0, len(fields) - 2, 3)}
        return commit, moves.get(path)


@contextmanager
def private_index(home: Path) -> Iterator[Path]:
    """A name for an index of this process's own, gone afterwards."""
    home.mkdir(parents=True, exist_ok=True)
    index = home / f"index.{os.getpid()}"
    try:
        yield index
    finally:
        index.unlink(missing_ok=True)
        index.with_name(index.name + ".lock").unlink(missing_ok=True)
