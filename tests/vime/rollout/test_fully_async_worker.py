"""The worker by itself, in virtual time: what it begins, what goes back and how, and what ends it."""

import asyncio
import copy

import pytest
from async_world import Dry, World, leave, numbers, resumed, run_virtual, tell_version, worker_of
from rollout_world import options, tiny_model, write_prompts

from vime.rollout import fully_async_rollout
from vime.rollout.accounting import PromptsUnaccountedFor
from vime.rollout.collect import NoPrompts
from vime.rollout.data_source import RolloutDataSource, RolloutDataSourceWithBuffer
from vime.rollout.engine_call import GenerationFailed
from vime.rollout.fully_async.worker import AsyncRolloutWorker, Cancelled
from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.rollout.groups import leaves
from vime.rollout.vllm_rollout import GenerateState
from vime.utils.http_client import HttpConnectionError
from vime.utils.types import Sample

Status = Sample.Status
SCRIPTED = "async_world.scripted"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    tiny_model(monkeypatch)
    fully_async_rollout._Place.clear_instances()
    monkeypatch.setattr("vime.rollout.fully_async.versions.Versions.ask", tell_version)


@pytest.fixture
def world(tmp_path):
    def make(plans=((1.0, 3, "done"),), aborting=False, kind=RolloutDataSourceWithBuffer, **more):
        folder = str(tmp_path / "save")
        args = options(
            prompt_data=write_prompts(tmp_path / "p.jsonl"), save=folder, load=folder, world=World(plans, aborting),
            **{"custom_generate_function_path": SCRIPTED, "dynamic_sampling_filter_path": "async_world.keep", **more},
        )  # fmt: skip
        return args, kind(args), args.world

    return make


def test_what_is_aborted_goes_back_clean(world):
    args, source, engines = world(fully_async_max_staleness=0)

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


def test_what_is_aborted_goes_on_with_partial_rollout(world):
    args, source, engines = world(partial_rollout=True)

    async def scenario():
        call = asyncio.create_task(rollout(args, 7, source))
        await asyncio.sleep(1.5)
        engines.update(), engines.abort()
        output = await call
        await leave(source)
        return output

    for sample in leaves(run_virtual(scenario()).samples):
        assert (sample.weight_versions, sample.tokens) == (["1", "2"], [1, 2, 3, 3])
        assert sample.metadata["start_rollout_id"] == 7


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
def test_a_fan_out_that_is_aborted_in_part_begins_anew(world, partial):
    args, source, _ = world(
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


def test_a_group_that_is_too_old_is_not_trained_on(world):
    args, source, engines = world(fully_async_max_staleness=1, vllm_server_concurrency=8)

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


def test_a_slow_group_is_waited_for_before_it_is_too_old(world):
    args, source, engines = world([(0.1, 1, "done")] * 3 + [(5.0, 1, "done")], rollout_batch_size=2)

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


def test_a_partial_group_that_is_too_old_begins_anew(world):
    args, source, engines = world(partial_rollout=True)
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


def test_what_fails_between_two_calls_reaches_the_next_and_the_one_after_begins_anew(world):
    args, source, _ = world([(0.1, 1, "done")] * 4 + [(0.1, 1, "fail once")])

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
def test_other_engines_do_not_hide_what_was_not_their_fault(world, monkeypatch, error, raised):
    args, source, engines = world()

    async def fails(sample):
        raise error()

    async def scenario():
        await rollout(args, 0, source)
        monkeypatch.setattr(engines, "generate", fails)
        while not (await worker_of(source)).ended:
            await rollout_if_any(args, source)
        monkeypatch.undo()
        monkeypatch.setattr("vime.rollout.fully_async.versions.Versions.ask", tell_version)
        tiny_model(monkeypatch)
        renewed = copy.copy(args)
        if raised:
            with pytest.raises(ValueError, match="reward of the user"):
                await rollout(renewed, 1, source)
        output = await rollout(renewed, 1, source)
        assert (await worker_of(source)).args is renewed
        await leave(source)
        return output

    assert len(run_virtual(scenario()).samples) == 4


def test_where_the_engines_are_others_it_asks_those_and_keeps_what_is_finished(world):
    args, source, engines = world()

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


def test_who_is_cancelled_while_another_worker_ends_is_cancelled_when_it_has(world):
    args, source, _ = world(custom_generate_function_path=f"{__name__}.slow_to_end")

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


def test_a_generation_that_somebody_cancelled_is_an_error_and_no_hole(world):
    args, source, _ = world(custom_generate_function_path=f"{__name__}.cancels_itself")

    async def scenario():
        with pytest.raises(Cancelled, match="by none of this module"):
            await rollout(args, 0, source)
        source.check_balance()

    run_virtual(scenario())
    assert numbers(source.buffer) == list(range(source.sample_group_index))


def test_ended_while_nobody_waited_it_is_begun_again(world):
    args, source, _ = world()

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


def test_a_group_of_another_size_is_an_error(world, monkeypatch):
    args, source, _ = world()
    monkeypatch.setattr("vime.rollout.vllm_rollout.generate_and_rm_group", one_too_many)

    async def scenario():
        with pytest.raises(ValueError, match="came back with 3 samples"):
            await rollout(args, 0, source)

    run_virtual(scenario())
    source.check_balance()


def test_while_a_rollout_is_aborted_nothing_spins(world):
    args, source, _ = world(fully_async_max_staleness=0)

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


def test_a_rollout_is_not_aborted_because_the_last_one_was(world):
    args, source, _ = world(fully_async_max_staleness=0)

    async def scenario():
        GenerateState(args).aborted = True
        output = await asyncio.wait_for(rollout(args, 0, source), 60)
        await leave(source)
        return output.samples

    assert len(run_virtual(scenario())) == args.rollout_batch_size


def test_what_is_saved_meanwhile_holds_what_is_ready_and_what_runs(world):
    args, source, _ = world([(0.1, 2, "done")] + [(50.0, 2, "done")] * 3, fully_async_max_staleness=0)

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


def test_a_source_that_takes_nothing_back_counts_what_it_loses(world):
    args, source, engines = world(kind=RolloutDataSource)

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


def test_a_source_that_runs_dry_is_an_error_when_nothing_is_to_be_had(world):
    args, _, _ = world(n_samples_per_prompt=1)
    source = Dry(6)

    async def scenario():
        first = await rollout(args, 0, source)
        await asyncio.sleep(10)
        with pytest.raises(NoPrompts, match="rollout 1"):
            await rollout(args, 1, source)
        return first

    assert numbers(run_virtual(scenario()).samples) == [0, 1, 2, 3]
    assert numbers(source.groups) == [4, 5]


def test_what_went_back_as_stale_is_found_again_in_a_dry_source(world):
    args, _, engines = world(n_samples_per_prompt=1, fully_async_max_staleness=2)
    source = Dry(8)

    async def scenario():
        await rollout(args, 0, source)
        await asyncio.sleep(10)
        engines.version += 3
        output = await rollout(args, 1, source)
        await leave(source)
        return output

    assert numbers(run_virtual(scenario()).samples) == [4, 5, 6, 7]


class Leaky(RolloutDataSourceWithBuffer):
    """One that loses the third prompt."""

    def get_samples(self, num_samples):
        if self.sample_group_index == 2:
            super().get_samples(1)
        return super().get_samples(num_samples)


def test_a_prompt_that_is_missing_is_found(world):
    args, source, _ = world(kind=Leaky)

    async def scenario():
        with pytest.raises(PromptsUnaccountedFor, match="1 prompt"):
            await rollout(args, 0, source)

    run_virtual(scenario())


def test_prompts_that_a_source_gives_twice_are_found(world):
    args, _, _ = world(n_samples_per_prompt=1)
    source = Dry(4)
    source.groups[1] = [copy.copy(source.groups[0][0])]

    async def scenario():
        with pytest.raises(PromptsUnaccountedFor, match="issued twice"):
            await rollout(args, 0, source)

    run_virtual(scenario())


@pytest.mark.parametrize(("staleness", "concurrency", "batch"), [(1, 3, 4), (3, 2, 2), (8, 5, 4)])
def test_neither_too_many_run_nor_are_too_many_ready(world, staleness, concurrency, batch):
    args, source, engines = world(
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


def test_upstream_s_methods(world):
    args, source, _ = world(rollout_batch_size=4)
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


seen: list = []


def mark_first(args, groups):
    groups[0][0].remove_sample = True


def look(args, all_groups, data_source):
    seen.append((numbers(all_groups), data_source))


def refuse(args, groups):
    raise ValueError("a hook of the user's fails")


async def told(args, sample, *, rollout_id):
    sample.metadata["rollout"] = rollout_id


def test_hooks_see_what_they_should(world):
    seen.clear()
    args, source, _ = world(
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


def test_a_hook_that_fails_at_the_end_costs_no_prompt(world):
    args, source, _ = world(rollout_sample_filter_path=f"{__name__}.refuse")

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


def test_the_reward_of_a_group_waits_for_all_of_it(world):
    args, source, engines = world(
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
