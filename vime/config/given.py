"""What the user wrote: values with the place where each was written."""

from dataclasses import dataclass
from typing import Any

from vime.config.option import Option


@dataclass(frozen=True)
class Given:
    """One option's value, and where it stands (`run.yaml:12`, `--lr`)."""

    option: Option
    value: Any
    where: str
