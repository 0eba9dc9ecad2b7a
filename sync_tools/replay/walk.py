"""The commits of a window, ported one after another; what stops one of them stops nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sync_tools.ledger.lines import split
from sync_tools.ledger.symbols import labels
from sync_tools.merge.markers import ours_of
from sync_tools.outcome import FileOutcome
from sync_tools.port.ported import Port
from sync_tools.port.session import Run
from sync_tools.translate.paths import downstream_path
from sync_tools.tree import Blob, Tree, edited
from sync_tools.upstream.resolve import Landing

DECIDED_BY = "the replay, which keeps the fork's side"


@dataclass(frozen=True)
class Crash:
    """A commit that could not be ported."""

    commit: str
    pr: int | None
    what: str


@dataclass(frozen=True)
class Clash:
    """A conflict, settled by keeping the fork's side of that place."""

    commit: str
    pr: int | None
    path: str
    symbol: str


@dataclass
class Walk:
    """What came of the commits so far: the fork's tip and tree, and what a person would want to know.

    `moved` are files of the fork that a port moved, `renamed` upstream's renames in the fork's names; both old -> new.
    `left` are the places (path, symbol) of absent and deferred entries, and of conflicts under either side's name, `diverged` those
    of open diverged entries; `disputed` are the lines of either side in the conflicts of a file.
    """

    tip: str
    tree: Tree
    done: int = 0
    unaccounted: int = 0
    crashed: list[Crash] = field(default_factory=list)
    conflicts: list[Clash] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    left: set[tuple[str, str]] = field(default_factory=set)
    diverged: set[tuple[str, str]] = field(default_factory=set)
    disputed: dict[str, set[bytes]] = field(default_factory=dict)
    interrupted: bool = False

    def over(self, landings: Sequence[Landing], run: Run) -> "Walk":
        """Port each commit onto what stands. An interruption ends the walk; what stands, stands."""
        try:
            for n, landing in enumerate(landings, 1):
                told = replace(run, progress=lambda step, n=n: run.progress(f"{n} of {len(landings)}  {step}"))
                try:
                    self._step(landing, told)
                except Exception as e:  # a replay tells what crashed, and goes on
                    self.crashed.append(Crash(landing.commit, landing.pr, f"{type(e).__name__}: {e}"))
                self.done += 1
        except KeyboardInterrupt:
            self.interrupted = True
        return self

    def _step(self, landing: Landing, run: Run) -> None:
        port = run.port(landing, self.tree, self.tip)
        clashes = [Clash(landing.commit, landing.pr, path, symbol) for path, symbol in port.conflicts]
        places = {(o.path, symbol) for o in port.outcomes for symbol in names_of_conflicts(o)}
        clashing = {o.path: disputed_lines(o) for o in port.outcomes}
        if clashes:
            kept = kept_sides(port)
            port = run.port(
                landing, self.tree, self.tip, lambda job: replace(job, resolutions=kept, decided_by=DECIDED_BY)
            )
        after = run.after(port, self.tree)
        self.tip = run.commit_port(port, after, self.tip)
        self.tree = edited(self.tree, after)
        self.conflicts += clashes
        self.left |= places
        for path, lines in clashing.items():
            self.disputed.setdefault(path, set()).update(lines)
        self._note(port, run)

    def _note(self, port: Port, run: Run) -> None:
        ledger = port.ledger
        self.unaccounted += ledger.added + ledger.removed - ledger.accounted
        self.left |= {(e.downstream.path, e.upstream.symbol) for e in ledger.entries if e.op in ("absent", "deferred")}
        self.diverged |= {(e.downstream.path, e.upstream.symbol) for e in ledger.open if e.op == "diverged"}
        for outcome in port.outcomes:
            if outcome.old_path and outcome.final is not None:
                self.moved[outcome.old_path] = outcome.path
            self.renamed |= _renamed(outcome, run)


def _renamed(outcome: FileOutcome, run: Run) -> Mapping[str, str]:
    change = outcome.change
    if change.kind != "renamed" or not (change.before and change.after):
        return {}
    config = run.places.config
    return {downstream_path(config, change.before.path): downstream_path(config, change.after.path)}


def names_of_conflicts(outcome: FileOutcome) -> set[str]:
    """The definitions that a file's conflicts stand in, by the names that the fork and upstream have for them."""
    if not outcome.merged or not outcome.ours or not outcome.after:
        return set()
    ours, theirs = labels(outcome.path, outcome.ours.data), labels(outcome.path, outcome.after.data)
    lines = [
        names[slice(*span)] for c in outcome.merged.conflicts for names, span in ((ours, c.ours), (theirs, c.theirs))
    ]
    return {symbol for found in lines for symbol, _ in found if symbol}


def disputed_lines(outcome: FileOutcome) -> set[bytes]:
    """The lines of both sides that a file's conflicts are about."""
    if not outcome.merged or not outcome.ours or not outcome.after:
        return set()
    ours, theirs = split(outcome.ours.data), split(outcome.after.data)
    return {line for c in outcome.merged.conflicts for line in (*ours[slice(*c.ours)], *theirs[slice(*c.theirs)])}


def kept_sides(port: Port) -> dict[str, Blob | None]:
    """The files in conflict, with the fork's side of every place that both changed and all else of the port."""
    kept: dict[str, Blob | None] = {}
    for outcome in port.outcomes:
        if outcome.path not in port.stages:
            continue
        ours, final = outcome.ours, outcome.final
        kept[outcome.path] = Blob(ours_of(final.data, ours.data), final.mode) if ours and final else ours
    return kept
