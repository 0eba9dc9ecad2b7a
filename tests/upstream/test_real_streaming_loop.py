"""Upstream's streaming rollout, translated, in the real loop: a vLLM server, Megatron-core, Ray, the quick start's task."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sync_tools.translate import Translator
from vime.observability.run_read import read_run

NEEDED = ("vllm", "megatron", "ray", "torch")
ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "examples" / "quickstart_cpu"
UPSTREAM_PATH = "slime/rollout/sglang_streaming_rollout.py"
PORTED_PATH = "vime/rollout/vllm_streaming_rollout.py"
MERGE = "35e8767f94b4742ebbb722ae5e901ca29c0f967e"
LATER = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
ROLLOUTS = 10
WORDS = ("--num-rollout", str(ROLLOUTS), "--eval-interval", str(ROLLOUTS), "--lr-warmup-iters", "2")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.upstream,
    pytest.mark.skipif(not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs {', '.join(NEEDED)}"),
]


@pytest.fixture
def ported(sync, slime, parent_import):
    """What `sync port 1921` puts into a fork."""
    fork = parent_import(MERGE)
    sync("port", 1921, repo=fork, upstream=slime)
    at = f"sync/slime-pr-1921:{PORTED_PATH}"
    return subprocess.run(["git", "-C", str(fork), "show", at], capture_output=True, check=True).stdout


@pytest.fixture
def module(request, tmp_path):
    """A folder with the translated module, outside of the repository."""
    if request.param == "port":
        source = request.getfixturevalue("ported")
    else:
        upstream = request.getfixturevalue("show")(f"{LATER}:{UPSTREAM_PATH}")
        source = Translator(style="module").file(UPSTREAM_PATH, upstream).data
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "translated_streaming.py").write_bytes(source)
    return tmp_path / "modules"


def train(modules: Path, run: Path) -> None:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{modules}", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(QUICKSTART / "prepare.py")], cwd=ROOT, env=env, check=True)
    words = ["--config", str(QUICKSTART / "config.yaml"), "--run-dir", str(run), *WORDS]
    words += ["--custom-generate-function-path", "translated_streaming.generate_streaming"]
    subprocess.run([sys.executable, "-m", "vime.cli", "train", *words], cwd=ROOT, env=env, check=True, timeout=400)


@pytest.mark.parametrize("module", ["port", "later"], indirect=True)
def test_it_trains_the_quick_start(module, tmp_path):
    train(module, tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert len(run.series["rollout/raw_reward"].values) == ROLLOUTS
    before, after = run.series["eval/rev3"].values
    assert before <= 0.15 and after >= before + 0.3
    rewards = run.series["rollout/raw_reward"].values
    assert sum(rewards[-3:]) > sum(rewards[:3])
    # Engine and trainer agree on every token, so the logprobs that the stream brought are at their tokens.
    assert max(run.series["train/train_rollout_logprob_abs_diff"].values) <= 1e-5
    assert max(run.series["train/train_rollout_logprob_abs_diff_max"].values) <= 1e-3
    assert max(run.series["rollout/aborted_ratio"].values) == max(run.series["rollout/failed_ratio"].values) == 0
    for file in run.samples:
        for row in file.rows():
            assert "vllm_generate_stream" in {event["name"] for event in row["trace"]["events"]}
            assert len(row["log_probs"]) == row["response_length"] > 0
