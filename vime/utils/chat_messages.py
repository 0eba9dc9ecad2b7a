"""Prompts of a data file as chat messages, with images and the like where their placeholders stand."""

import re
from collections.abc import Mapping
from typing import Any

from vime.utils.types import MultimodalTypes


def as_messages(prompt: Any, row: Mapping[str, Any], multimodal_keys: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """The messages of a prompt (a text is the user's), new dicts. `multimodal_keys` names a field for each kind.

    Raises ValueError where placeholders and items are not equally many.
    """
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(one) for one in prompt]
    if not multimodal_keys:
        return messages
    waiting = _items(row, multimodal_keys)
    for message in messages:
        if isinstance(message["content"], str):
            message["content"] = _parts(message["content"], waiting)
    for placeholder, (kind, items) in waiting.items():
        if items:
            raise ValueError(f"{len(items)} {kind}(s) more than there are {placeholder} in the prompt")
    return messages


def _items(row: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, tuple[str, list[Any]]]:
    found = {}
    for name, key in keys.items():
        kind = MultimodalTypes.get(name)
        if kind is not None and row.get(key) is not None:
            found[kind.placeholder] = (kind.name, list(row[key]))
    return found


def _parts(text: str, waiting: Mapping[str, tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    if not waiting:
        return [{"type": "text", "text": text}] if text else []
    parts: list[dict[str, Any]] = []
    for piece in filter(None, re.split("(" + "|".join(map(re.escape, waiting)) + ")", text)):
        if piece not in waiting:
            parts.append({"type": "text", "text": piece})
            continue
        kind, items = waiting[piece]
        if not items:
            raise ValueError(f"more {piece} in the prompt than {kind}s in the data")
        item = items.pop(0)
        parts.append(dict(item) if isinstance(item, Mapping) else {"type": kind, kind: item})
    return parts
