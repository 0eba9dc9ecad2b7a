"""From series to what is drawn: paths, ticks, and the values that are shown at hover. No markup here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vime.observability.number_text import text
from vime.observability.report.axis import Axis, axis
from vime.observability.report.panels import Filled
from vime.observability.run_read import Series

WIDTH, HEIGHT = 380, 210
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 10, 24
MOST_POINTS = 400
"""Points of a line; of more, the extremes of each stretch are drawn."""
FEW_POINTS = 12
"""Up to so many are marked one by one."""
COLOURS = 8


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """One line or one layer: `d` is an SVG path, empty for a single point; few points have `dots` as well."""

    label: str
    last: str
    colour: int
    d: str
    dots: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Plot:
    """A panel, ready to be drawn in a box of WIDTH x HEIGHT."""

    title: str
    note: str
    unit: str
    count: str
    """What the steps count."""
    stacked: bool
    marks: tuple[Mark, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    hover: dict[str, Any]
    """x: the steps, at: their pixels, lines: for each label its value at each step or None."""

    @property
    def summary(self) -> str:
        """The plot in words, for who does not see it."""
        return f"{self.title}: " + ", ".join(f"{mark.label} {mark.last}{self.unit} at the end" for mark in self.marks)


def plot(filled: Filled) -> Plot:
    """The geometry of a panel."""
    panel = filled.panel
    series = _stack_base(filled) if panel.stacked else [(label, thinned(one)) for label, one in filled.series]
    steps = sorted({step for _, one in series for step in one.steps})
    across = axis(steps, LEFT, WIDTH - RIGHT, "linear")
    across = Axis(steps[0], max(steps[-1], steps[0] + 1), LEFT, WIDTH - RIGHT, "linear", _whole(across.ticks, steps))
    tops = _tops(series) if panel.stacked else [list(one.values) for _, one in series]
    reach = [value for row in tops for value in row] + [bound for bound in (panel.low, panel.high) if bound is not None]
    up = axis(reach, HEIGHT - BOTTOM, TOP, panel.scale)
    marks = []
    for number, ((label, one), top) in enumerate(zip(series, tops)):
        points = [(across.at(step), up.at(value)) for step, value in zip(one.steps, top)]
        below = (
            [(x, up.at(0.0)) for x, _ in points]
            if number == 0
            else [(across.at(step), up.at(value)) for step, value in zip(one.steps, tops[number - 1])]
        )
        d = _path(points) if not panel.stacked else _path(points) + _path(below[::-1]).replace("M", "L", 1) + "Z"
        dots = tuple(points) if len(points) <= FEW_POINTS and not panel.stacked else ()
        marks.append(
            Mark(label, text(filled.series[number][1].values[-1]), number % COLOURS, d if len(points) > 1 else "", dots)
        )
    keys = {one.step_key for _, one in series}
    return Plot(
        title=panel.title,
        note=panel.note,
        unit=panel.unit,
        count="update" if keys == {"train/step"} else "rollout",
        stacked=panel.stacked,
        marks=tuple(marks),
        across=tuple(Tick(across.at(tick), f"{tick:,.0f}") for tick in across.ticks),
        up=tuple(Tick(up.at(tick), text(tick)) for tick in up.ticks),
        hover=_hover(series, steps, across, panel.unit),
    )


def thinned(series: Series) -> Series:
    """At most MOST_POINTS points, the lowest and the highest of each stretch among them."""
    count = len(series.steps)
    if count <= MOST_POINTS:
        return series
    kept: set[int] = {0, count - 1}
    stretches = MOST_POINTS // 2 - 1
    for number in range(stretches):
        stretch = range(number * count // stretches, (number + 1) * count // stretches)
        kept |= {min(stretch, key=series.values.__getitem__), max(stretch, key=series.values.__getitem__)}
    return _at(series, sorted(kept))


def _at(series: Series, places: Sequence[int]) -> Series:
    steps, values = tuple(series.steps[place] for place in places), tuple(series.values[place] for place in places)
    return Series(series.name, series.step_key, steps, values)


def _stack_base(filled: Filled) -> list[tuple[str, Series]]:
    """Layers over the same steps, 0 where one has nothing."""
    steps = sorted({step for _, one in filled.series for step in one.steps})
    stride = -(-len(steps) // MOST_POINTS)
    steps = steps[::stride]
    layers = []
    for label, one in filled.series:
        known = dict(zip(one.steps, one.values))
        layers.append(
            (
                label,
                Series(one.name, one.step_key, tuple(steps), tuple(max(known.get(step, 0.0), 0.0) for step in steps)),
            )
        )
    return layers


def _tops(layers: list[tuple[str, Series]]) -> list[list[float]]:
    tops: list[list[float]] = []
    for _, layer in layers:
        below = tops[-1] if tops else [0.0] * len(layer.values)
        tops.append([low + value for low, value in zip(below, layer.values)])
    return tops


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _whole(ticks: Sequence[float], steps: Sequence[int]) -> tuple[float, ...]:
    """Steps are whole numbers."""
    return tuple(tick for tick in ticks if tick == int(tick) and steps[0] <= tick <= steps[-1]) or (steps[0],)


def _hover(series: Sequence[tuple[str, Series]], steps: list[int], across: Axis, unit: str) -> dict[str, Any]:
    lines = []
    for label, one in series:
        known = dict(zip(one.steps, one.values))
        lines.append(
            {"label": label, "values": [text(known[step]) + unit if step in known else None for step in steps]}
        )
    return {"x": steps, "at": [across.at(step) for step in steps], "lines": lines}
