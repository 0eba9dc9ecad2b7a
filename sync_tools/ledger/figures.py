"""Figures from the logs of training runs and tests: JSON lines, CSV, `key=value` lines, printed dicts, pytest's summary."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Series = Mapping[str, list[float]]

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)"
PAIR = re.compile(rf"""["']?([A-Za-z][\w/.@-]*)["']?\s*[:=]\s*(?:tensor\()?({NUMBER})(?![\w.:-])""", re.IGNORECASE)
SUMMARY = re.compile(r"\b(\d+) (passed|failed|errors?|skipped)\b")
STEP = re.compile(r"(^|[/_])(step|iteration|rollout_id)$")
KINDS = re.compile(
    r"step|iteration|rollout_id|reward|log_?prob|grad_?norm|loss|kl|entropy|response_len|passed|failed|error|skipped"
    r"|accuracy|(^|/)eval/[^/]+$"  # what an evaluation came to has the name of its data
)
REWARD, LOGPROB, DIFFERENCE = re.compile(r"reward"), re.compile(r"log_?prob"), re.compile(r"diff|ratio|kl|clip")
GRAD = re.compile(r"grad_?norm")


@dataclass(frozen=True)
class Figures:
    """`values` in words, by name; `warnings` name the figures that show nothing."""

    values: dict[str, str]
    warnings: tuple[str, ...]


def read(content: str, level: str) -> Figures:
    """The figures of a log that tell whether a run did anything; none for a log that holds none."""
    series = {k: v for k, v in series_of(content).items() if KINDS.search(k.lower())}
    return Figures({k: _words(k, v) for k, v in sorted(series.items())}, tuple(_degenerate(series, level)))


def series_of(content: str) -> Series:
    """Every number of the log by its key, in order."""
    found: dict[str, list[float]] = {}
    for key, value in _csv(content) or _lines(content):
        found.setdefault(key, []).append(value)
    return found


def _lines(content: str) -> Iterator[tuple[str, float]]:
    for line in content.splitlines():
        record = _json(line)
        if record is not None:
            yield from _flat("", record)
            continue
        yield from ((m[1], float(m[2])) for m in PAIR.finditer(line))
        yield from ((m[2], float(m[1])) for m in SUMMARY.finditer(line))


def _json(line: str) -> dict[str, object] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _flat(key: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}/{name}" if key else str(name), inner)
    elif isinstance(value, list):
        for inner in value:  # a (logprob, token, text) triple counts by its first number
            yield from _flat(key, inner[0] if isinstance(inner, list) and inner else inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, float(value) if abs(value) < 1e300 or value != value else math.copysign(math.inf, value)


def _csv(content: str) -> list[tuple[str, float]]:
    head, _, body = content.partition("\n")
    names = next(csv.reader([head]), [])
    if len(names) < 2 or not all(re.fullmatch(r"\s*[A-Za-z_][\w/ .@-]*", name) for name in names):
        return []
    found = []
    for row in csv.reader(body.splitlines()):
        found += [(n.strip(), float(v)) for n, v in zip(names, row) if re.fullmatch(NUMBER, v.strip(), re.IGNORECASE)]
    return found


def _words(key: str, values: list[float]) -> str:
    if STEP.search(key.lower()):
        return f"{len(set(values))} steps, to {_number(max(values))}"
    if len(values) == 1:
        return _number(values[0])
    finite = [v for v in values if math.isfinite(v)] or values
    return f"{_number(values[0])} first, {_number(values[-1])} last, {_number(min(finite))} to {_number(max(finite))} over {len(values)}"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _degenerate(series: Series, level: str) -> Iterable[str]:
    for key, values in sorted(series.items()):
        name = key.lower()
        if not all(map(math.isfinite, values)):
            yield f"{key} is not a number in {sum(not math.isfinite(v) for v in values)} of {len(values)}"
        elif LOGPROB.search(name) and not DIFFERENCE.search(name) and not any(values):
            yield f"{key} is 0.0 throughout"
        elif REWARD.search(name) and len(values) > 1 and len(set(values)) == 1:
            yield f"{key} is constant at {_number(values[0])}"
        elif GRAD.search(name) and not any(values):
            yield f"{key} is 0.0 throughout"
        elif name.startswith(("failed", "error")) and any(values):
            yield f"{_number(max(values))} {key}"
    if level in ("smoke", "converged") and not any(STEP.search(key.lower()) for key in series):
        yield "no step was counted"
    if level == "converged":
        rewards = [v for k, v in series.items() if REWARD.search(k.lower()) and len(v) >= 6]
        if not any(_mean(v[-(len(v) // 3) :]) > _mean(v[: len(v) // 3]) for v in rewards):
            yield "no reward is higher at the end than at the beginning"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
