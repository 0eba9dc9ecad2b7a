"""A section of configuration from a TOML file's text; what is wrong is told with its line and key."""

import re
from typing import TypeVar

from pydantic import ValidationError

from sync_tools.configfields import Section
from sync_tools.errors import SyncError

S = TypeVar("S", bound=Section)


def parse_as(section: type[S], content: str, where: str, fix: str) -> S:
    """A section in the text of a TOML file. Raises SyncError that names line and key."""
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        raw = tomlkit.parse(content).unwrap()
    except ParseError as e:
        raise SyncError(f"not valid TOML: {str(e).split(' at line')[0]}", f"{where}:{e.line}", "mend this line") from e
    except TOMLKitError as e:
        raise SyncError(f"not valid TOML: {e}", where, "each key may be given once") from e
    except (ValueError, RecursionError) as e:
        raise SyncError("not valid TOML: nested too deep, or a number too long", where, fix) from e
    try:
        return section.model_validate(_tuples(raw))
    except ValidationError as e:
        first = e.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise SyncError(f"{key}: {what}", f"{where}:{_line_of(content, first['loc'])}", fix) from e


def _tuples(value: object) -> object:
    """Lists as tuples, as the strict models ask for."""
    if isinstance(value, dict):
        return {k: _tuples(v) for k, v in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _line_of(content: str, loc: tuple[str | int, ...]) -> int:
    """The line that a validation error speaks of: the key, in the n-th table of its array where it has an index."""
    lines, at = content.splitlines(), 0
    for i, part in enumerate(loc):
        if isinstance(part, int):
            continue
        nth = loc[i + 1] if i + 1 < len(loc) and isinstance(loc[i + 1], int) else 0
        found = [
            n
            for n in range(at, len(lines))
            if re.match(rf"\s*(\[+\s*)?([\w.]+\.)?{re.escape(part)}\s*([\]=.]|$)", lines[n])
        ]
        if found:
            at = found[min(int(nth), len(found) - 1)]
    return at + 1
