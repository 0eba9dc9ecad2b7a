"""Upstream's scripts are the command under other names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("vllm", "megatron.core"):
    pytest.importorskip(needed)

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests/vime/config"))

from config_world import enough


@pytest.mark.parametrize(("script", "asynchronous"), [("train.py", False), ("train_async.py", True)])
def test_a_script_says_which_loop_is_meant(tmp_path: Path, script: str, asynchronous: bool) -> None:
    command = [sys.executable, ROOT / script, *enough(tmp_path), "--dry-run", "--json", "--all"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert f'"train_async": {json.dumps(asynchronous)}' in " ".join(done.stdout.split())


def test_what_the_asynchronous_loop_cannot_do_is_refused_through_the_script_too(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "train_async.py", *enough(tmp_path), "--debug-rollout-only", "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2 and "nothing is trained that a rollout could be ahead of" in done.stderr
