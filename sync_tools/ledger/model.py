"""The ledger of one upstream change: what became of every line of it.

Frozen values, validated when they are read, since anyone can edit a ledger file. It holds facts about upstream (paths,
symbols, counts, digests), not its text. `verification` and `decisions` are what people and machines add afterwards;
everything else is the same on every run.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Literal

from pydantic import Field

from sync_tools.ledger.fields import ORDER, Commit, Count, Day, Hex64, Ident, InTree, Model, Op, Ref, State, Word
from sync_tools.ledger.proof import Verification
from sync_tools.upstream.changeset import Hunk

SCHEMA = 1


class Span(Model):
    """1-based lines in git's numbering: with a count of 0, `start` is the line before the gap."""

    start: Count
    count: Count

    @staticmethod
    def of(lines: range) -> "Span":
        """The span of a 0-based half-open range."""
        return Span(start=lines.start + bool(lines), count=len(lines))

    @property
    def lines(self) -> range:
        """0-based half-open range."""
        first = self.start - 1 if self.count and self.start else self.start
        return range(first, first + self.count)

    def __str__(self) -> str:
        if not self.count:
            return f"after {self.start}"
        return str(self.start) if self.count == 1 else f"{self.start}-{self.start + self.count - 1}"


class Source(Model):
    """The lines of upstream that an entry accounts for. A path is None where the file is not there."""

    old_path: InTree | None
    path: InTree | None
    symbol: str
    old: Span
    new: Span
    digest: Hex64

    @property
    def hunk(self) -> Hunk:
        return Hunk(self.old.start, self.old.count, self.new.start, self.new.count)

    @property
    def name(self) -> str:
        return self.path or self.old_path or ""


class Target(Model):
    """Where it stands in the fork; `old_path` is where the file stood before a move. `lines` is None where no lines of the fork answer to it (the file is not there, or
    is generated); `differs` are the lines in which a `present` or `diverged` piece is not the translation."""

    path: InTree
    old_path: InTree | None = None
    symbol: str = ""
    lines: Span | None = None
    digest: Hex64 | None = None
    differs: tuple[Span, ...] = ()


class Clash(Model):
    """The two sides of a conflict, in the lines of the fork's file before the port and of translated upstream's."""

    symbol: str
    ours: Span
    ours_digest: Hex64
    theirs: Span
    theirs_digest: Hex64


class Was(Model):
    """What an entry said before a revert undid it."""

    op: Op
    state: State
    reason: str
    who: str
    until: Day | None
    link: Ref | None


class Entry(Model):
    """What became of one unit of upstream's diff. `link` is the change that supersedes or reverts it; `was`: what a
    reverted one is again when the revert is undone; `executes`: CI or an install runs what it changes."""

    id: Ident
    op: Op
    state: State
    upstream: Source
    downstream: Target
    added: Count
    removed: Count
    rules: tuple[str, ...] = ()
    reason: str = ""
    who: str = ""
    until: Day | None = None
    link: Ref | None = None
    was: Was | None = None
    clash: Clash | None = None
    facts: tuple[str, ...] = ()
    executes: bool = False


class RuleUse(Model):
    """One rule and how often it applied in the lines of the change; `pairs` are short (upstream, fork) spellings."""

    rule: str
    title: str = ""
    count: Count
    pairs: tuple[tuple[str, str], ...] = ()


class Registration(Model):
    """A row of the CI matrix that the port placed. `label` is the pull request label that starts its job."""

    change: Literal["added", "removed", "changed", "moved"]
    job: str
    test_file: str
    label: str = ""
    why: str = ""


class Decision(Model):
    """What a person decided about an entry. `was` is the operation it replaced; `owner` is who is to do what was deferred,
    where that is somebody else; `applied` is false for a decision of an earlier port that is offered again."""

    entry: Ident
    op: Op
    why: Annotated[str, Field(min_length=1)]
    who: Annotated[str, Field(min_length=1)]
    was: Op
    until: Day | None = None
    owner: str = ""
    applied: bool = True


class Origin(Model):
    """The upstream commit; `date` is the author's, in ISO 8601."""

    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    name: Word
    pr: Annotated[int, Field(ge=1)] | None
    commit: Commit
    parent: Commit
    subject: str
    author: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T[\d:]{8}[+-]\d{2}:\d{2}$")]
    other_landings: tuple[Commit, ...] = ()

    @property
    def ref(self) -> str:
        """`owner/name#N`, or `owner/name@<12 hex>` of a bare commit."""
        return f"{self.repo}#{self.pr}" if self.pr else f"{self.repo}@{self.commit[:12]}"

    @property
    def title(self) -> str:
        """The subject without its own number at the end, which `ref` has."""
        return re.sub(rf"(?<!\s)\s*\(#{self.pr}\)\s*$", "", self.subject) if self.pr else self.subject

    @property
    def url(self) -> str:
        base = f"https://github.com/{self.repo}"
        return f"{base}/pull/{self.pr}" if self.pr else f"{base}/commit/{self.commit}"

    @property
    def stem(self) -> str:
        """What the ledger's files and the branch are named after."""
        return f"{self.name}-{self.pr or self.commit[:12]}"


class Maker(Model):
    """What made a ledger: the digest of the translation's rules, and the version of the Markdown renderer. By others than
    today's, it cannot be derived again."""

    rules: Ident
    markdown: Count


class Ledger(Model):
    """The ledger of one upstream change. `entries` partition its diff."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    upstream: Origin
    fork: Word
    engines: tuple[str, str] = ("sglang", "vllm")
    added: Count
    removed: Count
    entries: tuple[Entry, ...]
    rules: tuple[RuleUse, ...] = ()
    ci: tuple[Registration, ...] = ()
    reverts: tuple[Ref, ...] = ()
    reverted_by: Ref | None = None
    made_by: Maker | None = None
    decisions: tuple[Decision, ...] = ()
    verification: Verification = Verification()

    def entry(self, ident: str) -> Entry | None:
        return next((e for e in self.entries if e.id == ident), None)

    @property
    def accounted(self) -> int:
        return sum(e.added + e.removed for e in self.entries)

    @property
    def counts(self) -> dict[str, int]:
        """Entries for each operation that occurs."""
        return {op: n for op in ORDER if (n := sum(e.op == op for e in self.entries))}

    @property
    def open(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.state == "open")


def iso_date(raw: str) -> str:
    """Git's `seconds zone` as ISO 8601 in that zone; what git could not have written becomes the epoch."""
    seconds, _, zone = raw.partition(" ")
    try:
        minutes = int(zone[-4:-2] or 0) * 60 + int(zone[-2:] or 0)
        where = timezone(timedelta(minutes=-minutes if zone.startswith("-") else minutes))
        return datetime.fromtimestamp(int(seconds), where).isoformat()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).isoformat()


def by_path(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Entries grouped by upstream path, both in order."""
    groups: dict[str, list[Entry]] = {}
    for e in sorted(entries, key=lambda e: (e.upstream.name, e.upstream.new.start, e.upstream.old.start)):
        groups.setdefault(e.upstream.name, []).append(e)
    return groups
