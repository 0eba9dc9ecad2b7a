"""Run in a process of its own: writes down the fields of the installed Megatron-core's configuration classes, as JSON.

It imports Megatron-core, which takes seconds, and nothing of this package, so that any interpreter can run it.
"""

import ast
import dataclasses
import enum
import importlib
import inspect
import itertools
import json
import sys
import textwrap
import types
import typing
from pathlib import Path

_CLASSES = (
    ("megatron.core.transformer.transformer_config", "TransformerConfig"),
    ("megatron.core.distributed.distributed_data_parallel_config", "DistributedDataParallelConfig"),
    ("megatron.core.optimizer.optimizer_config", "OptimizerConfig"),
)
_PLAIN = {int: "int", float: "float", str: "str", bool: "bool"}


def main(out: str) -> None:
    rows: dict = {}
    sources = set()
    for module, name in _CLASSES:
        config = getattr(importlib.import_module(module), name)
        documents = {}
        for base in reversed(config.__mro__[:-1]):
            sources.add(inspect.getsourcefile(base))
            documents.update(_documents(base))
        hints = typing.get_type_hints(config)
        for field in dataclasses.fields(config):
            row = _row(field, hints[field.name], documents.get(field.name, ""))
            if row and field.init:
                rows.setdefault(field.name, row).setdefault("owners", []).append(name)
    Path(out).write_text(
        json.dumps({"rows": list(rows.values()), "sources": sorted(filter(None, sources))}), encoding="utf-8"
    )


def _documents(config: type) -> dict:
    """The strings below the fields of a class."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(config))).body[0].body
    except (OSError, SyntaxError):
        return {}
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _row(field: dataclasses.Field, annotation: object, help: str) -> "dict | None":
    kind, optional, many, choices = _type(annotation)
    if kind is None:
        return None
    default = field.default
    if default is dataclasses.MISSING:
        default = field.default_factory() if field.default_factory is not dataclasses.MISSING else None
    if isinstance(default, enum.Enum):
        default = default.name
    flag = field.name.replace("_", "-")
    return {
        "name": field.name,
        "flags": ["--" + flag],
        "off_flags": ["--no-" + flag] if kind == "bool" else [],
        "kind": kind,
        "many": many,
        "append": False,
        "choices": choices,
        "optional": optional or default is None,
        "default": _plain(default),
        "help": help,
    }


def _type(annotation: object) -> tuple:
    """(kind, None allowed, list, choices); the kind is None for what cannot be written as a flag (functions, groups)."""
    options = (
        typing.get_args(annotation)
        if typing.get_origin(annotation) in (typing.Union, types.UnionType)
        else (annotation,)
    )
    optional = type(None) in options
    options = [option for option in options if option is not type(None)]
    if len(options) > 1:
        simple = all(
            option in (*_PLAIN, list, dict) or typing.get_origin(option) in (list, tuple, dict) for option in options
        )
        return ("json" if simple and str not in options else "raw", optional, False, [])
    (one,) = options
    if typing.get_origin(one) is typing.Literal:
        choices = list(typing.get_args(one))
        return _PLAIN.get(type(choices[0]), "raw"), optional, False, choices
    if typing.get_origin(one) in (list, tuple) and typing.get_args(one):
        kind = _PLAIN.get(typing.get_args(one)[0])
        return kind, optional, True, []
    if isinstance(one, type) and issubclass(one, enum.Enum):
        return "str", optional, False, [member.name for member in one]
    if one in _PLAIN:
        return _PLAIN[one], optional, False, []
    return ("str" if getattr(one, "__name__", "") == "dtype" else None), optional, False, []


def _plain(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return str(value).removeprefix("torch.")


if __name__ == "__main__":
    main(sys.argv[1])
