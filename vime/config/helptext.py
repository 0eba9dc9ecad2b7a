"""Help out of the tables: an index of the groups, a group, or one option."""

import shutil
import textwrap
from collections.abc import Sequence

from vime.config.groups import GROUPS
from vime.config.option import Option
from vime.config.schema import NotInstalled, Schema

_INDENT = 34


def index(schema: Schema) -> str:
    """The groups, a line each."""
    lines = ["options by group (vime --help GROUP, or all, or the name of an option):"]
    for group in GROUPS:
        count = sum(option.group == group.NAME for option in schema.own)  # type: ignore[attr-defined]
        lines.append(f"  {group.NAME:<12} {count:>3}  {(group.__doc__ or '').splitlines()[0]}")  # type: ignore[attr-defined]
    lines.append("  vllm              what the installed vLLM takes, as --vllm-...")
    lines.append("  megatron          what the configuration of the installed Megatron-core has")
    return "\n".join(lines) + "\n"


def topics(schema: Schema) -> tuple[str, ...]:
    """What help can be asked for, but for single options."""
    return (*(group.NAME for group in GROUPS), *(package.name for package in schema.packages), "all")  # type: ignore[attr-defined]


def about(topic: str, schema: Schema) -> str:
    """Help on a group, on `all` of the framework's own, or on one option; KeyError where there is no such thing."""
    if topic == "all":
        return "\n".join(_section(group.NAME, _of(group.NAME, schema.own)) for group in GROUPS)  # type: ignore[attr-defined]
    if any(package.name == topic for package in schema.packages):
        return _package(topic, schema)
    if rows := _of(topic, schema.own):
        return _section(topic, rows)
    name = topic.lstrip("-").replace("-", "_")
    rows = [option for option in schema.own if name in (option.name, option.flag.removeprefix("--").replace("-", "_"))]
    if not rows:
        raise KeyError(topic)
    return _section(rows[0].group, rows)


def _package(name: str, schema: Schema) -> str:
    own = _of(name, schema.own)
    shown = _section(f"{name}: the launcher's spellings", own) + "\n" if own else ""
    try:
        return shown + _section(name, schema.options(name))
    except NotInstalled as missing:
        return f"{shown}{name}: {missing.what}; {missing.fix}\n"


def _of(group: str, options: Sequence[Option]) -> list[Option]:
    return [option for option in options if option.group == group]


def _section(title: str, options: Sequence[Option]) -> str:
    return f"{title}\n" + "".join(_entry(option) for option in options)


def _entry(option: Option) -> str:
    flags = ", ".join(option.flags + option.off_flags)
    head = f"  {flags}" if option.kind == "bool" else f"  {flags} {_metavar(option)}"
    default = "" if option.kind == "bool" or option.default in (None, (), {}) else f" (default: {_default(option)})"
    width = min(shutil.get_terminal_size((100, 24)).columns, 120) - _INDENT
    text = textwrap.wrap(option.help + default, max(width, 30)) or [""]
    first = f"{head:<{_INDENT}}" if len(head) < _INDENT - 1 else f"{head}\n{'':<{_INDENT}}"
    return first + ("\n" + " " * _INDENT).join(text) + "\n"


def _metavar(option: Option) -> str:
    if option.choices:
        one = "{" + ",".join(map(str, option.choices)) + "}"
    else:
        one = {"int": "N", "float": "X", "json": "JSON"}.get(option.kind, "TEXT")
    return f"{one} ..." if option.many else one


def _default(option: Option) -> str:
    return " ".join(map(str, option.default)) if isinstance(option.default, tuple) else str(option.default)
