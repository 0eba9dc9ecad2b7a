"""A sandbox for Python that a model wrote: `Sandbox().run(code)`."""

from vime.sandbox.records import Limits, Protection, Result, SandboxRefused
from vime.sandbox.sandbox import Sandbox

__all__ = ["Limits", "Protection", "Result", "Sandbox", "SandboxRefused"]
