"""The fully-async worker by itself, in virtual time: what it begins, what it hands over, and what the user's functions see."""

import asyncio

import pytest
from async_world import leave, numbers, run_virtual

from vime.rollout.fully_async.worker import AsyncRolloutWorker
from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.rollout.groups import leaves
from vime.utils.types import Sample

Status = Sample.Status


@pytest.mark.parametrize(("staleness", "concurrency", "batch"), [(1, 3, 4), (3, 2, 2), (8, 5, 4)])
def test_neither_too_many_run_nor_are_too_many_ready(virtual_world, staleness, concurrency, batch):
    args, source, engines = virtual_world(
        [(0.1, 1, "done"), (2.0, 1, "done")],
        rollout_batch_size=batch,
        fully_async_max_staleness=staleness,
        vllm_server_concurrency=64,
    )

    async def scenario():
        worker = AsyncRolloutWorker(args, source, concurrency=concurrency)
        worker.start()
        most = running = 0
        for number in range(6):
            await worker.collect(number)
            for _ in range(100):
                await asyncio.sleep(0.1)
                most, running = max(most, worker.queue_size()), max(running, engines.running)
        await worker.close()
        return most, running

    most, running = run_virtual(scenario())
    assert running == 2 * concurrency
    # A gate lets through what runs already.
    assert min(staleness * batch, concurrency) <= most <= min(staleness * batch, 2 * concurrency - 1)


def test_upstream_s_methods(virtual_world):
    args, source, _ = virtual_world(rollout_batch_size=4)
    worker = AsyncRolloutWorker(args, source)
    assert worker.concurrency == 10 and worker.queue_size() == 0 and worker.get_completed_groups() == []

    async def scenario():
        worker.start(), worker.start()
        await asyncio.sleep(10)
        assert worker.queue_size() == 4
        first = worker.get_completed_groups(limit=3)
        assert len(first) == 3 and worker.queue_size() == 1
        rest = worker.get_completed_groups()
        assert [number for number, _ in first + rest] == [0, 1, 2, 3] and worker.queue_size() == 0
        assert all(leaves(group)[0].group_index == number for number, group in first + rest)
        worker.stop()
        await worker.close()

    run_virtual(scenario())
    source.check_balance()
    assert source.settled["trained"] == 4


def test_each_engine_adds_to_the_requests_that_run_at_once(virtual_world):
    engines_of_two = {"rollout_num_gpus": 6, "rollout_num_gpus_per_engine": 2}
    args, source, engines = virtual_world(vllm_server_concurrency=2, fully_async_max_staleness=9, **engines_of_two)

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(0.5)
        running = engines.running
        await call
        await leave(source)
        return running

    assert run_virtual(scenario()) == 2 * 3, "requests"


seen: list = []


def mark_first(args, groups):
    groups[0][0].remove_sample = True


def look(args, all_groups, data_source):
    seen.append((numbers(all_groups), data_source))


def refuse(args, groups):
    raise ValueError("a hook of the user's fails")


async def told(args, sample, *, rollout_id):
    sample.metadata["rollout"] = rollout_id


def test_hooks_see_what_they_should(virtual_world):
    seen.clear()
    args, source, _ = virtual_world(
        [(0.1, 1, "done"), (0.1, 1, "drop")],
        rollout_sample_filter_path=f"{__name__}.mark_first",
        rollout_all_samples_process_path=f"{__name__}.look",
        rollout_sample_hook_path=(f"{__name__}.told",),
    )

    async def scenario():
        output = await rollout(args, 3, source)
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert numbers(output.samples) == [0, 2, 4, 6]
    assert [sample.remove_sample for sample in leaves(output.samples)] == [True] + [False] * 7
    assert {sample.metadata["rollout"] for sample in leaves(output.samples)} == {3}
    ((looked, who),) = seen
    assert set(looked) >= {0, 1, 2, 3, 4, 5, 6} and who is source
    assert output.metrics["rollout/prompts_dropped/plan"] == output.metrics["rollout/dynamic_filter/drop_plan"] >= 3


def test_a_hook_that_fails_at_the_end_costs_no_prompt(virtual_world):
    args, source, _ = virtual_world(rollout_sample_filter_path=f"{__name__}.refuse")

    async def scenario():
        with pytest.raises(ValueError, match="a hook of the user's"):
            await rollout(args, 0, source)

    run_virtual(scenario())
    source.check_balance()
    assert numbers(source.buffer) == list(range(source.sample_group_index)) and source.settled["trained"] == 0


async def rewarded_together(args, samples, **_):
    assert all(sample.status is Status.COMPLETED for sample in samples)
    return [1.0] * len(samples)


async def unrewarded(args, sample, sampling_params):
    done = await args.world.generate(sample)
    done.reward = None
    return done


def test_the_reward_of_a_group_waits_for_all_of_it(virtual_world):
    args, source, engines = virtual_world(
        group_rm=True,
        custom_rm_path=f"{__name__}.rewarded_together",
        custom_generate_function_path=f"{__name__}.unrewarded",
        dynamic_sampling_filter_path=None,
    )

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(0.3)
        engines.abort()
        return await call

    # Functions of the user's run in a thread, which virtual time does not wait for.
    async def real():
        output = await scenario()
        await leave(source)
        return output

    engines.plans = [(0.2, 3, "done")]
    output = asyncio.run(real())
    assert output.metrics["rollout/fully_async/aborted_requeued"] > 0
    assert {sample.reward for sample in leaves(output.samples)} == {1.0}
