"""What a plan says, as values."""

from dataclasses import dataclass, field
from typing import Literal

State = Literal["missing", "unknown", "landed"]
"""Of a change of upstream's, whether the fork has it: `unknown` where nothing says from where the fork begins."""

Relation = Literal["edits", "beside", "file", "uses"]
"""Why one change needs another: it edits lines of it, inserts beside them, touches a file that it made, names what it
defined."""

LaterKind = Literal["revert", "fix", "change"]
Mark = Literal["untested", "engine", "unresolved", "ci", "executes", "conflict", "removes", "reverted", "edited"]


@dataclass(frozen=True)
class Place:
    """Lines of a file, 1-based; `symbol` is the definition that the first of them stands in."""

    path: str
    lines: tuple[int, ...] = ()
    symbol: str = ""


@dataclass(frozen=True)
class Change:
    """A landing of upstream's, named."""

    pr: int | None
    commit: str
    subject: str


@dataclass(frozen=True)
class Need:
    """One reason to have an earlier change first."""

    relation: Relation
    place: Place


@dataclass(frozen=True)
class Prerequisite:
    """An earlier change that the planned one stands on. `through` names the prerequisite that needs it, where the
    planned change does not do so itself."""

    change: Change
    state: State
    needs: tuple[Need, ...]
    through: Change | None = None


@dataclass(frozen=True)
class Later:
    """A later change to lines of the planned one, `lines` of them, or its revert. `undone_by` reverts it in turn."""

    change: Change
    kind: LaterKind
    places: tuple[Place, ...]
    lines: int
    undone_by: Change | None = None


@dataclass(frozen=True)
class Companion:
    """A change that belongs with the planned one; `change.commit` is empty where the main line does not hold it."""

    change: Change
    why: str


@dataclass(frozen=True)
class Risk:
    """What makes the port of a change more than routine."""

    mark: Mark
    why: str
    paths: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class TouchedFile:
    """A file of the change: its kind (code, tests, docs, ci, ...), what happens to it, and what a port makes of it."""

    path: str
    kind: str
    change: str
    added: int
    removed: int
    place: str
    disposition: str


@dataclass(frozen=True)
class Left:
    """A path that a port leaves out: absent, owned or dropped; `commit` of the fork removed it."""

    path: str
    why: str
    commit: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of the CI matrix that the port adds, removes or changes, and the label that starts its job."""

    change: str
    job: str
    test_file: str
    label: str


@dataclass(frozen=True)
class Briefing:
    """What a change stands on, and what became of it upstream. `state` is its own; `assumed` is how many commits before
    it were searched where the fork's beginning is not known, None where it is."""

    change: Change
    state: State
    prerequisites: tuple[Prerequisite, ...]
    later: tuple[Later, ...]
    assumed: int | None = None


@dataclass(frozen=True)
class Plan:
    """The plan of one change."""

    briefing: Briefing
    files: tuple[TouchedFile, ...]
    risks: tuple[Risk, ...]
    companions: tuple[Companion, ...]
    absent: tuple[Left, ...] = ()
    owned: tuple[Left, ...] = ()
    dropped: tuple[Left, ...] = ()
    rows: tuple[Row, ...] = ()
    other_landings: tuple[str, ...] = field(default=())
