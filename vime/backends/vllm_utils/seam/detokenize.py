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
        self._done = ""

    def text(self, new_ids: list[int]) -> str:
        """The text of every token so far; while a character is incomplete it ends in a replacement character."""
        self._pending += new_ids
        before = self._decode(self._context)
        tail = self._decode(self._context + self._pending)[len(before) :]
        if tail and (not tail.endswith(_REPLACEMENT) or len(self._pending) > _LONGEST_CHARACTER):
            self._done += tail
            self._context, self._pending = self._pending, []
            return self._done
        return self._done + tail

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=self._skip_special_tokens) if ids else ""
