"""Text of a growing list of tokens, at a cost per chunk that does not grow with the length."""

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

    def add(self, new_ids: list[int]) -> tuple[str, str]:
        """The text that is now complete, and what the tokens of an incomplete character look like for now."""
        self._pending += new_ids
        before = self._decode(self._context)
        tail = self._decode(self._context + self._pending)[len(before) :]
        if not tail or (tail.endswith(_REPLACEMENT) and len(self._pending) <= _LONGEST_CHARACTER):
            return "", tail
        self._context, self._pending = self._pending, []
        return tail, ""

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=self._skip_special_tokens) if ids else ""
