"""What goes into a call and what comes out of it."""

from dataclasses import dataclass
from typing import Literal

from vime.errors import RunError

Mode = Literal["namespaces", "rlimits"]
MODES: tuple[Mode, ...] = ("namespaces", "rlimits")

Reason = Literal["exit", "signal", "cpu", "wall", "memory", "output", "cancelled", "lost"]
"""How a call ended: by itself, of a signal, at a limit, given up by its caller, or with the sandbox's own process."""


class SandboxRefused(RunError):
    """This system doesn't allow the protections that were asked for, and nothing was run without them."""


@dataclass(frozen=True)
class Limits:
    """What a call may use. Seconds and bytes; `cpu` holds for each process, `memory` for each and for all together.

    `memory` comes on top of what the warm interpreter has. `disk` is the temporary folder as a whole and `file` one file in
    it; `output` is of standard output and of standard error. `processes` counts threads too, the first one included.
    """

    wall: float = 10.0
    cpu: int = 10
    memory: int = 512 << 20
    processes: int = 16
    file: int = 16 << 20
    disk: int = 64 << 20
    output: int = 64 << 10
    open_files: int = 64

    def __post_init__(self) -> None:
        wrong = [name for name, value in vars(self).items() if not value > 0]
        if wrong:
            raise ValueError(f"limits must be positive: {', '.join(wrong)}")


@dataclass(frozen=True)
class Result:
    """What a call printed and how it ended.

    `exit` is the exit code, or minus the signal's number, or None where nobody could say. Text that isn't UTF-8 comes with
    replacement characters; text over the limit is cut, and ends in a note that says so. `seconds` is wall time in the sandbox, without
    the wait for a free place.
    """

    stdout: str
    stderr: str
    exit: int | None
    reason: Reason
    seconds: float
    cpu_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.reason == "exit" and self.exit == 0


@dataclass(frozen=True)
class Protection:
    """One thing that the sandbox keeps out, and whether it does here."""

    name: str
    active: bool
    detail: str
