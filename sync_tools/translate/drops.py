"""Removing a dropped flag so that what is left stays valid: its line, its string in a concatenation, its list element."""

import re
from dataclasses import dataclass
from itertools import groupby, pairwise

from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.spoken import left_out
from sync_tools.translate.text.places import Place
from sync_tools.translate.text.pylex import Lexed, Region

_BLANK = re.compile(r"[ \t]*")
_BARE_LINE = re.compile(r"[ \t]*(?:#[ \t]*)?(?P<continued>\\)?\r?")
_ELEMENT = re.compile(
    r"""\s*,\s*(?P<value>[rRbBfFuU]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[\w.]+(?:\([^()\n]*\))?(?:\[[^\]\n]*\])?)"""
)
NO_ROOM = "dropped in vLLM, but it is only named here; a person must rewrite what says so"


@dataclass(frozen=True)
class Drop:
    """A flag with its value, start..stop, that has nothing to become."""

    start: int
    stop: int
    rule: str
    place: Place
    takes: str


def remove(claims: Claims, drops: list[Drop], lexed: Lexed | None) -> None:
    """Add the edits that remove the drops; those that are only named are kept and reported."""
    for d in drops:
        if not _separate(claims.text, d) and not left_out(claims, d.place, d.start, d.stop, d.rule):
            _leave(claims, d)
    drops = [d for d in drops if _separate(claims.text, d)]
    groups = [(place, list(run)) for place, run in groupby(sorted(drops, key=lambda d: d.start), key=lambda d: d.place)]
    for place, run in groups:
        if place.style == "prose":
            for d in run:
                if not left_out(claims, d.place, d.start, d.stop, d.rule):
                    _leave(claims, d)
        elif place.style == "line":
            _from_line(claims, run)
    emptied = {place.literal for place, run in groups if place.literal and not _rest(claims, place, run).strip()}
    for place, run in groups:
        if place.literal and lexed is not None and place.literal not in emptied:
            for d in run:
                _cut(claims, [d], *_with_blanks(claims, d))
    if lexed is not None:
        runs = {place.literal.start: run for place, run in groups if place.literal in emptied and place.literal}
        for chain in {(c := lexed.chain(literal))[0].start: c for literal in emptied if literal}.values():
            _from_chain(claims, lexed, chain, runs)


def _separate(text: str, d: Drop) -> bool:
    """True where the flag is a word of its own, so that it can go without joining its neighbours."""
    before, after = text[max(d.place.lo, d.start - 1) : d.start], text[d.stop : min(d.place.hi, d.stop + 1)]
    return before in ("", " ", "\t", "(", "#", '"', "'") and after in ("", " ", "\t", ")", '"', "'", "\\")


def _leave(claims: Claims, d: Drop) -> None:
    claims.site(d.start, d.stop, claims.text[d.start : d.stop], NO_ROOM)
    claims.keep(d.start, d.stop)


def _rest(claims: Claims, place: Place, run: list[Drop]) -> str:
    """What the place holds besides the dropped flags."""
    parts, at = [], place.lo
    for d in run:
        parts.append(claims.text[at : d.start])
        at = d.stop
    return "".join([*parts, claims.text[at : place.hi]])


def _cut(claims: Claims, run: list[Drop], start: int, stop: int) -> None:
    """Remove start..stop, listing each flag of the run on its own."""
    bounds = [start, *(d.start for d in run[1:]), stop]
    for d, lo, hi in zip(run, bounds, bounds[1:]):
        claims.edit(Edit(lo, hi, "", d.rule, before=claims.text[d.start : d.stop], after="", at=d.start))


def _from_line(claims: Claims, run: list[Drop]) -> None:
    text, place = claims.text, run[0].place
    bare = _BARE_LINE.fullmatch(_rest(claims, place, run))
    if bare is None:
        for d in run:
            _cut(claims, [d], *_with_blanks(claims, d))
        return
    start, end = place.lo, text.find("\n", place.hi)
    if not bare["continued"] and (backslash := _dangling(claims, start)) is not None:
        # The last line of a continued command goes: so does the backslash that led to it.
        claims.edit(Edit(*backslash, "", run[0].rule, listed=False))
    if end < 0:
        # No newline at the end of the text, before and after.
        start -= 1 if start and claims.free(start - 1, start) else 0
    _cut(claims, run, start, len(text) if end < 0 else end + 1)


def _dangling(claims: Claims, start: int) -> tuple[int, int] | None:
    """The backslash (with the blanks before it) that ends the nearest line above that stays."""
    text, at = claims.text, start
    while at > 0 and not claims.free(at - 1, at):
        at = text.rfind("\n", 0, at - 1) + 1
    low = max(0, at - 200)
    match = re.search(r"[ \t]*\\(?=\r?\n$)", text[low:at])
    return (low + match.start(), low + match.end()) if match else None


def _with_blanks(claims: Claims, d: Drop) -> tuple[int, int]:
    """The drop with the blanks that separated it: those before it, or those after it where it comes first."""
    text, start = claims.text, d.start
    while start > d.place.lo and text[start - 1] in " \t" and claims.free(start - 1, start):
        start -= 1
    if d.place.lo < start < d.start:
        return start, d.stop
    after = _BLANK.match(text, d.stop, d.place.hi)
    assert after is not None
    return d.start, after.end()


def _from_chain(claims: Claims, lexed: Lexed, chain: tuple[Region, ...], runs: dict[int, list[Drop]]) -> None:
    """Take the strings that hold nothing else (those in `runs`, by where they start) out of their concatenation."""
    first = next((i for i, literal in enumerate(chain) if literal.start not in runs), None)
    if first is None:
        _whole_chain(claims, lexed, chain, runs)
        return
    for i, literal in enumerate(chain):
        run = runs.get(literal.start)
        if run is None:
            continue
        start, stop = (literal.start, chain[i + 1].start) if i < first else (chain[i - 1].end, literal.end)
        if "#" in lexed.code[start:stop]:
            start, stop = _own_line(claims.text, literal)
        _cut(claims, run, start, stop)


def _own_line(text: str, literal: Region) -> tuple[int, int]:
    """The line of a literal that stands alone on it, else the inside of its quotes."""
    lo = text.rfind("\n", 0, literal.start) + 1
    hi = text.find("\n", literal.end)
    alone = hi >= 0 and not text[lo : literal.start].strip() and not text[literal.end : hi].strip()
    return (lo, hi + 1) if alone else literal.inner


def _whole_chain(claims: Claims, lexed: Lexed, chain: tuple[Region, ...], runs: dict[int, list[Drop]]) -> None:
    """No string of the concatenation is left: a list loses the element (and its value), anything else an empty string."""
    text, literal = claims.text, chain[0]
    for before, after in pairwise(chain):
        _cut(claims, runs[after.start], before.end, after.end)
    run = runs[literal.start]
    exact = len(run) == len(chain) == 1 and literal.inner == (run[0].start, run[0].stop)
    bracket, opened = lexed.bracket(literal.start)
    ends_line = not lexed.code[literal.end : _line_end(text, literal.end)].strip("# \t\r")
    if not exact or (bracket == "" and ends_line):
        _cut(claims, run, *literal.inner)
    elif bracket not in ("[", "("):
        claims.site(literal.start, literal.end, text[run[0].start : run[0].stop], NO_ROOM)
        claims.keep(*literal.inner)
    else:
        _element(claims, literal, run[0], opened)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _element(claims: Claims, literal: Region, d: Drop, opened: int) -> None:
    """Take a flag that is a list's element out of it, with the element that is its value."""
    text, stop = claims.text, literal.end
    before = text[d.start : d.stop]
    if d.takes != "0":
        value = _ELEMENT.match(text, stop)
        if value is None or d.takes == "+" or value["value"].strip("\"'").startswith("--"):
            claims.site(literal.start, literal.end, before, "dropped in vLLM, but where its values end cannot be told")
            claims.keep(*literal.inner)
            return
        stop = value.end()
        before += f" {value['value']}"
    start = literal.start
    comma = "," in (text[stop : stop + 80].lstrip()[:1], text[max(0, start - 80) : start].rstrip()[-1:])
    if not comma and text[opened] == "(":
        claims.edit(Edit(*literal.inner, "", d.rule, before=before, after="", at=d.start))
        return
    if after := re.compile(r"\s*,[ \t]*").match(text, stop):
        stop = after.end()
        lo = text.rfind("\n", 0, start) + 1
        newline = re.compile(r"\r?\n").match(text, stop)
        if newline and not text[lo:start].strip():
            start, stop = lo, newline.end()
    else:
        while start > opened + 1 and text[start - 1] in " \t\r\n":
            start -= 1
        start -= start > opened + 1 and text[start - 1] == ","
    claims.edit(Edit(start, stop, "", d.rule, before=before, after="", at=d.start))
