"""Names of the old engine that are no seam: attribution, links, what belongs to others, and its kernels used as a library."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sync_tools.seam.model import SeamSite


@dataclass(frozen=True)
class Protection:
    """`match` finds the site's name (`kinds` limits it), or the line around it; `paths` the files where it holds. What
    `speaks` is the old engine's language that somebody decided to keep; the rest never was."""

    why: str
    speaks: bool
    kinds: frozenset[str]
    what: re.Pattern[str] | None
    line: re.Pattern[str] | None
    paths: re.Pattern[str] | None

    def holds(self, site: SeamSite, line: str) -> bool:
        return (
            (not self.kinds or site.kind in self.kinds)
            and (self.what is None or bool(self.what.search(site.what)))
            and (self.line is None or bool(self.line.search(line)))
            and (self.paths is None or bool(self.paths.search(site.path)))
        )


@cache
def _table() -> tuple[Protection, ...]:
    raw = tomllib.loads(files("sync_tools.seam").joinpath("tables", "protected.toml").read_text("utf-8"))
    return tuple(
        Protection(
            row["why"],
            row.get("speaks", False),
            frozenset(row.get("kinds", ())),
            *(_pattern(row, key) for key in ("what", "line", "paths")),
        )
        for row in raw["row"]
    )


def _pattern(row: dict, key: str) -> re.Pattern[str] | None:
    return re.compile(row[key]) if key in row else None


def protection(site: SeamSite, line: str) -> Protection | None:
    """Why a site stays as it is, where something says so."""
    return next((row for row in _table() if row.holds(site, line)), None)
