"""Generations that were aborted: counted by reason, generated again, and given up where that is in vain."""

import logging
from collections import Counter

import pytest
from engines import turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.errors import first_line
from vime.observability.abort_metrics import AbortCount
from vime.observability.rollout_metrics import compute_metrics_from_samples, rollout_figures
from vime.rollout.aborts import AbortedInVain
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.fully_async_rollout import _Place, generate_rollout_fully_async
from vime.rollout.groups import fresh, leaves, to_go_on
from vime.rollout.vllm_rollout import generate_rollout
from vime.utils.aborted import abort_reason, abort_sample
from vime.utils.async_utils import run as run_in_background
from vime.utils.types import Sample

attempts = Counter()
aborts = {}


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)
    attempts.clear()
    aborts.clear()


async def generate(args, sample, sampling_params):
    """Aborts as often as `aborts` says of the sample: (times, reason)."""
    attempts[sample.index] += 1
    times, reason = aborts.get(sample.index, (0, ""))
    if attempts[sample.index] <= times:
        abort_sample(sample, reason)
        return sample
    sample.tokens, sample.response, sample.response_length = [1, 2], "x", 1
    sample.rollout_log_probs, sample.status = [-0.1], Sample.Status.COMPLETED
    return sample


@pytest.fixture
def rollout(tmp_path):
    """The output of a rollout of four prompts with two answers each, and its arguments."""

    def run(function=generate_rollout, **more):
        with serving([turn("x")]) as server:
            own = {"custom_generate_function_path": f"{__name__}.generate", "rollout_request_attempts": 3, **more}
            args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **own)
            source = RolloutDataSourceWithBuffer(args)
            try:
                return function(args, 0, source), args
            finally:
                run_in_background(leave(source))

    return run


async def leave(source):
    """End what the fully-async rollout does in the background."""
    place = _Place(source)
    if place.worker:
        await place.leave()


def test_what_was_aborted_is_counted_by_reason_and_generated_again(rollout, caplog):
    aborts.update({0: (2, "no_logprobs"), 5: (1, "engine_abort")})
    with caplog.at_level(logging.WARNING):
        output, _ = rollout()
    assert all(sample.status is Sample.Status.COMPLETED for sample in leaves(output.samples))
    assert not any("abort_reason" in sample.metadata for sample in leaves(output.samples))
    # Three groups of two came once more, each with one that was aborted.
    wanted = {"aborted_ratio": 3 / 14, "aborted_ratio/no_logprobs": 2 / 14, "aborted_ratio/engine_abort": 1 / 14}
    assert {name: output.metrics[f"rollout/{name}"] for name in wanted} == pytest.approx(wanted)
    assert "2 of 14 generations were aborted (no_logprobs)" in caplog.text
    assert "--vllm-max-logprobs" in caplog.text


def test_the_fully_async_rollout_counts_them_too(rollout):
    aborts.update(dict.fromkeys(range(1000), (1, "no_logprobs")))
    output, _ = rollout(generate_rollout_fully_async)
    found = output.metrics["rollout/aborted_ratio"]
    assert 0 < found == output.metrics["rollout/aborted_ratio/no_logprobs"] < 1


def test_a_rollout_without_aborts_says_so(rollout):
    output, _ = rollout()
    assert {name: v for name, v in output.metrics.items() if "aborted" in name} == {"rollout/aborted_ratio": 0.0}


@pytest.mark.parametrize("function", [generate_rollout, generate_rollout_fully_async])
def test_what_is_aborted_in_vain_ends_the_rollout_with_the_likely_cause(rollout, function):
    aborts[3] = (99, "no_logprobs")
    with pytest.raises(
        AbortedInVain, match=r"group 1 was aborted 3 times \(no_logprobs\).*--vllm-max-logprobs"
    ) as failed:
        rollout()
    assert attempts[3] == 3 and first_line(failed.value)


def test_what_others_abort_is_generated_as_often_as_it_takes(rollout):
    aborts[3] = (20, "engine_abort")
    output, _ = rollout()
    assert (attempts[3], len(output.samples)) == (21, 4)


def test_the_logged_ratio_is_that_of_all_generations(rollout):
    aborts[0] = (1, "no_logprobs")
    output, args = rollout()
    args.custom_rollout_log_function_path = args.load_debug_rollout_data = args.log_reward_category = None
    args.log_multi_turn = args.log_passrate = args.log_correct_samples = False
    args.wandb_always_use_train_step = False
    figures = rollout_figures(0, args, leaves(output.samples), output.metrics, 1.0)
    assert figures["rollout/aborted_ratio"] == figures["rollout/aborted_ratio/no_logprobs"] == pytest.approx(0.1)


def test_of_the_samples_alone_it_is_their_share():
    samples = [Sample(index=i, group_index=0) for i in range(4)]
    abort_sample(samples[0], "engine_error")
    samples[1].status = Sample.Status.ABORTED
    args = options(log_reward_category=None)
    found = {k: v for k, v in compute_metrics_from_samples(args, samples).items() if "aborted" in k}
    assert found == {"aborted_ratio": 0.5, "aborted_ratio/engine_abort": 0.25, "aborted_ratio/engine_error": 0.25}
    assert AbortCount().ratios() == {}


@pytest.mark.parametrize("partial", [False, True])
def test_a_reason_is_of_one_attempt(partial):
    sample = Sample(index=1, metadata={"own": 1}, response="x")
    abort_sample(sample, "engine_error")
    (again,) = to_go_on([sample], [fresh(sample)], 0, partial)
    assert again.metadata["own"] == 1 and "abort_reason" not in again.metadata
    again.status = Sample.Status.PENDING
    assert abort_reason(again) is None
