"""An engine's interpreter is somebody else's program: it may be missing, hang, or write anything, and nothing of it stays."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sync_tools.errors import SyncError
from sync_tools.seam import snapshot
from sync_tools.seam.snapshot import carried, load, take

GOOD = '{"engine":"vllm","version":"1","asked":[],"facts":{"flag x":""}}'


@pytest.fixture
def engine(tmp_path: Path):
    """An interpreter that runs a line of shell; $3 is the file that it is to write."""

    def make(line: str) -> Path:
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        return program

    return make


@pytest.mark.parametrize(
    "line",
    [
        'echo "{]" > "$3"',
        'echo "[1]" > "$3"',
        'printf "\\377" > "$3"',
        f'{sys.executable} -c "print(100000 * chr(91))" > "$3"',
        'mkdir "$3"',
        'echo \'{"engine":"x","version":"1","asked":"abc","facts":{}}\' > "$3"',
        'echo \'{"engine":"x","version":"1","asked":[],"facts":1}\' > "$3"',
        "exit 3",
        "kill -9 $$",
        "head -c 20000000 /dev/zero >&2; exit 1",
    ],
)
def test_what_is_no_snapshot_is_refused(line, engine):
    with pytest.raises(SyncError):
        take(str(engine(line)), ())


def test_a_path_is_meant_from_here(engine, monkeypatch, tmp_path):
    engine(f"echo '{GOOD}' > \"$3\"")
    monkeypatch.chdir(tmp_path)
    assert take("./python", ()).version == "1"


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("then", ["wait", "exit 1"])
def test_one_that_hangs_or_leaves_something_running_ends_whole(then, engine, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "TIMEOUT", 0.5)
    began = time.monotonic()
    with pytest.raises(SyncError):
        take(str(engine(f"sleep 60 & echo $! > {tmp_path}/pid; {then}")), ())
    assert time.monotonic() - began < 10
    time.sleep(0.1)
    assert not _alive(int((tmp_path / "pid").read_text()))


def test_the_probe_ends_with_whoever_asked(tmp_path):
    (tmp_path / "vllm.py").write_text("import time\ntime.sleep(60)\n")
    probe = Path(snapshot.__file__).with_name("probe.py")
    asked = subprocess.Popen(
        [sys.executable, str(probe), str(tmp_path / "out")],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    asked.stdin.close()
    assert asked.wait(20) == 1


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[" * 100_000,
        json.dumps({"engine": "x", "version": "1", "asked": "abc", "facts": {}}),
        '{"engine":1',
    ],
)
def test_a_file_that_is_no_snapshot_is_refused(content, tmp_path):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(SyncError, match="not a snapshot"):
        load(tmp_path / "x.json")


def test_what_is_asked_for_goes_where_it_is_said(engine, sync, tmp_path, imported):
    out, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(out)
    python = engine(f"echo '{GOOD}' > \"$3\"")
    common = {"engine": python, "repo": imported(1921)}
    assert sync("seam", "snapshot", out=link, **common).code == 0
    assert link.is_symlink() and load(out).version == "1"
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE) as reader:
        assert sync("seam", "snapshot", out=tmp_path / "pipe", **common).code == 0
        assert json.loads(reader.communicate()[0])["version"] == "1"
    assert (tmp_path / "pipe").is_fifo()
    refused = sync("seam", "snapshot", out=tmp_path, **common)
    assert refused.code == 2 and "a folder is in the way" in refused.err and carried()
