import pytest

from sync_tools.demo.forks import build_handwritten_fork
from sync_tools.demo.upstream import build_upstream


@pytest.fixture(scope="session")
def upstream(tmp_path_factory):
    return build_upstream(tmp_path_factory.mktemp("demo") / "upstream")


@pytest.fixture(scope="session")
def fork(tmp_path_factory):
    return build_handwritten_fork(tmp_path_factory.mktemp("demo") / "handwritten")
