"""Upstream's weight updaters: one class, since the way that weights take follows from the arguments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from vime.backends.megatron_utils.push import Weights, push_weights
from vime.backends.megatron_utils.update_weight.make import make_sync
from vime.backends.megatron_utils.update_weight.plan import WeightPlan, describe, plan_weights
from vime.backends.megatron_utils.update_weight.session import WeightSync


class WeightUpdater:
    """Upstream's interface over WeightSync; every rank of the trainer has one and calls it at the same time."""

    def __init__(
        self,
        args: Any,
        model: Sequence[torch.nn.Module],
        weights_getter: Callable[[], Mapping[str, torch.Tensor]] | None = None,
        *,
        model_name: str | None = None,
        quantization_config: Mapping[str, Any] | None = None,
    ) -> None:
        if quantization_config:
            raise NotImplementedError("quantized engines are not updated in place; serve the model unquantized")
        self.args, self.weight_version = args, 0
        self._weights = Weights(model, args)
        self._sync: WeightSync | None = None
        self._plan: WeightPlan | None = None
        self._metrics: dict[str, float] = {}

    def connect_rollout_engines(
        self, rollout_engines: Sequence[Any], rollout_engine_lock: Any = None, **layout: Any
    ) -> None:
        """Prepare the way to the engines: addresses, or actors that have `get_url`. The lock is not needed."""
        self.disconnect_rollout_engines()
        urls = [_url(engine) for engine in rollout_engines]
        if torch.distributed.get_rank() == 0:
            self._sync = make_sync(self.args, urls)
            self._sync.connect()
        self._plan = push_weights(
            self._weights, lambda tensors: plan_weights(describe(tensors), self._sync.bucket_bytes)
        )

    def disconnect_rollout_engines(self) -> None:
        """Give up the way to the engines."""
        if self._sync is not None:
            self._sync.close()
        self._sync = None

    def update_weights(self) -> None:
        """Bring the weights to every engine under the next version. Raises WeightSyncFailed."""
        version = str(self.weight_version + 1)
        report = push_weights(self._weights, lambda tensors: self._sync.update(tensors, self._plan, version))
        self.weight_version += 1
        if report is not None:
            self._metrics = {
                "perf/update_weights_time": report.seconds,
                "perf/update_weights_bytes": float(report.nbytes),
            }

    def pop_metrics(self) -> dict[str, float]:
        """Figures of the last update, once."""
        metrics, self._metrics = self._metrics, {}
        return metrics


def _url(engine: Any) -> str:
    if isinstance(engine, str):
        return engine
    if hasattr(engine.get_url, "remote"):
        import ray

        return ray.get(engine.get_url.remote())
    return engine.get_url()
