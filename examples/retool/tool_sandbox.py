"""The tools, and the sandbox in which Python that a model wrote is executed."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import Any

from tool_calls import CODE_TOOL
from tool_settings import Settings, as_table, settings_of

from vime.sandbox import Limits, Result, Sandbox
from vime.utils.per_loop import PerLoopMeta

__all__ = ["TOOL_CONFIGS", "PythonSandbox", "ToolRegistry", "tool_registry"]

logger = logging.getLogger(__name__)

TOOL_CONFIGS = as_table(Settings())
"""The defaults, under upstream's names; what a run uses is `settings_of(args)`."""
_CODE_SPEC = {
    "type": "function",
    "function": {
        "name": CODE_TOOL,
        "description": "Executes Python and returns what it printed. Each call starts anew.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "A Python program; print what is to be seen"}},
            "required": ["code"],
        },
    },
}
_ENDS = {
    "wall": "it took longer than {settings.python_timeout:g} seconds",
    "cpu": "it computed for longer than {settings.python_timeout:g} seconds",
    "memory": "it took more than {settings.python_memory_limit} bytes of memory",
    "output": "it printed too much",
    "lost": "the sandbox ended; try again",
    "cancelled": "it was cancelled",
    "signal": "it ended by a signal",
    "exit": "it ended with exit code {result.exit}",
}


class PythonSandbox:
    """Executes Python in `vime.sandbox`, and tells in words what came of it.

    SandboxRefused where the system does not allow the protections that the settings name. Says once, in the log, which
    protections are active.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        limits = Limits(
            wall=settings.python_timeout,
            cpu=max(1, round(settings.python_timeout)),
            memory=settings.python_memory_limit,
        )
        # As many places as calls at a time: the bound on those is the registry's, and the only one.
        self._sandbox = Sandbox(settings.sandbox, places=settings.tool_concurrency, limits=limits)
        told = [f"{one.name}: {'on' if one.active else 'OFF'}" for one in self._sandbox.protections()]
        weak = any(not one.active for one in self._sandbox.protections())
        logger.log(logging.WARNING if weak else logging.INFO, "sandbox %s: %s", settings.sandbox, ", ".join(told))

    async def execute_code(self, code: str) -> str:
        """What the code printed, or "Error: ..." with what it wrote to standard error. Never raises for what it does."""
        return self._told(await self._sandbox.run_async(code))

    def close(self) -> None:
        self._sandbox.close()

    def _told(self, result: Result) -> str:
        if result.ok:
            said = f"{self.settings.output_heading}{result.stdout}" if result.stdout else ""
            return f"{said}\nErrors:\n{result.stderr}".strip() if result.stderr else said.strip()
        why = _ENDS[result.reason].format(settings=self.settings, result=result)
        return "\n".join(filter(None, (f"Error: {why}", result.stdout.strip(), result.stderr.strip())))


class ToolRegistry(metaclass=PerLoopMeta):
    """The tools by name: `ToolRegistry(args)` gives the running event loop's.

    No more than `tool_concurrency` calls run at a time, whichever tools they are of; the rest waits.
    """

    def __init__(self, args: Namespace | None = None) -> None:
        self.args = args
        self.settings = settings_of(args)
        self.semaphore = asyncio.Semaphore(self.settings.tool_concurrency)
        self.python_sandbox = PythonSandbox(self.settings)
        self.tools: dict[str, dict[str, Any]] = {}
        self._run: dict[str, Callable[[dict[str, Any]], Awaitable[str]]] = {}
        self.register_tool(CODE_TOOL, _CODE_SPEC, self._execute_python)

    def register_tool(
        self, name: str, tool_spec: dict[str, Any], run: Callable[[dict[str, Any]], Awaitable[str]] | None = None
    ) -> None:
        """Add a tool: how it is described to the model, and what executes it."""
        self.tools[name] = tool_spec
        if run is not None:
            self._run[name] = run

    def get_tool_specs(self) -> list[dict[str, Any]]:
        return list(self.tools.values())

    async def execute_tool(self, tool_name: str, arguments: dict[str, Any]) -> str:
        """What the tool says; "Error: ..." where there is no such tool, or the arguments are not what it takes."""
        if tool_name not in self._run:
            # The model's own words; as ASCII they are sure to be text.
            return f"Error: there is no tool {tool_name[:80]!a}; there is {', '.join(self._run)}"
        async with self.semaphore:
            return await self._run[tool_name](arguments)

    def close(self) -> None:
        """End the sandbox's processes; they end with this process at the latest."""
        self.python_sandbox.close()

    async def _execute_python(self, arguments: dict[str, Any]) -> str:
        code = arguments.get("code")
        if not isinstance(code, str):
            return f"Error: the argument code of {CODE_TOOL} must be a string"
        if not code.strip():
            return "Error: there is no code in it"
        return await self.python_sandbox.execute_code(code)


def tool_registry(args: Namespace | None = None) -> ToolRegistry:
    """The running event loop's tools."""
    return ToolRegistry(args)
