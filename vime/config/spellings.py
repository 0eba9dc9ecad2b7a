"""The launcher's spellings of Megatron-core's fields (`--swiglu`): options of their own that set fields."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from vime.config.option import Option

GROUP = "megatron"


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("vime.config").joinpath("spellings.toml").read_text("utf-8"))


def spellings() -> tuple[Option, ...]:
    """The rows as options."""
    return tuple(
        Option(
            name=flag.replace("-", "_"),
            group=GROUP,
            kind=row.get("type", "bool"),
            default=None if "type" in row else False,
            help=row["help"],
            flags=("--" + flag,),
            optional="type" in row,
        )
        for flag, row in _table().items()
    )


def fields_set(name: str, value: Any) -> dict[str, Any] | None:
    """The fields that the spelling `name` sets when its value is `value`; None where `name` is no spelling."""
    row = _table().get(name.replace("_", "-"))
    if row is None:
        return None
    if value is None or value is False:
        return {}
    return {field: value if to == "$" else to for field, to in row["sets"].items()}
