"""A workflow file as values: parsed without trust, checked against GitHub's schema, its jobs' rows and commands."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sync_tools.ci.matrix import TEST_FILE

MAX_BYTES = 512 * 1024
MAX_VALUES = 50_000
MAX_DEPTH = 60
MAX_BRACKETS = 500

_INT = re.compile(r"[-+]?\d+")
_MATRIX = re.compile(r"\$\{\{\s*matrix\.([\w.-]+)[^}]*\}\}")


class WorkflowError(ValueError):
    """What is wrong with a workflow file, in one line."""


@dataclass(frozen=True)
class WorkflowJob:
    """`rows` are the dicts of the job's matrix; `commands` the scripts it runs, once a row where they name the matrix."""

    name: str
    rows: tuple[Mapping[str, Any], ...]
    commands: tuple[str, ...]


@lru_cache(maxsize=8)  # both sides of a port, and upstream's; nobody changes the values
def load(data: bytes) -> Mapping[str, Any]:
    """The workflow as plain values, aliases expanded up to a limit. Raises WorkflowError for anything else than a
    mapping of strings, numbers, truth values, lists and mappings."""
    if len(data) > MAX_BYTES:
        raise WorkflowError(f"over {MAX_BYTES} bytes")
    if _bracket_depth(data) > MAX_BRACKETS:
        raise WorkflowError("nested too deeply")
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        node = YAML(typ="safe", pure=True).compose(data.decode())
        value = _Values().of(node, 0)
    except UnicodeDecodeError as e:
        raise WorkflowError("not UTF-8") from e
    except (YAMLError, ValueError) as e:
        raise WorkflowError(" ".join(str(e).split())[:300]) from e
    except RecursionError as e:
        raise WorkflowError("nested too deeply") from e
    if not isinstance(value, dict):
        raise WorkflowError("not a mapping")
    return value


def _bracket_depth(data: bytes) -> int:
    """How deep brackets go, those in strings counted too; the parser needs a time that grows with the square of it."""
    depth = deepest = 0
    for bracket in re.finditer(rb"[\[\]{}]", data):
        depth = depth + 1 if bracket[0] in b"[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


class _Values:
    """Nodes to values; counts them, so that aliases of aliases end."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def of(self, node: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise WorkflowError("too many values, or nested too deeply")
        if node is None:
            return None
        tag = str(node.tag).removeprefix("tag:yaml.org,2002:")
        if tag == "map":
            return self.mapping(node.value, depth)
        if tag == "seq":
            return [self.of(item, depth + 1) for item in node.value]
        return _scalar(tag, node.value)

    def mapping(self, pairs: list[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            name = str(key.value)
            if name in values:
                raise WorkflowError(f"the key {name!r} is there twice, at line {key.start_mark.line + 1}")
            values[name] = self.of(value, depth + 1)
        return values


def _scalar(tag: str, text: str) -> Any:
    if tag == "bool":
        return text.lower() == "true"
    if tag == "int" and _INT.fullmatch(text):
        return int(text)
    if tag == "float":
        return float(text) if text[-1:].isdigit() else text
    if tag == "null":
        return None
    if tag in ("str", "int", "timestamp"):
        return text
    raise WorkflowError(f"the tag {tag!r} is not for workflows")


@lru_cache(maxsize=8)
def schema_errors(data: bytes, limit: int = 5) -> tuple[str, ...]:
    """How the workflow breaks GitHub's schema, the first few errors. Raises WorkflowError as `load` does."""
    from jsonschema.validators import validator_for

    schema = _schema()
    errors = validator_for(schema)(schema).iter_errors(load(data))
    return tuple(
        f"{'.'.join(map(str, e.absolute_path)) or 'workflow'}: {e.message[:200]}" for _, e in zip(range(limit), errors)
    )


@cache
def _schema() -> dict[str, Any]:
    """The schema that check-jsonschema carries; read as a file, since importing the package costs a tenth of a second."""
    spec = find_spec("check_jsonschema")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(next(iter(spec.submodule_search_locations)))
    return json.loads((folder / "builtin_schemas" / "vendor" / "github-workflows.json").read_text("utf-8"))


def jobs(value: Mapping[str, Any]) -> tuple[WorkflowJob, ...]:
    """The workflow's jobs; whatever has another shape than it should is left out."""
    found = value.get("jobs")
    bodies = found.items() if isinstance(found, dict) else ()
    return tuple(_job(name, body) for name, body in bodies if isinstance(body, dict))


def _job(name: str, body: Mapping[str, Any]) -> WorkflowJob:
    strategy = body.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, dict) else None
    rows = list(_rows(matrix)) if isinstance(matrix, dict) else []
    steps = body.get("steps")
    scripts = (
        [s["run"] for s in steps if isinstance(s, dict) and isinstance(s.get("run"), str)]
        if isinstance(steps, list)
        else []
    )
    commands = [text for script in scripts for text in _filled(script, rows)]
    return WorkflowJob(name, tuple(row for _, row in rows), tuple(dict.fromkeys(commands)))


def _rows(matrix: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each row with what stands before its options in an expression: `info.` in `matrix.info.test_file`."""
    for name, values in matrix.items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, dict):
                yield ("" if name in ("include", "exclude") else f"{name}."), value
            elif name == TEST_FILE:
                yield "", {TEST_FILE: value}


def _filled(script: str, rows: list[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """The script, once for each row that it names."""
    if not _MATRIX.search(script) or not rows:
        yield script
        return
    for prefix, row in rows:
        yield _MATRIX.sub(lambda m, p=prefix, r=row: str(r.get(m[1].removeprefix(p)) or ""), script)
