"""Every test runs without the user's own git configuration, caches and tokens."""

import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# The same examples in every run, so that a change is to blame for what fails; HYPOTHESIS_PROFILE=default draws new ones.
settings.register_profile("same", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

REAL = os.environ.get("SYNC_UPSTREAM")
IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Maintainer",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Maintainer",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


@pytest.fixture(autouse=True, scope="session")
def _isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("NO_COLOR", "1")
        for name in ("GITHUB_TOKEN", "GH_TOKEN", "SYNC_UPSTREAM", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            patch.delenv(name, raising=False)
        for name, value in IDENTITY.items():
            patch.setenv(name, value)
        yield


@dataclass(frozen=True)
class Answer:
    """What a command said. `code` is its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def sync(capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command line in this process: `sync("port", 1921, repo=..., upstream=...)`."""
    from sync_tools.cli import app
    from sync_tools.commands.main import run_app

    def run(*words: object, **options: object) -> Answer:
        capfd.readouterr()
        named = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        code = run_app(app, [*map(str, words), *named])
        said = capfd.readouterr()
        return Answer(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature upstream."""
    from sync_tools.demo.upstream import build_upstream

    return build_upstream(tmp_path_factory.mktemp("upstream") / "slime")


@pytest.fixture(scope="session")
def real_upstream() -> Path | None:
    """A clone of the real upstream, where the environment names one."""
    return Path(REAL) if REAL else None


class _Dotted(pytest.Module):
    """A test file of upstream's name with dots in it, which an import statement cannot name."""

    def _getobj(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(self.path.stem.replace(".", "_"), self.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return _Dotted.from_parent(parent, path=module_path) if "." in module_path.stem else None
