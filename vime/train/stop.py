"""Stopping on Ctrl-C and SIGTERM: at the next safe place, or at once when asked twice."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from vime.errors import Interrupted


class StopRequest:
    """Whether the run was asked to stop, and by which signal."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.signal: int | None = None
        self._wake: Callable[[], None] = lambda: None

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    @property
    def exit_code(self) -> int:
        """What a shell expects of a process that a signal ended."""
        return 128 + (self.signal or 0)

    @property
    def words(self) -> str:
        """What stopped it, for a person."""
        return f"stopped by {signal.Signals(self.signal or signal.SIGINT).name}"

    def ask(self, number: int) -> None:
        """Note the request and wake what waits. The second one interrupts at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.signal = number
        self._asked.set()
        self._wake()

    @contextmanager
    def waiting(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake` when a stop is asked for inside the block."""
        before, self._wake = self._wake, wake
        try:
            if self.asked:
                wake()
            yield
        finally:
            self._wake = before

    def check(self) -> None:
        """Raises Interrupted when a stop was asked for."""
        if self.asked:
            raise Interrupted(self.words)


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Turn SIGINT and SIGTERM into a request for as long as the block runs."""
    stop = StopRequest()

    def handler(number: int, frame: FrameType | None) -> None:
        stop.ask(number)

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, old in before.items():
            signal.signal(number, old)
