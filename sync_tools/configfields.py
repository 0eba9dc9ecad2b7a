"""What the values of a configuration are made of: frozen, strict sections, paths that stay in the tree, days."""

import re
from datetime import date
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def _inside(path: str) -> str:
    """A path or glob that stays in the tree."""
    if path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts or "\\" in path or "\0" in path or not path:
        raise ValueError("must be a relative path that stays inside the tree")
    if any(part.lower() == ".git" for part in PurePosixPath(path).parts):
        raise ValueError("must not lie in git's own folder")
    return path


def _plain(path: str) -> str:
    """A path as git spells it: without `./` or a slash at the end."""
    if not PurePosixPath(path).parts:
        raise ValueError("must name a file or a folder below the tree's top")
    return str(PurePosixPath(_inside(path)))


def _day(text: str) -> str:
    """A day as 2027-03-31."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("must be a day in quotes, as 2027-03-31")
    try:
        date.fromisoformat(text)
    except ValueError as e:
        raise ValueError(f"no such day: {e}") from e
    return text


Glob = Annotated[str, AfterValidator(_inside)]
InTree = Annotated[str, AfterValidator(_plain)]
Day = Annotated[str, AfterValidator(_day)]


class Section(BaseModel):
    """What all parts of the configuration are: frozen, strict, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
