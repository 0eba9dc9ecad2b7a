"""The overlays of sync.toml against the fork: which have run out, and which say of nothing any more that it differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sync_tools.adopt.differences import difference
from sync_tools.adopt.expected import Expected
from sync_tools.adopt.fork import ForkFiles
from sync_tools.config import Config, Overlay
from sync_tools.ledger.due import past
from sync_tools.policy import matches


@dataclass(frozen=True)
class Standing:
    """An overlay. `taken_in`: no path that it names differs any more from what the fork has of upstream."""

    path: str
    why: str
    who: str
    until: str | None
    expired: bool
    taken_in: bool


def standing(config: Config, wanted: Sequence[Expected], files: ForkFiles, today: date) -> tuple[Standing, ...]:
    """`wanted` are upstream's files on the paths that overlays name."""
    return tuple(_standing(overlay, wanted, files, today) for overlay in config.overlays)


def _standing(overlay: Overlay, wanted: Sequence[Expected], files: ForkFiles, today: date) -> Standing:
    named = [each for each in wanted if matches(overlay.path, each.path)]
    own = not named and any(matches(overlay.path, path) for path in files.tree.paths())
    differs = any(difference(files.file(each.path).blob, each, each.path) for each in named)
    over = past(overlay.until, today)
    return Standing(overlay.path, overlay.why, overlay.who, overlay.until, over, not own and not differs)
