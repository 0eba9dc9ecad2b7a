"""From the outcomes of a port to ledger entries: one for each unit of the upstream change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sync_tools.config import Config
from sync_tools.ledger.judge import Verdict, judge, marks_of
from sync_tools.ledger.lines import digest
from sync_tools.ledger.maker import maker
from sync_tools.ledger.model import Clash, Entry, Ledger, Origin, Registration, RuleUse, Source, Span, Target, iso_date
from sync_tools.ledger.paths import executes
from sync_tools.ledger.rules import applied, uses
from sync_tools.ledger.supersede import superseded
from sync_tools.ledger.units import Unit, partition
from sync_tools.ledger.view import FileView, Passage
from sync_tools.merge.result import Conflict
from sync_tools.outcome import FileOutcome
from sync_tools.upstream.changeset import ChangeSet


@dataclass(frozen=True)
class Ruling:
    """What the port knows of a unit and the lines do not show: a superseding change, a revert, a person's word."""

    op: str
    reason: str
    who: str = ""
    link: str | None = None


Passages = Sequence[Passage | None]
"""Of each file's change its passage through a window; empty for a change that was ported by itself."""


def account(
    changes: ChangeSet,
    outcomes: Sequence[FileOutcome],
    config: Config,
    rulings: Mapping[str, Ruling] | None = None,
    passages: Passages = (),
) -> tuple[Entry, ...]:
    """The entries of a change, sorted; together they hold every added and removed line of it exactly once.

    `rulings` are keyed by unit id. Raises ValueError when the outcomes are not those of the change's files.
    """
    return _account(changes, _views(outcomes, passages), config, rulings or {})


def _account(
    changes: ChangeSet, views: Sequence[FileView], config: Config, rulings: Mapping[str, Ruling]
) -> tuple[Entry, ...]:
    if [v.outcome.change for v in views] != list(changes.files):
        raise ValueError("one outcome for each file of the change, in its order")
    entries = [e for v in views for e in account_file(changes.commit, v, config, rulings)]
    return tuple(sorted(entries, key=_order))


def _views(outcomes: Sequence[FileOutcome], passages: Passages) -> list[FileView]:
    return [FileView(o, p) for o, p in zip(outcomes, passages or [None] * len(outcomes), strict=True)]


def account_file(commit: str, view: FileView, config: Config, rulings: Mapping[str, Ruling]) -> Iterable[Entry]:
    """The entries of one file, in the order of its units."""
    marks, clashes = marks_of(view)
    units = partition(view.outcome.change, commit, marks)
    for n, unit in enumerate(units):
        verdict = judge(view, unit, config)
        ruling = rulings.get(unit.id)
        if ruling:
            verdict = Verdict(ruling.op, "settled", ruling.reason, ruling.who, link=ruling.link)  # type: ignore[arg-type]
        entry = _entry(view, unit, verdict, clashes, units[n + 1] if n + 1 < len(units) else None)
        later = view.passage.replaced(unit) if view.passage else None
        yield superseded(entry, later) if later else entry


def ledger(
    changes: ChangeSet,
    outcomes: Sequence[FileOutcome],
    config: Config,
    *,
    ci: Sequence[Registration] = (),
    reverts: Sequence[str] = (),
    rulings: Mapping[str, Ruling] | None = None,
    passages: Passages = (),
) -> Ledger:
    """The ledger of a port, without what people and machines add afterwards."""
    views = _views(outcomes, passages)
    return Ledger(
        upstream=origin(changes, config),
        fork=config.fork,
        engines=_engines(config),
        added=sum(f.added for f in changes.files),
        removed=sum(f.removed for f in changes.files),
        entries=_account(changes, views, config, rulings or {}),
        rules=tuple(_rule_table(views)),
        ci=tuple(sorted(ci, key=lambda r: (r.job, r.test_file, r.change))),
        reverts=tuple(reverts),
        made_by=maker(config),
    )


def origin(changes: ChangeSet, config: Config) -> Origin:
    return Origin(
        repo=config.upstream.repo,
        name=config.upstream.name,
        pr=changes.pr,
        commit=changes.commit,
        parent=changes.parent,
        subject=storable(changes.subject),
        author=storable(changes.author.name),
        date=iso_date(changes.author.date),
        other_landings=changes.other_landings,
    )


def rule_table(outcomes: Sequence[FileOutcome]) -> Iterable[RuleUse]:
    """The rules that applied in changed lines, with how often they did in the lines that the change adds. Also where the
    fork has the lines already: whether it had them all is not told by the trees in every case."""
    return _rule_table([FileView(o) for o in outcomes])


def _rule_table(views: Sequence[FileView]) -> Iterable[RuleUse]:
    return uses(v for v in views if v.outcome.disposition in ("merged", "present"))


def storable(value: str) -> str:
    """Text that JSON can hold: bytes that were not UTF-8 become replacement characters."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _engines(config: Config) -> tuple[str, str]:
    if config.engine == "same":
        return config.upstream.name, config.fork
    old, _, new = config.engine.partition("-to-")
    return old, new


def _entry(view: FileView, unit: Unit, verdict: Verdict, clashes: Sequence[Conflict], following: Unit | None) -> Entry:
    path = view.outcome.path
    return Entry(
        id=unit.id,
        op=verdict.op,
        state=verdict.state,
        upstream=Source(
            old_path=unit.old_path and storable(unit.old_path),
            path=unit.new_path and storable(unit.new_path),
            symbol=unit.symbol,
            old=Span(start=unit.hunk.old_start, count=unit.hunk.old_count),
            new=Span(start=unit.hunk.new_start, count=unit.hunk.new_count),
            digest=unit.digest,
        ),
        downstream=_target(view, unit, verdict, following),
        added=unit.hunk.new_count,
        removed=unit.hunk.old_count,
        rules=applied(view, unit) if verdict.traced else (),
        reason=storable(verdict.reason),
        who=verdict.who,
        until=verdict.until,
        link=verdict.link,
        clash=_clash(view, unit, clashes) if verdict.op == "conflict" else None,
        facts=unit.facts,
        executes=executes(unit.path) or executes(path),
    )


def _target(view: FileView, unit: Unit, verdict: Verdict, following: Unit | None) -> Target:
    path, final = storable(view.outcome.path), view.final
    old_path = storable(view.outcome.old_path) if view.outcome.old_path else None
    old_path = None if old_path == path else old_path
    if not verdict.traced or final.blob is None or unit.whole:
        return Target(path=path, old_path=old_path)
    where = view.where(unit)
    symbol = final.labels[where.start][0] if where and where.start < len(final.labels) else ""
    differs = set(_differences(view, unit)) if verdict.op in ("present", "diverged") else set()
    if view.outcome.disposition == "present":
        differs |= set(_own(view, range(where.stop, view.where(following).start if following else len(final.lines))))
    return Target(
        path=path,
        old_path=old_path,
        symbol=symbol,
        lines=Span.of(where),
        digest=digest(final.lines[where.start : where.stop]),
        differs=tuple(Span.of(r) for r in sorted(differs, key=lambda r: (r.start, r.stop))),
    )


def _differences(view: FileView, unit: Unit) -> Iterable[range]:
    """The fork's lines where its file is not the translation: for a missing line its place, for one left over itself."""
    final, stretch = view.final, view.stretch(unit)
    yield from (range(final.from_new.low[i], final.from_new.high[i]) for i in final.missing(stretch))
    yield from (range(final.from_old.low[i], final.from_old.high[i]) for i in final.left(stretch))


def _own(view: FileView, lines: range) -> Iterable[range]:
    """The runs of lines that the fork's file has and the translation has not."""
    own = [i for i in lines if view.final.lines[i] and i not in view.final.kept]
    for _, run in groupby(enumerate(own), key=lambda x: x[1] - x[0]):
        found = [i for _, i in run]
        yield range(found[0], found[-1] + 1)


def _clash(view: FileView, unit: Unit, clashes: Sequence[Conflict]) -> Clash | None:
    image = view.stretch(unit).at or view.old.image_of(unit.hunk.old)
    near = [c for c in clashes if c.theirs[0] <= image.start and image.stop <= c.theirs[1]] or list(clashes)
    if not near:
        return None
    ours, theirs = range(*near[0].ours), range(*near[0].theirs)
    return Clash(
        symbol=near[0].symbol,
        ours=Span.of(ours),
        ours_digest=digest(view.ours.lines[ours.start : ours.stop]),
        theirs=Span.of(theirs),
        theirs_digest=digest(view.whole.new.lines[theirs.start : theirs.stop]),
    )


def _order(e: Entry) -> tuple[str, int, int, str]:
    return e.upstream.name, e.upstream.new.start, e.upstream.old.start, e.id
