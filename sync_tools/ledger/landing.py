"""A ledger with the fork around its port, and the outcomes of the port found again from there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sync_tools.config import Config, PathPolicy
from sync_tools.ledger.account import storable
from sync_tools.ledger.model import Entry, Ledger
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.outcome import Disposition, FileOutcome
from sync_tools.policy import policy_of
from sync_tools.translate.result import Translation
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import ChangeSet, FileChange, Image


@dataclass(frozen=True)
class Landing:
    """`before` and `ported` are the fork around the port (`before` is None where it is not known); `written` is the fork
    at the commit that the ranges of the ledger at `path` speak of, which is a later one where somebody changed them.
    `port_at` and `written_at` are the places of these two commits in the fork's history."""

    path: str
    ledger: Ledger
    written: Tree
    before: Tree | None = None
    ported: Tree | None = None
    port_at: int = 0
    written_at: int = 0

    @cached_property
    def paths(self) -> frozenset[str]:
        """The fork's files that the ledger speaks of."""
        return frozenset(e.downstream.path for e in self.ledger.entries)

    @cached_property
    def moves(self) -> dict[str, str]:
        """Where the files went that the port renamed, by the path that they had."""
        targets = (e.downstream for e in reversed(self.ledger.entries))
        return {t.old_path: t.path for t in targets if t.old_path and t.old_path != t.path}


@dataclass(frozen=True)
class Rules:
    """What a port does to a file, as functions: `translate` (path and bytes of upstream; formatters included), `place`
    (where an upstream path lives in the fork), `generated` (whether that path is made from a template)."""

    config: Config
    translate: Callable[[str, bytes], Translation]
    place: Callable[[str], str]
    generated: Callable[[str], bool]


def outcomes(landing: Landing, changes: ChangeSet, rules: Rules) -> tuple[FileOutcome, ...]:
    """What became of each file, told from the trees and not from what the ledger says about operations."""
    told: dict[str, list[Entry]] = {}
    for e in landing.ledger.entries:
        told.setdefault(e.upstream.name, []).append(e)
    return tuple(outcome(change, told.get(storable(change.path), ()), landing, rules) for change in changes.files)


def outcome(change: FileChange, told: Sequence[Entry], landing: Landing, rules: Rules) -> FileOutcome:
    """What became of one file; `told` are its entries."""
    policy = policy_of(rules.config, change)
    placed = policy.into if policy and policy.into else rules.place(change.path)
    path = told[0].downstream.path if told else placed
    old_path = rules.place(change.before.path) if change.kind == "renamed" and change.before else None
    final = landing.written.blob(path)
    ours = _ours(landing, path, old_path) if landing.before else final if change.before else None
    disposition, reason = _disposition(change, policy, rules.generated(path), ours, final, landing, told)
    merged = disposition in ("merged", "present")
    return FileOutcome(
        change=change,
        path=path,
        disposition=disposition,
        reason=reason,
        old_path=old_path,
        before=translated(change, change.before, rules) if merged else None,
        after=translated(change, change.after, rules) if merged else None,
        ours=ours,
        final=final,
    )


def _ours(landing: Landing, path: str, old_path: str | None) -> Blob | None:
    assert landing.before is not None
    return landing.before.blob(path) or (landing.before.blob(old_path) if old_path else None)


def _disposition(
    change: FileChange,
    policy: PathPolicy | None,
    generated: bool,
    ours: Blob | None,
    final: Blob | None,
    landing: Landing,
    told: Sequence[Entry],
) -> tuple[Disposition, str]:
    if policy and policy.action == "skip":
        return "dropped", policy.reason
    if policy and policy.action == "owned":
        return "owned", policy.reason
    if generated:
        return "generated", ""
    if change.before is not None and ours is None and final is None:
        gone_already = change.after is None and any(e.op == "present" for e in told)
        return ("present" if gone_already else "absent"), ""
    if change.kind == "added" and landing.before is not None and ours is not None and ours == final:
        return "present", ""
    return "merged", ""


def translated(change: FileChange, image: Image | None, rules: Rules) -> Translation | None:
    """An image of a change as the fork would have it; None for what is carried as bytes."""
    carried = image is None or change.binary or image.mode in (SYMLINK, GITLINK)
    if image is None or carried or len(image.data) > rules.config.size_limit:
        return None
    return rules.translate(image.path, image.data)
