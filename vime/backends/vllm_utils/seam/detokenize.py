"""Text of a growing list of tokens, at a cost per chunk that does not grow with the length."""

from collections.abc import Sequence
from typing import Any

_REPLACEMENT = "\ufffd"
_LONGEST_CHARACTER = 8
"""Tokens after which an incomplete character is taken for a broken one."""


class Detokenizer:
    """Decodes only the tokens since the last complete character, in the context of those before them."""

    def __init__(self, tokenizer: Any, skip_special_tokens: bool = True) -> None:
        self._tokenizer = tokenizer
        self._skip_special_tokens = skip_special_tokens
        self._context: list[int] = []
        self._pending: list[int] = []

    def go_on_from(self, ids: Sequence[int]) -> str:
        """Take `ids` for what stands before; gives what the tokens of a character that is incomplete there look like."""
        return self.add(list(ids[-2 * _LONGEST_CHARACTER :]))[1]

    def add(self, new_ids: list[int]) -> tuple[str, str]:
        """The text that is now complete, and what the tokens of an incomplete character look like for now."""
        self._pending += new_ids
        for cut in range(min(len(self._pending), _LONGEST_CHARACTER) + 1):
            whole = self._pending[: len(self._pending) - cut]
            text = self._after_context(whole)
            if text and not text.endswith(_REPLACEMENT):
                return self._complete(whole, text)
        if len(self._pending) > _LONGEST_CHARACTER:
            return self._complete(self._pending, self._after_context(self._pending))
        return "", self._after_context(self._pending)

    def _complete(self, whole: list[int], text: str) -> tuple[str, str]:
        self._context, self._pending = (self._context + whole)[-_LONGEST_CHARACTER:], self._pending[len(whole) :]
        return text, self._after_context(self._pending)

    def _after_context(self, ids: list[int]) -> str:
        return self._decode(self._context + ids)[len(self._decode(self._context)) :] if ids else ""

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=self._skip_special_tokens) if ids else ""
