"""What must not be printed: keys, tokens, passwords in addresses."""

import re
from typing import Any

from vime.config.option import Option
from vime.config.parse import MASK

_NAME = re.compile(
    r"(api|secret|access|private|encryption)[_-]?key|token$|passw(or)?d|secret|credential", re.IGNORECASE
)
_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def names_secret(name: str) -> bool:
    """Whether something of this name holds a secret, as far as a name tells."""
    return bool(_NAME.search(name))


def masked(option: Option, value: Any) -> Any:
    """The value as it may be printed."""
    if value is None:
        return None
    return MASK if option.secret else _mask(value)


def _mask(value: Any) -> Any:
    match value:
        case str():
            return _ADDRESS.sub(MASK, value)
        case dict():
            return {
                key: MASK if names_secret(str(key)) and item is not None else _mask(item) for key, item in value.items()
            }
        case list() | tuple():
            return [_mask(item) for item in value]
    return value
