"""From a pull request's number, or a revision, to the commit that landed it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.upstream.history import Message, messages


@dataclass(frozen=True)
class Landing:
    """The commit of a pull request, and earlier commits that carry the same number."""

    pr: int | None
    commit: str
    others: tuple[str, ...] = ()


MAIN = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)


def tips(repo: Repo) -> Iterator[str]:
    """Revisions that may be upstream's main line, the likeliest first. In a clone that somebody works in, HEAD counts
    only where no branch has the name of a main line."""
    names = ("HEAD", *MAIN) if repo.work_tree is None else MAIN
    told: set[str] = set()
    for name in names:
        commit = repo.commit_of(name)
        if commit and commit not in told:
            told.add(commit)
            yield commit
    if not told and (commit := repo.commit_of("HEAD")):
        yield commit


def main_line(repo: Repo) -> str:
    """Upstream's newest commit. Raises SyncError in an empty repository."""
    for tip in tips(repo):
        return tip
    raise SyncError("upstream has no commits", str(repo.git_dir), "fetch it again")


def newest(repo: Repo, tip: str | None) -> str:
    """The revision that is named, else the main line's newest commit. A name that is empty is a name, of nothing."""
    return main_line(repo) if tip is None else tip


def landing(repo: Repo, pr: int) -> Landing:
    """The newest commit with that number. Raises SyncError when the main line has none."""
    for tip in tips(repo):
        if found := landing_on(messages(repo, tip), pr):
            return found
    shallow = (repo.git_dir / "shallow").exists()
    fix = "deepen the clone: git fetch --unshallow" if shallow else "check the number, or fetch upstream again"
    raise SyncError(f"no commit on upstream's main line carries (#{pr})", str(repo.git_dir), fix)


def landing_on(line: Sequence[Message], pr: int) -> Landing | None:
    """The newest commit with that number on a main line, which is newest first."""
    found = [message.commit for message in line if message.pr == pr]
    return Landing(pr, found[0], tuple(found[1:])) if found else None


def bare_commit(repo: Repo, rev: str) -> Landing:
    """A commit named by revision. Its pull request is not asked for: the port is one of a bare commit."""
    commit = repo.commit_of(rev)
    if commit is None:
        raise SyncError("no such commit in upstream", rev, "name a commit of upstream, or fetch upstream again")
    return Landing(None, commit)
