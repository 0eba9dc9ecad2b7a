"""Run in a process of its own: writes down the flags of the installed vLLM's server, engine and front end, as JSON.

It imports vLLM, which takes seconds, and nothing of this package, so that any interpreter can run it.
"""

import argparse
import importlib
import inspect
import json
import sys
from pathlib import Path

_PARSERS = ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")
_PLAIN = {int: "int", float: "float", str: "str", bool: "bool", json.loads: "json", None: "str"}


def main(out: str) -> None:
    sys.argv = ["vllm", "serve", "--help"]  # vLLM leaves its help texts out where no help is asked for
    parser, sources = _parser()
    rows = [
        action_row(action) for action in parser._actions if any(flag.startswith("--") for flag in action.option_strings)
    ]
    Path(out).write_text(json.dumps({"rows": [row for row in rows if row], "sources": sources}), encoding="utf-8")


def _parser() -> tuple:
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    for name in _PARSERS:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        arguments = importlib.import_module("vllm.engine.arg_utils")
        return module.make_arg_parser(FlexibleArgumentParser()), [module.__file__, arguments.__file__]
    raise ImportError("its command-line parser is none of " + ", ".join(_PARSERS))


def action_row(action: argparse.Action) -> "dict | None":
    """What an argparse action is, in plain values; None for help."""
    flags = [flag for flag in action.option_strings if flag.startswith("--")]
    if isinstance(action, argparse._HelpAction):
        return None
    if isinstance(action, argparse.BooleanOptionalAction):
        kind, on, off = (
            "bool",
            [f for f in flags if not f.startswith("--no-")],
            [f for f in flags if f.startswith("--no-")],
        )
    elif action.nargs == 0:
        kind, on, off = ("bool", [], flags) if action.const is False else ("bool", flags, [])
    else:
        kind, on, off = _kind(action.type), flags, []
    choices = list(action.choices or ())
    default = None if action.default is argparse.SUPPRESS else _plain(action.default)
    return {
        "name": action.dest,
        "flags": on,
        "off_flags": off,
        "kind": kind,
        "many": action.nargs in ("+", "*") or (isinstance(action.nargs, int) and action.nargs > 0),
        "append": isinstance(action, argparse._AppendAction),
        "choices": [choice for choice in choices if choice is not None],
        "optional": default is None or None in choices,
        "default": default,
        "help": "" if action.help in (None, argparse.SUPPRESS) else " ".join(action.help.split()),
    }


def _kind(convert: object) -> str:
    """The kind of an argparse type; a wrapper that lets None pass is looked through."""
    for _ in range(3):
        try:
            if convert in _PLAIN:
                return _PLAIN[convert]
            inner = [value for value in inspect.getclosurevars(convert).nonlocals.values() if callable(value)]
        except TypeError:
            return "raw"
        if len(inner) != 1:
            return "raw"
        convert = inner[0]
    return "raw"


def _plain(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None  # an object of the package's own: nothing that a flag could say


if __name__ == "__main__":
    main(sys.argv[1])
