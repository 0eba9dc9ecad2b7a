"""The loop as a user runs it: the real server, the real trainer, Ray; it learns, it stops, it goes on, it leaves nothing behind."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

for needed in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(needed)

from whole_run import MANAGER, SEEDED, WholeRun, apart, losses

from vime.backends.vllm_utils.vllm_engine import BASE_PORT
from vime.commands.report import run as report

pytestmark = pytest.mark.slow

ROLLOUTS, GROUPS, SAMPLES = 10, 16, 8
WORDS = (*SEEDED, "--num-rollout", str(ROLLOUTS), "--weight-sync-probe", "4")
DEAD_PROXY = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"), "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def whole(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeRun]:
    """A run from end to end, where the environment names a proxy that is dead and the engines' first ports are taken."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("", BASE_PORT))
        taken.listen(1)
        folder = tmp_path_factory.mktemp("whole")
        run = WholeRun(folder, prepared, *WORDS, "--save", str(folder / "ckpt"), env=DEAD_PROXY)
        assert run.wait() == 0, run.output
    yield run
    assert run.left_behind() == []


def test_it_learns(whole):
    rewards = [step["rollout/raw_reward"] for _, step in sorted(whole.steps().items())]
    assert len(rewards) == ROLLOUTS
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.1
    accuracy = {row["step"]: row["metrics"]["eval/rev3"] for row in whole.rows() if row.get("step_key") == "eval/step"}
    assert accuracy[0] <= 0.15 and accuracy[ROLLOUTS] > accuracy[0] + 0.2


def test_engine_and_trainer_agree_at_every_step_and_after_every_sync(whole):
    for step in whole.steps().values():
        assert step["train/train_rollout_logprob_abs_diff"] <= 1e-5
        assert step["train/train_rollout_logprob_abs_diff_max"] <= 1e-3
        assert step["perf/weight_sync_logprob_abs_diff_max"] <= 1e-3
    versions = [step["rollout/weight_version"] for _, step in sorted(whole.steps().items())]
    assert versions == [number + 2 for number in range(ROLLOUTS)]


def test_every_prompt_is_accounted_for_and_trained_once(whole):
    for step in whole.steps().values():
        settled = step["rollout/prompts_trained"] + step["rollout/prompts_dropped"] + step["rollout/prompts_buffered"]
        assert step["rollout/prompts_issued"] == settled == GROUPS
    assert _trained_once(whole)


def test_there_is_a_checkpoint_and_a_page(whole, tmp_path):
    ckpt = whole.folder / "ckpt"
    last = f"{ROLLOUTS - 1}"
    assert (ckpt / "latest_checkpointed_iteration.txt").read_text() == last
    assert (ckpt / f"iter_000000{last}/state.json").is_file()
    state = json.loads((ckpt / f"rollout/global_dataset_state_dict_{last}.json").read_text())
    assert state["sample_group_index"] == ROLLOUTS * GROUPS and state["buffer"] == []
    page = tmp_path / "page.html"
    assert report([str(whole.folder / "log"), "--out", str(page)]) == 0
    assert "raw_reward" in page.read_text("utf-8")


def test_what_sigterm_interrupts_goes_on_as_if_nothing_had_been(whole, prepared, tmp_path):
    words = (*WORDS, "--save", str(tmp_path / "ckpt"))
    run = WholeRun(tmp_path, prepared, *words)
    run.until_rollouts(3)
    run.until_in(MANAGER, "generate")
    run.process.send_signal(signal.SIGTERM)
    assert run.wait(60) == 128 + signal.SIGTERM, run.output
    assert "stopped by SIGTERM" in run.output and "Traceback" not in run.output
    assert run.left_behind() == []
    done = len(run.steps())
    assert 3 <= done < ROLLOUTS
    assert (tmp_path / "ckpt/latest_checkpointed_iteration.txt").read_text() == str(done - 1)

    again = WholeRun(tmp_path, prepared, *words, "--load", str(tmp_path / "ckpt"))
    assert again.wait() == 0, again.output
    assert again.left_behind() == []
    assert apart(losses(again.steps()), losses(whole.steps()), range(ROLLOUTS)) <= 1e-4
    assert _trained_once(again)


def _trained_once(run: WholeRun) -> bool:
    """Whether the rollouts had each sample, and each once."""
    numbers = [number for rollout in run.trained().values() for number in rollout]
    return sorted(numbers) == list(range(ROLLOUTS * GROUPS * SAMPLES))
