"""What a rule is given: the values, where each was written, and a way to say what is wrong."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vime.config.args import Guarded
from vime.config.problems import Problem
from vime.device import Device


@dataclass(frozen=True)
class Check:
    """The values under validation: `check.lr` is an option's value."""

    args: Guarded
    device: Device
    places: Mapping[str, str]
    """Where each value that is no default was written."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.args, name)

    def given(self, name: str, default: Any = None) -> Any:
        """The value of an option of an installed package, where the user gave it."""
        return getattr(self, name) if name in self.places else default

    def set(self, name: str) -> bool:
        """Whether the user gave the option, or something that the user gave implies it."""
        return name in self.places

    def problem(self, names: str, what: str, fix: str) -> Problem:
        """A problem of the options `names` (separated by spaces), at the places where they were written."""
        given = [_place(name, self.places[name]) for name in names.split() if name in self.places]
        where = ", ".join(given) or "--" + names.split()[0].replace("_", "-")
        return Problem(where, what, fix)

    def warning(self, names: str, what: str, fix: str) -> Problem:
        """Something worth saying about the options `names`, which does not stop the run."""
        return dataclasses.replace(self.problem(names, what, fix), warning=True)


Rule = Callable[[Check], Iterator[Problem]]


def _place(name: str, place: str) -> str:
    """A place in a file does not say which option is meant."""
    return place if place.startswith("--") else f"{place} ({name})"
