"""What became of a unit: the operation, and whether a person still has to decide."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sync_tools.config import Config, Overlay
from sync_tools.ledger.follow import TEMPLATE
from sync_tools.ledger.model import Op, State
from sync_tools.ledger.rules import applied, is_seam, is_short
from sync_tools.ledger.translated import Translated
from sync_tools.ledger.units import Marks, Unit
from sync_tools.ledger.view import FileView
from sync_tools.merge.result import Conflict
from sync_tools.policy import OURS, matches
from sync_tools.translate.result import Site
from sync_tools.upstream.course import back, forward

UNEXPLAINED = "the fork's lines are not the translation, and no overlay says why"
ALREADY = "the fork has it already"
GENERATED = "made again from its template"
WORKSHEET = "upstream's change is not merged: `vime-sync ledger worksheet` shows it beside the fork's"
NO_PLACE = "the fork's matrix has no place for it"
TEST = re.compile(rb"""(["'])test_file\1\s*:\s*["']([^"']+)["']""")
JOB = re.compile(rb"""^\s*(["'])([^"']+)\1\s*:\s*\{\s*$""")


@dataclass(frozen=True)
class Verdict:
    """`traced`: lines of the fork answer to the unit, so that rules and a downstream range can be told."""

    op: Op
    state: State = "settled"
    reason: str = ""
    who: str = ""
    until: str | None = None
    link: str | None = None
    traced: bool = True


def marks_of(view: FileView) -> tuple[Marks, Sequence[Conflict]]:
    """The lines that have an operation of their own whatever their neighbours are, and the file's conflicts."""
    outcome = view.outcome
    if outcome.disposition != "merged":
        return Marks(), ()
    merged = view.whole.outcome.merged
    conflicts = merged.conflicts if merged else ()
    old: dict[int, str] = dict.fromkeys(view.old.vanished, "dropped")
    new: dict[int, str] = dict.fromkeys(view.new.vanished, "dropped")
    new |= dict.fromkeys(_unplaced(view), "absent")
    new |= {i: "deferred" for site in _sites(view) for i in range(site.line - 1, max(site.end_line, site.line))}
    for clash in conflicts:
        in_old, in_new = _clashing(view, clash)
        old |= dict.fromkeys(in_old, "conflict")
        new |= dict.fromkeys(in_new, "conflict")
    return Marks(old, new), conflicts


def judge(view: FileView, unit: Unit, config: Config) -> Verdict:
    """The operation of a unit, the strongest of its lines; a function of the values alone."""
    outcome = view.outcome
    match outcome.disposition:
        case "dropped":
            return Verdict("dropped", reason=outcome.reason, traced=False)
        case "absent":
            return Verdict("absent", "open", outcome.reason or "the fork does not have this file", traced=False)
        case "generated":
            return Verdict("generated", reason=outcome.reason or GENERATED, traced=False)
        case "owned":
            return _owned(outcome.reason)
        case "present":
            return _present(view, unit)
    match unit.mark:
        case "conflict":
            return Verdict("conflict", "open", "both sides changed it")
        case "deferred":
            return Verdict("deferred", "open", _why(view, unit))
        case "dropped":
            return Verdict("dropped", reason=_rule(view, unit))
        case "absent":
            return Verdict("absent", "open", _no_place(view, unit), traced=False)
    return _file_wide(view, config) if unit.whole else _lines(view, unit, config)


def _owned(reason: str) -> Verdict:
    """What upstream did to a path that is the fork's alone waits for a person, but for what no upstream decides."""
    if reason == OURS:
        return Verdict("diverged", reason=reason, who="sync.toml", traced=False)
    return Verdict("diverged", "open", f"{reason}; {WORKSHEET}", traced=False)


def _present(view: FileView, unit: Unit) -> Verdict:
    """A file that the fork has already: what its file does not have at all is not there, whatever else is."""
    if lacking := view.lacking(unit):
        return Verdict("deferred", "open", f"the fork's {view.outcome.path} {lacking}", traced=False)
    return Verdict("present", reason=view.outcome.reason or ALREADY)


def _lines(view: FileView, unit: Unit, config: Config) -> Verdict:
    placed = _placed(view, unit, config)
    if placed is not None:
        return placed
    if not view.stands(unit):
        return _diverged(view, config)
    if view.already(unit) and any(line.strip() for line in _text(view, unit)):
        return Verdict("present", reason=ALREADY)
    return Verdict("translated" if any(map(is_seam, applied(view, unit))) else "ported")


def _file_wide(view: FileView, config: Config) -> Verdict:
    """A rename, a mode, a link, bytes: the fork's file must be what the translation of upstream's is."""
    change, whole, final = view.outcome.change, view.whole.outcome, view.outcome.final
    image = whole.change.after
    if image is None or final is None:
        return Verdict("ported") if image is final is None else _diverged(view, config)
    wanted = whole.after.data if whole.after else image.data
    carried = not change.hunks and change.kind in ("added", "modified", "type")
    if final.mode != image.mode or (carried and final.data != wanted):
        return _diverged(view, config)
    same = view.outcome.ours == final and change.kind != "renamed"
    return Verdict("present", reason=ALREADY) if same else Verdict("ported")


def _diverged(view: FileView, config: Config) -> Verdict:
    overlay = overlay_of(config, view.outcome.path)
    if overlay is None:
        return Verdict("diverged", "open", UNEXPLAINED)
    return Verdict("diverged", reason=overlay.why, who=overlay.who, until=overlay.until)


def overlay_of(config: Config, path: str) -> Overlay | None:
    """The overlay of sync.toml that names a path of the fork."""
    return next((o for o in config.overlays if matches(o.path, path)), None)


def _placed(view: FileView, unit: Unit, config: Config) -> Verdict | None:
    """A CI row that sync.toml places in another job than upstream's."""
    if not config.ci.places or not view.outcome.path.endswith(TEMPLATE):
        return None
    text = b"\n".join(_text(view, unit))
    for place in config.ci.places:
        if place.test_file.encode() in text:
            reason = f"the row of {place.test_file} stands in {place.to}, not in {place.job}"
            return Verdict("diverged", reason=f"{reason}: {place.why}" if place.why else reason, who="sync.toml")
    return None


def _unplaced(view: FileView) -> Iterable[int]:
    """The lines that upstream adds to the CI matrix for a test or a job that the fork's template nowhere names."""
    if not view.outcome.path.endswith(TEMPLATE) or view.final.blob is None:
        return
    for i in (i for hunk in view.outcome.change.hunks for i in hunk.new):
        named = _named(view.new.of(range(i, i + 1)))
        gone = view.passage is not None and not forward(range(i, i + 1), view.passage.after).lines
        if named and not gone and not any(name in view.final.blob.data for name in named):
            yield i


def _named(lines: Iterable[bytes]) -> set[bytes]:
    """The tests and the job that lines of a matrix are about: the value of `test_file`, or the key that opens it."""
    rows = {found[2] for line in lines for found in TEST.finditer(line)}
    return rows or {found[2] for line in lines for found in JOB.finditer(line)}


def _no_place(view: FileView, unit: Unit) -> str:
    names = {name.decode("utf-8", "replace") for name in _named(view.new.of(unit.hunk.new))}
    told = [f"{name}: {why}" for name, why in view.outcome.unplaced if name in names]
    return "; ".join(dict.fromkeys(told)) or NO_PLACE


def _text(view: FileView, unit: Unit) -> list[bytes]:
    """The lines of a unit, as upstream has them and as translated."""
    upstream = [view.old.source[i] for i in unit.hunk.old] + [view.new.source[i] for i in unit.hunk.new]
    return upstream + view.new.of(unit.hunk.new)


def _sites(view: FileView) -> Sequence[Site]:
    return view.outcome.after.unresolved if view.outcome.after else ()


def _why(view: FileView, unit: Unit) -> str:
    lines = unit.hunk.new
    hits = [s for s in _sites(view) if s.line - 1 < lines.stop and lines.start < max(s.end_line, s.line)]
    return "; ".join(dict.fromkeys(f"{s.what}: {s.why}" for s in hits))


def _rule(view: FileView, unit: Unit) -> str:
    """Which rule left nothing of a unit's lines, and of what."""
    gone = [view.old.vanished[i] for i in unit.hunk.old] + [view.new.vanished[i] for i in unit.hunk.new]
    named = dict.fromkeys(f"{use.before.strip()} has no counterpart ({use.rule})" for use in gone if is_short(use))
    return "; ".join(named) or f"has no counterpart ({', '.join(sorted({use.rule for use in gone}))})"


def _back(side: Translated, lines: tuple[int, int]) -> list[int]:
    """The upstream lines whose translation lies in a range of the translated image."""
    low, high = side.to_translation.low, side.to_translation.high
    return [i for i in range(len(side.source)) if low[i] < lines[1] and lines[0] < high[i]]


def _clashing(view: FileView, clash: Conflict) -> tuple[list[int], list[int]]:
    """The lines before and after that lie in a conflict. Over a window they are those of any of its changes; where the
    conflict lies over lines that none of the diffs names, the hunk nearest to it carries it, of the last change."""
    in_old, in_new = _back(view.whole.old, clash.base), _back(view.whole.new, clash.theirs)
    through = view.passage
    if through is not None:
        olds, news = set(in_old), set(in_new)
        hunks = view.outcome.change.hunks
        in_old = [i for h in hunks for i in h.old if olds & set(back(range(i, i + 1), through.before))]
        in_new = [i for h in hunks for i in h.new if news & set(forward(range(i, i + 1), through.after).lines)]
    if _changed(view, in_old, in_new) or (through is not None and through.after):
        return in_old, in_new
    return _nearest(view, clash)


def _changed(view: FileView, old: list[int], new: list[int]) -> bool:
    hunks = view.outcome.change.hunks
    return any(i in h.old for h in hunks for i in old) or any(i in h.new for h in hunks for i in new)


def _nearest(view: FileView, clash: Conflict) -> tuple[list[int], list[int]]:
    """A conflict over lines that upstream's diff does not name is carried by the hunk nearest to it."""
    start = min(_back(view.whole.new, clash.theirs), default=clash.theirs[0])
    hunks = view.outcome.change.hunks
    if not hunks:
        return [], []
    near = min(hunks, key=lambda h: min(abs(h.new.start - start), abs(h.new.stop - start)))
    return list(near.old), list(near.new)
