"""The page: everything put into the template, with a policy that lets nothing else load or run."""

import base64
import hashlib
import json
import math
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from vime.observability.number_text import text
from vime.observability.report.excerpts import excerpts, visible
from vime.observability.report.panels import filled
from vime.observability.report.plots import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, plot
from vime.observability.report.summary import summary
from vime.observability.run_read import Run

MOST_OF_A_WORD = 4000
"""Characters of a name, a value or a sentence."""


def render(run: Run) -> str:
    """The report as HTML. What the model, a dataset or the configuration says is text in it, never markup or script."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["visible"] = lambda value: visible(str(value)[:MOST_OF_A_WORD])
    plots = [plot(one) for one in filled(run.series)]
    style, script = _file("page.css"), _file("page.js")
    data = {"plots": [one.hover for one in plots], "samples": excerpts(run)}
    return environment.from_string(_file("page.html.j2")).render(
        summary=summary(run),
        plots=plots,
        figures=figures(run),
        box={
            "width": WIDTH,
            "height": HEIGHT,
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "top": TOP,
            "bottom": HEIGHT - BOTTOM,
        },
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=script_data(data),
        has_samples=any(one["samples"] for one in data["samples"]),
    )


def figures(run: Run) -> list[tuple[str, ...]]:
    """Every metric: its first, last, lowest and highest value, and how many there are."""
    rows = []
    for name, one in sorted(run.series.items()):
        finite = one.finite().values or (math.nan,)
        numbers = (one.values[0], one.values[-1], min(finite), max(finite))
        rows.append((name, *(text(number) for number in numbers), str(len(one.values))))
    return rows


def script_data(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    shown = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
