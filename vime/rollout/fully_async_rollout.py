"""The rollout function that generates on beside training: what is finished when a rollout is asked for is given away.

    --rollout-function-path vime.rollout.fully_async_rollout.generate_rollout_fully_async

The parts are in `vime.rollout.fully_async`; a group is generated as in vime.rollout.vllm_rollout.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
from vime.rollout.engine_call import GenerationFailed
from vime.rollout.fully_async.worker import AsyncRolloutWorker
from vime.rollout.hooks import with_rules
from vime.rollout.refusals import as_generate_does
from vime.rollout.vllm_rollout import eval_rollout
from vime.utils.async_utils import run
from vime.utils.http_utils import HttpError, get_rollout_num_engines
from vime.utils.per_loop import PerLoopMeta

__all__ = ["AsyncRolloutWorker", "generate_rollout_fully_async"]


class _Place(metaclass=PerLoopMeta):
    """Where the worker of a data source is, in the running event loop."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self.worker: AsyncRolloutWorker | None = None

    async def working(self, args: Namespace) -> AsyncRolloutWorker:
        """The worker; another one where `args` are others, which name the engines that there are now.

        Raises what the worker ended with, unless it was for want of an engine and there are others now.
        """
        if self.worker is not None and (self.worker.args is not args or self.worker.ended):
            failure, renewed = self.worker.failure, self.worker.args is not args
            await self.leave()
            if failure is not None and not (renewed and isinstance(failure, GenerationFailed | HttpError)):
                raise failure
        if self.worker is None:
            concurrency = args.vllm_server_concurrency * max(1, get_rollout_num_engines(args))
            self.worker = AsyncRolloutWorker(args, self.args, concurrency)
            self.worker.start()
        return self.worker

    async def leave(self) -> None:
        """End the worker, with all that it had back in the data source."""
        worker, self.worker = self.worker, None
        if worker is not None:
            await worker.close()


@with_rules(as_generate_does)
def generate_rollout_fully_async(
    args: Namespace, rollout_id: int, data_buffer: Any, evaluation: bool = False
) -> RolloutFnTrainOutput | RolloutFnEvalOutput:
    """The next `args.rollout_batch_size` groups, on the background event loop, where generation goes on afterwards.

    Where generating fails, here or since the last call, that is raised and every prompt is back in `data_buffer`; the
    next call begins anew. An evaluation runs beside it.
    """
    if evaluation:
        return run(eval_rollout(args, rollout_id))[0]
    return run(_generate_rollout_async(args, rollout_id, data_buffer))


async def _generate_rollout_async(args: Namespace, rollout_id: int, data_buffer: Any) -> RolloutFnTrainOutput:
    place = _Place(data_buffer)
    worker = await place.working(args)
    try:
        return await worker.collect(rollout_id)
    except BaseException:
        await place.leave()
        raise
