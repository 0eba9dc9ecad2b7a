"""What ends the fully-async worker, in virtual time, and how: every prompt is back, and who asks is told why."""

import asyncio
import copy

import pytest
from async_world import Dry, World, leave, numbers, run_virtual, worker_of

from vime.rollout.accounting import PromptsUnaccountedFor
from vime.rollout.collect import NoPrompts
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.engine_call import GenerationFailed
from vime.rollout.fully_async.worker import AsyncRolloutWorker, Cancelled
from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.utils.http_client import HttpConnectionError


def test_what_fails_between_two_calls_reaches_the_next_and_the_one_after_begins_anew(virtual_world):
    args, source, _ = virtual_world([(0.1, 1, "done")] * 4 + [(0.1, 1, "fail once")])

    async def scenario():
        first = await rollout(args, 0, source)
        await asyncio.sleep(5)
        source.check_balance()
        with pytest.raises(RuntimeError, match="tool fell over"):
            await rollout(args, 1, source)
        second = await rollout(args, 1, source)
        await leave(source)
        return numbers(first.samples) + numbers(second.samples)

    assert len(set(run_virtual(scenario()))) == 8
    source.check_balance()


def dead(*_):
    return GenerationFailed(0, 1, 1.0, HttpConnectionError("gone", "http://e"))


def broken(*_):
    return ValueError("a reward of the user's")


@pytest.mark.parametrize(("error", "raised"), [(dead, False), (broken, True)])
def test_other_engines_do_not_hide_what_was_not_their_fault(virtual_world, error, raised):
    args, source, engines = virtual_world()

    async def fails(sample):
        raise error()

    async def scenario():
        await rollout(args, 0, source)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "generate", fails)
            while not (await worker_of(source)).ended:
                await rollout_if_any(args, source)
        renewed = copy.copy(args)
        if raised:
            with pytest.raises(ValueError, match="reward of the user"):
                await rollout(renewed, 1, source)
        output = await rollout(renewed, 1, source)
        assert (await worker_of(source)).args is renewed
        await leave(source)
        return output

    assert len(run_virtual(scenario()).samples) == 4


def test_where_the_engines_are_others_it_asks_those_and_keeps_what_is_finished(virtual_world):
    args, source, engines = virtual_world()

    async def scenario():
        first = await rollout(args, 0, source)
        await asyncio.sleep(10)
        renewed = copy.copy(args)
        renewed.world = World([(1.0, 3, "done")], aborting=False)
        second = await rollout(renewed, 1, source)
        assert (await worker_of(source)).args is renewed and engines.running == 0
        await asyncio.sleep(0.1)
        assert renewed.world.running == 8
        await leave(source)
        return numbers(first.samples), numbers(second.samples)

    assert run_virtual(scenario()) == ([0, 1, 2, 3], [4, 5, 6, 7])


async def rollout_if_any(args, source):
    """Let the worker begin something new."""
    worker = await worker_of(source)
    worker.get_completed_groups()
    await asyncio.sleep(1)


async def slow_to_end(args, sample, sampling_params):
    try:
        await asyncio.sleep(30)
    finally:
        await asyncio.sleep(1)


def test_who_is_cancelled_while_another_worker_ends_is_cancelled_when_it_has(virtual_world):
    args, source, _ = virtual_world(custom_generate_function_path=f"{__name__}.slow_to_end")

    async def scenario():
        worker = AsyncRolloutWorker(args, source)
        worker.start()
        await asyncio.sleep(1)
        closing = asyncio.create_task(worker.close())
        await asyncio.sleep(0.1)
        closing.cancel()
        await asyncio.wait([closing])
        assert closing.cancelled() and worker.ended
        source.check_balance()

    run_virtual(scenario())


async def cancels_itself(args, sample, sampling_params):
    await asyncio.sleep(1)
    raise asyncio.CancelledError


def test_a_generation_that_somebody_cancelled_is_an_error_and_no_hole(virtual_world):
    args, source, _ = virtual_world(custom_generate_function_path=f"{__name__}.cancels_itself")

    async def scenario():
        with pytest.raises(Cancelled, match="by none of this module"):
            await rollout(args, 0, source)
        source.check_balance()

    run_virtual(scenario())
    assert numbers(source.buffer) == list(range(source.sample_group_index))


def test_ended_while_nobody_waited_it_is_begun_again(virtual_world):
    args, source, _ = virtual_world()

    async def scenario():
        first = await rollout(args, 0, source)
        (await worker_of(source))._task.cancel()
        await asyncio.sleep(0.1)
        source.check_balance()
        second = await rollout(args, 1, source)
        await leave(source)
        return numbers(first.samples) + numbers(second.samples)

    assert run_virtual(scenario()) == list(range(8))


async def one_too_many(args, group, sampling_params, evaluation):
    return [*group, group[0]]


def test_a_group_of_another_size_is_an_error(virtual_world, monkeypatch):
    args, source, _ = virtual_world()
    monkeypatch.setattr("vime.rollout.vllm_rollout.generate_and_rm_group", one_too_many)

    async def scenario():
        with pytest.raises(ValueError, match="came back with 3 samples"):
            await rollout(args, 0, source)

    run_virtual(scenario())
    source.check_balance()


def test_a_source_that_runs_dry_is_an_error_when_nothing_is_to_be_had(virtual_world):
    args, _, _ = virtual_world(n_samples_per_prompt=1)
    source = Dry(6)

    async def scenario():
        first = await rollout(args, 0, source)
        await asyncio.sleep(10)
        with pytest.raises(NoPrompts, match="rollout 1"):
            await rollout(args, 1, source)
        return first

    assert numbers(run_virtual(scenario()).samples) == [0, 1, 2, 3]
    assert numbers(source.groups) == [4, 5]


class Leaky(RolloutDataSourceWithBuffer):
    """One that loses the third prompt."""

    def get_samples(self, num_samples):
        if self.sample_group_index == 2:
            super().get_samples(1)
        return super().get_samples(num_samples)


def test_a_prompt_that_is_missing_is_found(virtual_world):
    args, source, _ = virtual_world(kind=Leaky)

    async def scenario():
        with pytest.raises(PromptsUnaccountedFor, match="1 prompt"):
            await rollout(args, 0, source)

    run_virtual(scenario())


def test_prompts_that_a_source_gives_twice_are_found(virtual_world):
    args, _, _ = virtual_world(n_samples_per_prompt=1)
    source = Dry(4)
    source.groups[1] = [copy.copy(source.groups[0][0])]

    async def scenario():
        with pytest.raises(PromptsUnaccountedFor, match="issued twice"):
            await rollout(args, 0, source)

    run_virtual(scenario())
