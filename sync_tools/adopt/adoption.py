"""Adopting a fork that was there before `sync`: what it has of upstream since a cutoff, and how it differs from that."""

from dataclasses import dataclass
from pathlib import Path

from sync_tools.adopt.differences import Differences, differences
from sync_tools.adopt.expected import expected
from sync_tools.adopt.images import Images
from sync_tools.adopt.removed import removals
from sync_tools.adopt.survey import Survey, survey
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.port.style import seam_folder, seam_style
from sync_tools.translate import Translator
from sync_tools.tree import Tree
from sync_tools.upstream.window import Window


@dataclass(frozen=True)
class Adoption:
    """`own` counts the fork's files that are none of upstream's: those are no differences."""

    survey: Survey
    differences: Differences
    own: int


def adopt(
    fork: Repo, tree: Tree, upstream: Repo, window: Window, config: Config, cache: Path | None, who: str
) -> Adoption:
    """Compare a tree of the fork with what it shows to have of upstream."""
    translator = Translator(config, seam_style(tree, config), cache)
    images = Images(upstream, translator)
    found = survey(upstream, window, tree, config, translator)
    wanted = expected(found, images, config)
    told = differences(wanted, found.places.files, removals(fork, fork.head()), config, who)
    seam = f"{seam_folder(config)}/"
    moved = {move.new for move in told.moves}
    own = [
        p for p in tree.paths() - found.places.files.upstreams - moved if not p.startswith((seam, f"{config.ledgers}/"))
    ]
    return Adoption(found, told, len(own))
