"""Progress of a run on a terminal: one line that renews itself, or in a pipe a line a step."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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


class Progress:
    """Shows phases while they last and a line for each rollout. Everything goes to `stream`, stderr when unset."""

    def __init__(
        self, total: int | None = None, stream: TextIO | None = None, clock: Clock = time.monotonic, first: int = 0
    ) -> None:
        """`total` rollouts make the whole run, of which it begins with number `first`."""
        self._stream = sys.stderr if stream is None else stream
        self._total, self._done, self._clock = total, first, clock
        self._metrics: dict[str, float] = {}
        self._ends: deque[float] = deque(maxlen=_RECENT + 1)
        self._phase: tuple[str, float] | None = None
        self._live = _live(self._stream, self._renewed) if _is_terminal(self._stream) else None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Shows `name` and the seconds while the block runs (engine starting, loading the model ...)."""
        outer, begun = self._phase, self._clock()
        self._phase = (name, begun)
        self._say(f"{name} ...", only_plain=True)
        try:
            yield
        except BaseException:
            self._say(f"{name}: failed after {self._clock() - begun:.1f} s")
            raise
        else:
            self._say(f"{name}: {self._clock() - begun:.1f} s")
        finally:
            self._phase = outer

    def begin(self) -> None:
        """The pace is counted from here, where the first rollout begins."""
        self._ends.append(self._clock())

    def step(self, rollout_id: int, metrics: Mapping[str, float]) -> None:
        """Rollout `rollout_id` is done, and these are its figures."""
        self._done = rollout_id + 1
        self._metrics |= metrics
        self._ends.append(self._clock())
        self._say(self.line(), only_plain=True)

    def evaluated(self, metrics: Mapping[str, float]) -> None:
        """An evaluation is done; its scores stay on the line until the next."""
        scores = {name: value for name, value in metrics.items() if is_eval_score(name)}
        self._metrics |= scores
        self._say(
            "evaluation: " + ", ".join(f"{name.removeprefix('eval/')} {value:.3f}" for name, value in scores.items())
        )

    def note(self, words: str) -> None:
        """A line of its own, which stays."""
        self._say(words)

    def close(self) -> None:
        """Leaves the last line standing."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def line(self) -> str:
        """The state in one line, the most wanted first: a narrow terminal shows its beginning."""
        first, *others = FIGURES
        return "  ".join([self._counted(), *self._shown(first), *self._scores(), *self._pace(), *self._shown(*others)])

    def _counted(self) -> str:
        of = "" if self._total is None else f"/{self._total}"
        return f"rollout {self._done:>{len(str(self._total or ''))}}{of}"

    def _shown(self, *figures: Figure) -> Iterator[str]:
        for figure in figures:
            if (value := self._metrics.get(figure.metric)) is not None:
                yield f"{figure.label} {text(value) if figure.digits is None else f'{value:.{figure.digits}f}'}"

    def _scores(self) -> Iterator[str]:
        for name, value in self._metrics.items():
            if is_eval_score(name):
                yield f"{name.removeprefix('eval/')} {value:.3f}"

    def _pace(self) -> Iterator[str]:
        if len(self._ends) < 2:
            return
        seconds = (self._ends[-1] - self._ends[0]) / (len(self._ends) - 1)
        yield f"{seconds:.2f} s/step"
        if self._total is not None:
            yield f"{_duration(seconds * (self._total - self._done))} left"

    def _renewed(self) -> Any:
        """What the renewed line shows now."""
        from rich.text import Text

        shown = Text(no_wrap=True, overflow="ellipsis")
        if self._done or self._ends:
            if self._total:
                full = round(16 * min(self._done / self._total, 1.0))
                shown.append("━" * full, "green").append("━" * (16 - full), "dim").append(" ")
            shown.append(self.line())
        if self._phase is not None:
            name, begun = self._phase
            shown.append("  " if shown else "").append(f"{name} {self._clock() - begun:.0f} s", "cyan")
        return shown

    def _say(self, words: str, only_plain: bool = False) -> None:
        if self._live is None:
            print(words, file=self._stream, flush=True)
        elif not only_plain:
            self._live.console.print(words, markup=False, highlight=False)


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
