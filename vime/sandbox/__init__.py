"""A sandbox for Python that a model wrote: `Sandbox().run(code)`."""

from typing import TYPE_CHECKING, Any

from vime.sandbox.records import Limits, Protection, Result, SandboxRefused

if TYPE_CHECKING:
    from vime.sandbox.sandbox import Sandbox

__all__ = ["Limits", "Protection", "Result", "Sandbox", "SandboxRefused"]


def __getattr__(name: str) -> Any:
    """The owner's side only where it is asked for: the sandbox's own processes are forked, and each module costs."""
    if name != "Sandbox":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vime.sandbox.sandbox import Sandbox

    return Sandbox
