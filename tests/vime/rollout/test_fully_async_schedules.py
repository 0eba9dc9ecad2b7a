"""The fully-async rollout under drawn schedules of delays, errors, aborts, weight updates, stops and crashes: no prompt is
lost or trained on twice, nothing is older than the bound, nothing waits for ever."""

import asyncio

import pytest
from async_world import World, leave, numbers, resumed, run_virtual, tell_version, worker_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_world import options, tiny_model, write_prompts

from vime.rollout import fully_async_rollout
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.fully_async.staleness import oldest_version
from vime.rollout.fully_async_rollout import _generate_rollout_async as rollout
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.utils.types import Sample

WHAT = ("done", "done", "done", "fan out", "fail once", "drop", "gives up")
PLANS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.01, 0.1, 1.0, 5.0]), st.integers(1, 4), st.sampled_from(WHAT)),
    min_size=1,
    max_size=7,
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.005, 0.05, 0.5, 2.0, 7.0]),
        st.sampled_from(["update", "update", "abort", "stop", "save", "crash", "cancel"]),
    ),
    max_size=6,
)
SCHEDULE = st.fixed_dictionaries({
    "plans": PLANS, "events": EVENTS, "rounds": st.integers(1, 4), "partial": st.booleans(), "aborting": st.booleans(),
    "batch": st.integers(1, 4), "staleness": st.integers(0, 3), "concurrency": st.integers(1, 6),
    "training": st.sampled_from([0.0, 0.03, 1.0]), "ahead": st.booleans(),
})  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prompts")
    with pytest.MonkeyPatch.context() as patch:
        tiny_model(patch)
        patch.setattr("vime.rollout.fully_async.versions.Versions.ask", tell_version)
        yield write_prompts(folder / "p.jsonl", 7), str(folder / "save")


class Run:
    """A loop that trains, with what may befall it; it knows by itself what became of every prompt."""

    def __init__(self, plan, files):
        prompts, folder = files
        self.plan, self.world = plan, World(plan["plans"], plan["aborting"])
        self.args = options(
            prompt_data=prompts, save=folder, load=folder, world=self.world, partial_rollout=plan["partial"],
            rollout_batch_size=plan["batch"], vllm_server_concurrency=plan["concurrency"],
            fully_async_max_staleness=plan["staleness"],
            custom_generate_function_path="async_world.scripted", dynamic_sampling_filter_path="async_world.keep",
        )  # fmt: skip
        self.source = RolloutDataSourceWithBuffer(self.args)
        self.trained: list[int] = []
        self.saves = 0

    async def go(self):
        befalls = asyncio.create_task(self._befall())
        for number in range(self.plan["rounds"]):
            output = await self._rollout(number)
            if output is not None:
                await self._train(output)
        befalls.cancel()
        await asyncio.wait([befalls])
        await self._end()

    async def _rollout(self, number):
        """What the call gives, whatever happened before it did."""
        for _ in range(20):
            self.call = asyncio.create_task(self._ask(number))
            await asyncio.wait([self.call])
            if not self.call.cancelled() and self.call.exception() is None:
                return self.call.result()
            if not self.call.cancelled():
                assert str(self.call.exception()) == "tool fell over", self.call.exception()
            self._nothing_is_under_way()
        raise AssertionError("it never came")

    async def _ask(self, number):
        output = await rollout(self.args, number, self.source)
        self.handed_at = self.world.version
        return output

    async def _train(self, output):
        batch = convert_samples_to_train_data(self.args, output.samples)
        assert len({len(column) for column in batch.values()}) == 1
        for mask, logs, length in zip(
            batch["loss_masks"], batch["rollout_log_probs"], batch["response_lengths"], strict=True
        ):
            assert len(mask) == len(logs) == length
        assert [len(group) for group in output.samples] == [2] * self.plan["batch"]
        indices = [leaves(group)[0].index for group in output.samples]
        assert indices == sorted(indices)
        for sample in leaves(output.samples):
            _, count, _ = self.world.plan(sample)
            assert sample.response_length == count and sample.status is Sample.Status.COMPLETED
            # Each token says of which weights it is.
            assert self.handed_at - min(sample.tokens[1:]) + 1 <= self.plan["staleness"]
            assert {str(token - 1) for token in sample.tokens[1:]} <= set(sample.weight_versions)
        assert output.metrics["rollout/fully_async/staleness_max"] == max(
            self.handed_at - oldest_version(group) for group in output.samples
        )
        self.trained += numbers(output.samples)
        await asyncio.sleep(self.plan["training"])
        if not self.plan["ahead"]:
            self.world.update()

    async def _befall(self):
        for after, what in self.plan["events"]:
            await asyncio.sleep(after)
            await getattr(self, f"_{what}")()

    async def _update(self):
        self.world.update()

    async def _abort(self):
        self.world.abort()

    async def _cancel(self):
        self.call.cancel()

    async def _stop(self):
        """As the rollout manager does it: everything that runs in the loop is cancelled."""
        for task in asyncio.all_tasks() - {asyncio.current_task(), self.main}:
            task.cancel()

    async def _save(self):
        self._may_be_resumed()

    async def _crash(self):
        """Another process goes on; the groups that were handed over are trained on, and the rest is as saved."""
        again = self._may_be_resumed()
        before, self.source = self.source, again
        self.call.cancel()
        await leave(before)

    def _may_be_resumed(self):
        self.saves += 1
        again = resumed(self.source, self.args, self.saves)
        again.check_balance()
        found = numbers(again.buffer)
        assert len(found) == len(set(found)) and not set(found) & set(self._handed())
        return again

    def _handed(self):
        done = self.call.done() and not self.call.cancelled() and self.call.exception() is None
        return self.trained + (numbers(self.call.result().samples) if done else [])

    def _nothing_is_under_way(self):
        self.source.check_balance()
        assert self.source.outstanding.groups() == []
        waiting = numbers(self.source.buffer)
        assert len(waiting) == len(set(waiting)) and not set(waiting) & set(self.trained)
        if not self.plan["partial"]:
            assert all(sample.status in (Sample.Status.PENDING, Sample.Status.COMPLETED) or sample.remove_sample
                       for sample in leaves(self.source.buffer))  # fmt: skip

    async def _end(self):
        worker = await worker_of(self.source)
        if worker is not None:
            bound = (1 + self.plan["staleness"]) * self.plan["batch"]
            assert worker.queue_size() <= min(bound, self.plan["concurrency"] + self.plan["batch"])
        await leave(self.source)
        self._nothing_is_under_way()
        assert self.world.running == 0
        settled = {name: count for name, count in self.source.settled.items() if name != "trained"}
        assert set(settled) <= {"plan", "generation_failed"}
        assert len(self.trained) == len(set(self.trained)) == self.source.settled["trained"]
        assert len(self.trained) + sum(settled.values()) + len(self.source.buffer) == self.source.sample_group_index


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=SCHEDULE)
def test_whatever_happens_every_prompt_is_accounted_for(files, plan):
    fully_async_rollout._Place.clear_instances()
    run = Run(plan, files)

    async def whole():
        run.main = asyncio.current_task()
        await run.go()

    run_virtual(whole())
