"""What goes wrong with a server that the framework runs or calls.

They cross process borders, so each can be made again from its `args`.
"""

from vime.errors import RunError


class EngineError(RunError):
    """A server is not what the run needs it to be."""


class EngineDied(EngineError):
    """A server's process ended by itself. `cause` is what its log names as the reason, `tail` the log's end."""

    def __init__(self, url: str, exit_code: int, log: str, cause: str, tail: str) -> None:
        how = f"was killed by signal {-exit_code}" if exit_code < 0 else f"ended with status {exit_code}"
        why = f": {cause}" if cause else ""
        super().__init__(f"the server at {url} {how}{why}", f"its log is {log}, which ends with\n{tail}")
        self.args = (url, exit_code, log, cause, tail)
        self.url, self.exit_code, self.log, self.cause, self.tail = self.args


class EngineNotHealthy(EngineError):
    """A server runs and did not become healthy in time. `tail` is the end of its log."""

    def __init__(self, url: str, seconds: float, log: str, tail: str) -> None:
        super().__init__(
            f"the server at {url} was not healthy after {seconds:.0f} s", f"its log is {log}, which ends with\n{tail}"
        )
        self.args = (url, seconds, log, tail)
        self.url, self.seconds, self.log, self.tail = self.args


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
