"""Forks of the miniature upstream, a fresh copy for each test, and git."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sync_tools.config import Config
from sync_tools.demo.forks import build_handwritten_fork, parent_of
from sync_tools.gitio import Repo
from sync_tools.importer import import_tree


@pytest.fixture(scope="session")
def imports(upstream: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The import of upstream at a revision, made once."""
    made: dict[str, Path] = {}

    def at(rev: str) -> Path:
        if rev not in made:
            made[rev] = tmp_path_factory.mktemp("import") / "vime"
            import_tree(Repo.open(upstream), rev, made[rev], Config())
        return made[rev]

    return at


@pytest.fixture
def imported(imports: Callable[[str], Path], upstream: Path, tmp_path: Path) -> Callable[[int], Path]:
    """A fork imported at the parent of a pull request."""

    def at(number: int) -> Path:
        return Path(shutil.copytree(imports(parent_of(upstream, number)), tmp_path / f"fork-{number}", symlinks=True))

    return at


@pytest.fixture(scope="session")
def _handwritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_handwritten_fork(tmp_path_factory.mktemp("handwritten") / "vime")


@pytest.fixture
def handwritten(_handwritten: Path, tmp_path: Path) -> Path:
    """The fork that people wrote by hand."""
    return Path(shutil.copytree(_handwritten, tmp_path / "handwritten", symlinks=True))


@pytest.fixture
def git() -> Callable[..., str]:
    """Run git in a folder: `git(folder, "log", "-1")`."""

    def run(folder: Path, *words: str, check: bool = True) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=check)
        return done.stdout.rstrip("\n")

    return run
