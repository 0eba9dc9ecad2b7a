"""What the example can be told, and where: attributes of `args` named retool_*, or the environment's RETOOL_*."""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from vime.errors import RunError
from vime.sandbox.records import Mode

__all__ = ["Settings", "settings_of"]

PromptStyle = Literal["retool", "chat_template", "as_is"]
_PREFIX = "retool_"
_UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SYSTEM = (
    "You solve mathematical problems, and calculate with Python rather than in your head: call the tool code_interpreter, "
    "read what it printed, and go on."
)
_INVALID = (
    "\nThat was neither a tool call nor an answer. Python to execute goes between <code> and </code>; the final answer is "
    "written as 'Answer: \\boxed{answer}'.\n"
)


@dataclass(frozen=True)
class Settings:
    """Every setting with its default.

    `prompt` is how a prompt is made: `retool` is this example's own template, `chat_template` the tokenizer's with the
    tools in it, `as_is` takes a prompt that is ready. `observation` is what stands around a tool's output, `{result}`.
    Seconds and bytes (`4GB` is understood); `tool_concurrency` holds for all tools of an event loop together.
    """

    max_turns: int = 16
    max_tool_calls: int = 16
    tool_concurrency: int = 32
    python_timeout: float = 120.0
    python_memory_limit: int = 4 << 30
    sandbox: Mode = "namespaces"
    prompt: PromptStyle = "retool"
    system_prompt: str = _SYSTEM
    observation: str = "\n\n<interpreter>\n{result}\n</interpreter>\n\n"
    invalid_action: str = _INVALID
    output_heading: str = "Output:\n"

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(Settings).items():
            value = getattr(self, name)
            if kind in (int, float) and not 0 < value < math.inf:
                raise _wrong(name, value, "it must be above 0, and finite")
            if (choices := get_args(kind)) and value not in choices:
                raise _wrong(name, value, f"there are {', '.join(choices)}")
        if "{result}" not in self.observation:
            raise _wrong("observation", self.observation, "it has no {result}, where the tool's output goes")


def settings_of(args: Namespace | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of `args` over those of the environment over the defaults. Raises RunError for what is none."""
    environment = os.environ if environment is None else environment
    kinds = get_type_hints(Settings)
    given = {name: environment[key] for name in kinds if (key := f"{_PREFIX}{name}".upper()) in environment}
    own = {name: getattr(args, name) for name in dir(args) if name.startswith(_PREFIX)}
    for full, value in own.items():
        name = full.removeprefix(_PREFIX)
        if name not in kinds:
            near = difflib.get_close_matches(name, kinds, 1)
            raise RunError(
                f"ReTool has no setting {full}",
                f"it may be {_PREFIX}{near[0]}" if near else f"there are {', '.join(_PREFIX + one for one in kinds)}",
            )
        given[name] = value
    return Settings(**{name: _read(name, value, kinds[name]) for name, value in given.items()})


def as_table(settings: Settings) -> dict[str, Any]:
    """The settings by name."""
    return dataclasses.asdict(settings)


def _read(name: str, value: Any, kind: Any) -> Any:
    if kind is int and isinstance(value, str):
        return _whole(name, value)
    if kind in (int, float):
        if isinstance(value, bool):
            raise _wrong(name, value, f"it must be of type {kind.__name__}")
        try:
            return kind(value)
        except (TypeError, ValueError):
            raise _wrong(name, value, f"it must be of type {kind.__name__}") from None
    if not isinstance(value, str):
        raise _wrong(name, value, "it must be a text")
    return value


def _whole(name: str, text: str) -> int:
    found = re.fullmatch(r"(\d+)\s*([KMG]B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise _wrong(name, text, "it must be a whole number, or one of KB, MB or GB")
    return int(found[1]) * _UNITS[(found[2] or "").upper()]


def _wrong(name: str, value: Any, why: str) -> RunError:
    return RunError(f"{_PREFIX}{name} is {value!r}", why)
