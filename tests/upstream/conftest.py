"""Tests on the real upstream: `SYNC_UPSTREAM=/path/to/slime make test` runs them, without it they are skipped."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree


@pytest.fixture(scope="session")
def slime(real_upstream: Path | None) -> Path:
    if real_upstream is None:
        pytest.skip("needs a clone of slime: SYNC_UPSTREAM=/path/to/slime")
    return real_upstream


@pytest.fixture
def show(slime: Path) -> Callable[[str], bytes]:
    """The bytes of `REV:PATH`."""
    return lambda what: subprocess.run(["git", "-C", str(slime), "show", what], capture_output=True, check=True).stdout


@pytest.fixture
def parent_import(slime: Path, tmp_path: Path) -> Callable[[str], Path]:
    """The tree imported at the parent of a commit."""

    def at(commit: str) -> Path:
        import_tree(Repo.open(slime), f"{commit}^", tmp_path / "fork", Config())
        return tmp_path / "fork"

    return at
