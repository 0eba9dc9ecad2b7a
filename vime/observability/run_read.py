"""Reads the log of a run, whatever state a crash left it in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PARTS = ("config.json", "metrics.jsonl", "events.jsonl", "samples")
_Table = dict[str, dict[int, dict[str, float]]]
"""Step key, step, metric."""
_LARGEST, _LAST_STEP = 1e300, 2**53
"""What is larger is as good as infinite: sums and pictures need room."""
_YEAR_10000 = 253_402_300_800.0


class NoRun(Exception):
    """There is no run's log where one was looked for."""


@dataclass(frozen=True)
class Series:
    """A metric over the steps of its count, in their order."""

    name: str
    step_key: str
    steps: tuple[int, ...]
    values: tuple[float, ...]

    def finite(self) -> "Series":
        """Without what is nan or infinite, or as good as that."""
        kept = [(step, value) for step, value in zip(self.steps, self.values) if abs(value) <= _LARGEST]
        return Series(self.name, self.step_key, tuple(step for step, _ in kept), tuple(value for _, value in kept))


@dataclass(frozen=True)
class SampleFile:
    """Samples of one rollout or of its evaluation."""

    kind: str
    rollout_id: int
    path: Path

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from (row for row in _rows(self.path) if row is not None)


@dataclass(frozen=True)
class Run:
    """What a run wrote down."""

    folder: Path
    config: Mapping[str, Any] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()
    samples: tuple[SampleFile, ...] = ()
    times: tuple[float, ...] = ()
    """When the first and the last metrics were written: seconds since 1970, or nothing."""
    resumes: int = 0
    damaged: int = 0
    """Lines that a crash cut off, which were left out."""


def read_run(folder: Path) -> Run:
    """The run in `folder`; NoRun where there is none. What a resume did again replaces what was there before."""
    metrics = folder / "metrics.jsonl"
    if not any((folder / name).exists() for name in PARTS):
        raise NoRun(f"{folder}: there is no run's log ({', '.join(PARTS)}); name the folder given by --run-dir")
    table: _Table = {}
    times: list[float] = []
    damaged = resumes = 0
    for row in _rows(metrics):
        if row is None:
            damaged += 1
        elif "resume" in row:
            resumes += bool(table)
            _forget(table, row["resume"])
        elif _add(table, row) and (time := moment(row.get("time"))) is not None:
            times = [*times[:1], time]
    events = list(_rows(folder / "events.jsonl"))
    return Run(
        folder=folder,
        config=_config(folder / "config.json"),
        series=_series(table),
        events=tuple(event for event in events if event is not None),
        samples=_sample_files(folder / "samples"),
        times=tuple(times),
        resumes=resumes,
        damaged=damaged + events.count(None),
    )


def moment(value: Any) -> float | None:
    """A time in seconds since 1970 that a calendar has; None for anything else."""
    return float(value) if isinstance(value, int | float) and 0 <= value < _YEAR_10000 else None


def _rows(path: Path) -> Iterator[dict[str, Any] | None]:
    """The objects, one a line; None for a line that is no object. Nothing of what is no plain file, which may have no end."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield _object(line)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _add(table: _Table, row: Mapping[str, Any]) -> bool:
    try:
        numbers = {str(name): float(value) for name, value in row["metrics"].items()}
        step = int(row["step"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return False
    if abs(step) > _LAST_STEP:
        return False
    table.setdefault(str(row.get("step_key")), {}).setdefault(step, {}).update(numbers)
    return True


def _forget(table: _Table, first: Any) -> None:
    """Everything that will be done again."""
    for key, step in first.items() if isinstance(first, dict) else ():
        steps = table.get(key, {}) if isinstance(step, int | float) else {}
        for gone in [one for one in steps if one >= step]:
            del steps[gone]


def _series(table: _Table) -> dict[str, Series]:
    points: dict[str, tuple[str, list[int], list[float]]] = {}
    for key, steps in table.items():
        for step in sorted(steps):
            for name, value in steps[step].items():
                found, where, values = points.setdefault(name, (key, [], []))
                if found == key:
                    where.append(step)
                    values.append(value)
    return {name: Series(name, key, tuple(steps), tuple(values)) for name, (key, steps, values) in points.items()}


def _config(path: Path) -> Mapping[str, Any]:
    try:
        return _object(path.read_bytes()) or {} if path.is_file() else {}
    except OSError:
        return {}


def _sample_files(folder: Path) -> tuple[SampleFile, ...]:
    found = []
    for path in folder.glob("*.jsonl") if folder.is_dir() else ():
        kind, _, number = path.stem.rpartition("_")
        if kind in ("rollout", "eval") and number.isdecimal() and path.is_file():
            found.append(SampleFile(kind, int(number), path))
    return tuple(sorted(found, key=lambda file: (file.rollout_id, file.kind)))
