"""Megatron-core's fields out of what was given: by their own names, and by the launcher's spellings."""

from collections.abc import Mapping
from typing import Any

from vime.config.given import Given
from vime.config.problems import Problem
from vime.config.spellings import fields_set


def megatron_fields(given: Mapping[str, Given]) -> tuple[dict[str, Any], dict[str, str], list[Problem]]:
    """(value of each field, where it was written, fields that were set twice and differently)."""
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    problems: list[Problem] = []
    for name, one in given.items():
        spelled = fields_set(name, one.value)
        for field, value in ({name: one.value} if spelled is None else spelled).items():
            if field in values and values[field] != value:
                what = f"{field} is {values[field]} by {places[field]} and {value} by this"
                problems.append(Problem(one.where, what, "keep one of them"))
            values[field], places[field] = value, one.where
    return values, places, problems
