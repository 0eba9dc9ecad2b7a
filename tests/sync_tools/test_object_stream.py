"""Many objects read one after the other: all of them, in order, and whoever stops early disturbs no later reader."""

import subprocess
from pathlib import Path

import pytest

from sync_tools.gitio import GitFailed, Repo
from sync_tools.gitobjects import AHEAD
from sync_tools.gitpack import object_id


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Repo, list[bytes]]:
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path)], check=True)
    contents = [str(n).encode() * (n % 7) * 900 for n in range(AHEAD + 20)]
    stream = b"".join(b"blob\ndata %d\n%b\n" % (len(data), data) for data in contents)
    subprocess.run(["git", "-C", str(tmp_path), "fast-import", "--quiet"], input=stream, check=True)
    return Repo.open(tmp_path), contents


def test_all_objects_in_order(stored: tuple[Repo, list[bytes]]) -> None:
    repo, contents = stored
    assert list(repo.stream([object_id("blob", data) for data in contents])) == contents


def test_who_stops_early_disturbs_nobody(stored: tuple[Repo, list[bytes]]) -> None:
    repo, contents = stored
    oids = [object_id("blob", data) for data in contents]
    reading = repo.stream(oids)
    assert next(reading) == contents[0]
    reading.close()
    assert repo.read(oids[9]) == contents[9]


def test_an_object_that_is_not_there(stored: tuple[Repo, list[bytes]]) -> None:
    repo, contents = stored
    oid = object_id("blob", contents[3])
    with pytest.raises(GitFailed, match="no such object"):
        list(repo.stream([oid, "0" * 40, oid]))
    assert repo.read(oid) == contents[3]
