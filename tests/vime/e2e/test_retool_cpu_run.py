"""Both stages of the ReTool example on a CPU, for a few steps: tool calls run in the sandbox, and what they say is not trained on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from whole_run import ROOT

from vime.observability.run_read import Run, read_run

for name in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow
EXAMPLE = ROOT / "examples/retool/cpu"
CALL_AND_RESULT = re.compile(r"print\((\d+)\*(\d+)\)[^(]*?<interpreter>\nOutput:\n(\d+)\n</interpreter>")


def _python(*words: object) -> None:
    path = os.pathsep.join([str(ROOT), str(EXAMPLE.parent)])
    env = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def _train(config: str, folder: Path, *words: object) -> Run:
    _python("-m", "vime.cli", "train", "--config", EXAMPLE / config, "--run-dir", folder, *words)
    return read_run(folder)


def test_a_few_steps_of_both_stages(tmp_path: Path) -> None:
    data = tmp_path / "out"
    _python(EXAMPLE / "prepare.py", "--out", data, "--conversations", 7680, "--by-tool", 1, "--held-out", 24)
    first = _train(
        *("sft.yaml", tmp_path / "sft", "--hf-checkpoint", data / "fresh", "--prompt-data", data / "sft.jsonl"),
        *("--save-hf", data / "sft", "--num-rollout", 60, "--lr-warmup-iters", 5),
    )
    losses = first.series["train/loss"].values
    assert len(losses) == 60 and losses[-1] < 0.5 * losses[0]
    second = _train(
        *("rl.yaml", tmp_path / "rl", "--hf-checkpoint", data / "sft", "--prompt-data", data / "train.jsonl"),
        *("--eval-prompt-data", "products", data / "heldout.jsonl", "--num-rollout", 4, "--eval-interval", 2),
        *("--lr-warmup-iters", 1),
    )
    assert second.series["eval/products"].steps == (0, 2, 4)
    assert max(second.series["train/train_rollout_logprob_abs_diff"].values) <= 1e-5
    assert max(second.series["rollout/aborted_ratio"].values) == max(second.series["rollout/failed_ratio"].values) == 0
    assert max(second.series["rollout/tool_calls/mean"].values) > 0.5
    rows = [row for file in second.samples for row in file.rows()]
    worked_out = [found for row in rows for found in CALL_AND_RESULT.findall(row["response"])]
    assert worked_out and all(int(one) * int(other) == int(result) for one, other, result in worked_out)
    for row in rows:
        own = list(zip(row["pieces"][-row["response_length"] :], row["loss_mask"], strict=True))
        assert "<interpreter>" not in "".join(piece for piece, trained in own if trained)
    _python("-m", "vime.cli", "report", tmp_path / "rl")
    assert "Tool calls" in (tmp_path / "rl/report.html").read_text("utf-8")
