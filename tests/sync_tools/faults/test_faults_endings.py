"""Endings from outside: signals, streams that are closed or full."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "sync_tools"]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("status",), ("status", "--json"), ("ledger", "show", "4711", "--json")])
def test_an_answer_that_cannot_be_written(words, imported, upstream):
    command = [*PROGRAM, *words, "--repo", str(imported(1921)), "--upstream", str(upstream)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "No space left" in done.stderr and "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_reader_that_is_gone(imported, upstream):
    command = [*PROGRAM, "status", "--repo", str(imported(1921)), "--upstream", str(upstream)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141 and said == b""


def test_streams_that_are_closed(tmp_path):
    words = f"{sys.executable} -m sync_tools status --repo {tmp_path}/gone"
    assert subprocess.run(["sh", "-c", f"{words} >&- 2>&-"], check=False).returncode == 2


def test_a_terminal_that_cannot_spell_a_character(imported, git):
    fork = imported(1921)
    (fork / "sync.toml").write_text('schema = 1\nfork = "caf\u00e9/"\n', "utf-8")
    words = [*PROGRAM, "status", "--repo", str(fork), "--upstream", "/nowhere/caf\u00e9"]
    done = subprocess.run([*PROGRAM, "translate", "-", "--path", "README.md", "--repo", str(fork.parent)],
        input="caf\u00e9\n", capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)  # fmt: skip
    assert done.returncode == 0 and "stopped on" not in done.stderr, done.stderr
    done = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert done.returncode == 2 and b"stopped on" not in done.stderr


def test_a_process_that_is_told_to_end_takes_the_engine_with_it(tmp_path):
    python, pid = tmp_path / "python", tmp_path / "pid"
    python.write_text(f"#!/bin/sh\necho $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 60\n")
    python.chmod(0o755)
    command = [*PROGRAM, "seam", "snapshot", "--engine", str(python), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    for _ in range(200):
        if pid.exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130 and b"Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert not (tmp_path / "out").exists()


def test_an_overlay_that_cannot_be_laid_leaves_no_folder(sync, imported, upstream, tmp_path):
    overlay, fork = tmp_path / "overlay", imported(1921)
    overlay.mkdir()
    ends = ("replay", "--from", "main~2", "--to", "main~1", "--json")
    for content in ("remove = " + "[" * 3000, "remove = " + "9" * 6000, '[rename]\n"train.py" = "vime"\n'):
        (overlay / "overlay.toml").write_text(content)
        answer = sync(*ends, workdir=tmp_path / "work", overlay=overlay, repo=fork, upstream=upstream)
        assert answer.code == 2 and "stopped on" not in json.loads(answer.out)["error"]["what"], content[:20]
        assert not (tmp_path / "work").exists()


def test_no_replay_inside_gits_own_folder(sync, imported, upstream):
    fork = imported(1921)
    answer = sync(
        "replay", "--from", "main~2", "--to", "main~1", workdir=fork / ".git/sub", repo=fork, upstream=upstream
    )
    assert answer.code == 2 and "lies in a repository" in answer.err and not (fork / ".git/sub").exists()


@pytest.mark.parametrize("module", ["sync_tools.cli", "pydantic", "sync_tools.commands.main"])
def test_an_interruption_before_anything_is_imported(module):
    program = f"""
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from sync_tools.__main__ import main
sys.argv[1:] = ["status"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")
