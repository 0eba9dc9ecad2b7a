"""Why a merge did not come out as the person made it: one line, derived from the three sides, and a reading where we have one."""

import difflib
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sync_tools.merge.lines import split
from sync_tools.plural import counted

READINGS = Path(__file__).with_name("merge_readings.toml")


@dataclass(frozen=True)
class Other:
    """One file; `verdict` is `clean_different` or `conflict`, `reading` what a person made of it, if one looked."""

    commit: str
    file: str
    verdict: str
    why: str
    reading: str | None


@dataclass(frozen=True)
class Sides:
    base: bytes
    ours: bytes
    theirs: bytes
    person: bytes


def other(commit: str, path: str, merged: bytes, clean: bool, where: tuple[str, ...], sides: Sides) -> Other:
    why = _clean(merged, sides) if clean else _conflict(where, sides)
    return Other(
        commit[:12], path, "clean_different" if clean else "conflict", why, readings().get((commit[:12], path))
    )


def own_lines(sides: Sides) -> int:
    """Lines of the person's that no side has: no merge can reach them."""
    known = {*split(sides.base), *split(sides.ours), *split(sides.theirs)}
    return sum(line not in known for line in split(sides.person))


def _clean(merged: bytes, sides: Sides) -> str:
    ours, person = split(merged), split(sides.person)
    gone, new = Counter(ours) - Counter(person), Counter(person) - Counter(ours)
    if not gone and not new:
        return "the person put the same lines in another order"
    added, own = counted(new.total(), "line"), own_lines(sides)
    if not gone:
        return f"the person also wrote {added}, {own} of them in no side"
    moved = difflib.SequenceMatcher(a=ours, b=person, autojunk=False).get_opcodes()
    places = counted(sum(tag != "equal" for tag, *_ in moved), "place")
    removed = counted(gone.total(), "line")
    return f"the person wrote {added}, {own} of them in no side, instead of {removed} of the merge, in {places}"


def _conflict(where: tuple[str, ...], sides: Sides) -> str:
    both = "both sides changed " + (", ".join(where) or "the same lines")
    own = own_lines(sides)
    if own:
        return f"{both}; the person combined them in {counted(own, 'line')} that no side has"
    took = (
        "upstream's"
        if sides.person == sides.theirs
        else "the fork's"
        if sides.person == sides.ours
        else "lines of both"
    )
    return f"{both}; the person took {took}"


@cache
def readings() -> dict[tuple[str, str], str]:
    rows = tomllib.loads(READINGS.read_text("utf-8"))["file"]
    return {(row["commit"], row["path"]): row["reading"] for row in rows}
