"""How long the parts of a step take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """`with watch("name"):` adds to the seconds of that name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time inside."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
