"""The fully-async rollout: what a rollout takes and what it leaves, what comes back, and how it ends."""

import argparse
import asyncio
import gc
import threading
import time
from concurrent.futures import CancelledError

import pytest
from aiohttp import web
from engines import Faults, VllmServer, turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout import fully_async_rollout
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.fully_async.versions import Versions
from vime.rollout.fully_async.worker import AsyncRolloutWorker
from vime.rollout.fully_async_rollout import generate_rollout_fully_async
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.async_utils import get_async_loop, run
from vime.utils.types import Sample

Status = Sample.Status


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)
    fully_async_rollout._Place.clear_instances()


@pytest.fixture
def world(tmp_path):
    made = []

    def make(server, **more):
        args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **more)
        source = RolloutDataSourceWithBuffer(args)
        made.append(source)
        return args, source

    yield make
    for source in made:
        leave(source)


def leave(source):
    async def end():
        await fully_async_rollout._Place(source).leave()

    run(end())


def worker_of(source) -> AsyncRolloutWorker:
    async def find():
        return fully_async_rollout._Place(source).worker

    return run(find())


def numbers(groups):
    return [leaves(group)[0].group_index for group in groups]


def test_upstream_s_names():
    assert fully_async_rollout.__all__ == ["AsyncRolloutWorker", "generate_rollout_fully_async"]


def test_rollouts_take_what_they_need_and_the_rest_waits(world):
    with serving([turn("a0"), turn("no")]) as server:
        args, source = world(server)
        outputs = [generate_rollout_fully_async(args, number, source) for number in range(3)]
        trained = [number for output in outputs for number in numbers(output.samples)]
        assert [len(output.samples) for output in outputs] == [4, 4, 4] and len(set(trained)) == 12
        for output in outputs:
            assert numbers(output.samples) == sorted(numbers(output.samples))
            batch = convert_samples_to_train_data(args, output.samples)
            assert [len(mask) for mask in batch["loss_masks"]] == batch["response_lengths"]
        metrics = outputs[-1].metrics
        assert metrics["rollout/prompts_issued"] == 4 + metrics["rollout/prompts_in_flight"]
        leave(source)
        source.check_balance()
        assert sorted(numbers(source.buffer) + trained) == list(range(source.sample_group_index))
        assert server.engine.violations == []


def test_it_generates_on_while_nobody_waits_but_no_further_than_the_bound(world):
    with serving([turn("ok")]) as server:
        args, source = world(server, fully_async_max_staleness=2)
        generate_rollout_fully_async(args, 0, source)
        worker = worker_of(source)
        until(lambda: worker.queue_size() == 8)
        time.sleep(0.05)
        assert worker.queue_size() == 8 and source.sample_group_index == 12
        generate_rollout_fully_async(args, 1, source)
        assert source.sample_group_index <= 16


def until(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.002)


async def third_fails(args, sample, sampling_params):
    if sample.group_index == 2:
        raise RuntimeError("tool fell over")
    await asyncio.sleep(30)


def test_what_generating_raises_reaches_the_caller_and_every_prompt_is_back(world):
    with serving([turn("x")]) as server:
        args, source = world(server, custom_generate_function_path=f"{__name__}.third_fails")
        with pytest.raises(RuntimeError, match="tool fell over"):
            generate_rollout_fully_async(args, 0, source)
        source.check_balance()
        assert sorted(numbers(source.buffer)) == list(range(source.sample_group_index))
        assert {sample.status for sample in leaves(source.buffer)} == {Status.PENDING}


def test_an_evaluation_runs_beside_it(world, tmp_path):
    with serving([turn("a1")], Faults(pace=0.002)) as server:
        held_out = write_prompts(tmp_path / "held_out.jsonl", 3)
        args, source = world(server, eval_prompt_data=["held", held_out])
        generate_rollout_fully_async(args, 0, source)
        found = generate_rollout_fully_async(args, 1, source, evaluation=True).data["held"]
        assert found["rewards"] == [0.0, 1.0, 0.0]
        assert len(generate_rollout_fully_async(args, 1, source).samples) == 4


async def falls_behind(seconds):
    """The longest that the loop did not come back for, in seconds of its thread's work and of the clock."""
    worked = passed = 0.0
    until = time.monotonic() + seconds
    while (before := time.monotonic()) < until:
        work = time.thread_time()
        await asyncio.sleep(0.001)
        worked, passed = max(worked, time.thread_time() - work), max(passed, time.monotonic() - before)
    return worked, passed


@pytest.fixture
def others_garbage_aside():
    """What other tests left is not gone through by a collection, which may come in any thread and take most of a second."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_nothing_is_thrown_away_and_the_loop_is_never_held_up(world, others_garbage_aside):
    """Three times the groups that are needed, five rollouts: what is issued is trained on or in hand."""
    with serving([turn("ok")], Faults(pace=0.001)) as server:
        args, source = world(server, fully_async_max_staleness=2, vllm_server_concurrency=16)
        generate_rollout_fully_async(args, 0, source)
        lag = asyncio.run_coroutine_threadsafe(falls_behind(0.5), get_async_loop().loop)
        for number in range(1, 5):
            generate_rollout_fully_async(args, number, source)
            time.sleep(0.03)
        worker = worker_of(source)
        until(lambda: worker.queue_size() == 8)
        assert source.settled["trained"] == 20 and source.sample_group_index == 28
        worked, passed = lag.result()
        assert worked < 0.05 and passed < 2  # the clock is that of a machine which others use


def test_each_event_loop_has_a_worker_of_its_own(world):
    """Nothing of one is used in another (upstream met this when an evaluation ran beside it)."""
    with serving([turn("ok")]) as server:
        args, source = world(server)
        generate_rollout_fully_async(args, 0, source)

        async def elsewhere():
            other = RolloutDataSourceWithBuffer(args)
            output = await fully_async_rollout._generate_rollout_async(args, 0, other)
            await fully_async_rollout._Place(other).leave()
            return output

        assert len(asyncio.run(elsewhere()).samples) == 4
        assert len(generate_rollout_fully_async(args, 1, source).samples) == 4


def test_it_can_be_started_and_stopped_from_outside_of_the_loop(world):
    with serving([turn("ok")]) as server:
        args, source = world(server)
        worker = AsyncRolloutWorker(args, source, concurrency=3)
        worker.start()
        until(lambda: worker.queue_size() >= 3)
        assert [number for number, _ in worker.get_completed_groups(1)] == [0]
        worker.stop()
        source.check_balance()
        assert worker.queue_size() == 0 and source.outstanding.groups() == []
        assert numbers(source.buffer) == list(range(1, source.sample_group_index))
        worker.start()
        until(lambda: worker.queue_size() >= 3)
        worker.stop()


async def slow(args, sample, sampling_params):
    await asyncio.sleep(30)


def test_an_interrupt_ends_it_at_once_with_every_prompt_back(world):
    """As the rollout manager does it: all that runs in the loop is cancelled."""
    with serving([turn("x")]) as server:
        args, source = world(server, custom_generate_function_path=f"{__name__}.slow")
        loop = get_async_loop().loop

        def interrupt():
            for task in asyncio.all_tasks(loop):
                task.cancel()

        threading.Timer(0.1, lambda: loop.call_soon_threadsafe(interrupt)).start()
        began = time.monotonic()
        with pytest.raises((CancelledError, asyncio.CancelledError)):
            generate_rollout_fully_async(args, 0, source)
        assert time.monotonic() - began < 2
        source.check_balance()
        assert numbers(source.buffer) == list(range(source.sample_group_index))


class WithVersion(VllmServer):
    """An engine that tells its weight version, with and without a router in front."""

    label: str = "7"

    async def _control(self, request):
        if request.path == "/weight_info":
            return web.json_response({"weight_version": self.label})
        return await super()._control(request)


@pytest.mark.parametrize(("label", "now"), [("7", 7), ("incomplete:8", 5), ("default", 5)])
def test_the_engine_is_asked_for_its_weights(world, label, now):
    with serving([turn("ok", version="5")], server=WithVersion) as server:
        server.label = label
        args, source = world(server, fully_async_max_staleness=2)
        output = generate_rollout_fully_async(args, 0, source)
        assert worker_of(source)._in_hand.versions.now == now
        assert output.metrics["rollout/fully_async/staleness_max"] == now - 5


def test_a_silent_engine_is_no_error_here(world):
    versions = Versions()
    args, _ = world(argparse.Namespace(port=1))
    run(versions.ask(args))
    assert versions.now is None


def test_a_request_that_outlives_an_update_names_each_version(world):
    spans = [{"version": "3", "start": 0, "end": 1}, {"version": "4", "start": 1, "end": 2}]

    class Updated(VllmServer):
        def _answer(self, turn, payload):
            answer = super()._answer(turn, payload)
            answer["choices"][0]["weight_versions"] = spans
            return answer

    with serving([turn("ok")], server=Updated) as server:
        args, source = world(server)
        output = generate_rollout_fully_async(args, 0, source)
        assert {tuple(sample.weight_versions) for sample in leaves(output.samples)} == {("3", "4")}
        assert output.metrics["rollout/fully_async/staleness_mean"] == 1


async def for_odd_prompts(args, sample, **_):
    if sample.group_index % 2 == 0:
        raise RuntimeError("judge fell over")
    return 1.0


def test_a_prompt_without_any_reward_is_dropped_and_counted(world):
    with serving([turn("ok")]) as server:
        args, source = world(server, custom_rm_path=f"{__name__}.for_odd_prompts", rm_on_failure="drop")
        output = generate_rollout_fully_async(args, 0, source)
        assert {number % 2 for number in numbers(output.samples)} == {1}
        dropped = output.metrics["rollout/prompts_dropped/reward_failed"]
        assert dropped >= 3 and output.metrics["rollout/reward_failed"] >= 2 * dropped
