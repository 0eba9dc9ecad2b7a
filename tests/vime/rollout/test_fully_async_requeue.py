"""What the fully-async worker gives back, in virtual time: clean or partial, too old, saved meanwhile, lost and counted."""

import asyncio
import copy

import pytest
from async_world import Dry, leave, numbers, resumed, run_virtual

from vime.rollout.data_source import RolloutDataSource
from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.rollout.groups import leaves
from vime.rollout.vllm_rollout import GenerateState
from vime.utils.types import Sample

Status = Sample.Status


def test_what_is_aborted_goes_back_clean(virtual_world):
    args, source, engines = virtual_world(fully_async_max_staleness=0)

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(1.5)
        engines.abort()
        output = await call
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert output.metrics["rollout/fully_async/aborted_requeued"] == 4
    assert output.metrics["rollout/prompts_issued"] == output.metrics["rollout/prompts_trained"] == 4
    for sample in leaves(output.samples):
        assert (sample.weight_versions, sample.response_length) == (["1"], 3)
    source.check_balance()


@pytest.mark.parametrize(("masked", "mask"), [(False, [1, 1, 1]), (True, [0, 1, 1])])
def test_what_is_aborted_goes_on_with_partial_rollout(virtual_world, masked, mask):
    args, source, engines = virtual_world(partial_rollout=True, mask_offpolicy_in_partial_rollout=masked)

    async def scenario():
        call = asyncio.create_task(rollout(args, 7, source))
        await asyncio.sleep(1.5)
        engines.update(), engines.abort()
        output = await call
        await leave(source)
        return output

    for sample in leaves(run_virtual(scenario()).samples):
        assert (sample.weight_versions, sample.tokens) == (["1", "2"], [1, 2, 3, 3])
        assert sample.loss_mask == mask and sample.metadata["start_rollout_id"] == 7


async def half_aborted(args, sample, sampling_params):
    """A fan-out of which a part is aborted, once."""
    await asyncio.sleep(1)
    other = copy.copy(sample)
    for one in (sample, other):
        one.append_response_tokens(tokens=[2], log_probs=[-0.5])
        one.status, one.reward = Status.COMPLETED, 1.0
    if sample.index not in args.world.failed:
        args.world.failed.add(sample.index)
        other.status = Status.ABORTED
    return [sample, other]


@pytest.mark.parametrize("partial", [False, True])
def test_a_fan_out_that_is_aborted_in_part_begins_anew(virtual_world, partial):
    args, source, _ = virtual_world(
        custom_generate_function_path=f"{__name__}.half_aborted", partial_rollout=partial, fully_async_max_staleness=0
    )

    async def scenario():
        output = await rollout(args, 0, source)
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert [len(item) for group in output.samples for item in group] == [2] * 8
    for sample in leaves(output.samples):
        assert sample.response_length == 1 and sample.rollout_id == sample.index
    assert output.metrics["rollout/fully_async/aborted_requeued"] == 4
    source.check_balance()


def test_a_group_that_is_too_old_is_not_trained_on(virtual_world):
    args, source, engines = virtual_world(fully_async_max_staleness=1, vllm_server_concurrency=8)

    async def scenario():
        await rollout(args, 0, source)
        await asyncio.sleep(10)
        engines.update(), engines.update()
        output = await rollout(args, 1, source)
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert output.metrics["rollout/fully_async/stale_requeued"] == 4
    assert output.metrics["rollout/fully_async/staleness_max"] == 0
    assert {version for sample in leaves(output.samples) for version in sample.weight_versions} == {"3"}
    # They went back, and come first.
    source.check_balance()
    assert set(range(4, 8)) <= set(numbers(output.samples) + numbers(source.buffer))


def test_a_slow_group_is_waited_for_before_it_is_too_old(virtual_world):
    args, source, engines = virtual_world([(0.1, 1, "done")] * 3 + [(5.0, 1, "done")], rollout_batch_size=2)

    async def scenario():
        found = []
        for number in range(3):
            output = await rollout(args, number, source)
            engines.update()
            found.append(numbers(output.samples))
            assert output.metrics["rollout/fully_async/stale_requeued"] == 0
        await leave(source)
        return found

    assert run_virtual(scenario())[:2] == [[0, 1], [2, 3]]


def test_a_partial_group_that_is_too_old_begins_anew(virtual_world):
    args, source, engines = virtual_world(partial_rollout=True)
    (group,) = source.get_samples(1)
    for sample in group:
        sample.append_response_tokens(tokens=[2], log_probs=[-0.5], text="x")
        sample.weight_versions, sample.status = ["1"], Status.ABORTED
    source.add_samples([group])
    engines.version = 5

    async def scenario():
        output = await rollout(args, 0, source)
        assert asyncio.get_running_loop().time() <= 3.1, "it was gone on with first"
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert {sample.weight_versions[0] for sample in leaves(output.samples)} == {"5"}
    assert output.metrics["rollout/fully_async/stale_requeued"] == 1


def test_while_a_rollout_is_aborted_nothing_spins(virtual_world):
    args, source, _ = virtual_world(fully_async_max_staleness=0)

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(0.5)
        GenerateState(args).aborted = True
        await asyncio.sleep(10)
        begun = GenerateState(args)
        begun.aborted = False
        output = await call
        await leave(source)
        return output.metrics["rollout/fully_async/aborted_requeued"]

    assert 0 < run_virtual(scenario()) <= 4 * 10 / 0.05


def test_a_rollout_is_not_aborted_because_the_last_one_was(virtual_world):
    args, source, _ = virtual_world(fully_async_max_staleness=0)

    async def scenario():
        GenerateState(args).aborted = True
        output = await asyncio.wait_for(rollout(args, 0, source), 60)
        await leave(source)
        return output.samples

    assert len(run_virtual(scenario())) == args.rollout_batch_size


def test_what_is_saved_meanwhile_holds_what_is_ready_and_what_runs(virtual_world):
    args, source, _ = virtual_world([(0.1, 2, "done")] + [(50.0, 2, "done")] * 3, fully_async_max_staleness=0)

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(5)
        again = resumed(source, args, 0)
        call.cancel()
        await asyncio.wait([call])
        return again

    again = run_virtual(scenario())
    again.check_balance()
    assert numbers(again.buffer) == list(range(again.sample_group_index)) == numbers(source.buffer)
    for number, group in enumerate(again.buffer):
        ready = number == 0
        assert {sample.status for sample in group} == {Status.COMPLETED if ready else Status.PENDING}
        assert {sample.response_length for sample in group} == {2 if ready else 0}


def test_a_source_that_takes_nothing_back_counts_what_it_loses(virtual_world):
    args, source, engines = virtual_world(kind=RolloutDataSource)

    async def scenario():
        call = asyncio.create_task(rollout(args, 0, source))
        await asyncio.sleep(1.5)
        engines.abort()
        again = resumed(source, args, 0, RolloutDataSource)
        again.check_balance()
        output = await call
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert output.metrics["rollout/prompts_dropped/not_taken_back"] == 4
    source.check_balance()


def test_what_went_back_as_stale_is_found_again_in_a_dry_source(virtual_world):
    args, _, engines = virtual_world(n_samples_per_prompt=1, fully_async_max_staleness=2)
    source = Dry(8)

    async def scenario():
        await rollout(args, 0, source)
        await asyncio.sleep(10)
        engines.version += 3
        output = await rollout(args, 1, source)
        await leave(source)
        return output

    assert numbers(run_virtual(scenario()).samples) == [4, 5, 6, 7]
