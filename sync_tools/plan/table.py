"""The plan of a window as the object that other programs read, and as the table that people read."""

from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import Any

from sync_tools.plan.report import Line, briefing_object, change_object, left_object, name, risk_object, title
from sync_tools.plan.window import Planned, WindowPlan
from sync_tools.plural import counted

WORDS = {"missing": "to port", "unknown": "to port", "landed": "landed"}


def window_object(plan: WindowPlan) -> dict[str, Any]:
    """The object of `sync plan --cutoff --tip --json`: what lies before the window, then the landings, oldest first."""
    return {
        "cutoff": plan.cutoff,
        "tip": plan.tip,
        "prs": [_object(each) for each in plan.landings],
        "prerequisites": [
            {**needed, "for": change_object(each.briefing.change)}
            for each in plan.landings
            for needed in briefing_object(each.briefing)["prerequisites"]
        ],
    }


def _object(planned: Planned) -> dict[str, Any]:
    change = planned.briefing.change
    return {
        **change_object(change),
        "state": planned.briefing.state,
        "files": planned.files,
        "lines": {"added": planned.added, "removed": planned.removed},
        "risks": [risk_object(change, risk) for risk in planned.risks],
        **briefing_object(planned.briefing),
        "absent_paths": [left_object(each) for each in planned.absent],
        "left_paths": [left_object(each) for each in planned.left],
        "together": change_object(planned.together) if planned.together else None,
    }


def window_lines(plan: WindowPlan) -> Iterator[Line]:
    """A line a landing, in upstream's order; then what they come to."""
    width = max((len(name(p.briefing.change)) for p in plan.landings), default=0)
    for planned in plan.landings:
        yield _style(planned), _row(planned, width)
    yield from _summary(plan.landings, f"{plan.cutoff[:12]}..{plan.tip[:12]}")


def _row(planned: Planned, width: int) -> str:
    change = planned.briefing.change
    state = "skipped" if _skipped(planned) else WORDS[planned.briefing.state]
    size = f"+{planned.added} -{planned.removed}"
    return f"{name(change):<{width}}  {state:<7}  {size:>12}  {shorten(title(change), 60, placeholder='…')}{_notes(planned)}"


def _notes(planned: Planned) -> str:
    """What is to be known of a landing, in brackets."""
    notes = []
    if planned.together:
        notes.append(f"together with {name(planned.together)} nothing")
    for later in planned.briefing.later:
        if later.kind == "revert" and not planned.together:
            undone = f", which {name(later.undone_by)} undoes" if later.undone_by else ""
            notes.append(f"reverted by {name(later.change)}{undone}")
    fixes = [name(later.change) for later in planned.briefing.later if later.kind == "fix"]
    if fixes:
        notes.append(f"mended by {_few(fixes)}")
    needed = [name(each.change) for each in planned.briefing.prerequisites]
    if needed:
        notes.append(f"needs {_few(needed)} from before")
    if planned.absent:
        notes.append(f"{counted(len(planned.absent), 'file')} absent")
    if planned.left and not _skipped(planned):
        notes.append(f"{counted(len(planned.left), 'file')} left out by policy")
    marks = [risk.mark for risk in planned.risks if risk.mark != "reverted"]
    notes += [", ".join(marks)] if marks else []
    return f"  [{'; '.join(notes)}]" if notes else ""


def _skipped(planned: Planned) -> bool:
    """A policy drops all that it changes: nothing of it is to port."""
    dropped = sum(each.why.startswith("dropped: ") for each in planned.left)
    return planned.briefing.state != "landed" and 0 < planned.files == dropped


def _style(planned: Planned) -> str:
    if planned.briefing.state == "landed" or planned.together or _skipped(planned):
        return "dim"
    return "yellow" if planned.briefing.prerequisites or planned.absent else ""


def _summary(landings: Sequence[Planned], span: str) -> Iterator[Line]:
    open_ = [each for each in landings if each.briefing.state != "landed" and not _skipped(each)]
    pairs = sum(1 for each in open_ if each.together) // 2
    mended = sum(1 for each in open_ if any(x.kind == "fix" for x in each.briefing.later))
    yield (
        "bold",
        f"{span}: {counted(len(landings), 'landing')}, {len(open_)} to port; {counted(pairs, 'pair')} that come to"
        f" nothing, {mended} mended within it",
    )
    before = {p.change: None for each in open_ for p in each.briefing.prerequisites}
    if before:
        yield "yellow", f"from before it, and not in the fork: {_few([name(change) for change in before])}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
