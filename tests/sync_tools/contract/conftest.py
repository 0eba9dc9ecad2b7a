"""Commands asked for their JSON, each answer held to the contract."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract_schemas import told

Ask = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def ask(sync, upstream) -> Ask:
    """`ask("ledger show", 1921, repo=fork)`: the exit code and the object; exit code 2 means the error object."""

    def run(command: str, /, *words: object, **options: object) -> tuple[int, dict[str, Any]]:
        answer = sync(*command.split(), *words, "--json", **{"upstream": upstream, **options})
        return answer.code, told(answer.out, "error" if answer.code == 2 else command)

    return run


@pytest.fixture(scope="session")
def _ported(imports, upstream, tmp_path_factory) -> Path:
    from sync_tools.cli import app
    from sync_tools.commands.main import run_app
    from sync_tools.demo.forks import parent_of

    fork = tmp_path_factory.mktemp("ported") / "vime"
    shutil.copytree(imports(parent_of(upstream, 1921)), fork, symlinks=True)
    with Path(os.devnull).open("w") as quiet, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", quiet)
        assert run_app(app, ["port", "1921", "--repo", str(fork), "--upstream", str(upstream)]) == 0
    subprocess.run(["git", "-C", str(fork), "switch", "-q", "sync/slime-pr-1921"], check=True)
    return fork


@pytest.fixture
def ported(_ported: Path, tmp_path: Path) -> Path:
    """An imported fork with #1921 ported and its branch checked out."""
    return Path(shutil.copytree(_ported, tmp_path / "ported", symlinks=True))


@pytest.fixture
def landed(upstream: Path, git) -> Callable[[int], str]:
    """The commit that landed a pull request."""

    def commit(number: int) -> str:
        log = git(upstream, "log", "--first-parent", "--format=%H %s").splitlines()
        return next(line[:40] for line in log if line.endswith(f"(#{number})"))

    return commit
