"""Samples for the page: few, bounded, and with nothing in them that acts on who reads."""

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vime.observability.run_read import Run, SampleFile

MOST_FILES, MOST_SAMPLES = 16, 16
MOST_TOKENS, MOST_CHARACTERS = 1500, 12_000
MOST_OF_ALL = 4_000_000
"""Characters of all samples together."""


def excerpts(run: Run) -> list[dict[str, Any]]:
    """Rollouts and evaluations, spread over the run, each with its first samples."""
    chosen = [
        *_spread([file for file in run.samples if file.kind == "rollout"]),
        *_spread([file for file in run.samples if file.kind == "eval"]),
    ]
    left, found = MOST_OF_ALL, []
    for file in sorted(chosen, key=lambda file: (file.rollout_id, file.kind)):
        shown = []
        for row, _ in zip(file.rows(), range(MOST_SAMPLES)):
            one = excerpt(row)
            left -= sum(len(piece) for piece, *_ in (*one["prompt"], *one["response"]))
            if left < 0:
                break
            shown.append(one)
        found.append({"kind": file.kind, "step": file.rollout_id, "samples": shown})
    return found


def _spread(files: Sequence[SampleFile]) -> list[SampleFile]:
    """The first, the last, and some between."""
    if len(files) <= MOST_FILES:
        return list(files)
    return [files[round(place * (len(files) - 1) / (MOST_FILES - 1))] for place in range(MOST_FILES)]


def excerpt(row: Mapping[str, Any]) -> dict[str, Any]:
    """One sample: prompt and response as pieces [text, logprob or None, trained or not]."""
    pieces, response_length = _list(row.get("pieces")), row.get("response_length")
    notes: list[str] = []
    if pieces and isinstance(response_length, int) and 0 <= response_length <= len(pieces):
        asked, said = pieces[: len(pieces) - response_length], pieces[len(pieces) - response_length :]
        prompt = [[piece] for piece in asked[-MOST_TOKENS:]]
        response = list(_scored(said[:MOST_TOKENS], row))
    else:
        asked, said = [_prompt(row.get("prompt"))], [str(row.get("response", ""))]
        prompt, response = [[asked[0]]], [[said[0], None, 1]]
        notes.append("The tokens' texts were not logged: no logprobs here.")
    return {
        "prompt": _cut(prompt[::-1], "prompt", asked, notes)[::-1],
        "response": _cut(response, "response", said, notes),
        "about": [[label, visible(str(value)[:200])] for label, value in _about(row)],
        "reward": _number(row.get("reward")),
        "notes": notes,
    }


def _about(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for label, name in (
        ("set", "set"),
        ("status", "status"),
        ("label", "label"),
        ("group", "group_index"),
        ("sample", "index"),
        ("tokens", "response_length"),
    ):
        if row.get(name) is not None:
            yield label, row[name]
    if isinstance(row.get("reward"), dict):
        yield "reward", row["reward"]
    if versions := _list(row.get("weight_versions")):
        yield "weights", ", ".join(dict.fromkeys(map(str, versions)))
    if row.get("removed"):
        yield "removed", "by a filter"


def _scored(pieces: Sequence[str], row: Mapping[str, Any]) -> Iterator[list[Any]]:
    logprobs, mask = _list(row.get("log_probs")), _list(row.get("loss_mask"))
    for place, piece in enumerate(pieces):
        logprob = logprobs[place] if place < len(logprobs) else None
        trained = mask[place] if place < len(mask) else 1
        yield [piece, _number(logprob), 1 if trained else 0]


def _cut(pieces: list[list[Any]], what: str, whole: Sequence[Any], notes: list[str]) -> list[list[Any]]:
    """The first pieces, made visible; of a prompt they come from its end. A note says what is left out of `whole`."""
    kept, room = [], MOST_CHARACTERS
    for text, *about in pieces:
        text = str(text)
        kept.append([visible(text[-room:] if what == "prompt" else text[:room]), *about])
        room -= len(text)
        if room <= 0:
            break
    characters = sum(len(str(piece)) for piece in whole)
    shown = sum(len(str(piece[0])) for piece in pieces[: len(kept)]) + min(room, 0)
    if shown < characters:
        side = "end" if what == "prompt" else "beginning"
        notes.append(f"The {what} has {characters:,} characters; its {side} is shown, {shown:,} of them.")
    return kept


def visible(text: str) -> str:
    """Characters that would hide, reorder or break what is read, written out: ‹U+202E›."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return character
    return f"‹U+{ord(character):04X}›"


def _prompt(prompt: Any) -> str:
    if isinstance(prompt, list):
        return "\n".join(f"{one.get('role')}: {one.get('content')}" for one in prompt if isinstance(one, dict))
    return str(prompt if prompt is not None else "")


def _number(value: Any) -> float | None:
    """A number as the page's script has it: true is 1, and no integer is too long."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
