"""The fork's files against translated upstream, where ledgers speak of them: what overlays explain, and what nothing does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from sync_tools.config import Config, Overlay
from sync_tools.gitio import Repo
from sync_tools.ledger.check import Problem
from sync_tools.ledger.due import overlays_ran_out, said
from sync_tools.ledger.judge import overlay_of
from sync_tools.ledger.landing import Landing
from sync_tools.policy import CONFIGURATION, policy_for
from sync_tools.port.recheck import rules_of
from sync_tools.tree import Tree
from sync_tools.upstream.mainline import MainLine


@dataclass(frozen=True)
class Standing:
    """`taken_in`: overlays under which no file differs any more, with the change of upstream that says so; `undeclared`:
    files that differ with neither an overlay nor an open or decided entry."""

    taken_in: tuple[tuple[Overlay, str], ...] = ()
    undeclared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spoken:
    """A file of the fork, the newest change of upstream that speaks of it, and upstream's path of it there (None: there
    is none)."""

    path: str
    landing: Landing
    upstream: str | None


def compared(landings: Sequence[Landing], config: Config, upstream: Repo, head: Tree) -> Standing:
    """Every file that a ledger speaks of, as of the newest change of it: that of upstream's order, whichever was ported
    first."""
    position = MainLine(upstream).position
    placed = {x.path: (position(x.ledger.upstream.commit) or 0, x.port_at) for x in landings}
    spoken = list(_spoken(sorted(landings, key=lambda x: placed[x.path]), config))
    same = {s.path: _same(s, config, upstream, head) for s in spoken}
    taken = []
    for overlay in config.overlays:
        under = [s for s in spoken if overlay_of(config, s.path) is overlay]
        if under and all(same[s.path] for s in under):
            newest = max(under, key=lambda s: placed[s.landing.path])
            taken.append((overlay, newest.landing.ledger.upstream.ref))
    explained = {e.downstream.path for x in landings for e in x.ledger.entries if e.state != "settled"}
    undeclared = [s.path for s in spoken if not same[s.path] and overlay_of(config, s.path) is None]
    return Standing(tuple(taken), tuple(sorted(set(undeclared) - explained)))


def _spoken(landings: Sequence[Landing], config: Config) -> Iterator[Spoken]:
    found: dict[str, Spoken] = {}
    for landing in landings:
        told = [e for e in landing.ledger.entries if e.op not in ("generated", "dropped")]
        told = [e for e in told if policy_for(config, e.upstream.name) is None]
        left = [(e.downstream.old_path, None) for e in told if e.downstream.old_path]
        here = [(e.downstream.path, e.upstream.path) for e in told]
        found |= {path: Spoken(path, landing, upstream) for path, upstream in (*left, *here)}
    yield from found.values()


def _same(spoken: Spoken, config: Config, upstream: Repo, head: Tree) -> bool:
    """Whether the fork's file is what the translation of upstream's is."""
    ours = head.blob(spoken.path)
    theirs = upstream.tree(spoken.landing.ledger.upstream.commit).blob(spoken.upstream) if spoken.upstream else None
    if ours is None or theirs is None or spoken.upstream is None:
        return ours is None and theirs is None
    return ours.data == rules_of(config, spoken.landing).translate(spoken.upstream, theirs.data).data


def overlay_problems(standing: Standing, config: Config, today: date) -> Iterator[Problem]:
    """What is wrong with the overlays of sync.toml."""
    for overlay in overlays_ran_out(config, today):
        yield Problem(CONFIGURATION, None, f"the overlay {overlay.path} {said(overlay.until)} ({overlay.why})")
    for overlay, ref in standing.taken_in:
        yield Problem(CONFIGURATION, None, f"the overlay {overlay.path} is translated upstream as of {ref}: remove it")
