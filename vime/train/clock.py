"""Where the time of a step goes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Clock:
    """Seconds of the parts of a step, and of the whole."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._began = now, now()
        self._parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the block under `name`."""
        began = self._now()
        try:
            yield
        finally:
            self.add(name, self._now() - began)

    def add(self, name: str, seconds: float) -> None:
        """Count seconds that were measured elsewhere."""
        self._parts[name] = self._parts.get(name, 0.0) + seconds

    def times(self) -> dict[str, float]:
        """Each part, and perf/step_time."""
        return {**self._parts, "perf/step_time": self._now() - self._began}
