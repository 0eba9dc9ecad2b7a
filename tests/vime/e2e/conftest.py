"""What whole runs share."""

import shutil
from pathlib import Path

import pytest
from whole_run import QUICKSTART, prepare


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quick start's data and warm model, made once; or a copy, where they were made already."""
    out = tmp_path_factory.mktemp("quickstart") / "out"
    if (QUICKSTART / "out/prepared.json").exists():
        shutil.copytree(QUICKSTART / "out", out)
    return prepare(out)


@pytest.fixture(scope="session")
def tied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with an output layer that shares the embedding's weights."""
    return prepare(tmp_path_factory.mktemp("tied") / "out", "--tied")
