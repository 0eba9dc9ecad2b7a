"""The text of each token by itself, for who reads samples token by token."""

import functools
from collections.abc import Callable, Sequence
from typing import Any


def token_pieces(tokenizer: Any) -> Callable[[Sequence[int]], list[str]]:
    """A function from ids to a text each, special tokens as they are written. A part of a character is shown as �."""

    @functools.lru_cache(maxsize=65_536)
    def piece(token: int) -> str:
        return tokenizer.decode([token], skip_special_tokens=False)

    return lambda ids: [piece(int(token)) for token in ids]
