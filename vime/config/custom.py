"""A user's own flags, added through argparse as upstream's scripts do: options like all others."""

import argparse
from collections.abc import Callable
from typing import Any

from vime.config.introspect.probe_vllm import action_row
from vime.config.option import Option
from vime.config.schema import Schema

GROUP = "custom"


def with_custom_arguments(schema: Schema, add: Callable[[argparse.ArgumentParser], Any]) -> Schema:
    """The schema with the flags that `add` puts on a parser; its own stay as they are."""
    parser = argparse.ArgumentParser(add_help=False)
    parser = add(parser) or parser
    names = {option.name for option in schema.own}
    rows = [
        action_row(action) for action in parser._actions if any(flag.startswith("--") for flag in action.option_strings)
    ]
    return Schema((*schema.own, *(_option(row) for row in rows if row and row["name"] not in names)), schema.packages)


def _option(row: dict[str, Any]) -> Option:
    plain = {name: row[name] for name in ("name", "kind", "help", "optional", "append")}
    many = row["many"] or row["append"]
    default = tuple(row["default"]) if many and isinstance(row["default"], list) else row["default"]
    lists = {name: tuple(row[name]) for name in ("flags", "off_flags", "choices")}
    return Option(group=GROUP, default=default, many=many, **plain, **lists)
