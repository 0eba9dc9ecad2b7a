"""Two at once."""

import pytest

from sync_tools.errors import SyncError
from sync_tools.imported import new_repository
from sync_tools.tree import Blob


def test_a_repository_that_appeared_meanwhile_is_not_written_into(tmp_path, git):
    to = tmp_path / "work"
    first = new_repository(to, {"a.py": Blob(b"1\n", 0o100644)}, "One", {})
    with pytest.raises(SyncError):
        new_repository(to, {"a.py": Blob(b"2\n", 0o100644)}, "Two", {})
    assert git(to, "rev-parse", "HEAD") == first and not git(to, "status", "--porcelain")
    assert [p.name for p in tmp_path.iterdir()] == ["work"]
