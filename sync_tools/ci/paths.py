"""Where the template and the workflow of a tree stand, and which paths of upstream's they answer to."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from sync_tools.config import CI

FOLDERS = ("ci_templates", ".github/workflows")


@dataclass(frozen=True)
class CIPaths:
    """`template` is None in a tree that has none."""

    template: str | None
    workflow: str


def locate(paths: Collection[str], ci: CI) -> CIPaths:
    """The template where it stands: the configured path, else `ci_templates/`, else `.github/workflows/`."""
    name = PurePosixPath(ci.workflow).name + ".j2"
    candidates = [ci.template] if ci.template else [f"{folder}/{name}" for folder in FOLDERS]
    return CIPaths(next((path for path in candidates if path in paths), None), ci.workflow)


def counterpart(path: str, paths: Collection[str], ci: CI) -> str | None:
    """The path in the tree that answers to upstream's template or workflow; None for every other path.

    Upstream's template goes to the tree's template wherever that stands, and keeps its own path where there is none.
    """
    found = PurePosixPath(path)
    name = PurePosixPath(ci.workflow).name
    if str(found.parent) not in FOLDERS or found.name not in (name, name + ".j2"):
        return None
    return ci.workflow if found.name == name else locate(paths, ci).template or ci.template or path
