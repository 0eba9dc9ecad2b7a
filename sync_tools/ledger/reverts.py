"""Which earlier changes an upstream commit says it undoes."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sync_tools.ledger.model import Ledger
from sync_tools.upstream.changeset import ChangeSet

TITLE = re.compile(r'Revert "(?P<title>.*)"(?: \(#\d+\))?')
NUMBER = re.compile(r"\s*\(#(\d+)\)$")
COMMIT = re.compile(r"^This reverts commit ([0-9a-f]{40})\b", re.MULTILINE)
PULL = re.compile(r"^Reverts (?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<pr>[1-9]\d{0,9})\s*$", re.MULTILINE)


class Told(NamedTuple):
    """A change that another may undo."""

    ref: str
    commit: str
    subject: str


def reverted(changes: ChangeSet, repo: str, known: Sequence[Ledger]) -> tuple[str, ...]:
    """The changes, as owner/name#N, that a commit undoes: by the commit or pull request that its message names, else by
    the title in its subject among the `known` ledgers. What it names and nobody ported is named all the same."""
    told = [Told(x.upstream.ref, x.upstream.commit, x.upstream.subject) for x in known]
    return undone(changes.subject, changes.body, repo, told)


def undone(subject: str, body: str, repo: str, known: Sequence[Told]) -> tuple[str, ...]:
    """The same, of a commit's subject and the rest of its message."""
    refs = [m["repo"] + "#" + m["pr"] if m["repo"] else f"{repo}#{m['pr']}" for m in PULL.finditer(body)]
    for commit in COMMIT.findall(body):
        refs += [x.ref for x in known if x.commit == commit]
    title = TITLE.fullmatch(subject)
    if title and not refs:
        number = NUMBER.search(title["title"])
        titled = [x.ref for x in known if NUMBER.sub("", x.subject) == title["title"]]
        refs = [f"{repo}#{number[1]}"] if number else titled[-1:]
    return tuple(dict.fromkeys(refs))
