"""An axis: its range, its ticks, and where a value lies on it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vime.observability.report.panels import Scale

_TINY = 1e-300
"""What is smaller is nothing, for a picture."""


@dataclass(frozen=True)
class Axis:
    """From `low` at `start` to `high` at `end`, in pixels."""

    low: float
    high: float
    start: float
    end: float
    scale: Scale
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The pixel of a value; what lies outside is drawn at the edge."""
        low, high, point = (self._flat(one) for one in (self.low, self.high, min(max(value, self.low), self.high)))
        return round(self.start + (point - low) / (high - low) * (self.end - self.start), 1)

    def _flat(self, value: float) -> float:
        return math.log10(value) if self.scale == "log" else value


def axis(values: Sequence[float], start: float, end: float, scale: Scale, count: int = 4) -> Axis:
    """An axis over the values, with about `count` ticks. A log axis leaves out what is not positive."""
    if scale == "log" and (positive := [value for value in values if value > _TINY]):
        return _log(min(positive), max(positive), start, end)
    low, high = min(values), max(values)
    if high - low <= max(abs(high) * 1e-12, _TINY):
        low, high = (low - abs(low) * 0.5, high + abs(high) * 0.5) if abs(low) > _TINY else (0.0, 1.0)
    step = _step((high - low) / count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) if step > 1e-9 else number * step for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, "linear", ticks)


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * (1 - 1e-9))


def _log(low: float, high: float, start: float, end: float) -> Axis:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    stride = max(1, math.ceil((last - first) / 5))
    ticks = tuple(10.0**power for power in range(first, last + 1, stride))
    return Axis(10.0**first, 10.0**last, start, end, "log", ticks)
