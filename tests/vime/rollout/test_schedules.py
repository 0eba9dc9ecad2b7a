"""Whole rollouts under drawn schedules: whatever is late, fails, is aborted or fans out, no prompt is lost."""

import asyncio
import copy

import pytest
from engines import Faults, turn
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout.data_source import RolloutDataSource, RolloutDataSourceWithBuffer
from vime.rollout.filter_hub.base_types import DynamicFilterOutput
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.rollout.vllm_rollout import GenerateState, generate_rollout
from vime.utils.types import Sample

PLANS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["done", "done", "fan out", "fail once", "drop", "stopped"])),
    min_size=1,
    max_size=8,
)
failed: set[int] = set()
stopped: set[int] = set()


async def scripted(args, sample, sampling_params):
    """Tokens one by one, as many as the plan of its prompt says, until it is aborted."""
    steps, what = args.plans[sample.group_index % len(args.plans)]
    sample.tokens = sample.tokens or [1]
    while sample.response_length <= steps:
        await asyncio.sleep(0.001)
        if GenerateState(args).aborted or (what == "stopped" and sample.index not in stopped):
            stopped.add(sample.index)
            sample.status = Sample.Status.ABORTED
            return sample
        sample.append_response_tokens(tokens=[2], log_probs=[-0.5], text="x")
    if what == "fail once" and sample.index not in failed:
        failed.add(sample.index)
        raise RuntimeError("tool fell over")
    sample.status = Sample.Status.COMPLETED
    sample.reward = float(sample.index % 3)
    return [sample, copy.copy(sample)] if what == "fan out" else sample


def keep(args, samples, **_):
    _, what = args.plans[leaves(samples)[0].group_index % len(args.plans)]
    return DynamicFilterOutput(keep=what != "drop" or leaves(samples)[0].group_index >= 40, reason="plan")


@pytest.fixture(scope="module")
def engine():
    with serving([turn("x")]) as server:
        yield server


@settings(max_examples=50, deadline=None)
@given(plans=PLANS, partial=st.booleans(), over=st.integers(3, 7), rounds=st.integers(1, 4))
def test_every_prompt_is_accounted_for(tmp_path_factory, engine, plans, partial, over, rounds):
    failed.clear(), stopped.clear()
    args = options(
        vllm_router_port=engine.port,
        prompt_data=write_prompts(tmp_path_factory.mktemp("d") / "p.jsonl", 7),
        custom_generate_function_path=f"{__name__}.scripted",
        dynamic_sampling_filter_path=f"{__name__}.keep",
        rollout_batch_size=3,
        over_sampling_batch_size=over,
        partial_rollout=partial,
        plans=plans,
    )
    trained: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        tiny_model(patch)
        source = RolloutDataSourceWithBuffer(args)
        for number in range(rounds):
            try:
                output = generate_rollout(args, number, source)
            except RuntimeError as error:
                assert str(error) == "tool fell over"
                source.check_balance()
                continue
            batch = convert_samples_to_train_data(args, output.samples)
            assert len({len(column) for column in batch.values()}) == 1
            for mask, logs, length in zip(
                batch["loss_masks"], batch["rollout_log_probs"], batch["response_lengths"], strict=True
            ):
                assert len(mask) == len(logs) == length
            assert [len(group) for group in output.samples] == [2, 2, 2]
            trained += [leaves(group)[0].group_index for group in output.samples]
    assert len(trained) == len(set(trained)) == source.settled["trained"]
    waiting = [leaves(group)[0].group_index for group in source.buffer]
    assert len(waiting) == len(set(waiting)) and not set(waiting) & set(trained)
    assert len(trained) + len(waiting) + source.settled.get("plan", 0) == source.sample_group_index
    if not partial:
        assert all(not sample.response for sample in leaves(source.buffer))


def rollout(tmp_path, script, *, faults=None, times=1, kind=RolloutDataSourceWithBuffer, **more):
    """(outputs, source, server) of rollouts one after the other."""
    with serving(script, faults) as server, pytest.MonkeyPatch.context() as patch:
        tiny_model(patch)
        args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **more)
        source = kind(args)
        outputs = [generate_rollout(args, number, source) for number in range(times)]
        assert server.engine.violations == []
        return outputs, source, server


async def second_hangs(args, sample, sampling_params):
    if sample.group_index == 1:
        raise RuntimeError("tool fell over")
    await asyncio.sleep(30)


def test_a_failure_is_raised_at_once_and_everything_goes_back(tmp_path):
    with serving([turn("x")]) as server, pytest.MonkeyPatch.context() as patch:
        tiny_model(patch)
        args = options(
            vllm_router_port=server.port,
            prompt_data=write_prompts(tmp_path / "p.jsonl"),
            custom_generate_function_path=f"{__name__}.second_hangs",
        )
        source = RolloutDataSourceWithBuffer(args)
        with pytest.raises(RuntimeError, match="tool fell over"):
            generate_rollout(args, 0, source)
        assert [group[0].group_index for group in source.buffer] == [0, 1, 2, 3]
        assert {sample.status for sample in leaves(source.buffer)} == {Sample.Status.PENDING}


def test_partial_samples_go_on_where_they_were(tmp_path):
    (first, second), source, _ = rollout(
        tmp_path, [turn("x" * 40)], faults=Faults(pace=0.004), times=2, rollout_batch_size=1, rollout_max_response_len=64,
        over_sampling_batch_size=3, partial_rollout=True, mask_offpolicy_in_partial_rollout=True, vllm_server_concurrency=2,
    )  # fmt: skip
    assert first.metrics["rollout/prompts_buffered"] == 2
    samples = leaves(second.samples) + leaves(source.buffer)
    for sample in samples:
        masked = sample.loss_mask or []
        assert len(masked) == sample.response_length == len(sample.rollout_log_probs or [])
    assert all(sample.metadata.get("start_rollout_id", 0) in (0, 1) for sample in samples)


def test_a_source_that_takes_nothing_back(tmp_path):
    outputs, _, _ = rollout(
        tmp_path, [turn("x" * 8)], faults=Faults(pace=0.003), over_sampling_batch_size=6, kind=RolloutDataSource
    )
    metrics = outputs[0].metrics
    assert metrics["rollout/prompts_dropped/not_taken_back"] == metrics["rollout/prompts_dropped"] == 2


seen: list = []


def mark_first(args, groups):
    groups[0][0].remove_sample = True


def look(args, all_groups, data_source):
    seen.append((len(all_groups), type(data_source).__name__))


async def shout(args, sample, *, rollout_id):
    sample.metadata["rollout"] = rollout_id
    sample.response = sample.response.upper()


def test_hooks_see_what_they_should(tmp_path):
    seen.clear()
    outputs, _, _ = rollout(
        tmp_path,
        [turn("ok")],
        rollout_sample_filter_path=f"{__name__}.mark_first",
        rollout_all_samples_process_path=f"{__name__}.look",
        rollout_sample_hook_path=(f"{__name__}.shout",),
    )
    samples = leaves(outputs[0].samples)
    assert [sample.remove_sample for sample in samples] == [True] + [False] * 7
    assert {sample.response for sample in samples} == {"OK"} and {s.metadata["rollout"] for s in samples} == {0}
    assert seen == [(4, "RolloutDataSourceWithBuffer")]


def test_a_prompt_without_any_reward_is_dropped(tmp_path):
    outputs, _, _ = rollout(
        tmp_path,
        [turn("ok")],
        custom_rm_path=f"{__name__}.for_odd_prompts",
        rm_on_failure="drop",
        over_sampling_batch_size=8,
    )
    assert {leaves(group)[0].group_index % 2 for group in outputs[0].samples} == {1}
    metrics = outputs[0].metrics
    assert metrics["rollout/prompts_dropped/reward_failed"] >= 1 and metrics["rollout/reward_failed"] >= 2


async def for_odd_prompts(args, sample, **_):
    if sample.group_index % 2 == 0:
        raise RuntimeError("judge fell over")
    return 1.0
