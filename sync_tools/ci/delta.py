"""What a change of the template did to the matrix, and what became of it in the fork's."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from sync_tools.ci.matrix import Row


@dataclass(frozen=True)
class RowChange:
    """A row of a job (named as in the fork). `before` is None for an added row, `after` for a removed one."""

    job: str
    before: Row | None
    after: Row | None

    @property
    def test_file(self) -> str:
        row = self.after or self.before
        assert row is not None
        return row.test_file


@dataclass(frozen=True)
class Present:
    """A row that upstream adds and the fork has, in the job named; `differs` where its options are others."""

    job: str
    upstream_job: str
    row: Row
    differs: bool


@dataclass(frozen=True)
class Unplaced:
    """A change of upstream's that has no place in the fork's matrix: it is reported and a person decides."""

    job: str
    kind: Literal["added", "removed", "changed"]
    row: Row
    why: str


@dataclass(frozen=True)
class JobChange:
    """`renamed` goes from `before` to `after`; the others name the job twice."""

    kind: Literal["added", "removed", "renamed", "changed"]
    before: str
    after: str


@dataclass(frozen=True)
class MatrixDelta:
    """Each row once, also where its list serves several jobs. `moved` are rows that change place within a job."""

    added: tuple[RowChange, ...] = ()
    removed: tuple[RowChange, ...] = ()
    changed: tuple[RowChange, ...] = ()
    moved: tuple[RowChange, ...] = ()
    present: tuple[Present, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    jobs: tuple[JobChange, ...] = ()
    missing_jobs: tuple[str, ...] = ()


def combined(parts: Iterable[MatrixDelta]) -> MatrixDelta:
    """One delta that holds what several do, in their order; nothing twice."""
    parts = list(parts)
    return MatrixDelta(
        *(tuple(dict.fromkeys(c for p in parts for c in getattr(p, f.name))) for f in fields(MatrixDelta))
    )
