"""Where the time goes: named stretches, added up until they are read."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Timer:
    """Seconds by name. A name is started once before it is ended; what is timed twice is added."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started: dict[str, float] = {}
        self._spent: dict[str, float] = {}

    def start(self, name: str) -> None:
        if name in self._started:
            raise RuntimeError(f"timer {name} runs already; end it before it starts again")
        self._started[name] = self._clock()

    def end(self, name: str) -> float:
        """The seconds since `start`."""
        if name not in self._started:
            raise RuntimeError(f"timer {name} does not run; start it first")
        seconds = self._clock() - self._started.pop(name)
        self.add(name, seconds)
        return seconds

    def add(self, name: str, elapsed_time: float) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + elapsed_time

    def reset(self, name: str | None = None) -> None:
        """Forget what was added up under `name`, or all; what runs, runs on."""
        if name is None:
            self._spent.clear()
        else:
            self._spent.pop(name, None)

    def log_dict(self) -> dict[str, float]:
        """Seconds by name, a copy."""
        return dict(self._spent)

    def take(self) -> dict[str, float]:
        """Seconds by name, and begin anew."""
        spent = self.log_dict()
        self.reset()
        return spent

    @contextmanager
    def context(self, name: str) -> Iterator[None]:
        """Times the block, also where it raises."""
        self.start(name)
        try:
            yield
        finally:
            self.end(name)


@functools.cache
def process_timer() -> Timer:
    """The timer that upstream's functions below share in a process."""
    return Timer()


def timer(name_or_func: str | _Function) -> AbstractContextManager[None] | _Function:
    """`with timer("name"):` or `@timer` over a function, which is timed under its name."""
    if isinstance(name_or_func, str):
        return process_timer().context(name_or_func)

    @functools.wraps(name_or_func)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with process_timer().context(name_or_func.__name__):
            return name_or_func(*args, **kwargs)

    return timed  # type: ignore[return-value]


@contextmanager
def inverse_timer(name: str) -> Iterator[None]:
    """Stops a running timer for the length of the block."""
    process_timer().end(name)
    try:
        yield
    finally:
        process_timer().start(name)


def with_defer(deferred_func: Callable[[], Any]) -> Callable[[_Function], _Function]:
    """Over a function: calls `deferred_func` when it is left, however it is left."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            finally:
                deferred_func()

        return wrapped  # type: ignore[return-value]

    return decorate
