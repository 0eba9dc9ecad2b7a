"""`sync ledger check`: everything a ledger says that can be found again is found again, and compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sync_tools.config import Config
from sync_tools.ledger.account import account, origin, rule_table
from sync_tools.ledger.due import ends, ran_out, said
from sync_tools.ledger.landing import Landing, Rules, outcomes
from sync_tools.ledger.markdown import render
from sync_tools.ledger.model import Decision, Entry, Ledger, RuleUse
from sync_tools.ledger.reverts import NoPast, Past, marks, reverted
from sync_tools.ledger.store import json_path, markdown_path
from sync_tools.ledger.survival import lost
from sync_tools.ledger.windowed import Seen
from sync_tools.tree import Tree, text
from sync_tools.upstream.changeset import ChangeSet

REASONED = frozenset({"dropped", "deferred", "diverged", "absent", "superseded", "reverted"})
STANDS = frozenset({"ported", "translated", "present"})


Found = tuple[str | None, str]
"""The id of an entry (None: the ledger as a whole), and what is wrong."""


@dataclass(frozen=True, order=True)
class Problem:
    """`ledger` is its path; `entry` the id of the entry, None for the ledger as a whole."""

    ledger: str
    entry: str | None
    what: str


Replaces = Callable[[Landing], Mapping[str, frozenset[str]]]
"""What a port replaces: by stem of the other ledgers, the ids of their entries."""


def check(
    landing: Landing,
    changes: ChangeSet,
    rules: Rules,
    head: Tree,
    others: Sequence[Landing] = (),
    past: Past | None = None,
    seen: Seen | None = None,
    replaces: Replaces = lambda _: {},
) -> tuple[Problem, ...]:
    """What is wrong with a ledger; nothing for an honest one. `others` are the fork's other ports; `past` is upstream's
    history, without which reverts are taken at their word; `seen` is what became of the files of a change that is one
    of a window."""
    found = list(header(landing.ledger, changes, rules.config))
    files, passages = seen or (outcomes(landing, changes, rules), ())
    derived = {e.id: e for e in account(changes, files, rules.config, passages=passages)}
    undone = _undone(landing, derived, others, head, rules.config)
    found += _entries(landing, derived, others, undone, gone_by_reverts(landing, others, past), replaces)
    if _counted(landing.ledger.rules) != _counted(rule_table(files)):
        found.append((None, "the table of rules is not that of the rules which applied"))
    found += pairs(landing, changes, rules.config, others, past)
    found += still_there(landing, others, head, rules.config)
    return problems(landing, found)


def problems(landing: Landing, found: Iterable[Found]) -> tuple[Problem, ...]:
    """What was found of a ledger, each thing once."""
    return tuple(Problem(landing.path, entry, what) for entry, what in dict.fromkeys(found))


def still_there(landing: Landing, others: Sequence[Landing], head: Tree, config: Config) -> Iterator[Found]:
    """The entries of which lines are gone since."""
    for e, missing in lost(landing, others, head, config):
        at = missing[0] + 1
        yield e.id, f"{len(missing)} of its lines are gone or changed since, first {e.downstream.path}:{at}"


def rendered(ledger: Ledger, tree: Tree, config: Config) -> tuple[Problem, ...]:
    """Whether the Markdown beside a ledger is what it renders to."""
    path = markdown_path(config, ledger.upstream.stem)
    if text(tree, path) == render(ledger):
        return ()
    return (Problem(json_path(config, ledger.upstream.stem), None, f"{path} is not what the ledger renders to"),)


def overdue(landing: Landing, config: Config, today: date) -> tuple[Problem, ...]:
    """The entries whose decision has run out."""
    return tuple(Problem(landing.path, e.id, said(ends(e, config))) for e in ran_out(landing.ledger, config, today))


def _counted(rules: Iterable[RuleUse]) -> list[RuleUse]:
    """The table without its titles, which may be worded otherwise by now."""
    return [use.model_copy(update={"title": ""}) for use in rules]


def header(ledger: Ledger, changes: ChangeSet, config: Config) -> Iterator[Found]:
    """What a ledger says of upstream's commit and is not so."""
    truth = origin(changes, config)
    for key in type(truth).model_fields:
        told, true = getattr(ledger.upstream, key), getattr(truth, key)
        if told != true:
            yield None, f"upstream.{key} is {str(true)[:80]!r}, the ledger says {str(told)[:80]!r}"
    added, removed = sum(f.added for f in changes.files), sum(f.removed for f in changes.files)
    if (ledger.added, ledger.removed) != (added, removed):
        yield None, f"upstream's change is +{added} -{removed}, the ledger says +{ledger.added} -{ledger.removed}"
    if ledger.accounted != added + removed:
        yield None, f"{ledger.accounted} lines are accounted for, of {added + removed}"


def _undone(
    landing: Landing, derived: dict[str, Entry], others: Sequence[Landing], head: Tree, config: Config
) -> frozenset[str]:
    """The decided entries that a port brought and whose lines have not all stood since."""
    decided = [derived[d.entry] for d in landing.ledger.decisions if d.applied and d.entry in derived]
    if not any(e.op in STANDS for e in decided):
        return frozenset()
    truth = landing.ledger.model_copy(update={"entries": tuple(decided)})
    return frozenset(e.id for e, _ in lost(replace(landing, ledger=truth), others, head, config))


def _entries(
    landing: Landing,
    derived: dict[str, Entry],
    others: Sequence[Landing],
    undone: frozenset[str],
    gone: Mapping[str, str],
    replaces: Replaces,
) -> Iterator[Found]:
    ledger, seen = landing.ledger, set()
    for e in ledger.entries:
        if e.id in seen:
            yield e.id, "stands twice in the ledger"
        seen.add(e.id)
        truth = derived.get(e.id)
        if truth is None:
            yield e.id, _unknown(e, derived)
        else:
            decision = next((d for d in ledger.decisions if d.applied and d.entry == e.id), None)
            undone_by = gone.get(e.id) == e.link
            replaced = undone_by if e.op == "reverted" else _superseded(e, landing, others, replaces)
            told = replaced or _granted(e, truth, decision, e.id in undone)
            yield from ((e.id, what) for what in _compare(e, truth, decision, told))
    for ident, truth in derived.items():
        if ident not in seen:
            yield None, f"{truth.upstream.name} -{truth.upstream.old} +{truth.upstream.new} has no entry ({truth.op})"


def _unknown(e: Entry, derived: dict[str, Entry]) -> str:
    """Why an entry answers to no unit: often it swallows several."""
    if e.op == "conflict":
        return "still in conflict: a person must decide, then the port is continued"
    up = e.upstream
    inside = [
        d
        for d in derived.values()
        if d.upstream.name == up.name
        and _within(d.upstream.new.lines, up.new.lines)
        and _within(d.upstream.old.lines, up.old.lines)
        and (d.added or d.removed)
    ]
    if len(inside) > 1:
        ops = ", ".join(sorted({d.op for d in inside}))
        return f"says {e.op} of {len(inside)} units at once, which are {ops}"
    return "no unit of upstream's change has this id"


def _within(inner: range, outer: range) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop


def _compare(e: Entry, truth: Entry, decision: Decision | None, told: bool) -> Iterator[str]:
    """`told`: another operation than the lines show has been accounted for."""
    if e.op != truth.op and not told:
        yield f"says {e.op}, but is {truth.op}" + (f" ({truth.reason})" if truth.reason else "")
    state = "decided" if decision else truth.state
    if e.op == truth.op and e.state != state:
        yield f"says {e.state}, but is {state}"
    if e.op == truth.op == "superseded" and e.link != truth.link:
        yield f"says superseded by {e.link}, but is by {truth.link}"
    if e.op in REASONED and not e.reason.strip():
        yield f"gives no reason for {e.op}"
    if e.upstream != truth.upstream:
        yield f"upstream's lines are {_source(truth)}, the ledger says {_source(e)}"
    if (e.added, e.removed) != (truth.added, truth.removed):
        yield f"counts +{e.added} -{e.removed}, but has +{truth.added} -{truth.removed}"
    if e.downstream != truth.downstream:
        yield f"the fork's lines are {_target(truth)}, the ledger says {_target(e)}"
    for key in ("rules", "facts", "executes"):
        if getattr(e, key) != getattr(truth, key):
            yield f"{key} are {getattr(truth, key)}, the ledger says {getattr(e, key)}"


def _granted(e: Entry, truth: Entry, decision: Decision | None, undone: bool) -> bool:
    """A person's word makes another operation of it, but never one that says that it stands, nor one that says that it
    does not while it does. What the fork had, with differences, may be told to differ on purpose."""
    if decision is None or (decision.op, decision.was) != (e.op, truth.op):
        return False
    if (truth.op, e.op) == ("present", "diverged") and truth.downstream and truth.downstream.differs:
        return True
    return e.op not in STANDS and (undone or truth.op not in STANDS | {"generated"})


def _superseded(e: Entry, landing: Landing, others: Sequence[Landing], replaces: Replaces) -> bool:
    """Another port, the one that the entry names, took the last of its lines."""
    by = next((p for p in others if p.ledger.upstream.ref == e.link), None)
    return by is not None and e.op == "superseded" and e.id in replaces(by).get(landing.ledger.upstream.stem, ())


def _source(e: Entry) -> str:
    up = e.upstream
    return f"{up.name} {up.symbol} -{up.old} +{up.new} {up.digest[:12]}"


def _target(e: Entry) -> str:
    down = e.downstream
    differs = f", of them differ {', '.join(map(str, down.differs))}" if down.differs else ""
    return f"{down.path} {down.symbol} {down.lines} {(down.digest or '')[:12]}{differs}"


def gone_by_reverts(landing: Landing, others: Sequence[Landing], past: Past | None) -> Mapping[str, str]:
    """Entry -> the change that has undone it."""
    later = sorted((x for x in others if x.port_at >= landing.port_at), key=lambda x: x.port_at)
    return marks(landing.ledger, [x.ledger for x in later], past or NoPast())


def pairs(
    landing: Landing, changes: ChangeSet, config: Config, others: Sequence[Landing], past: Past | None
) -> Iterator[Found]:
    """A revert is known on both sides, entry by entry."""
    ledger, gone = landing.ledger, gone_by_reverts(landing, others, past)
    for e in ledger.entries:
        if e.id in gone and e.op != "reverted" and not any(d.applied and d.entry == e.id for d in ledger.decisions):
            yield e.id, f"{gone[e.id]} reverts it, and the ledger does not say so"
    by = [gone[e.id] for e in ledger.entries if e.id in gone]
    if ledger.reverted_by not in (by or [None]):
        yield None, f"says it is reverted by {ledger.reverted_by}, which no ledger here says"
    if past is not None and ledger.reverts != (truth := reverted(changes, config.upstream.repo, past)):
        yield None, f"reverts {', '.join(truth) or 'nothing'}, and the ledger says otherwise"
