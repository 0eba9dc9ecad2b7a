"""The overlays of sync.toml against the fork: which have run out, and which upstream has taken in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from sync_tools.adopt.images import Images
from sync_tools.config import Config, Overlay
from sync_tools.policy import matches
from sync_tools.tree import Tree
from sync_tools.upstream.steps import Side


@dataclass(frozen=True)
class Standing:
    """An overlay. `taken_in`: none of the paths it names differs from upstream's tip any more."""

    path: str
    why: str
    who: str
    until: str | None
    expired: bool
    taken_in: bool


def standing(config: Config, tip: Mapping[str, Side], images: Images, tree: Tree, today: date) -> tuple[Standing, ...]:
    """`tip` are upstream's files at the tip, by the path that they have in the fork."""
    return tuple(_standing(overlay, tip, images, tree, today) for overlay in config.overlays)


def _standing(overlay: Overlay, tip: Mapping[str, Side], images: Images, tree: Tree, today: date) -> Standing:
    paths = [p for p in {*tip, *tree.paths()} if matches(overlay.path, p)]
    sides = [tip[p] for p in paths if p in tip]
    rendered = images.rendered(sides)
    wanted = {p: rendered[tip[p]].translation.data if p in tip else None for p in paths}
    same = all((blob.data if (blob := tree.blob(p)) else None) == data for p, data in wanted.items())
    expired = overlay.until is not None and overlay.until < today.isoformat()
    return Standing(overlay.path, overlay.why, overlay.who, overlay.until, expired, same)
