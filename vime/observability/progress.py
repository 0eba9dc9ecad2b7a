"""Progress of a run on a terminal: one line that renews itself, or in a pipe a line a step."""

import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from vime.observability.metric_utils import is_eval_score
from vime.observability.number_text import text

Clock = Callable[[], float]


@dataclass(frozen=True)
class Figure:
    """A metric on the line, and its name there."""

    metric: str
    label: str
    digits: int | None = None
    """Places after the point; four digits that count when unset."""


FIGURES = (
    Figure("rollout/raw_reward", "reward", 3),
    Figure("rollout/response_len/mean", "length", 1),
    Figure("train/train_rollout_logprob_abs_diff", "logprob diff"),
    Figure("train/grad_norm", "grad"),
)
_RECENT = 10
"""Steps over which the pace is averaged."""
_TELL = 5.0
"""Seconds between two words about the start, in a pipe."""
_BAR = 16
"""Width of the bar."""


class TerminalProgress:
    """Shows the start, a line for each rollout, and what happens besides. Everything goes to `stream`, or stderr."""

    def __init__(self, stream: TextIO | None = None, clock: Clock = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._born, self._told, self._start = clock(), -math.inf, "starting"
        self._first, self._total, self._done, self._running = 0, 0, 0, False
        self._metrics: dict[str, float] = {}
        self._ends: deque[float] = deque(maxlen=_RECENT + 1)
        self._live = _live(self._stream, self._renewed) if _is_terminal(self._stream) else None

    def starting(self, line: str) -> None:
        """How far the start is; in a pipe it is told every few seconds."""
        self._start = _printable(line) or self._start
        if self._clock() - self._told >= _TELL:
            self._told = self._clock()
            self._say(self._started(), only_plain=True)

    def begin(self, first: int, total: int) -> None:
        """The loop begins, with rollout `first` of `total`; the pace is counted from here."""
        self._first, self._total, self._done, self._running = first, total, first, True
        self._say(f"started after {self._clock() - self._born:.1f} s")
        self._ends.append(self._clock())

    def step(self, step_key: str, step: int, metrics: Mapping[str, float]) -> None:
        """A rollout was trained on, or an evaluation is done, whose scores stay on the line until the next."""
        if step_key == "eval/step":
            scores = {name: value for name, value in metrics.items() if is_eval_score(name)}
            self._metrics |= scores
            self._say(f"evaluation after {step} rollouts: {', '.join(_score(name, scores[name]) for name in scores)}")
            return
        self._done = step + 1
        self._metrics |= metrics
        self._ends.append(self._clock())
        self._say(self.line(), only_plain=True)

    def say(self, line: str) -> None:
        """A line of its own, which stays."""
        self._say(line)

    def close(self) -> None:
        """Leaves the last line standing, and says how long it all took."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._running:
            self._running = False
            self._say(f"{self._done - self._first} rollouts in {self._clock() - self._born:.1f} s, the start included")

    def __enter__(self) -> "TerminalProgress":
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def line(self) -> str:
        """The state in one line, the most wanted first: a narrow terminal shows its beginning."""
        first, *others = FIGURES
        return "  ".join([self._counted(), *self._shown(first), *self._scores(), *self._pace(), *self._shown(*others)])

    def _counted(self) -> str:
        return f"rollout {self._done:>{len(str(self._total))}}/{self._total}"

    def _started(self) -> str:
        return f"{self._clock() - self._born:.0f} s: {self._start}"

    def _shown(self, *figures: Figure) -> Iterator[str]:
        for figure in figures:
            if (value := self._metrics.get(figure.metric)) is not None:
                yield f"{figure.label} {text(value) if figure.digits is None else f'{value:.{figure.digits}f}'}"

    def _scores(self) -> Iterator[str]:
        for name, value in self._metrics.items():
            if is_eval_score(name):
                yield _score(name, value)

    def _pace(self) -> Iterator[str]:
        if len(self._ends) < 2:
            return
        seconds = (self._ends[-1] - self._ends[0]) / (len(self._ends) - 1)
        yield f"{seconds:.2f} s/step"
        yield f"{_duration(seconds * (self._total - self._done))} left"

    def _renewed(self) -> Any:
        """What the renewed line shows now."""
        from rich.text import Text

        shown = Text(no_wrap=True, overflow="ellipsis")
        if not self._running:
            return shown.append(self._started(), "cyan")
        full = round(_BAR * min(self._done / self._total, 1.0)) if self._total else _BAR
        return shown.append("━" * full, "green").append("━" * (_BAR - full), "dim").append(" " + self.line())

    def _say(self, words: str, only_plain: bool = False) -> None:
        words = "\n".join(map(_printable, words.split("\n")))
        if self._live is None:
            print(words, file=self._stream, flush=True)
        elif not only_plain:
            self._live.console.print(words, markup=False, highlight=False)


def _score(name: str, value: float) -> str:
    return f"{name.removeprefix('eval/')} {value:.3f}"


def _printable(words: str) -> str:
    """What an engine's log says does not steer the terminal."""
    return "".join(one if one.isprintable() else "·" for one in words)


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _live(stream: TextIO, shown: Callable[[], Any]) -> Any:
    """The line that renews itself; colours as rich decides, which heeds NO_COLOR."""
    from rich.console import Console
    from rich.live import Live

    live = Live(get_renderable=shown, console=Console(file=stream), refresh_per_second=5)
    live.start()
    return live


def _duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 5400 else f"{whole / 3600:.1f} h"
