"""What whole runs share."""

from pathlib import Path

import pytest
from whole_run import prepare


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quick start's data and warm model, made once."""
    return prepare(tmp_path_factory.mktemp("quickstart") / "out")
