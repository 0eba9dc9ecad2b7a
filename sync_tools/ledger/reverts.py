"""Which earlier changes an upstream commit says it undoes, and which entries of theirs it undoes indeed."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from sync_tools.ledger.model import Entry, Ledger, Was
from sync_tools.ledger.taken_back import brought_back, taken_back
from sync_tools.upstream.changeset import ChangeSet

TITLE = re.compile(r'Revert "(?P<title>.*)"(?: \(#\d+\))?')
NUMBER = re.compile(r"(?<!\s)\s*\(#([1-9][0-9]{0,8})\)\s*$")
COMMIT = re.compile(r"^This reverts commit ([0-9a-f]{40})\b", re.MULTILINE)
PULL = re.compile(r"^Reverts (?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<pr>[1-9][0-9]{0,8})\s*$", re.MULTILINE)


class Past(Protocol):
    """Upstream's history, as far as reverts ask for it."""

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        """(commit, subject) of what lies before a commit, newest first."""
        ...

    def changes(self, ledger: Ledger) -> ChangeSet | None:
        """The change that a ledger accounts for; None where upstream does not have it."""
        ...


class NoPast:
    """Where upstream is not at hand."""

    def before(self, commit: str) -> Sequence[tuple[str, str]]:
        return ()

    def changes(self, ledger: Ledger) -> ChangeSet | None:
        return None


def reverted(changes: ChangeSet, repo: str, past: Past) -> tuple[str, ...]:
    """The changes that a commit undoes, as `named` gives them."""
    return named(changes.subject, changes.body, repo, lambda: past.before(changes.commit))


def named(subject: str, body: str, repo: str, before: Callable[[], Sequence[tuple[str, str]]]) -> tuple[str, ...]:
    """The changes, as owner/name#N, that a message says it undoes: by the pull request or commit that it names, else by
    the title in its subject, among (commit, subject) of what lies before, newest first. A commit without a number is
    owner/name@<12 hex>; whether anybody ported it is not asked."""
    pulls = [m["repo"] + "#" + m["pr"] if m["repo"] else f"{repo}#{m['pr']}" for m in PULL.finditer(body)]
    title, commits = TITLE.fullmatch(subject), COMMIT.findall(body)
    if not title and not commits:
        return tuple(dict.fromkeys(pulls))
    number = NUMBER.search(title["title"]) if title else None
    if number and not pulls:
        pulls = [f"{repo}#{number[1]}"]
    earlier = () if pulls else before()
    known = dict(earlier)
    refs = pulls or [_ref(repo, commit, known.get(commit, "")) for commit in commits]
    if title and not refs:
        titled = (c for c, said in earlier if NUMBER.sub("", said) == title["title"])
        refs = [_ref(repo, commit, known[commit]) for commit in list(titled)[:1]]
    return tuple(dict.fromkeys(refs))


def _ref(repo: str, commit: str, subject: str) -> str:
    number = NUMBER.search(subject)
    return f"{repo}#{number[1]}" if number else f"{repo}@{commit[:12]}"


def names(refs: Collection[str], ledger: Ledger) -> bool:
    """Whether one of the references is this ledger's change."""
    origin = ledger.upstream
    return origin.ref in refs or f"{origin.repo}@{origin.commit[:12]}" in refs


def revert(ledger: Ledger, by: str, which: Iterable[Entry] | None = None) -> Ledger:
    """The ledger of a change of which a later one, ported as `by` (owner/name#N), undoes these entries, or all."""
    ids = {e.id for e in (ledger.entries if which is None else which) if e.op != "reverted"}
    return _with(ledger, {e.id: _reverted(e, by) for e in ledger.entries if e.id in ids})


def _reverted(e: Entry, by: str) -> Entry:
    was = Was(op=e.op, state=e.state, reason=e.reason, who=e.who, until=e.until, link=e.link)
    update = {"op": "reverted", "state": "settled", "reason": f"undone by {by}", "who": "", "until": None, "link": by}
    return e.model_copy(update={**update, "was": was})


def restore(ledger: Ledger, which: Iterable[Entry]) -> Ledger:
    """The ledger of a change of which a revert was itself undone: these entries are again what they were."""
    back = {e.id: e.model_copy(update={**dict(e.was), "was": None}) for e in which if e.was is not None}
    return _with(ledger, back)


def _with(ledger: Ledger, changed: Mapping[str, Entry]) -> Ledger:
    if not changed:
        return ledger
    entries = tuple(changed.get(e.id, e) for e in ledger.entries)
    links = [e.link for e in entries if e.op == "reverted" and e.was is not None]
    return ledger.model_copy(update={"entries": entries, "reverted_by": links[-1] if links else None})


def paired(known: Ledger, later: Ledger, changes: ChangeSet, past: Past) -> Ledger:
    """An earlier ledger after a later port (`changes` is what that brought): what it undoes there is reverted, and what
    undoing of it it undoes is back."""
    if names(later.reverts, known):
        its = past.changes(known)
        return revert(known, later.upstream.ref, None if its is None else taken_back(known.entries, its, changes))
    marks = {e.link for e in known.entries if e.op == "reverted" and e.was is not None}
    if marks & set(later.reverts):
        its = past.changes(known)
        mine = [e for e in known.entries if e.was is not None and e.link in later.reverts]
        return restore(known, mine if its is None else brought_back(mine, its, changes))
    return known


def marks(ledger: Ledger, later: Sequence[Ledger], past: Past) -> dict[str, str]:
    """Entry -> the change that has undone it, after these later ports in their order."""
    plain = restore(ledger, ledger.entries)
    for each in later:
        if each.reverts:
            changes = past.changes(each)
            if changes is not None:
                plain = paired(plain, each, changes, past)
            elif names(each.reverts, plain):
                plain = revert(plain, each.upstream.ref)
    return {e.id: e.link for e in plain.entries if e.op == "reverted" and e.was is not None and e.link}
