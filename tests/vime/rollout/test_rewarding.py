"""Rewards under a deadline: what hangs, raises or is no number."""

import asyncio
import math
import time

import pytest
from rollout_world import options

from vime.rollout.hooks import HookInvalid
from vime.rollout.rewarding import RewardFailed, RewardInvalid, RewardRunner
from vime.rollout.rm_hub import RewardTypeRefused, async_rm, batched_async_rm
from vime.utils.types import Sample

calls: list[int] = []


@pytest.fixture(autouse=True)
def forget():
    calls.clear()
    RewardRunner.clear_instances()


async def by_metadata(args, sample, **_):
    """What a sample's metadata says its reward does."""
    calls.append(sample.index)
    what = sample.metadata.get("reward", 1.0)
    if what == "raise":
        raise RuntimeError("judge fell over")
    if what == "hang":
        await asyncio.sleep(60)
    if what == "block":
        time.sleep(2.5)
    if what == "second time" and calls.count(sample.index) == 1:
        raise RuntimeError("not yet")
    return 1.0 if isinstance(what, str) else what


def plain(args, sample, **_):
    return float(len(sample.response))


async def late_first(args, samples, **_):
    return [sample.metadata["reward"] for sample in samples]


def rewarded(*what, path="by_metadata", **more):
    """(samples after their rewards, failures, seconds); rewarded one by one, at once."""
    args = options(custom_rm_path=f"{__name__}.{path}", **more)
    samples = [Sample(index=i, group_index=7, metadata={"reward": one}) for i, one in enumerate(what)]

    async def go():
        began = time.monotonic()
        runner = RewardRunner(args)
        await asyncio.gather(*(runner.reward_one(args, sample) for sample in samples))
        return samples, dict(runner.failures), time.monotonic() - began

    return asyncio.run(go())


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, [1.0], 1j])
def test_what_is_no_number_is_an_error_that_names_the_sample(bad):
    with pytest.raises(RewardInvalid, match=r"sample 1 \(prompt 7\)") as raised:
        rewarded(0.5, bad)
    assert raised.value.sample_index == 1


def test_a_text_is_no_number():
    args = options(rm_type="exact_match", custom_rm_path=f"{__name__}.text")
    with pytest.raises(RewardInvalid, match="'1' is no finite number"):
        asyncio.run(RewardRunner(args).reward_one(args, Sample(index=3)))


async def text(args, sample, **_):
    return "1"


def test_a_failure_is_tried_again():
    samples, failures, _ = rewarded("second time", rm_retries=1)
    assert samples[0].reward == 1.0 and failures == {"reward_error": 1}


def test_a_failure_is_raised_with_its_cause_when_tries_are_used_up():
    with pytest.raises(RewardFailed, match=r"judge fell over.*--rm-on-failure") as raised:
        rewarded("raise", rm_retries=2)
    assert isinstance(raised.value.__cause__, RuntimeError) and len(calls) == 3


@pytest.mark.parametrize(("policy", "removed"), [("zero", False), ("drop", True)])
def test_a_run_can_go_on_without_a_reward(policy, removed):
    samples, failures, _ = rewarded("raise", 0.5, rm_on_failure=policy)
    assert [sample.reward for sample in samples] == [0.0, 0.5]
    assert [sample.remove_sample for sample in samples] == [removed, False]
    assert failures == {"reward_error": 1, "reward_failed": 1}


def test_a_reward_that_hangs_is_given_up_and_holds_up_nobody():
    samples, failures, seconds = rewarded("hang", 0.5, rm_timeout=0.3, rm_on_failure="zero")
    assert [sample.reward for sample in samples] == [0.0, 0.5]
    assert failures["reward_timeout"] == 1 and seconds < 2


def test_a_reward_that_blocks_neither_stops_the_loop_nor_the_others():
    args = options(custom_rm_path=f"{__name__}.by_metadata", rm_timeout=0.4, rm_on_failure="zero")
    samples = [Sample(index=i, metadata={"reward": one}) for i, one in enumerate(["block", *[0.5] * 20])]

    async def go():
        worst, running = 0.0, True

        async def watch():
            nonlocal worst
            while running:
                began = time.monotonic()
                await asyncio.sleep(0.01)
                worst = max(worst, time.monotonic() - began - 0.01)

        watching = asyncio.create_task(watch())
        runner = RewardRunner(args)
        await asyncio.gather(*(runner.reward_one(args, sample) for sample in samples))
        running = False
        await watching
        return worst

    assert asyncio.run(go()) < 0.3
    assert [sample.reward for sample in samples] == [0.0] + [0.5] * 20


def test_a_function_that_is_not_asynchronous_is_called_too():
    args = options(custom_rm_path=f"{__name__}.plain")
    sample = Sample(response="abc")
    asyncio.run(RewardRunner(args).reward_one(args, sample))
    assert sample.reward == 3.0


def test_a_groups_rewards_keep_their_order_and_their_number():
    args = options(custom_rm_path=f"{__name__}.late_first")
    samples = [Sample(index=i, metadata={"reward": float(i)}) for i in range(5)]
    asyncio.run(RewardRunner(args).reward_group(args, samples))
    assert [sample.reward for sample in samples] == [0.0, 1.0, 2.0, 3.0, 4.0]
    short = options(custom_rm_path=f"{__name__}.too_few")
    with pytest.raises(RewardInvalid, match="1 rewards for 5 samples"):
        asyncio.run(RewardRunner(short).reward_group(short, samples))


async def too_few(args, samples, **_):
    return [1.0]


async def graded(args, sample, **_):
    return {"score": 0.25, "note": "x"}


def test_the_entry_that_is_trained_on_must_be_a_number():
    sample = Sample(index=1)
    args = options(custom_rm_path=f"{__name__}.graded", reward_key="score")
    asyncio.run(RewardRunner(args).reward_one(args, sample))
    assert sample.get_reward_value(args) == 0.25
    for key, message in (("note", "'x' is no finite number"), ("absent", "it has score, note")):
        args = options(custom_rm_path=f"{__name__}.graded", reward_key=key)
        with pytest.raises(RewardInvalid, match=message):
            asyncio.run(RewardRunner(args).reward_one(args, sample))


def test_a_samples_own_function_comes_first():
    args = options(custom_rm_path=f"{__name__}.by_metadata")
    assert asyncio.run(async_rm(args, Sample(response="ab", custom_rm_path=f"{__name__}.plain"))) == 2.0


@pytest.mark.parametrize("kind", ["ifbench", "nonsense", ""])
def test_a_type_that_there_is_not_says_what_there_is(kind):
    args = options(rm_type=kind)
    with pytest.raises(RewardTypeRefused, match="--custom-rm-path"):
        asyncio.run(RewardRunner(args).reward_one(args, Sample()))


def test_types_by_name_and_by_a_samples_metadata():
    args = options(rm_type="exact_match")
    samples = [
        Sample(response=" 321<|im_end|>\n", label="321"),
        Sample(response="321 ", label=321),
        Sample(response="32", label="321"),
        Sample(response="the cat", label="cat", metadata={"rm_type": "f1"}),
        Sample(response=r"so \boxed{B}", label="B", metadata={"rm_type": "boxed_exact_match"}),
        Sample(response="Answer: 7", label="7", metadata={"rm_type": "dapo"}),
    ]
    rewards = asyncio.run(batched_async_rm(args, samples))
    assert rewards == [1.0, 1.0, 0.0, 1.0, 1.0, {"score": 1.0, "acc": True, "pred": "7"}]


def test_a_function_that_is_not_there_stops_the_run_whatever_the_policy():
    args = options(custom_rm_path=f"{__name__}.absent", rm_on_failure="zero", rm_retries=3)
    with pytest.raises(HookInvalid, match="has no 'absent'"):
        asyncio.run(RewardRunner(args).reward_one(args, Sample()))
