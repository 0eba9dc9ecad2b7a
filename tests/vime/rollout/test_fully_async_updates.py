"""Updates of the weights that no training is behind, or more of them than the interval says: what they make of groups in hand."""

import asyncio
from functools import partial

import pytest
from async_world import leave, make_world, run_virtual, virtual

from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.rollout.groups import leaves
from vime.train.loop import Schedule


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    virtual(monkeypatch)


@pytest.fixture
def world(tmp_path):
    return partial(make_world, tmp_path, vllm_server_concurrency=64)


@pytest.mark.parametrize(("interval", "evaluates"), [(4, 1), (4, 2), (4, 3), (3, 8), (4, None)])
@pytest.mark.parametrize("staleness", [1, 2])
def test_nothing_is_generated_in_vain_where_evaluations_bring_updates_of_their_own(
    world, interval, evaluates, staleness
):
    args, source, engines = world(
        [(0.1, 3, "done")],
        update_weights_interval=interval,
        eval_interval=evaluates,
        rollout_batch_size=2,
        fully_async_max_staleness=staleness,
    )
    schedule = Schedule(0, args.num_rollout, None, evaluates, None, False, interval)

    async def scenario():
        for number in range(12):
            output = await rollout(args, number, source)
            assert output.metrics["rollout/fully_async/stale_requeued"] == 0
            assert output.metrics["rollout/fully_async/staleness_max"] <= staleness
            if schedule.sync(number):
                engines.update()
        await leave(source)

    run_virtual(scenario())


def test_what_an_engine_answered_with_the_weights_of_the_checkpoint_is_as_old_as_these(world):
    """One that was started again answers so until it is paused."""
    args, source, engines = world([(0.1, 1, "done")] * 2 + [(1.0, 1, "done")] * 2, rollout_batch_size=2)
    engines.version = 7

    async def scenario():
        await rollout(args, 0, source)
        engines.version = 0
        await asyncio.sleep(10)
        engines.version = 7
        output = await rollout(args, 1, source)
        await leave(source)
        return output

    output = run_virtual(scenario())
    assert {version for sample in leaves(output.samples) for version in sample.weight_versions} == {"7"}
    assert output.metrics["rollout/fully_async/stale_requeued"] == 2
