"""Stands for a run's parts before the loop: what is asked of them is noted, and a stop comes where a test wants it."""

import signal
from collections.abc import Callable, Mapping

from vime.ray.records import Generated
from vime.train.stop import StopRequest
from vime.utils.misc import Box


class Scripted:
    """Stands for the running parts, and notes what is asked of it."""

    def __init__(self, stop: StopRequest, stop_in: str = "") -> None:
        self.calls: list[str] = []
        self.held: dict[int, int] = {}
        """The weight version that each rollout was begun with."""
        self.behind: dict[int, int] = {}
        """How many syncs were made between a rollout's beginning and the training on it."""
        self._version = 0
        self._stop, self._stop_in = stop, stop_in

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call == self._stop_in:
            self._stop.ask(signal.SIGTERM)
            if call.startswith(("generate", "eval")):
                self._stop.check()

    def generate(self, rollout_id: int) -> Generated:
        self._note(f"generate {rollout_id}")
        return self._made(rollout_id)

    def begin(self, rollout_id: int) -> Callable[[], Generated]:
        """A stop ends it when it is waited for, or before it is begun."""
        self._note(f"begin {rollout_id}")
        self.held[rollout_id] = self._version

        def wait() -> Generated:
            self._note(f"wait {rollout_id}")
            self._stop.check()
            return self._made(rollout_id, self.held[rollout_id])

        return wait

    def _made(self, rollout_id: int, version: int = 0) -> Generated:
        return Generated(Box(None), {"rollout/raw_reward": 1.0, "version": version}, seconds=5.0)

    def train(self, rollout_id: int, generated: Generated) -> dict[str, float]:
        self._note(f"train {rollout_id}")
        self.behind[rollout_id] = self._version - self.held.get(rollout_id, self._version)
        return {"train/loss": 0.5}

    def save(self, rollout_id: int) -> None:
        self._note(f"save {rollout_id}")

    def sync_weights(self) -> dict[str, float]:
        self._note("sync")
        self._version += 1
        return {}

    def evaluate(self, done: int) -> dict[str, float]:
        self._note(f"eval {done}")
        return {"eval/rev3": 1.0}


class Notes:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, Mapping[str, float]]] = []

    def log(self, metrics: Mapping[str, float], step_key: str, step: int) -> None:
        self.rows.append((step_key, step, metrics))
