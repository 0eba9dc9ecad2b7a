"""Where the loop has its rollouts from: each made when it is needed, or one ahead while the trainer works.

One ahead, rollout N + 1 is begun before the training on N, with the weights of then: samples are of the weights before the
last update that they are trained with, never of older ones (with a sync every k rollouts: of those before the last k).
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from vime.errors import Interrupted
from vime.ray.records import Generated
from vime.train.clock import Clock

Metrics = Mapping[str, float]


class Run(Protocol):
    """What is running: the trainer, the engines, the prompts. Each method but `begin` waits until it is done."""

    def generate(self, rollout_id: int) -> Generated: ...

    def begin(self, rollout_id: int) -> Callable[[], Generated]:
        """Begin a rollout; what waits for it. An engine that died under it is found dead, and replaced, there."""

    def train(self, rollout_id: int, generated: Generated) -> Metrics: ...

    def save(self, rollout_id: int) -> None: ...

    def sync_weights(self) -> Metrics: ...

    def evaluate(self, done: int) -> Metrics: ...


class Rollouts(Protocol):
    """Gives the loop one rollout after the other."""

    def take(self, rollout_id: int, clock: Clock) -> Generated:
        """The rollout, when it is there. Raises Interrupted after a stop."""

    def settle(self, clock: Clock) -> None:
        """Wait until nothing is being generated. After a stop that is given up, and its prompts are back in the source."""


class InTurn:
    """Each rollout when it is needed: the synchronous loop."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def take(self, rollout_id: int, clock: Clock) -> Generated:
        with clock.part("perf/rollout_time"):
            return self._run.generate(rollout_id)

    def settle(self, clock: Clock) -> None:
        """Nothing is under way between rollouts."""


class OneAhead:
    """The next rollout is begun before the one that is taken is trained on: the asynchronous loop of --train-async.

    perf/rollout_time is what generation took, perf/rollout_wait_time how long the loop waited for any of it.
    """

    def __init__(self, run: Run, total: int) -> None:
        self._run, self._total = run, total
        self._waits: Callable[[], Generated] | None = None
        self._ready: Generated | None = None

    def take(self, rollout_id: int, clock: Clock) -> Generated:
        if self._ready is None and self._waits is None:
            self._waits = self._run.begin(rollout_id)
        if self._ready is None:
            self._wait(clock)
        generated, self._ready = self._ready, None
        assert generated is not None, "what is waited for is there, or has raised"
        clock.add("perf/rollout_time", generated.seconds)
        clock.add("perf/rollout_wait_time", 0.0)
        if rollout_id + 1 < self._total:
            self._waits = self._run.begin(rollout_id + 1)
        return generated

    def settle(self, clock: Clock) -> None:
        if self._waits is not None:
            try:
                self._wait(clock)
            except Interrupted:  # the loop looks for a stop itself, when the step is over
                return

    def _wait(self, clock: Clock) -> None:
        assert self._waits is not None
        waits, self._waits = self._waits, None
        with clock.part("perf/rollout_wait_time"):
            self._ready = waits()
