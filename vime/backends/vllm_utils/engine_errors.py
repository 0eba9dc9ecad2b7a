"""What goes wrong with a server that the framework runs or calls.

They cross process borders, so each can be made again from its `args`.
"""

from signal import SIGKILL, Signals

from vime.errors import RunError

_NO_MEMORY = " (by somebody, or by the kernel for want of memory: dmesg says it)"


class EngineError(RunError):
    """A server is not what the run needs it to be."""


class EngineDied(EngineError):
    """A server's process ended by itself. `cause` is what its log names as the reason, `tail` the log's end."""

    def __init__(self, url: str, exit_code: int, log: str, cause: str, tail: str) -> None:
        how = f"was killed by {_name(-exit_code)}" if exit_code < 0 else f"ended with status {exit_code}"
        why = f": {cause}" if cause else _NO_MEMORY if exit_code == -SIGKILL else ""
        super().__init__(f"the server at {url} {how}{why}", _where(log, "" if cause or exit_code == -SIGKILL else tail))
        self.args = (url, exit_code, log, cause, tail)
        self.url, self.exit_code, self.log, self.cause, self.tail = self.args


class EngineNotHealthy(EngineError):
    """A server runs and did not become healthy in time. `tail` is the end of its log."""

    def __init__(self, url: str, seconds: float, log: str, tail: str) -> None:
        super().__init__(f"the server at {url} was not healthy after {seconds:.0f} s", _where(log, tail))
        self.args = (url, seconds, log, tail)
        self.url, self.seconds, self.log, self.tail = self.args


class EngineHangs(EngineError):
    """A server's process runs, and does not answer."""

    def __init__(self, url: str, seconds: float, detail: str, log: str) -> None:
        super().__init__(
            f"the engine at {url} runs and gave no answer within {seconds:g} s ({detail})", _where(log, "")
        )
        self.args = (url, seconds, detail, log)
        self.url, self.seconds, self.detail, self.log = self.args


class PortTaken(EngineError):
    """Something else listens on the port that a server was to have."""

    def __init__(self, port: int, fix: str = "choose another, or end what listens there") -> None:
        super().__init__(f"port {port} is taken", fix)
        self.args = (port, fix)
        self.port = port


class EngineCallFailed(EngineError):
    """A control call was refused, or got no answer (`status` is None then)."""

    def __init__(self, url: str, call: str, status: int | None, detail: str) -> None:
        got = "no answer" if status is None else f"HTTP {status}"
        super().__init__(f"{call} of the engine at {url}: {got}: {detail}")
        self.args = (url, call, status, detail)
        self.url, self.call, self.status, self.detail = self.args


def _name(number: int) -> str:
    """Of a signal."""
    return Signals(number).name if number in set(Signals) else f"signal {number}"


def _where(log: str, tail: str) -> str:
    """Where its log is, and the last thing there."""
    last = next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "")
    return f"its log is {log}" + (f", whose last line is: {last[:300]}" if last else "")
