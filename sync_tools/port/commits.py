"""Trees and commits made from values, in git's object store alone: nothing that a user sees moves."""

import os
import re
from collections.abc import Mapping, Sequence
from io import BytesIO

from sync_tools.gitio import Repo
from sync_tools.ledger.escape import plain, references
from sync_tools.modes import GITLINK
from sync_tools.plural import counted
from sync_tools.port.fork import private_index
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import ChangeSet, Person

LAST_DATE = 4_102_444_799  # the end of 2099: beyond, tools disagree
LONGEST_SUBJECT = 300


def write_tree(repo: Repo, base: str, edits: Mapping[str, Blob | None]) -> str:
    """The id of the tree of commit `base` with `edits` on top."""
    if not edits:
        return repo.line("rev-parse", f"{base}^{{tree}}")
    with private_index(repo.git_dir / "sync") as index:
        env = {"GIT_INDEX_FILE": str(index)}
        repo.run("read-tree", base, env=env)
        # Removals first: a file may make room for a folder of its name.
        for lines in (_removals(edits), _additions(repo, edits)):
            repo.run("update-index", "-z", "--index-info", data=b"".join(lines), env=env)
        return repo.line("write-tree", env=env)


def _removals(edits: Mapping[str, Blob | None]) -> list[bytes]:
    return [
        b"0 " + b"0" * 40 + b"\t" + os.fsencode(path) + b"\0" for path, blob in sorted(edits.items()) if blob is None
    ]


def _additions(repo: Repo, edits: Mapping[str, Blob | None]) -> list[bytes]:
    return [
        f"{blob.mode:o} {store(repo, blob)}\t".encode() + os.fsencode(path) + b"\0"
        for path, blob in sorted(edits.items())
        if blob is not None
    ]


def store(repo: Repo, blob: Blob) -> str:
    """Write a file's bytes into the object store; the object's id (a submodule's is its commit)."""
    if blob.mode == GITLINK:
        return blob.data.decode()
    from gitdb import IStream

    return repo.objects.store(IStream("blob", len(blob.data), BytesIO(blob.data))).hexsha.decode()


def commit(repo: Repo, tree: str, parent: str, message: str, author: Person | None) -> str:
    """A commit object by the user, with another author and date where one is given; its id."""
    env = {}
    if author:
        env = {
            "GIT_AUTHOR_NAME": _written(author.name),
            "GIT_AUTHOR_EMAIL": _written(author.email),
            "GIT_AUTHOR_DATE": _dated(author.date),
        }
    return (
        repo.run("commit-tree", tree, "-p", parent, data=message.encode("utf-8", "replace"), env=env).decode().strip()
    )


def _written(name: str) -> str:
    """A name that git commits: it takes none that holds nothing but punctuation."""
    shown = plain(name)
    return shown if any(c.isalnum() for c in shown) else "unknown"


def _dated(date: str) -> str:
    """A raw date as git reads it back, the nearest one that it takes: `commit-tree` refuses what a crafted commit may hold."""
    found = re.fullmatch(r"(-?\d{1,20}) ([+-])(\d{4,})", date)
    if not found:
        return "@0 +0000"
    seconds, (sign, zone) = min(max(int(found[1]), 0), LAST_DATE), found.groups()[1:]
    return f"@{seconds} {sign}{zone if int(zone[:2]) <= 14 and int(zone[2:]) < 60 and len(zone) == 4 else '0000'}"


def reference(changes: ChangeSet, repository: str) -> str:
    """`owner/name#N`, or for a bare commit `owner/name@<12 hex>`."""
    return f"{repository}#{changes.pr}" if changes.pr is not None else f"{repository}@{changes.commit[:12]}"


def trailers(changes: ChangeSet, repository: str, committer: Person) -> str:
    """The trailers of both commits; of a bare commit without `Upstream-PR`."""
    lines = [f"Upstream-PR: {repository}#{changes.pr}"] if changes.pr is not None else []
    lines.append(f"Upstream-Commit: {changes.commit}")
    people = dict.fromkeys([f"{changes.author.name} <{changes.author.email}>", *changes.coauthors])
    lines += [f"Co-authored-by: {person}" for person in people]
    lines.append(f"Signed-off-by: {committer.name} <{committer.email}>")
    return "\n".join(references(plain(line), repository) for line in lines)


def window_trailers(changes: Sequence[ChangeSet], repository: str, committer: Person) -> str:
    """The trailers of a window's commits: the number and the commit of every landing, and everybody once."""
    lines = []
    for each in changes:
        lines += [f"Upstream-PR: {repository}#{each.pr}"] if each.pr is not None else []
        lines.append(f"Upstream-Commit: {each.commit}")
    people = dict.fromkeys(p for c in changes for p in (f"{c.author.name} <{c.author.email}>", *c.coauthors))
    lines += [f"Co-authored-by: {person}" for person in people]
    lines.append(f"Signed-off-by: {committer.name} <{committer.email}>")
    return "\n".join(references(plain(line), repository) for line in lines)


def window_message(changes: Sequence[ChangeSet], repository: str, committer: Person, body: str = "") -> str:
    """The message of a window's mechanical commit, or with a body of its adaptation commit."""
    span = f"{repository} {changes[0].parent[:12]}..{changes[-1].commit[:12]}"
    subject = f"Adapt {span} to the fork" if body else f"Port {span}, {counted(len(changes), 'change')}"
    return "\n\n".join(filter(None, (subject, body, window_trailers(changes, repository, committer)))) + "\n"


def mechanical_message(changes: ChangeSet, repository: str, committer: Person) -> str:
    """Upstream's subject, its references written out, and the trailers."""
    subject = references(plain(changes.subject)[:LONGEST_SUBJECT], repository)
    if changes.pr is None:
        subject = f"{subject} ({reference(changes, repository)})".lstrip()
    return f"{subject}\n\n{trailers(changes, repository, committer)}\n"


def adaptation_message(changes: ChangeSet, repository: str, committer: Person, body: str) -> str:
    """The subject that names the change, what the port says of itself, and the trailers."""
    return (
        f"Adapt {reference(changes, repository)} to the fork\n\n{body}\n\n{trailers(changes, repository, committer)}\n"
    )
