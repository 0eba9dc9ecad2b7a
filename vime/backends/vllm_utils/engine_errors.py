"""What goes wrong with a server that the framework runs or calls. Each says what, where, and how to mend it.

They cross process borders, so each is made of exactly the arguments that it was given.
"""


class EngineError(RuntimeError):
    """A server is not what the run needs it to be."""


class EngineDied(EngineError):
    """A server's process ended by itself. `tail` is the end of its log."""

    def __init__(self, url: str, exit_code: int, log: str, tail: str) -> None:
        super().__init__(url, exit_code, log, tail)
        self.url, self.exit_code, self.log, self.tail = url, exit_code, log, tail

    def __str__(self) -> str:
        how = f"was killed by signal {-self.exit_code}" if self.exit_code < 0 else f"ended with status {self.exit_code}"
        return f"the server at {self.url} {how}; the end of {self.log}:\n{self.tail}"


class EngineNotHealthy(EngineError):
    """A server runs and did not become healthy in time. `tail` is the end of its log."""

    def __init__(self, url: str, seconds: float, log: str, tail: str) -> None:
        super().__init__(url, seconds, log, tail)
        self.url, self.seconds, self.log, self.tail = url, seconds, log, tail

    def __str__(self) -> str:
        return (
            f"the server at {self.url} was not healthy after {self.seconds:.0f} s; the end of {self.log}:\n{self.tail}"
        )


class PortTaken(EngineError):
    """Something else listens on the port that a server was to have."""

    def __init__(self, port: int, fix: str = "choose another, or end what listens there") -> None:
        super().__init__(port, fix)
        self.port, self.fix = port, fix

    def __str__(self) -> str:
        return f"port {self.port} is taken; {self.fix}"


class EngineCallFailed(EngineError):
    """A control call was refused, or got no answer (`status` is None then)."""

    def __init__(self, url: str, call: str, status: int | None, detail: str) -> None:
        super().__init__(url, call, status, detail)
        self.url, self.call, self.status, self.detail = url, call, status, detail

    def __str__(self) -> str:
        got = "no answer" if self.status is None else f"HTTP {self.status}"
        return f"{self.call} of the engine at {self.url}: {got}: {self.detail}"
