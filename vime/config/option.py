"""A row of the option tables: `option()` declares it as a field of a group's dataclass, `options_of` reads it back.

The annotation gives the type (`int`, `float`, `str`, `bool`, `Mapping`, a Literal of choices, `tuple[X, ...]` for a list,
`X | None`), the field name gives the attribute and the flag, and `option()` gives the rest.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["int", "float", "str", "bool", "json", "raw"]
_KINDS: dict[Any, Kind] = {int: "int", float: "float", str: "str", bool: "bool"}
Spelling = Literal["on", "off", "both"]


@dataclass(frozen=True)
class Option:
    """One option: its attribute, its flags, its type, its default and its help."""

    name: str
    group: str
    kind: Kind
    default: Any
    help: str
    flags: tuple[str, ...]
    """Take a value, or switch a boolean on."""
    off_flags: tuple[str, ...] = ()
    """Switch a boolean off."""
    optional: bool = False
    many: bool = False
    append: bool = False
    """A list to which each use of the flag adds one value."""
    choices: tuple[Any, ...] = ()
    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None
    unit: Literal["bytes", "seconds", "minutes"] | None = None
    secret: bool = False

    @property
    def flag(self) -> str:
        """The flag by which messages name it."""
        return (self.flags or self.off_flags)[0]

    @property
    def type_name(self) -> str:
        """The type in words, as help and messages say it."""
        if self.kind == "bool":
            return "true or false"
        if self.choices:
            one = "|".join(str(choice) for choice in self.choices)
        else:
            one = {"int": "whole number", "float": "number", "str": "text", "json": "JSON", "raw": "value"}[self.kind]
            one = f"{one} ({self.unit})" if self.unit else one
        return f"list of {one}" if self.many else one


def option(
    default: Any,
    help: str,
    *,
    spelling: Spelling = "on",
    flag: str | None = None,
    append: bool = False,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    unit: str | None = None,
    secret: bool = False,
) -> Any:
    """A field of a group. `spelling` says which flags a boolean has: `--x`, upstream's `--disable-x`, or `--x` and `--no-x`."""
    row = {"help": help, "spelling": spelling, "flag": flag, "append": append, "secret": secret}
    row |= {"low": low, "above": above, "high": high, "below": below, "unit": unit}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=default.copy, metadata=row)
    return dataclasses.field(default=default, metadata=row)


def options_of(group: type) -> tuple[Option, ...]:
    """The rows of a group's dataclass, in order."""
    hints = typing.get_type_hints(group)
    return tuple(_row(group, field, hints[field.name]) for field in dataclasses.fields(group))


def _row(group: type, field: dataclasses.Field, annotation: Any) -> Option:
    about = dict(field.metadata)
    flag = about.pop("flag") or "--" + field.name.replace("_", "-")
    spelling = about.pop("spelling")
    kind, optional, many, choices = _type(annotation)
    default = field.default if field.default is not dataclasses.MISSING else field.default_factory()  # type: ignore[misc]
    return Option(
        name=field.name,
        group=group.NAME,  # type: ignore[attr-defined]
        kind=kind,
        default=default,
        flags=(flag,) if spelling != "off" else (),
        off_flags={"on": (), "off": (flag,), "both": ("--no-" + flag.removeprefix("--"),)}[spelling],
        optional=optional,
        many=many,
        choices=choices,
        **about,
    )


def _type(annotation: Any) -> tuple[Kind, bool, bool, tuple[Any, ...]]:
    """(kind, None allowed, list, choices) of an annotation."""
    optional, many, choices = False, False, ()
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        (annotation,) = (part for part in typing.get_args(annotation) if part is not type(None))
        optional = True
    if typing.get_origin(annotation) is tuple:
        annotation, many = typing.get_args(annotation)[0], True
    if typing.get_origin(annotation) is Mapping:
        return "json", optional, many, choices
    if typing.get_origin(annotation) is Literal:
        choices = typing.get_args(annotation)
        annotation = type(choices[0])
    return _KINDS[annotation], optional, many, choices
