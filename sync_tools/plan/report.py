"""A plan as the object that other programs read, and as the lines that people read."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sync_tools.ledger.reverts import NUMBER
from sync_tools.plan.model import Briefing, Change, Companion, Later, Left, Place, Plan, Prerequisite, Risk
from sync_tools.plural import counted

Line = tuple[str, str]
"""(style, text)."""

SHOWN = 8
WORDS = {
    "edits": "wrote what it edits",
    "beside": "wrote what stands beside its insertion",
    "file": "made",
    "uses": "defined what it imports",
}
KINDS = {"revert": "reverts it", "fix": "fixes its lines", "change": "changes its lines"}


def as_object(plan: Plan) -> dict[str, Any]:
    """The object of `sync plan N --json`."""
    change = plan.briefing.change
    return {
        "pr": change.pr,
        "upstream_commit": change.commit,
        "title": change.subject,
        "state": plan.briefing.state,
        "searched": plan.briefing.assumed,
        "other_landings": list(plan.other_landings),
        "files": [vars(file) for file in plan.files],
        **briefing_object(plan.briefing),
        "companions": [{**change_object(each.change), "why": each.why} for each in plan.companions],
        "absent_paths": [left_object(each) for each in plan.absent],
        "owned_paths": [left_object(each) for each in plan.owned],
        "dropped_paths": [left_object(each) for each in plan.dropped],
        "risks": [risk_object(change, risk) for risk in plan.risks],
        "ci": {
            "rows": [vars(row) for row in plan.rows],
            "labels": sorted({row.label for row in plan.rows if row.label}),
        },
    }


def briefing_object(briefing: Briefing) -> dict[str, Any]:
    """What a change stands on and what became of it, as in the object of `sync plan N` and in that of a port."""
    return {
        "prerequisites": [
            {
                **change_object(each.change),
                "state": each.state,
                "why": why_needed(each),
                "places": [{"relation": n.relation, **_place(n.place)} for n in each.needs],
                "through": change_object(each.through) if each.through else None,
            }
            for each in briefing.prerequisites
        ],
        "later_changes": [
            {
                **change_object(each.change),
                "kind": each.kind,
                "why": why_later(each),
                "lines": each.lines,
                "places": [_place(place) for place in each.places],
                "undone_by": change_object(each.undone_by) if each.undone_by else None,
            }
            for each in briefing.later
        ],
    }


def risk_object(change: Change, risk: Risk) -> dict[str, Any]:
    """A mark, with the change that it is of."""
    return {
        "pr": change.pr,
        "commit": change.commit,
        "mark": risk.mark,
        "why": risk.why,
        "paths": list(risk.paths),
        "rules": list(risk.rules),
    }


def change_object(change: Change) -> dict[str, Any]:
    """A change of upstream's; `commit` is null where the main line does not hold it."""
    return {"pr": change.pr, "commit": change.commit or None, "title": change.subject}


def _place(place: Place) -> dict[str, Any]:
    return {"path": place.path, "lines": list(place.lines), "symbol": place.symbol}


def left_object(left: Left) -> dict[str, Any]:
    """A path that stays out; `commit` is the fork's that removed it."""
    return {"pr": None, "commit": left.commit, "path": left.path, "why": left.why}


def title(change: Change) -> str:
    """The subject without the number at its end."""
    return NUMBER.sub("", change.subject)


def name(change: Change) -> str:
    """`#1920`, or the beginning of a bare commit's hex."""
    return f"#{change.pr}" if change.pr is not None else change.commit[:12]


def why_needed(needed: Prerequisite) -> str:
    """The strongest reason in words, and how many places more there are."""
    first, *others = needed.needs
    more = f", and {counted(len(others), 'place')} more" if others else ""
    through = f"; {name(needed.through)} needs it" if needed.through else ""
    return f"{WORDS.get(first.relation, first.relation)}: {where(first.place)}{more}{through}"


def why_later(later: Later) -> str:
    """What a later change does to the lines, in words."""
    undone = f", and {name(later.undone_by)} undoes that" if later.undone_by else ""
    if not later.places:
        return f"{KINDS[later.kind]}, by its message{undone}"
    first, *others = later.places
    more = f", and {counted(len(others), 'file')} more" if others else ""
    return f"{KINDS[later.kind]}: {counted(later.lines, 'line')}, {where(first)}{more}{undone}"


def where(place: Place) -> str:
    """`path:12-14 (symbol)`."""
    symbol = f" ({place.symbol})" if place.symbol and not place.symbol.startswith("<") else ""
    return f"{place.path}{':' + ranges(place.lines) if place.lines else ''}{symbol}"


def ranges(lines: Sequence[int]) -> str:
    """`12-14,20`, the first few."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    shown = [f"{first}-{last}" if last > first else str(first) for first, last in runs[:3]]
    return ",".join(shown) + (",..." if len(runs) > 3 else "")


def lines(plan: Plan, ref: str) -> Iterator[Line]:
    """The lines that tell a plan; `ref` names the change."""
    briefing = plan.briefing
    state = "landed in the fork already" if briefing.state == "landed" else "not in the fork"
    yield "bold", f"{ref}  {title(briefing.change)}" + ("" if briefing.state == "unknown" else f": {state}")
    for commit in plan.other_landings:
        yield "yellow", f"  landed before as {commit[:12]}, which is another change"
    yield from _files(plan)
    for risk in plan.risks:
        yield "red" if risk.mark in ("conflict", "reverted", "removes") else "yellow", f"  {risk.mark}: {risk.why}"
    yield from _prerequisites(briefing)
    yield from _later(briefing.later)
    yield from _companions(plan.companions)
    for word, left in (("absent", plan.absent), ("owned", plan.owned), ("dropped", plan.dropped)):
        for each in left:
            yield "yellow" if word == "absent" else "", f"  {word}: {each.path}: {each.why}"
    for row in plan.rows:
        label = f", label {row.label}" if row.label else ""
        yield "", f"  CI: {row.change} {row.test_file} in {row.job}{label}"


def _files(plan: Plan) -> Iterator[Line]:
    kinds: dict[str, list[Any]] = {}
    for file in plan.files:
        kinds.setdefault(file.kind, []).append(file)
    for kind, files in sorted(kinds.items()):
        added, removed = sum(f.added for f in files), sum(f.removed for f in files)
        paths = ", ".join(f"{f.path} ({f.change})" if f.change != "modified" else f.path for f in files[:4])
        more = f" and {len(files) - 4} more" if len(files) > 4 else ""
        yield "", f"  {kind}: {counted(len(files), 'file')}, +{added} -{removed}: {paths}{more}"


def _prerequisites(briefing: Briefing) -> Iterator[Line]:
    words = {"missing": "needs", "unknown": "rests on"}
    open_ = [p for p in briefing.prerequisites if p.state != "landed" and p.through is None]
    for each in open_[: 2 * SHOWN]:
        yield "yellow", f"  {words[each.state]} {name(each.change)} {title(each.change)}: {why_needed(each)}"
    if len(open_) > 2 * SHOWN:
        yield "yellow", f"  and {len(open_) - 2 * SHOWN} more that it needs (--json)"
    further = [name(p.change) for p in briefing.prerequisites if p.through]
    if further:
        yield "yellow", f"  which in turn need {_few(further)}"
    landed = [name(p.change) for p in briefing.prerequisites if p.state == "landed"]
    if landed:
        yield "", f"  rests on what landed in the fork: {_few(landed)}"
    if briefing.assumed and open_:
        yield "", f"  (nothing says where the fork begins, so the {briefing.assumed} commits before it were searched;"
        yield "", "   upstream.cutoff in sync.toml says it)"


def _later(later: Sequence[Later]) -> Iterator[Line]:
    told = [each for each in later if each.kind != "change"]
    for each in told:
        style = "red" if each.kind == "revert" else "yellow"
        yield style, f"  later {name(each.change)} {title(each.change)}: {why_later(each)}"
    rest = [each for each in later if each.kind == "change"]
    for each in rest[:SHOWN]:
        yield "", f"  later {name(each.change)} {title(each.change)}: {why_later(each)}"
    if len(rest) > SHOWN:
        yield "", f"  and {counted(len(rest) - SHOWN, 'later change')} more to its lines (--json)"


def _companions(companions: Sequence[Companion]) -> Iterator[Line]:
    for each in companions[:SHOWN]:
        yield "", f"  see {name(each.change)} {title(each.change)}: {each.why}"
    if len(companions) > SHOWN:
        yield "", f"  and {len(companions) - SHOWN} more (--json)"


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:SHOWN]) + (f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else "")
