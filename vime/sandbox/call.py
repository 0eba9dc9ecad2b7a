"""A call that can be ended from another thread."""

import socket
import threading
from contextlib import suppress

from vime.sandbox.records import Reason


class Call:
    """What the caller and the one who runs the call share. The end of a call that is over does nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._given_up = False

    @property
    def given_up(self) -> bool:
        return self._given_up

    def give_up(self) -> None:
        """Nobody waits for the result."""
        with self._lock:
            self._given_up = True
            self._send("cancelled")

    def begin(self, control: socket.socket) -> None:
        """The zygote at the other end of `control` runs it."""
        with self._lock:
            self._control = control
            if self._given_up:
                self._send("cancelled")

    def end(self, reason: Reason) -> None:
        with self._lock:
            self._send(reason)

    def over(self) -> None:
        with self._lock:
            self._control = None

    def _send(self, reason: Reason) -> None:
        if self._control is not None:
            with suppress(OSError):  # it is gone, and so is what it ran
                self._control.send(reason.encode())
