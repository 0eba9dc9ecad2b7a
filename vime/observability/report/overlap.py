"""Whether an evaluation asks what was trained on: the two files compared, where they can be read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST = 200_000_000
"""Bytes of a file that is still compared."""


@dataclass(frozen=True)
class Overlap:
    """Prompts of an evaluation file, and how many of them are in the training file as well."""

    file: str
    asked: int
    shared: int


def overlaps(config: Mapping[str, Any]) -> list[Overlap]:
    """For each evaluation file; [] where the files are not here, too large, or no JSON lines."""
    train = config.get("prompt_data")
    try:
        sets = list(config.get("eval_prompt_data") or ())
        trained = set(_prompts(train, config.get("input_key")))
        asked = [(file, set(_prompts(file, config.get("eval_input_key")))) for file in sets[1::2] or sets]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [Overlap(file, len(prompts), len(prompts & trained)) for file, prompts in asked]


def _prompts(file: Any, key: Any) -> Iterator[str]:
    """The prompts of a file as JSON; a part of a file (FILE@[a:b]) is not compared."""
    path = Path(file)
    if "@[" in file or not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError(file)
    with path.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield json.dumps(json.loads(line)[key], sort_keys=True)
