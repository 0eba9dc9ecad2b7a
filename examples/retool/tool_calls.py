"""What a model's turn asks for: a tool, or nothing more because it answers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["CODE_TOOL", "Action", "postprocess_predictions", "postprocess_responses", "read_action"]

CODE_TOOL = "code_interpreter"
_ANSWER = re.compile(r"Answer:\s*\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
# No end but that of the text: a model that opens and never closes must not cost more than one look.
_CODE = re.compile(r"<code>(.*?)(?:</code>|(\Z))", re.DOTALL)
_FENCE = re.compile(r"```python(.*?)(?:```|(\Z))", re.DOTALL)
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
# Not strict: models write line breaks into their strings.
_JSON = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Action:
    """`call` names a tool and its arguments; `answer` has its content in `text`; `broken` has what is wrong there."""

    kind: Literal["answer", "call", "broken", "none"]
    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    end: int | None = None
    """Where it ends in the turn."""


def read_action(turn: str) -> Action:
    """The first of these that there is: an answer, a tool call, <code>, a fence of Python. A tool call that cannot be read
    gives way to code, and is `broken` where there is none. Never raises."""
    if found := _ANSWER.search(turn):
        return Action("answer", found[1].strip(), end=found.end())
    call = _read_call(turn)
    if call and call.kind == "call":
        return call
    for pattern in (_CODE, _FENCE):
        if (found := pattern.search(turn)) and found[2] is None:
            return Action("call", tool=CODE_TOOL, arguments={"code": found[1].strip()}, end=found.end())
    return call or Action("none")


def _read_call(turn: str) -> Action | None:
    at = turn.find(_OPEN)
    if at < 0:
        return None
    start = at + len(_OPEN)
    start += len(turn[start:]) - len(turn[start:].lstrip())
    try:
        # The JSON says where it ends: code may have the closing tag in it.
        value, end = _JSON.raw_decode(turn, start)
    except RecursionError:
        return Action("broken", "the tool call is nested too deep")
    except ValueError as error:
        why = getattr(error, "msg", "a number is too long")
        return Action(
            "broken", f"the tool call is no JSON: {why}, {getattr(error, 'pos', start) - start} characters in"
        )
    close = turn.find(_CLOSE, end)
    if close < 0 or turn[end:close].strip():
        return Action("broken", f"the tool call does not end with {_CLOSE}")
    return _checked(value, close + len(_CLOSE))


def _checked(value: Any, end: int) -> Action:
    if not isinstance(value, dict):
        return Action("broken", "the tool call is no JSON object", end=end)
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str):
        return Action("broken", "the tool call has no name", end=end)
    if not isinstance(arguments, dict):
        return Action("broken", "the arguments of the tool call are no JSON object", end=end)
    return Action("call", tool=name, arguments=arguments, end=end)


def postprocess_predictions(prediction: str) -> tuple[str | None, str]:
    """("answer", its content), ("code", the Python to execute), or (None, "") for anything else."""
    action = read_action(prediction)
    if action.kind == "answer":
        return "answer", action.text
    code = action.arguments.get("code")
    if action.kind == "call" and action.tool == CODE_TOOL and isinstance(code, str) and code.strip():
        return "code", code
    return None, ""


def postprocess_responses(resp: str) -> str:
    """The response up to the end of its last tool call, its first </code>, its last fence of Python, or its last answer:
    the first of these that it has. Else the whole."""
    if ends := _ends_of_calls(resp):
        return resp[: ends[-1]]
    if "</code>" in resp:
        return resp[: resp.index("</code>") + len("</code>")]
    for pattern in (_FENCE, _ANSWER):
        if ends := [found.end() for found in pattern.finditer(resp) if pattern is _ANSWER or found[2] is None]:
            return resp[: ends[-1]]
    return resp


def _ends_of_calls(resp: str) -> list[int]:
    ends, at = [], 0
    while (at := resp.find(_OPEN, at)) >= 0:
        close = resp.find(_CLOSE, at)
        if close < 0:
            break
        at = close + len(_CLOSE)
        ends.append(at)
    return ends
