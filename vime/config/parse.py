"""One option's value from text, or from what a file holds. The same text means the same on the command line and in YAML."""

import json
import math
from typing import Any

from vime.config.option import Option

_UNITS: dict[str, dict[str, float]] = {
    "bytes": {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30},
    "seconds": {"": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600},
    "minutes": {"": 1, "s": 1 / 60, "m": 1, "min": 1, "h": 60},
}
_TRUTH = {"true": True, "false": False}
MASK = "***"


class BadValue(ValueError):
    """A value that the option does not take; the message says what it takes."""


def parse(option: Option, text: str) -> Any:
    """The value that `text` stands for: a single one also where the option is a list."""
    value = _typed(option, text)
    if option.choices and value not in option.choices:
        raise BadValue(f"{text!r} is none of {', '.join(map(str, option.choices))}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(option, value)
    return value


def _typed(option: Option, text: str) -> Any:
    match option.kind:
        case "int" | "float":
            return _number(option, text)
        case "bool":
            if text.lower() not in _TRUTH:
                raise BadValue(f"{text!r} is neither true nor false")
            return _TRUTH[text.lower()]
        case "json":
            return _json(text)
        case "raw":
            return _raw(_text(option, text))
        case "str":
            return _text(option, text)


def _number(option: Option, text: str) -> int | float:
    number, factor = _split_unit(option, text.strip())
    try:
        value: int | float = int(number) if option.kind == "int" and factor == 1 else float(number) * factor
    except ValueError:
        raise BadValue(f"{text!r} is not a {option.type_name}") from None
    if not math.isfinite(value):
        raise BadValue(f"{text!r} is not finite")
    if option.kind == "int" and value != int(value):
        raise BadValue(f"{text!r} is not a {option.type_name}")
    return int(value) if option.kind == "int" else value


def _split_unit(option: Option, text: str) -> tuple[str, float]:
    if option.unit is None:
        return text, 1
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    unit, known = text[len(number) :].strip().lower(), _UNITS[option.unit]
    if unit not in known:
        raise BadValue(f"{text!r} has no unit of {option.unit} ({', '.join(filter(None, known))})")
    return number, known[unit]


def _check_range(option: Option, value: float) -> None:
    if option.low is not None and value < option.low:
        raise BadValue(f"{value} is less than {option.low}")
    if option.above is not None and value <= option.above:
        raise BadValue(f"{value} is not more than {option.above}")
    if option.high is not None and value > option.high:
        raise BadValue(f"{value} is more than {option.high}")
    if option.below is not None and value >= option.below:
        raise BadValue(f"{value} is not less than {option.below}")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadValue(f"it is not JSON ({error})") from None


def _raw(text: str) -> Any:
    """What only the package itself can read: a mapping, a list or a number where it is written as JSON writes it, else text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (dict, list)) or (value is not None and json.dumps(value) == text) else text


def _text(option: Option, text: str) -> str:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise BadValue("the text is not valid Unicode")
    if option.secret and text == MASK:
        raise BadValue("the secret was masked when this was printed")
    return text
