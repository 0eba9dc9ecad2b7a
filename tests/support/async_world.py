"""A world for the fully-async rollout in virtual time: waiting costs nothing, and where all wait for ever that is found."""

import asyncio
import copy
import selectors

from rollout_world import options, tiny_model, write_prompts

from vime.rollout import fully_async_rollout
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.filter_hub.base_types import DynamicFilterOutput
from vime.rollout.groups import leaves
from vime.rollout.rewarding import GENERATION_FAILED, give_up_on
from vime.utils.types import Sample

Status = Sample.Status
SCRIPTED = "async_world.scripted"


class Deadlock(AssertionError):
    """Everything waits, and nothing will ever happen."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to what is next."""

    def __init__(self):
        self._now = 0.0
        super().__init__(selectors.SelectSelector())
        select = self._selector.select

        def jump(timeout=None):
            if timeout is None:
                raise Deadlock("nothing is ready, and no timer runs")
            self._now += timeout
            return select(0)

        self._selector.select = jump

    def time(self):
        return self._now


def run_virtual(coroutine):
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.run_until_complete(_end_others())
        loop.close()


async def _end_others():
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class World:
    """Engines by plan: `plans` has (seconds a token, tokens, what becomes of it) for prompts in turn."""

    def __init__(self, plans, aborting):
        self.plans, self.aborting = plans, aborting
        self.version, self.aborts, self.running = 1, 0, 0
        self.failed: set[int] = set()
        """Prompts that failed once already."""

    @property
    def label(self):
        return str(self.version) if self.version else "default"

    def plan(self, sample):
        return self.plans[sample.group_index % len(self.plans)]

    def update(self):
        """New weights: requests that run are cut short, or go on with them."""
        self.version += 1
        self.aborts += self.aborting

    def abort(self):
        self.aborts += 1

    async def generate(self, sample):
        self.running += 1
        try:
            return await self._generate(sample)
        finally:
            self.running -= 1

    async def _generate(self, sample):
        pace, count, what = self.plan(sample)
        began, versions = self.aborts, []
        sample.tokens = sample.tokens or [1]
        while sample.response_length < count:
            await asyncio.sleep(pace)
            if self.aborts != began:
                sample.weight_versions = sample.weight_versions + (versions or [self.label])
                sample.status = Status.ABORTED
                return sample
            if not versions or versions[-1] != self.label:
                versions.append(self.label)
            # The token says which weights it is of.
            sample.append_response_tokens(tokens=[self.version + 1], log_probs=[-0.5], text="x")
        sample.weight_versions = sample.weight_versions + versions
        if what == "fail once" and sample.group_index not in self.failed:
            self.failed.add(sample.group_index)
            raise RuntimeError("tool fell over")
        sample.status, sample.reward = Status.COMPLETED, float(sample.index % 3)
        if what == "gives up" and sample.index % 2 and sample.group_index < 60:
            give_up_on(sample.args, sample, GENERATION_FAILED, "plan")
            sample.status = Status.FAILED
        return [sample, copy.copy(sample)] if what == "fan out" else sample


async def scripted(args, sample, sampling_params):
    sample.args = args
    generated = await args.world.generate(sample)
    for leaf in leaves(generated):
        vars(leaf).pop("args", None)
    return generated


def keep(args, samples, **_):
    first = leaves(samples)[0]
    _, _, what = args.world.plan(first)
    return DynamicFilterOutput(keep=what != "drop" or first.group_index >= 60, reason="plan")


async def tell_version(versions, args):
    """In place of asking an engine."""
    versions._learn(args.world.version)


def virtual(monkeypatch):
    """A tiny model, no worker of another test, and engines that tell their weights at once."""
    tiny_model(monkeypatch)
    fully_async_rollout._Place.clear_instances()
    monkeypatch.setattr("vime.rollout.fully_async.versions.Versions.ask", tell_version)


def make_world(folder, plans=((1.0, 3, "done"),), aborting=False, kind=RolloutDataSourceWithBuffer, **more):
    """`args`, a source of ten prompts, and the engines that `plans` say."""
    saved = str(folder / "save")
    own = {"custom_generate_function_path": SCRIPTED, "dynamic_sampling_filter_path": "async_world.keep", **more}
    args = options(
        prompt_data=write_prompts(folder / "p.jsonl"), save=saved, load=saved, world=World(plans, aborting), **own
    )
    return args, kind(args), args.world


async def leave(source):
    await fully_async_rollout._Place(source).leave()


async def worker_of(source):
    return fully_async_rollout._Place(source).worker


def numbers(groups):
    return [leaves(group)[0].group_index for group in groups]


class Dry:
    """A source of the user's with a few prompts and nothing but upstream's methods."""

    def __init__(self, count):
        self.groups = [[Sample(index=i, group_index=i, prompt="p")] for i in range(count)]

    def get_samples(self, count):
        taken, self.groups = self.groups[:count], self.groups[count:]
        return taken

    def add_samples(self, groups):
        self.groups += groups


def resumed(source, args, number, kind=RolloutDataSourceWithBuffer):
    """Another process that goes on from what `source` saved."""
    source.save(number)
    again = kind(args)
    again.load(number)
    return again
