"""Multiple choice, as in GPQA (arXiv:2311.12022): the letter that an answer settles on."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from typing import Any

DEFAULT_VALID_LETTERS = list(string.ascii_uppercase[:10])

_SAID = (
    re.compile(r"(?:answer|option|choice)\s*(?:(?:is|:)\s*)?([A-Z])", re.IGNORECASE),
    re.compile(r"([A-Z])\s*is\s*(?:the\s*)?correct", re.IGNORECASE),
    re.compile(r"final\s*(?:answer|option)\s*(?:(?:is|:)\s*)?([A-Z])", re.IGNORECASE),
)
_ALONE = re.compile(r"\b([A-Z])\b")


def _strip_chain_of_thought(text: str) -> str:
    return (text or "").rpartition("</think>")[2]


def _normalize_text(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _extract_letter_from_response(response: str | None, valid_letters: Iterable[str]) -> str | None:
    """The letter that is called the answer, else the last that stands alone, of those that are valid."""
    text = _strip_chain_of_thought(response or "")
    valid = {letter.upper() for letter in valid_letters}
    said = (found.group(1).upper() for pattern in _SAID if (found := pattern.search(text)))
    alone = reversed(_ALONE.findall(text))
    return next((letter for letter in (*said, *alone) if letter in valid), None)


def compute_gpqa_reward(response: str | None, label: Any, metadata: Mapping[str, Any] | None = None) -> float:
    """1.0 where the answer settles on the right choice, by its letter or its text; else 0.0.

    `label` is a letter, a position, or the text of a choice. `metadata` may have choices, valid_letters,
    correct_letter, correct_answer and answer_text; it is not changed.
    """
    if response is None:
        return 0.0
    about = metadata or {}
    choices = about.get("choices") or ()
    choices = [str(choice) for choice in (choices.values() if isinstance(choices, Mapping) else choices)]
    valid = [str(letter).upper() for letter in about.get("valid_letters") or ()]
    valid = valid or (list(string.ascii_uppercase[: len(choices)]) if choices else DEFAULT_VALID_LETTERS)
    right = _right_letter(label, choices, valid, about)
    given = _extract_letter_from_response(response, valid)
    if given and right:
        return float(given == right)
    texts = [choices[valid.index(right)]] if right in valid and valid.index(right) < len(choices) else []
    texts += [str(about[key]) for key in ("correct_answer", "answer_text") if about.get(key)]
    texts += [label] if isinstance(label, str) else []
    said = f" {_normalize_text(_strip_chain_of_thought(response))} "
    return float(any(text and f" {text} " in said for text in map(_normalize_text, texts)))


def _right_letter(label: Any, choices: list[str], valid: list[str], about: Mapping[str, Any]) -> str | None:
    given = about.get("correct_letter")
    if isinstance(label, int | float) and not isinstance(label, bool) and 0 <= int(label) < len(valid):
        return valid[int(label)]
    if isinstance(given, str) and given.strip():
        return given.strip().upper()
    text = label.strip() if isinstance(label, str) else ""
    if len(text) == 1 and text.upper() in valid:
        return text.upper()
    same = (i for i, choice in enumerate(choices) if text and _normalize_text(choice) == _normalize_text(text))
    position = next(same, len(valid))
    return valid[position] if position < len(valid) else None
