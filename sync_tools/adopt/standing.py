"""Where the fork stands: a row for each landing of upstream's since its cutoff, and what waits for a person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from sync_tools.adopt.steps import Step
from sync_tools.adopt.survey import Survey
from sync_tools.adopt.verdict import PathVerdict, Verdict
from sync_tools.config import Config
from sync_tools.ledger.due import ends, past
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.ledger.overview import state as ledger_state
from sync_tools.ledger.reverts import named
from sync_tools.port.known import Known
from sync_tools.upstream.history import NUMBER

State = Literal["open", "partly", "absent", "ported", "landed", "superseded", "reverted", "skipped"]
BEHIND: tuple[State, ...] = ("partly", "absent")


@dataclass(frozen=True)
class Missing:
    """A path of a landing whose lines the fork lacks: `held` of `wanted`. `intact`: what upstream removed still stands."""

    path: str
    held: int
    wanted: int
    intact: bool
    why: str


@dataclass(frozen=True)
class Row:
    """One landing. `held` of `wanted` lines that prove something stand in the fork (what was removed counts when it is
    gone). `open` entries of its ledger wait; `branch` holds a port that is not merged; `by` are the landings that
    superseded or reverted it."""

    pr: int | None
    commit: str
    title: str
    state: State
    held: int = 0
    wanted: int = 0
    intact: bool = False
    missing: tuple[Missing, ...] = ()
    open: int = 0
    branch: str | None = None
    by: tuple[str, ...] = ()

    @property
    def behind(self) -> int:
        """Lines that the fork lacks."""
        return self.wanted - self.held if self.state in BEHIND else 0


@dataclass(frozen=True)
class Waiting:
    """An entry of a ledger that is put off or given up, or needs a decision."""

    pr: int | None
    entry: str
    op: str
    path: str
    reason: str
    who: str
    until: str | None
    expired: bool
    open: bool


def rows(
    survey: Survey, ledgers: Sequence[Ledger], known: Known, branches: Mapping[str, str], today: date, config: Config
) -> tuple[Row, ...]:
    """The rows of a window, oldest first. What was ported tells its ledger; of the rest it is the content that tells.
    `branches` are those of ports that are not merged, by upstream's commit."""
    told = {ledger.upstream.commit: ledger for ledger in ledgers}
    refs = [_ref(step, config) for step in survey.steps]
    found = []
    for step, verdict in zip(survey.steps, survey.verdicts, strict=True):
        row = _by_content(step, verdict, refs)
        ledger = told.get(step.landing.commit)
        if ledger is not None:
            row = _by_ledger(row, ledger, today)
        elif known.has(step.landing.pr, step.landing.commit):
            row = replace(row, state="ported", missing=(), intact=False)
        found.append(replace(row, branch=branches.get(step.landing.commit)))
    return _paired(survey, found, refs, config)


def _ref(step: Step, config: Config) -> str:
    x = step.landing
    return f"{config.upstream.repo}#{x.pr}" if x.pr is not None else f"{config.upstream.repo}@{x.commit[:12]}"


def _by_content(step: Step, verdict: Verdict, refs: Sequence[str]) -> Row:
    sums = verdict.total
    return Row(
        pr=step.landing.pr,
        commit=step.landing.commit,
        title=NUMBER.sub("", step.message.subject).strip(),
        state=verdict.state,
        held=sums.held + sums.gone,
        wanted=sums.wanted,
        intact=verdict.intact,
        missing=tuple(_missing(verdict)) if verdict.state in BEHIND else (),
        by=tuple(refs[n] for n in verdict.by),
    )


def _missing(verdict: Verdict) -> Iterable[Missing]:
    for path in verdict.paths:
        if path.excuse and path.excuse.owned:
            yield Missing(path.path, 0, 0, False, f"the fork's own: {path.excuse.why}")
    for path in verdict.judged:
        sums = path.total
        if sums.held + sums.gone < sums.wanted:
            yield Missing(path.path, sums.held + sums.gone, sums.wanted, path.intact, _why(path))


def _why(path: PathVerdict) -> str:
    if not path.there:
        return "the fork does not have this file"
    if path.intact:
        return "fixed upstream, intact here"
    sums = path.total
    return (
        f"{sums.written - sums.held} lines are not here, {sums.removed - sums.gone} that upstream removed still stand"
    )


def _by_ledger(row: Row, ledger: Ledger, today: date) -> Row:
    """The states of a ledger in the words of this table."""
    said = ledger_state(ledger, today)
    state: State = "reverted" if said == "reverted" else "open" if said in ("open", "conflicts") else "ported"
    by = (ledger.reverted_by,) if ledger.reverted_by else ()
    return replace(row, state=state, open=len(ledger.open), missing=(), intact=False, by=by)


def _paired(survey: Survey, found: Sequence[Row], refs: Sequence[str], config: Config) -> tuple[Row, ...]:
    """A landing that upstream undid and the fork never had is nothing to bring, and neither is what undid it."""
    out, steps = list(found), survey.steps
    line = [(step.landing.commit, step.message.subject) for step in steps]
    for n, step in enumerate(steps):
        for ref in named(step.message.subject, step.message.body, config.upstream.repo, line[:n][::-1].copy):
            at = refs.index(ref) if ref in refs[:n] else None
            if at is None or out[at].state not in ("absent", "superseded"):
                continue
            out[at] = replace(out[at], state="reverted", by=(refs[n],), missing=(), intact=False)
            if survey.verdicts[n].weak and out[n].state in ("absent", "landed", "superseded"):
                out[n] = replace(out[n], state="reverted", by=(ref,))
    return tuple(out)


def waiting(ledgers: Iterable[Ledger], config: Config, today: date) -> tuple[Waiting, ...]:
    """The entries that are open, put off, or given up by a person's word or for a time."""
    return tuple(
        _waiting(ledger, e, config, today)
        for ledger in ledgers
        for e in ledger.entries
        if e.state == "open" or e.op == "deferred" or e.until or (e.op == "dropped" and e.who)
    )


def _waiting(ledger: Ledger, e: Entry, config: Config, today: date) -> Waiting:
    until = ends(e, config)
    expired = past(until, today)
    return Waiting(
        ledger.upstream.pr, e.id, e.op, e.downstream.path, e.reason, e.who, until, expired, e.state == "open"
    )
