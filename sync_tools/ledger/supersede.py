"""Entries whose lines a later upstream change, named, replaced.

Ledgers hold the hunks of upstream's diffs, so that lines are followed from one to the next without asking git again;
it is asked only what lies between two of them where changes were left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sync_tools.ledger.model import Entry, Ledger
from sync_tools.upstream.changeset import Hunk
from sync_tools.upstream.course import Step, forward, undone

STANDING = frozenset({"ported", "translated", "present"})
WAITING = frozenset({"absent", "deferred", "diverged"})
Bridge = Callable[[str, str, str, str], tuple[Hunk, ...] | None]
"""What lies between a file at (commit, path) and another one at (commit, path); None where one of them is not there."""


def superseded(e: Entry, by: str) -> Entry:
    """The entry, told as replaced by the change `by` (owner/name#N). What was dropped, generated, undone or decided stays
    what it is."""
    if not _may(e):
        return e
    told = {"op": "superseded", "state": "settled", "reason": f"replaced by {by}", "who": "", "until": None, "link": by}
    return e.model_copy(update=told)


def _may(e: Entry) -> bool:
    return e.state != "decided" and (e.op in STANDING or (e.op in WAITING and e.state == "open"))


@dataclass(frozen=True)
class Succession:
    """Upstream's main line, as far as ledgers need it: `position` of a commit on it, and the `bridge` over a gap."""

    position: Callable[[str], int | None]
    bridge: Bridge
    _steps: dict[str, dict[str, Step]] = field(default_factory=dict, repr=False)

    def replaces(self, by: Ledger, others: Iterable[Ledger]) -> dict[str, frozenset[str]]:
        """What a change replaces: by stem of the other ledgers, the ids of the entries of which it takes the last line."""
        earlier = self._before(by, others)
        found: dict[str, set[str]] = {}
        for step in self._of(by).values() if earlier else ():
            if step.old_path is None or not _takes(step):
                continue
            for ledger, mine, later in self._chain(by, step, earlier):
                for e in _entries(ledger, mine):
                    if _gone(e, later) == by.upstream.ref:
                        found.setdefault(ledger.upstream.stem, set()).add(e.id)
        return {stem: frozenset(ids) for stem, ids in found.items()}

    def _before(self, by: Ledger, others: Iterable[Ledger]) -> list[Ledger]:
        """The ledgers of earlier changes of the main line, the latest first."""
        at = self.position(by.upstream.commit)
        if at is None:
            return []
        placed = [(p, x) for x in others if (p := self.position(x.upstream.commit)) is not None and p < at]
        return [x for _, x in sorted(placed, key=lambda item: -item[0])]

    def _chain(
        self, by: Ledger, step: Step, earlier: Sequence[Ledger]
    ) -> Iterator[tuple[Ledger, Step, tuple[Step, ...]]]:
        """The earlier changes of the file that a step changes, each with the steps that follow it."""
        path, following, later = step.old_path, by, (step,)
        for ledger in earlier:
            mine = self._of(ledger).get(path or "")
            if mine is None:
                continue
            gap = self._gap(ledger, following, path or "")
            if gap is None:
                return
            later = (*gap, *later)
            yield ledger, mine, later
            if mine.old_path is None:
                return
            path, following, later = mine.old_path, ledger, (mine, *later)

    def _gap(self, earlier: Ledger, later: Ledger, path: str) -> tuple[Step, ...] | None:
        """What changes that nobody ported did to the file between two that were."""
        if earlier.upstream.commit == later.upstream.parent:
            return ()
        hunks = self.bridge(earlier.upstream.commit, path, later.upstream.parent, path)
        return hunks and (Step("", path, path, hunks),) if hunks != () else ()

    def _of(self, ledger: Ledger) -> dict[str, Step]:
        """A ledger's steps, by the path that the file has after it, or had before it where it was deleted."""
        known = self._steps.get(ledger.upstream.commit)
        if known is None:
            known = {step.path or step.old_path or "": step for step in _steps(ledger)}
            self._steps[ledger.upstream.commit] = known
        return known


def _steps(ledger: Ledger) -> Iterator[Step]:
    files: dict[tuple[str | None, str | None], list[Entry]] = {}
    for e in ledger.entries:
        files.setdefault((e.upstream.old_path, e.upstream.path), []).append(e)
    for (old, new), entries in files.items():
        hunks = tuple(e.upstream.hunk for e in entries if e.added or e.removed)
        facts = frozenset(fact.split(",")[0].split(" ")[0] for e in entries for fact in e.facts)
        yield Step(ledger.upstream.ref, old, new, hunks, facts)


def _takes(step: Step) -> bool:
    """Whether a change can replace anything: it removes lines, or does something beside lines."""
    return step.path is None or bool(step.facts) or any(h.old_count for h in step.hunks)


def _entries(ledger: Ledger, step: Step) -> Iterator[Entry]:
    return (e for e in ledger.entries if (e.upstream.old_path, e.upstream.path) == (step.old_path, step.path))


def _gone(e: Entry, later: Sequence[Step]) -> str | None:
    """The last of the later changes that took lines of an entry, where none is left."""
    if e.upstream.path is None:
        return None
    if not (e.added or e.removed):
        return undone(e.facts, later)
    fate = forward(e.upstream.new.lines, later)
    return fate.by if e.added and not fate.lines else None


def supersede(ledgers: Mapping[str, Ledger], replaced: Mapping[str, frozenset[str]], by: str) -> dict[str, Ledger]:
    """The ledgers, by stem, that change when `by` replaces these entries of them."""
    changed = {}
    for stem, ids in replaced.items():
        entries = tuple(superseded(e, by) if e.id in ids else e for e in ledgers[stem].entries)
        if any(new is not old for new, old in zip(entries, ledgers[stem].entries, strict=True)):
            changed[stem] = ledgers[stem].model_copy(update={"entries": entries})
    return changed
