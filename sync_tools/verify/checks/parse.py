"""Every touched file of a format with a grammar parses; nothing in it is executed."""

import json
import tomllib
import warnings
from collections.abc import Iterator

from sync_tools.verify.model import Context, Finding
from sync_tools.verify.source import PYTHON, Source

FIX = "mend the file by hand; a merge may have cut a statement in two"


def parse(context: Context) -> Iterator[Finding]:
    for source in context.files():
        if (error := _error_in(source, context)) is not None:
            line, message = error
            yield Finding(source.path, line, "parse.syntax", message, FIX)


def _error_in(source: Source, context: Context) -> tuple[int, str] | None:
    if source.suffix in PYTHON:
        return _python(source)
    if source.suffix == ".toml":
        return _toml(source)
    if source.suffix == ".json":
        return _json(source)
    # The generated workflow is the ci check's: rendered again and validated against its schema.
    if source.suffix in (".yml", ".yaml") and source.path != context.config.ci.workflow:
        return _yaml(source)
    return None


def _python(source: Source) -> tuple[int, str] | None:
    if isinstance(source.parsed, SyntaxError):
        return source.parsed.lineno or 1, f"not valid Python: {source.parsed.msg}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.parsed, source.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as e:
        return getattr(e, "lineno", None) or 1, f"not valid Python: {getattr(e, 'msg', e)}"
    return None


def _toml(source: Source) -> tuple[int, str] | None:
    try:
        tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as e:
        what, _, where = str(e).partition(" (at line ")
        line = where.split(",")[0]
        return int(line) if line.isdigit() else len(source.lines), f"not valid TOML: {what}"
    return None


def _json(source: Source) -> tuple[int, str] | None:
    try:
        json.loads(source.text.removeprefix("\ufeff"))
    except json.JSONDecodeError as e:
        return e.lineno, f"not valid JSON: {e.msg}"
    except RecursionError:
        return 1, "not valid JSON: nested too deeply"
    return None


def _yaml(source: Source) -> tuple[int, str] | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        for _ in YAML(typ="safe").parse(source.text):
            pass
    except MarkedYAMLError as e:
        return (e.problem_mark.line + 1 if e.problem_mark else 1), f"not valid YAML: {e.problem}"
    except (YAMLError, RecursionError) as e:
        return 1, f"not valid YAML: {str(e).splitlines()[0]}"
    return None
