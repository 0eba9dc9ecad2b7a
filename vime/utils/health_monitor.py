"""Watch engines from a thread: one that does not answer is taken out, and told to whoever wants to know."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Protocol

logger = logging.getLogger(__name__)


class ServerGroup(Protocol):
    """What is watched."""

    @property
    def engines(self) -> Any:
        """The engines: handles of vime.ray.handles, or None where one was taken out already."""
        ...


class RolloutHealthMonitor:
    """Looks at every engine of `server_group` each `rollout_health_check_interval` seconds.

    `on_failure` is called, in the monitor's thread, with the number of an engine and what is wrong with it, once until
    the monitor is resumed. It starts paused: an engine whose memory is freed, or that is being started, is not looked at.
    """

    def __init__(
        self, server_group: ServerGroup, args: Any, on_failure: Callable[[int, Exception], None] | None = None
    ) -> None:
        self._group, self._on_failure = server_group, on_failure
        self._interval: float = args.rollout_health_check_interval
        self._timeout: float = args.rollout_health_check_timeout
        self._first_wait: float = args.rollout_health_check_first_wait
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._enabled = False
        self._failures: dict[int, Exception] = {}

    @property
    def failures(self) -> dict[int, Exception]:
        """Engines that were found dead since the monitor was last resumed, and why."""
        return dict(self._failures)

    def start(self) -> bool:
        """Begin, paused. False where there is nothing to watch."""
        if not self._group.engines:
            return False
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._watch, name="RolloutHealthMonitor", daemon=True)
            self._thread.start()
        return True

    def stop(self) -> None:
        """End; a look that is under way ends with its own timeout."""
        self._stopping.set()
        self._set(False)
        if self._thread is not None:
            self._thread.join(self._timeout + 5.0)
            self._thread = None

    def pause(self) -> None:
        """Look no more until resumed."""
        self._set(False)

    def resume(self) -> None:
        """Look again, after the first wait, and forget what was found."""
        self._failures.clear()
        self._set(True)

    def is_checking_enabled(self) -> bool:
        """Whether it looks."""
        return self._enabled

    def check(self) -> None:
        """Look at every engine once, in the caller's thread."""
        looks = [(i, e.submit("health_generate", self._timeout)) for i, e in enumerate(self._group.engines) if e]
        for number, look in looks:
            try:
                look.result(timeout=self._timeout + 5.0)
            except Exception as error:
                self._found(number, error)

    def _watch(self) -> None:
        while self._until_enabled():
            if self._wait(self._first_wait):
                continue
            while not self._interrupted():
                self.check()
                self._wait(self._interval)

    def _found(self, number: int, error: Exception) -> None:
        if number in self._failures or not self._enabled:
            return
        self._failures[number] = error
        logger.error("engine %d is dead: %s", number, error)
        if self._on_failure is not None:
            self._on_failure(number, error)

    def _set(self, enabled: bool) -> None:
        with self._changed:
            self._enabled = enabled
            self._changed.notify_all()

    def _until_enabled(self) -> bool:
        """Wait for a resume; False when the monitor ends instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._enabled or self._stopping.is_set())
        return not self._stopping.is_set()

    def _interrupted(self) -> bool:
        return self._stopping.is_set() or not self._enabled

    def _wait(self, seconds: float) -> bool:
        """Whether the monitor was paused or stopped within `seconds`."""
        with self._changed:
            return self._changed.wait_for(self._interrupted, timeout=seconds) if seconds else self._interrupted()
