"""Arguments by upstream's names: a thin front of `vime.config`, for code that was written against this module."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vime.commands.train import report, split
from vime.config.args import Args
from vime.config.custom import with_custom_arguments
from vime.config.packages import schema
from vime.config.problems import ConfigError
from vime.config.resolve import resolve
from vime.config.roles import role_args
from vime.config.schema import own_options
from vime.config.to_argparse import add_option

__all__ = [
    "get_vime_extra_args_provider",
    "parse_args",
    "parse_megatron_role_args",
    "reset_arg",
    "vime_validate_args",
]

_AddArguments = Callable[[argparse.ArgumentParser], Any]


def parse_args(add_custom_arguments: _AddArguments | None = None) -> Args:
    """The arguments of this process, validated and frozen; what is wrong is told at once, and ends it with 2."""
    words = split(sys.argv[1:])
    known = with_custom_arguments(schema(), add_custom_arguments) if add_custom_arguments else schema()
    try:
        config = resolve(words.options, words.files, known)
    except ConfigError as error:
        raise SystemExit(report([*words.problems, *error.problems])) from None
    if words.problems:
        raise SystemExit(report(words.problems))
    return config.args


def parse_megatron_role_args(base_args: Args, megatron_config_path: str, role: str) -> Args:
    """A copy of `base_args` with what the file says for `role` ("actor" or "critic")."""
    return role_args(base_args, Path(megatron_config_path), role)


def vime_validate_args(args: Args) -> None:
    """Nothing: arguments that exist were validated when they were made, and cannot have changed since."""


def get_vime_extra_args_provider(add_custom_arguments: _AddArguments | None = None) -> _AddArguments:
    """A function that adds the framework's own options to an argparse parser, and then the caller's."""

    def provide(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
        for option in own_options():
            add_option(parser, option)
        return (add_custom_arguments(parser) or parser) if add_custom_arguments else parser

    return provide


def reset_arg(parser: argparse.ArgumentParser, name: str, **kwargs: Any) -> None:
    """Give the flag `name` another default, or add it where the parser has none."""
    for action in parser._actions:
        if name in action.option_strings:
            if "default" in kwargs:
                action.default = kwargs["default"]
            return
    parser.add_argument(name, **kwargs)
