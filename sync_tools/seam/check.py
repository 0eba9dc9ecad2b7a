"""Rows against facts: what rests on something that the engine does not have, and what changed between two versions."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from sync_tools.seam.rows import Row
from sync_tools.seam.snapshot import Snapshot


@dataclass(frozen=True, order=True)
class Problem:
    """A row that does not hold, with what to do about it."""

    file: str
    rule: str
    row: str
    what: str
    fix: str


@dataclass(frozen=True, order=True)
class Change:
    """A fact that one version has and the other has not, or has otherwise; `rows` are those that rest on it."""

    fact: str
    how: Literal["added", "gone", "changed"]
    before: str
    after: str
    rows: tuple[tuple[str, str, str], ...]


def problems(rows: Iterable[Row], snapshot: Snapshot) -> list[Problem]:
    """The rows that the snapshot contradicts, or says nothing about."""
    return sorted({problem for row in rows for problem in _of_row(row, snapshot)})


def unchecked(rows: Iterable[Row], snapshot: Snapshot) -> list[Row]:
    """The rows about the router, where the snapshot's interpreter has none."""
    return [row for row in rows if _needs_router(row) and "router version" not in snapshot.facts]


def _needs_router(row: Row) -> bool:
    return any(fact.startswith(("router ", "name vllm_router")) for fact in row.facts)


def _of_row(row: Row, snapshot: Snapshot) -> Iterable[Problem]:
    if _needs_router(row) and "router version" not in snapshot.facts:
        return
    for need in row.needs:
        if any(fact in snapshot.facts for fact in need):
            continue
        missing = " or ".join(need)
        unasked = [f for f in need if f.startswith("name ") and f.removeprefix("name ") not in snapshot.asked]
        if unasked:
            yield _problem(row, f"the snapshot was not asked for `{missing}`", "make the snapshot again")
        else:
            yield _problem(row, f"{snapshot.engine} {snapshot.version} has no `{missing}`", _fix(need[0], snapshot))
    for fact in row.gone:
        if fact in snapshot.facts:
            yield _problem(row, f"{snapshot.engine} {snapshot.version} has `{fact}`", "take the row out")
        elif fact.removeprefix("name ") not in snapshot.asked:
            yield _problem(row, f"the snapshot was not asked for `{fact}`", "make the snapshot again")


def _problem(row: Row, what: str, fix: str) -> Problem:
    return Problem(row.file, row.rule, row.what, what, fix)


def _fix(fact: str, snapshot: Snapshot) -> str:
    kind = fact.split(" ", 1)[0]
    near = get_close_matches(fact, [f for f in snapshot.facts if f.startswith(kind)], n=3, cutoff=0.75)
    return f"near it: {', '.join(f'`{f}`' for f in near)}" if near else "mend the row, or take it out"


def changes(old: Snapshot, new: Snapshot, rows: Iterable[Row]) -> list[Change]:
    """What differs between two versions, with the rows that rest on each difference."""
    rows = tuple(rows)
    # A name that only one of them was asked for, and a router that only one has, say nothing about the versions.
    names = {f"name {name}" for name in old.asked ^ new.asked}
    lone = "router" if ("router version" in old.facts) != ("router version" in new.facts) else None
    found = []
    for fact in sorted(old.facts.keys() | new.facts.keys()):
        before, after = old.facts.get(fact), new.facts.get(fact)
        if before == after or fact in names or (lone and fact.startswith(lone)):
            continue
        how = "added" if before is None else "gone" if after is None else "changed"
        # A value that comes or goes concerns whoever uses the flag, too.
        named = {fact, fact.partition(" = ")[0]}
        resting = tuple((r.file, r.rule, r.what) for r in rows if named & r.facts)
        found.append(Change(fact, how, before or "", after or "", resting))
    return found
