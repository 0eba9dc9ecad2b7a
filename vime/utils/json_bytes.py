"""JSON to bytes and back, by orjson where it is installed: a long answer of an engine is parsed in half the time."""

import json
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None

__all__ = ["dumps", "loads"]


def dumps(value: Any) -> bytes:
    """`value` as JSON in UTF-8. What orjson refuses (keys that are no text, large integers) json may still write."""
    if orjson is not None:
        try:
            return orjson.dumps(value)
        except TypeError:
            pass
    return json.dumps(value).encode()


def loads(data: bytes) -> Any:
    """Raises ValueError for what is no JSON; NaN and infinities, which Python's servers write, are read."""
    if orjson is not None:
        try:
            return orjson.loads(data)
        except ValueError:
            pass
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
