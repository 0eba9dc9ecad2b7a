"""The one place that runs git (through GitPython): commands on a repository, and trees read from its objects."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import git
from git.exc import GitCommandError, GitCommandNotFound

from sync_tools.errors import SyncError
from sync_tools.gitobjects import Missing, Objects, Process
from sync_tools.modes import GITLINK
from sync_tools.tree import Blob

# Content of a repository must not run anything or reach the network: no prompts, no lazy fetches, no replaced objects.
QUIET_ENV = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
# A user's taste must not change what is read or written: the same change gives the same diff and the same commits.
PINNED = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.abbrev=auto",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "color.ui=false",
    "color.diff=false",
    "diff.orderFile=/dev/null",
    "diff.renameLimit=1000",
    "diff.submodule=short",
    "diff.ignoreSubmodules=none",
    "diff.relative=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.diffMerges=separate",
    "log.mailmap=false",
    "log.follow=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)
SAFE_CONFIG = tuple(word for setting in PINNED for word in ("-c", setting))
# What git sets for the commands that it starts (a hook, an alias): it speaks of that repository, not of the one named here.
SURROUNDINGS = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REPLACE_REF_BASE",
    "GIT_DEFAULT_HASH",
)


def forget_surroundings() -> None:
    """Make every git of this process look at the repositories that it is given, whoever started the process."""
    for name in SURROUNDINGS:
        os.environ.pop(name, None)


class GitFailed(Exception):
    """A git command that did not succeed; carries its arguments and the last line of what it said."""

    def __init__(self, args: tuple[str, ...], status: int, stderr: str):
        self.command, self.status, self.stderr = args, status, stderr.strip()
        super().__init__(f"git {' '.join(args[:3])}: {self.stderr.splitlines()[-1] if self.stderr else status}")


@dataclass(frozen=True)
class Repo:
    """A repository, bare or with a work tree. `git_dir` is the one that its objects and refs live in."""

    git_dir: Path
    work_tree: Path | None

    @staticmethod
    def open(path: Path) -> "Repo":
        """The repository at or above `path`, which may be a git directory. Raises SyncError where there is none."""
        fix = "name a git repository (a clone, or a bare one)"
        if not path.is_dir():
            raise SyncError("no such folder", str(path), fix)
        here = Repo(path, path)
        try:
            common, inside = here.line(
                "rev-parse", "--path-format=absolute", "--git-common-dir", "--is-inside-work-tree"
            ).split("\n")
            top = Path(here.line("rev-parse", "--show-toplevel")) if inside == "true" else None
        except (GitFailed, ValueError) as e:
            if "dubious ownership" in str(e):
                fix = f"it belongs to another user: git config --global --add safe.directory {path}"
            raise SyncError("not a git repository", str(path), fix) from e
        return Repo(Path(common), top)

    @cached_property
    def _git(self) -> git.Git:
        return git.Git(self.work_tree or self.git_dir)

    @cached_property
    def objects(self) -> Objects:
        """The object store."""
        return Objects(self.git_dir / "objects", lambda: self._start(("cat-file", "--batch"), subprocess.PIPE, None))

    def _start(self, args: tuple[str, ...], stdin: int | None, env: Mapping[str, str] | None) -> Process:
        at = () if self.work_tree else (f"--git-dir={self.git_dir}",)
        command = ["git", *at, *SAFE_CONFIG, *args]
        return self._git.execute(command, istream=stdin, as_process=True, env={**QUIET_ENV, **(env or {})})

    def run(self, *args: str, data: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """Standard output of `git ARGS`. Raises GitFailed."""
        try:
            process = self._start(args, subprocess.PIPE if data is not None else None, env)
        except GitCommandNotFound as e:
            raise SyncError("git is not installed", "PATH", "install git 2.30 or newer") from e
        except GitCommandError as e:
            raise GitFailed(args, 1, str(e)) from e
        out, err = process.proc.communicate(data)
        if process.proc.returncode:
            raise GitFailed(args, process.proc.returncode, err.decode("utf-8", "replace"))
        return out

    def line(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        """Standard output as text without the final newline."""
        return os.fsdecode(self.run(*args, env=env)).rstrip("\n")

    def head(self) -> str:
        """The commit that HEAD names. Raises SyncError where there is none yet."""
        commit = self.commit_of("HEAD")
        if commit is None:
            raise SyncError("the repository has no commit yet", str(self.git_dir), "commit something first")
        return commit

    def commit_of(self, rev: str) -> str | None:
        """The commit that `rev` names, as 40 hex digits, or None."""
        if (
            rev.startswith(("-", "^")) or "\0" in rev
        ):  # an option, the opposite of a revision, what no argument can hold
            return None
        try:
            return self.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
        except GitFailed:
            return None

    def holds(self, commit: str) -> bool:
        """Whether a commit, by its full id, is in the store: of a shallow clone not all are that others name."""
        try:
            return bool(self.objects.root(commit))
        except Missing:
            return False

    def read(self, oid: str) -> bytes:
        """The bytes of an object."""
        try:
            return self.objects.read(oid)
        except Missing as e:
            raise GitFailed(("cat-file", oid), 1, f"no such object: {oid}") from e

    def stream(self, oids: Sequence[str]) -> Iterator[bytes]:
        """The bytes of many objects, one after the other; git reads ahead."""
        try:
            yield from self.objects.stream(oids)
        except Missing as e:
            raise GitFailed(("cat-file", str(e)), 1, f"no such object: {e}") from e

    def tree(self, rev: str) -> "GitTree":
        return GitTree(self, rev)


@dataclass(frozen=True)
class GitTree:
    """The files of a revision, read when asked for."""

    repo: Repo
    rev: str

    @cached_property
    def entries(self) -> dict[str, tuple[int, str]]:
        """Path -> (mode, object id)."""
        objects = self.repo.objects
        try:
            return objects.files(objects.root(self.rev))
        except Missing as e:
            raise GitFailed(("cat-file", self.rev), 1, f"no such tree: {self.rev}") from e

    def paths(self) -> frozenset[str]:
        return self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self.entries)

    def blob(self, path: str) -> Blob | None:
        entry = self.entries.get(path)
        if entry is None:
            return None
        mode, oid = entry
        return Blob(oid.encode() if mode == GITLINK else self.repo.read(oid), mode)
