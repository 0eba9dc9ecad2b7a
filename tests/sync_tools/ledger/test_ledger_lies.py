"""`check` finds what a ledger says that is not so, and nothing in an honest one."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from ledger_world import RULES, Files, Port, change_set, port, sample

from sync_tools.ledger.check import Problem, check
from sync_tools.ledger.landing import Landing
from sync_tools.ledger.lines import digest, split
from sync_tools.ledger.model import Decision, Entry, Ledger, Span
from sync_tools.tree import Blob, MemoryTree, Overlay, Tree

SEED, EACH = 20240611, 8
RELABEL = {"ported": ["translated", "present", "diverged", "dropped"], "translated": ["ported", "dropped", "deferred"]}
RELABEL |= {"dropped": ["ported", "absent"], "deferred": ["ported", "translated"], "present": ["ported"]}
RELABEL |= {"absent": ["dropped", "superseded"], "generated": ["ported", "reverted"]}

Lie = tuple[Landing, Tree, str | None]
"""The landing with the lie in it, HEAD, and the entry that lies."""


@pytest.fixture(scope="module")
def honest() -> Port:
    files, fork = sample()
    return port(change_set(files.changes()), fork)


def problems(told: Port, landing: Landing | None = None, head: Tree | None = None) -> tuple[Problem, ...]:
    landing = landing or told.landing
    return check(landing, told.changes, RULES, head or landing.written)


def swap(ledger: Ledger, old: Entry, *new: Entry) -> Ledger:
    return ledger.model_copy(update={"entries": tuple(x for e in ledger.entries for x in (new if e is old else (e,)))})


def lying(landing: Landing, old: Entry, **changes: object) -> Landing:
    return replace(landing, ledger=swap(landing.ledger, old, old.model_copy(update=changes)))


def claims(landing: Landing) -> list[Entry]:
    return [
        e
        for e in landing.ledger.entries
        if e.op in ("ported", "translated") and (e.downstream.lines or Span(start=0, count=0)).count
    ]


def relabelled(landing: Landing, rng: random.Random) -> Lie:
    e = rng.choice(landing.ledger.entries)
    return (
        lying(landing, e, op=rng.choice(RELABEL[e.op]), state="settled", reason=e.reason or "as agreed"),
        landing.written,
        e.id,
    )


def _line_of(landing: Landing, e: Entry, rng: random.Random) -> tuple[list[bytes], int]:
    lines = split(landing.written.blob(e.downstream.path).data)
    return lines, rng.choice([i for i in e.downstream.lines.lines if lines[i].strip()])


def _edited(tree: Tree, path: str, lines: list[bytes]) -> Overlay:
    return Overlay(tree, {path: Blob(b"\n".join(lines) + b"\n")})


def removed(landing: Landing, rng: random.Random) -> Lie:
    e = rng.choice(claims(landing))
    lines, at = _line_of(landing, e, rng)
    return landing, _edited(landing.written, e.downstream.path, lines[:at] + lines[at + 1 :]), e.id


def shifted(landing: Landing, rng: random.Random) -> Lie:
    e, by = rng.choice(claims(landing)), rng.choice([-1, 1, 2])
    if rng.random() < 0.5:
        span = e.downstream.lines
        moved = e.downstream.model_copy(update={"lines": Span(start=max(span.start + by, 0), count=span.count)})
        return lying(landing, e, downstream=moved), landing.written, e.id
    moved = e.upstream.model_copy(
        update={"new": Span(start=e.upstream.new.start + abs(by), count=e.upstream.new.count)}
    )
    return lying(landing, e, upstream=moved), landing.written, e.id


def redigested(landing: Landing, rng: random.Random) -> Lie:
    """Somebody edits the line in the fork and makes the ledger agree, in one commit."""
    e = rng.choice(claims(landing))
    lines, at = _line_of(landing, e, rng)
    lines[at] += b"  # as before"
    span = e.downstream.lines.lines
    target = e.downstream.model_copy(update={"digest": digest(lines[span.start : span.stop])})
    landing = lying(landing, e, downstream=target)
    written = _edited(landing.written, e.downstream.path, lines)
    return replace(landing, written=written), written, e.id


def swallowed(landing: Landing, rng: random.Random) -> Lie:
    """One `deferred` for a whole file."""
    paths = sorted({e.upstream.name for e in claims(landing)})
    path = rng.choice([p for p in paths if sum(e.upstream.name == p for e in landing.ledger.entries) > 1])
    of_file = [e for e in landing.ledger.entries if e.upstream.name == path]
    first, last = of_file[0], of_file[-1]
    old = _over(first.upstream.old, last.upstream.old)
    new = _over(first.upstream.new, last.upstream.new)
    one = first.model_copy(
        update={
            "op": "deferred",
            "state": "open",
            "reason": "waits for the next release",
            "upstream": first.upstream.model_copy(update={"old": old, "new": new}),
            "added": sum(e.added for e in of_file),
            "removed": sum(e.removed for e in of_file),
        }
    )
    rest = [e for e in landing.ledger.entries if e.upstream.name != path]
    ledger = landing.ledger.model_copy(update={"entries": (one, *rest)})
    return replace(landing, ledger=ledger), landing.written, one.id


def _over(first: Span, last: Span) -> Span:
    return Span(start=first.start, count=last.start + last.count - first.start)


KINDS: tuple[Callable[[Landing, random.Random], Lie], ...] = (relabelled, removed, shifted, redigested, swallowed)


def planted(landing: Landing) -> Iterator[tuple[str, Lie]]:
    rng = random.Random(SEED)
    for kind in KINDS:
        for _ in range(EACH):
            yield kind.__name__, kind(landing, rng)


def test_an_honest_ledger_has_no_problem(honest: Port) -> None:
    assert problems(honest) == ()


def test_the_sample_meets_every_operation_that_lines_alone_decide(honest: Port) -> None:
    assert set(RELABEL) <= set(honest.landing.ledger.counts)


def test_forty_planted_lies_are_found_at_their_entry(honest: Port) -> None:
    lies = list(planted(honest.landing))
    missed = [
        (kind, entry)
        for kind, (landing, head, entry) in lies
        if entry not in {p.entry for p in problems(honest, landing, head)}
    ]
    assert len(lies) == 40
    assert missed == []


def test_a_planted_lie_does_not_accuse_other_files(honest: Port) -> None:
    for kind, (landing, head, entry) in planted(honest.landing):
        if kind in ("relabelled", "shifted"):
            assert {p.entry for p in problems(honest, landing, head)} == {entry}


@pytest.mark.parametrize("key", ["added", "removed"])
def test_totals_that_upstream_does_not_have_are_found(honest: Port, key: str) -> None:
    ledger = honest.landing.ledger.model_copy(update={key: getattr(honest.landing.ledger, key) + 1})
    assert problems(honest, replace(honest.landing, ledger=ledger))


def test_a_missing_and_a_doubled_entry_are_found(honest: Port) -> None:
    entries = honest.landing.ledger.entries
    gone = honest.landing.ledger.model_copy(update={"entries": entries[1:]})
    twice = honest.landing.ledger.model_copy(update={"entries": (*entries, entries[0])})
    assert any("has no entry" in p.what for p in problems(honest, replace(honest.landing, ledger=gone)))
    assert any("twice" in p.what for p in problems(honest, replace(honest.landing, ledger=twice)))


def test_an_open_entry_cannot_be_called_settled(honest: Port) -> None:
    e = honest.landing.ledger.open[0]
    assert [p.entry for p in problems(honest, lying(honest.landing, e, state="settled"))] == [e.id]


@pytest.mark.parametrize("op", ["deferred", "dropped", "absent", "diverged"])
@pytest.mark.parametrize("was", ["ported", "translated", "generated"])
def test_a_decision_against_what_stands_is_found(honest: Port, was: str, op: str) -> None:
    e = next(e for e in honest.landing.ledger.entries if e.op == was)
    word = Decision(entry=e.id, op=op, why="waits for the engine", who="A Person <a@b.c>", was=was)
    landing = lying(honest.landing, e, op=op, state="decided", reason=word.why, who=word.who)
    landing = replace(landing, ledger=landing.ledger.model_copy(update={"decisions": (word,)}))
    assert any(p.entry == e.id and f"but is {was}" in p.what for p in problems(honest, landing))


def test_a_decision_about_lines_that_are_gone_since_is_granted(honest: Port) -> None:
    e = claims(honest.landing)[0]
    word = Decision(entry=e.id, op="dropped", why="not needed any more", who="A Person <a@b.c>", was=e.op)
    landing = lying(honest.landing, e, op="dropped", state="decided", reason=word.why, who=word.who)
    landing = replace(landing, ledger=landing.ledger.model_copy(update={"decisions": (word,)}))
    lines, at = _line_of(landing, e, random.Random(SEED))
    head = _edited(landing.written, e.downstream.path, lines[:at] + lines[at + 1 :])
    assert not [p for p in problems(honest, landing, head) if p.entry == e.id]


@pytest.mark.parametrize(("ours", "op", "granted"), [
    (b"a\nours\nc\n", "diverged", True), (b"a\nours\nc\n", "dropped", False), (b"a\nb\nc\n", "diverged", False),
])  # fmt: skip
def test_what_the_fork_has_otherwise_may_be_told_to_differ_on_purpose(ours: bytes, op: str, granted: bool) -> None:
    told = port(change_set(Files({}, {"a.sh": b"a\nb\nc\n"}).changes()), MemoryTree({"a.sh": Blob(ours)}))
    (e,) = told.landing.ledger.entries
    word = Decision(entry=e.id, op=op, why="ours is safer", who="A Person <a@b.c>", was="present")
    landing = lying(told.landing, e, op=op, state="decided", reason=word.why, who=word.who)
    landing = replace(landing, ledger=landing.ledger.model_copy(update={"decisions": (word,)}))
    assert bool(problems(told, landing)) is not granted
