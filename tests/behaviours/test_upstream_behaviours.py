"""Upstream's behaviours, and guards of ours: each has a test that passes, and that fails when the behaviour is taken out."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("vime", "examples", "tests/support", "tests/callsites", "pyproject.toml")
NOT_COPIED = shutil.ignore_patterns("__pycache__", "out", "out[-_]*", ".*")


@dataclass(frozen=True)
class Behaviour:
    """One entry of a table beside this file."""

    name: str
    file: str
    take_out: str
    put: str
    test: str
    pull_request: int | None = None
    """Upstream's that brought it; none for what is ours."""


BEHAVIOURS = [
    Behaviour(**one)
    for table in sorted(Path(__file__).parent.glob("*.toml"))
    for one in tomllib.loads(table.read_text())["behaviour"]
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code and the tests that are named, to be changed at will."""
    folder = tmp_path_factory.mktemp("behaviours")
    for name in {*COPIED, *_test_files()}:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=NOT_COPIED)
        else:
            shutil.copy(ROOT / name, target)
    return folder


def _test_files() -> set[str]:
    """The files of the tests, and what pytest reads beside and above them."""
    files = {one.test.partition("::")[0] for one in BEHAVIOURS}
    beside = {folder / "conftest.py" for file in files for folder in Path(file).parents}
    return files | {str(file) for file in beside if (ROOT / file).is_file()}


@pytest.fixture
def without(copy: Path) -> Iterator:
    """Take a behaviour out of the copy; it is put back after the test."""
    changed = []

    def take_out(behaviour: Behaviour) -> None:
        file = copy / behaviour.file
        text = file.read_text()
        assert text.count(behaviour.take_out) == 1, f"{behaviour.take_out!r} does not stand once in {behaviour.file}"
        changed.append((file, text))
        _write(file, text.replace(behaviour.take_out, behaviour.put))

    yield take_out
    for file, text in changed:
        _write(file, text)


def _write(file: Path, text: str) -> None:
    """And forget its bytecode, which a change of the same size within a second would not outdate."""
    file.write_text(text)
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def run(folder: Path, *tests: str) -> subprocess.CompletedProcess:
    """pytest on the copy."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_each_has_a_test_that_passes(copy):
    done = run(copy, *sorted({one.test for one in BEHAVIOURS}))
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: f"{one.pull_request or 'ours'}: {one.name}")
def test_taken_out_its_test_fails(copy, without, behaviour):
    without(behaviour)
    done = run(copy, behaviour.test)
    if done.returncode == 0 and re.search(r"SKIPPED|\bskipped", done.stdout):
        pytest.skip(f"{behaviour.test} is skipped here")
    assert done.returncode == 1 and "FAILED " in done.stdout, done.stdout[-3000:] + done.stderr[-1000:]
