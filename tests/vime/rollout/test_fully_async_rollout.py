"""The fully-async rollout: what a rollout takes and what it leaves, what comes back, and how it ends."""

import asyncio
import time

import pytest
from engines import Faults, turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout import fully_async_rollout
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.fully_async.worker import AsyncRolloutWorker
from vime.rollout.fully_async_rollout import generate_rollout_fully_async
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.async_utils import run
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
