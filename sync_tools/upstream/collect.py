"""A commit of upstream, against its first parent, as a change set."""

import re
from collections.abc import Iterator

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.modes import EXECUTABLE, GITLINK, REGULAR
from sync_tools.upstream.changeset import ChangeSet, FileChange, FileKind, Hunk, Image, Person
from sync_tools.upstream.patch import BARE, PRINTED, FileDiff, file_diffs, hunks_of
from sync_tools.upstream.resolve import Landing

COAUTHOR = re.compile(r"^co-authored-by:[ \t]*(\S(?:.*\S)?)\s*$", re.I | re.M)


def collect(repo: Repo, landing: Landing) -> ChangeSet:
    """Read everything that a port needs of one commit. Raises SyncError when the clone is too shallow for it."""
    commit = landing.commit
    parent = _first_parent(repo, commit)
    fields = repo.run("show", "--no-patch", "--format=%s%x00%an%x00%ae%x00%ad%x00%b", "--date=raw", commit, "--")
    subject, name, email, date, body = fields.decode("utf-8", "replace").split("\0", 4)
    return ChangeSet(
        pr=landing.pr,
        commit=commit,
        parent=parent,
        subject=subject,
        body=body.strip("\n"),
        author=Person(name, email, date),
        coauthors=tuple(dict.fromkeys(COAUTHOR.findall(body))),
        files=tuple(_files(repo, parent, commit)),
        other_landings=landing.others,
    )


def _first_parent(repo: Repo, commit: str) -> str:
    header = repo.read(commit).split(b"\n\n", 1)[0]
    parents = re.findall(rb"^parent (\w+)$", header, re.M)
    if not parents:
        return repo.run("hash-object", "-t", "tree", "--stdin", data=b"").decode().strip()
    parent = parents[0].decode()
    if not repo.holds(parent):
        raise SyncError(
            "the clone of upstream is too shallow", f"the parent of {commit[:12]} is missing", "git fetch --unshallow"
        )
    return parent


def _files(repo: Repo, parent: str, commit: str) -> Iterator[FileChange]:
    try:
        printed = repo.run("diff", *PRINTED, parent, commit, "--")
    except GitFailed as e:
        raise SyncError(f"cannot read the change: {e}", commit[:12], "fetch upstream again, in full") from e
    return (_change(repo, diff) for diff in file_diffs(printed))


def hunks_between(repo: Repo, old: str, new: str) -> tuple[Hunk, ...]:
    """The zero-context hunks between two blobs, by their ids, as the accounted diff has them."""
    return tuple(hunks_of(repo.run("diff", *BARE, old, new, "--")))


def _change(repo: Repo, diff: FileDiff) -> FileChange:
    before, after = (side and _image(repo, *side) for side in (diff.before, diff.after))
    kinds: dict[str, FileKind] = {"A": "added", "D": "deleted", "R": "renamed", "T": "type"}
    kind = kinds.get(diff.status[0], "mode" if before and after and before.data == after.data else "modified")
    similarity = int(diff.status[1:] or 0) if diff.status[0] == "R" else 0
    return FileChange(kind, before, after, similarity, diff.binary, diff.hunks)


def _image(repo: Repo, path: str, mode: int, oid: str) -> Image:
    data = oid.encode() if mode == GITLINK else repo.read(oid)
    return Image(path, _told(mode), data)


def _told(mode: int) -> int:
    """A mode as git would write it today: of a regular file only whether it is executable."""
    if mode & 0o170000 != 0o100000:
        return mode
    return EXECUTABLE if mode & 0o100 else REGULAR
