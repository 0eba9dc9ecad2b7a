"""A vLLM server: started, awaited until it is healthy, watched, stopped."""

import http.client
import time
from collections.abc import Callable
from pathlib import Path

from vime.backends.vllm_utils.engine_errors import EngineDied, EngineNotHealthy, PortTaken
from vime.backends.vllm_utils.launch import Launch
from vime.backends.vllm_utils.process import ServerProcess
from vime.utils.network import is_port_available

Progress = Callable[[float, str], None]
"""Called with the seconds since the start and the last line of the log while a server starts."""

_POLL = 0.1
_TELL = 1.0
"""Seconds between two looks at a server's health, and between two words of progress."""


class EngineServer:
    """One server of one `launch`; its output goes to the file `log`. It may be started again after it ended."""

    def __init__(self, launch: Launch, log: Path, health_path: str = "/health") -> None:
        self.launch, self._health_path = launch, health_path
        self._process = ServerProcess(launch.argv, launch.env, log)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.launch.url

    @property
    def pid(self) -> int | None:
        """Its process, which leads a group of its own; None before it was started."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether its process runs, healthy or not."""
        return self._process.alive

    def start(self) -> None:
        """Start the process and return at once. Raises PortTaken."""
        if not is_port_available(self.launch.port):
            raise PortTaken(self.launch.port)
        self._process.start()

    def wait_healthy(self, timeout: float = 600.0, progress: Progress | None = None) -> float:
        """Wait until it answers; how many seconds that took. Raises EngineDied, EngineNotHealthy, PortTaken."""
        start = told = time.monotonic()
        while True:
            self.check()
            if self.healthy(timeout=2.0):
                return time.monotonic() - start
            now = time.monotonic()
            if now - start > timeout:
                raise EngineNotHealthy(self.url, timeout, str(self._process.log), self._process.tail())
            if progress is not None and now - told >= _TELL:
                told = now
                progress(now - start, self._process.last_line())
            time.sleep(_POLL)

    def healthy(self, timeout: float) -> bool:
        """Whether it answers within `timeout` seconds; an engine that is paused is healthy."""
        connection = http.client.HTTPConnection(self.launch.host.strip("[]"), self.launch.port, timeout=timeout)
        try:
            connection.request("GET", self._health_path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def check(self, within: float = 0.0) -> None:
        """Raise EngineDied, or PortTaken, if its process ended by itself, or does `within` so many seconds."""
        code = self._process.exit_within(within)
        if code is None:
            return
        tail = self._process.tail()
        if "address already in use" in tail.lower():
            raise PortTaken(self.launch.port)
        raise EngineDied(self.url, code, str(self._process.log), self._process.cause(), tail)

    def tail(self, lines: int = 30) -> str:
        """The end of its log."""
        return self._process.tail(lines)

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()

    def stop(self, grace: float = 10.0) -> None:
        """End it; nothing of it is left when this returns."""
        self._process.stop(grace)
