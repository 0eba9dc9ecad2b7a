"""What goes wrong in a whole run is told in a line or two; nothing is lost, and nothing is left behind."""

import json
import os
import signal

import pytest

for needed in ("vllm", "megatron.core", "ray"):
    pytest.importorskip(needed)

from whole_run import ENGINE, MANAGER, RANK, ROUTER, SEEDED, WholeRun

pytestmark = pytest.mark.slow

GROUPS, SAMPLES = 16, 8


def test_engines_and_routers_that_die_are_started_again(prepared, tmp_path):
    rollouts = 9
    run = WholeRun(tmp_path, prepared, *SEEDED, "--num-rollout", str(rollouts), "--rollout-num-gpus", "2")
    for done, moment, victim in [
        (1, (MANAGER, "generate"), ENGINE),
        (3, (RANK, "update_weights"), ENGINE),
        (5, (MANAGER, "generate"), ROUTER),
    ]:
        run.until_rollouts(done)
        run.until_in(*moment)
        os.kill(run.find(victim)[0], signal.SIGKILL)
        run.until_rollouts(done + 1)
    assert run.wait() == 0, run.output
    assert run.left_behind() == []
    told = [line for line in run.output.splitlines() if line.endswith("; started again")]
    assert len(told) == 3 and all("was killed by SIGKILL" in line for line in told), run.output
    assert sum(line.startswith("engine ") for line in told) == 2 and "router of " in told[-1]
    assert "Traceback" not in run.output
    numbers = [number for rollout in run.trained().values() for number in rollout]
    assert sorted(numbers) == list(range(rollouts * GROUPS * SAMPLES))
    assert max(step["train/train_rollout_logprob_abs_diff_max"] for step in run.steps().values()) <= 1e-3


def test_a_rank_that_dies_ends_the_run_which_says_how_to_go_on(prepared, tmp_path):
    run = WholeRun(tmp_path, prepared, "--num-rollout", "20", "--save", str(tmp_path / "ckpt"), "--save-interval", "1")
    run.until_rollouts(2)
    run.until_in(RANK, "train")
    os.kill(run.find(RANK)[0], signal.SIGKILL)
    assert run.wait(60) == 1, run.output
    assert run.left_behind() == []
    _in_two_lines(run, "rank 0 of the trainer", "--load")
    assert int((tmp_path / "ckpt/latest_checkpointed_iteration.txt").read_text()) >= 1


def test_a_malformed_line_is_named_and_nothing_goes_on(prepared, tmp_path):
    lines = (prepared / "train.jsonl").read_text("utf-8").splitlines()
    lines[3] = '{"prompt": "12'
    (tmp_path / "bad.jsonl").write_text("\n".join(lines), "utf-8")
    run = WholeRun(tmp_path, prepared, "--num-rollout", "3", "--prompt-data", str(tmp_path / "bad.jsonl"))
    assert run.wait(90) == 1, run.output
    assert run.left_behind() == []
    _in_two_lines(run, "bad.jsonl:4", "mend or delete the line")


def test_ctrl_c_while_it_starts_ends_it_at_once(prepared, tmp_path):
    run = WholeRun(tmp_path, prepared, "--num-rollout", "3")
    run.until(lambda: run.find(ENGINE), "the engine's start")
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does it
    assert run.wait(60) == 128 + signal.SIGINT, run.output
    assert run.left_behind() == []
    assert "stopped by SIGINT" in run.output and "Traceback" not in run.output
    events = [json.loads(line) for line in (tmp_path / "log/events.jsonl").read_text("utf-8").splitlines()]
    assert [event["event"] for event in events] == ["stop"]


def _in_two_lines(run: WholeRun, *words: str) -> None:
    """The run's last words are an error of at most two lines, with these words."""
    assert "Traceback" not in run.output, run.output
    lines = run.output.splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("error: "))
    said = [line for line in lines[last:] if line.strip()]
    assert len(said) <= 3, run.output
    for word in words:
        assert word in "\n".join(said), run.output
