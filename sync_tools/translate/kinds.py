"""What kind of text a path holds, as far as translation cares."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from sync_tools.policy import matches
from sync_tools.translate import rules

Kind = Literal["python", "markdown", "shell", "yaml", "patch", "text"]

_SUFFIXES: dict[str, Kind] = {
    ".py": "python",
    ".pyi": "python",
    ".md": "markdown",
    ".rst": "markdown",
    ".sh": "shell",
    ".bash": "shell",
    ".patch": "patch",
    ".diff": "patch",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".j2": "yaml",
}
_NAMES: dict[str, Kind] = {"Makefile": "shell", "justfile": "shell", "Dockerfile": "shell"}


def kind_of(path: str) -> Kind:
    """The kind by name; `run.sh.j2` is a template of shell, so its flags continue over lines as in shell."""
    pure = PurePosixPath(path)
    if pure.suffix == ".j2" and pure.with_suffix("").suffix in {".sh", ".bash", ".md", ".rst"}:
        pure = pure.with_suffix("")
    return _SUFFIXES.get(pure.suffix) or _NAMES.get(pure.name.split(".")[0], "text")


@dataclass(frozen=True)
class Profile:
    """All that a path decides: the kind of text, and whether the file keeps its text."""

    kind: Kind
    kept: bool


@lru_cache(maxsize=4096)
def profile(path: str, *, engine: bool) -> Profile:
    kept = any(
        matches(glob, path)
        for rule in rules.table("protected")
        if engine or not rule.data.get("engine")
        for glob in rule.words("files")
    )
    return Profile(kind_of(path), kept)
