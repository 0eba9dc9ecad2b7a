"""Seam sites and what became of them."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "endpoint",
    "request field",
    "sampling key",
    "answer field",
    "argument",
    "flag",
    "import",
    "environment",
    "header",
    "metric",
    "class",
]
Verdict = Literal["translated", "unresolved", "kept", "missed"]
How = Literal["rule", "text", "interface", ""]


@dataclass(frozen=True, order=True)
class SeamSite:
    """A place where a tree speaks the old engine's language. Lines and columns are 1-based."""

    path: str
    line: int
    column: int
    kind: Kind
    what: str


@dataclass(frozen=True)
class Judged:
    """A site with its verdict. `how` a translated one was: a rule at its place, a changed text, or by the seam's objects,
    which keep upstream's vocabulary. `why` and `reason` of one that is unresolved; `why` of one that is kept, and whether it
    `speaks` the old engine's language in the translated tree all the same."""

    site: SeamSite
    verdict: Verdict
    how: How = ""
    why: str = ""
    reason: str = ""
    speaks: bool = False


@dataclass(frozen=True)
class Seen:
    """All sites of a tree. `unseen` are reports of the translator at places where the search saw nothing."""

    judged: tuple[Judged, ...]
    unseen: tuple[SeamSite, ...]
    files: int
