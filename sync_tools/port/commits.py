"""Trees and commits made from values, in git's object store alone: nothing that a user sees moves."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sync_tools.gitio import Repo
from sync_tools.ledger.escape import plain, references
from sync_tools.modes import FOLDER, GITLINK
from sync_tools.plural import counted
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import ChangeSet, Person

LAST_DATE = 4_102_444_799  # the end of 2099: beyond, tools disagree
LONGEST_SUBJECT = 300


def write_tree(repo: Repo, base: str, edits: Mapping[str, Blob | None]) -> str:
    """The id of the tree of commit `base` with `edits` on top."""
    root = repo.objects.root(base)
    return (_level(repo, root, _nested(edits)) or repo.objects.write_level({})) if edits else root


Nested = dict[bytes, "Edit"]


@dataclass
class Edit:
    """What becomes of one name of a folder: `blob` is written there (None removes a file), `below` are edits of a folder."""

    blob: Blob | None = None
    below: Nested = field(default_factory=dict)


def _nested(edits: Mapping[str, Blob | None]) -> Nested:
    top: Nested = {}
    for path, blob in edits.items():
        *folders, name = os.fsencode(path).split(b"/")
        level = top
        for folder in folders:
            level = level.setdefault(folder, Edit()).below
        level.setdefault(name, Edit()).blob = blob
    return top


def _level(repo: Repo, tree: str | None, edits: Nested) -> str | None:
    """The id of a tree object with edits; None where it would be empty, which git does not keep."""
    standing = repo.objects.level(tree) if tree else {}
    level = dict(standing)
    for name, edit in edits.items():
        mode, oid = standing.get(name, (0, ""))
        if edit.below:
            folder = _level(repo, oid if mode == FOLDER else None, edit.below)
            level.pop(name, None)  # also a file that makes room for a folder of its name
            level |= {name: (FOLDER, folder)} if folder else {}
        elif mode != FOLDER:
            level.pop(name, None)
        if edit.blob is not None:
            level[name] = edit.blob.mode, store(repo, edit.blob)
    return repo.objects.write_level(level) if level else None


def store(repo: Repo, blob: Blob) -> str:
    """Write a file's bytes into the object store; the object's id (a submodule's is its commit)."""
    return blob.data.decode() if blob.mode == GITLINK else repo.objects.write("blob", blob.data)


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
