"""A commit of upstream, against its first parent, as a change set."""

import os
import re
from collections.abc import Iterator

from sync_tools.errors import SyncError
from sync_tools.gitio import GitFailed, Repo
from sync_tools.modes import EXECUTABLE, GITLINK, REGULAR
from sync_tools.upstream.changeset import ChangeSet, FileChange, FileKind, Hunk, Image, Person
from sync_tools.upstream.resolve import Landing

ACCOUNTED = ("-M50%", "--diff-algorithm=myers", "--no-ext-diff", "--no-textconv", "--no-color", "--indent-heuristic")
HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
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
    header = repo.run("cat-file", "commit", commit).split(b"\n\n", 1)[0]
    parents = re.findall(rb"^parent (\w+)$", header, re.M)
    if not parents:
        return repo.run("hash-object", "-t", "tree", "--stdin", data=b"").decode().strip()
    parent = parents[0].decode()
    if repo.commit_of(parent) is None:
        raise SyncError(
            "the clone of upstream is too shallow", f"the parent of {commit[:12]} is missing", "git fetch --unshallow"
        )
    return parent


def _files(repo: Repo, parent: str, commit: str) -> Iterator[FileChange]:
    try:
        raw = repo.run("diff", "--raw", "-z", "--no-abbrev", *ACCOUNTED, parent, commit, "--")
        patch = repo.run("diff", "-U0", "--inter-hunk-context=0", *ACCOUNTED, parent, commit, "--")
    except GitFailed as e:
        raise SyncError(f"cannot read the change: {e}", commit[:12], "fetch upstream again, in full") from e
    sections = re.split(rb"^diff --git .*\n", patch, flags=re.M)[1:]
    at = 0
    for status, old, new in raw_records(raw):
        take = 2 if status[0] == "T" else 1
        yield _change(repo, status, old, new, b"".join(sections[at : at + take]))
        at += take


def hunks_between(repo: Repo, old: str, new: str) -> tuple[Hunk, ...]:
    """The zero-context hunks between two blobs, by their ids, as the accounted diff has them."""
    patch = repo.run("diff", "-U0", "--inter-hunk-context=0", *ACCOUNTED, old, new, "--")
    return tuple(_hunk(found.groups()) for found in HUNK.finditer(_headers_only(patch)))


def raw_records(raw: bytes) -> Iterator[tuple[str, tuple[int, str, str], tuple[int, str, str]]]:
    """(status, (mode, oid, path) before, the same after) of `git diff --raw -z`."""
    fields = iter(raw.split(b"\0"))
    for head in fields:
        if not head:
            continue
        old_mode, new_mode, old_oid, new_oid, status = head.decode().lstrip(":").split()
        before = os.fsdecode(next(fields))
        after = os.fsdecode(next(fields)) if status[0] in "RC" else before
        yield status, (int(old_mode, 8), old_oid, before), (int(new_mode, 8), new_oid, after)


def _change(
    repo: Repo, status: str, old: tuple[int, str, str], new: tuple[int, str, str], section: bytes
) -> FileChange:
    before, after = (_image(repo, *side) for side in (old, new))
    binary = _is_binary(section)
    hunks = patch_hunks(section)
    kinds: dict[str, FileKind] = {"A": "added", "D": "deleted", "R": "renamed", "T": "type"}
    kind = kinds.get(status[0], "mode" if before and after and before.data == after.data else "modified")
    return FileChange(kind, before, after, int(status[1:] or 0) if status[0] == "R" else 0, binary, hunks)


def _is_binary(section: bytes) -> bool:
    head = section.split(b"\n@@ ", 1)[0]
    return b"\nBinary files " in b"\n" + head or b"\nGIT binary patch" in head


def patch_hunks(section: bytes) -> tuple[Hunk, ...]:
    """The hunks in the patch of one file; none of a binary one."""
    if _is_binary(section):
        return ()
    return tuple(_hunk(found.groups()) for found in HUNK.finditer(_headers_only(section)))


def _headers_only(section: bytes) -> bytes:
    """The section without its body: a changed line begins with `+`, `-` or a backslash, so `@@` begins only a header."""
    return b"\n".join(line for line in section.split(b"\n") if line.startswith(b"@@ "))


def _hunk(numbers: tuple[bytes | None, ...]) -> Hunk:
    old_start, old_count, new_start, new_count = (1 if n is None else int(n) for n in numbers)
    return Hunk(old_start, old_count, new_start, new_count)


def _image(repo: Repo, mode: int, oid: str, path: str) -> Image | None:
    if mode == 0:
        return None
    data = oid.encode() if mode == GITLINK else repo.read(oid)
    return Image(
        path,
        EXECUTABLE
        if mode & 0o170000 == 0o100000 and mode & 0o100
        else REGULAR
        if mode & 0o170000 == 0o100000
        else mode,
        data,
    )
