"""Options as argparse actions, for parsers that are not ours."""

import argparse
from typing import Any

from vime.config.option import Option
from vime.config.parse import BadValue, parse


def add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    """Add the option's flags, unless the parser has one of them."""
    taken = parser._option_string_actions
    if option.kind == "bool":
        for flags, action in ((option.flags, "store_true"), (option.off_flags, "store_false")):
            if new := [flag for flag in flags if flag not in taken]:
                parser.add_argument(*new, dest=option.name, action=action, default=option.default, help=_help(option))
    elif new := [flag for flag in option.flags if flag not in taken]:
        how: dict[str, Any] = {"action": "append"} if option.append else {"nargs": "*"} if option.many else {}
        default = list(option.default) if isinstance(option.default, tuple) else option.default
        choices = option.choices or None
        parser.add_argument(
            *new, dest=option.name, type=_reader(option), default=default, choices=choices, help=_help(option), **how
        )


def _reader(option: Option) -> Any:
    def read(text: str) -> Any:
        try:
            return parse(option, text)
        except BadValue as bad:
            raise argparse.ArgumentTypeError(str(bad)) from None

    return read


def _help(option: Option) -> str:
    return option.help.replace("%", "%%")
