"""The shape of every function that an option names: how it is called, and what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Mapping, MutableMapping, Sequence

    from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
    from vime.rollout.data_source import DataSource
    from vime.rollout.filter_hub.base_types import DynamicFilterOutput
    from vime.rollout.groups import Group
    from vime.utils.types import RolloutBatch, Sample


class RolloutFunction(Protocol):
    """Makes one rollout, to train on or to evaluate."""

    def __call__(
        self, args: Namespace, rollout_id: int, data_source: DataSource, *, evaluation: bool
    ) -> RolloutFnTrainOutput | RolloutFnEvalOutput: ...


class Generate(Protocol):
    """Generates one sample, or several of one rollout as a list. `evaluation` is passed where it has such a parameter."""

    def __call__(
        self, args: Namespace, sample: Sample, sampling_params: dict[str, Any]
    ) -> Awaitable[Sample | list[Sample]]: ...


class SampleHook(Protocol):
    """Sees each sample that was generated; a sample that it returns stands for it. Keywords that it lacks are left out."""

    def __call__(self, args: Namespace, sample: Sample) -> Awaitable[Sample | None] | Sample | None: ...


class RewardFunction(Protocol):
    """The reward of a sample; with --group-rm, or for a fan-out, `sample` is a list, and so are the rewards."""

    def __call__(self, args: Namespace, sample: Sample | Sequence[Sample]) -> Awaitable[Any]: ...


class DynamicFilter(Protocol):
    """Whether a group is trained on."""

    def __call__(self, args: Namespace, samples: Group) -> DynamicFilterOutput | bool: ...


class BufferFilter(Protocol):
    """Takes groups out of the buffer, at most `num_samples`. `rollout_id` is None."""

    def __call__(
        self, args: Namespace, rollout_id: int | None, buffer: list[Group], num_samples: int
    ) -> list[Group]: ...


class DataSourceClass(Protocol):
    """A class: see vime.rollout.data_source.DataSource."""

    def __call__(self, args: Namespace) -> DataSource: ...


class SampleFilter(Protocol):
    """Sets `remove_sample` on those that are not trained on."""

    def __call__(self, args: Namespace, groups: list[Group]) -> None: ...


class AllSamplesProcess(Protocol):
    """Sees every group of a rollout, dropped ones too."""

    def __call__(self, args: Namespace, all_groups: list[Group], data_source: DataSource) -> None: ...


class RolloutDataPostprocess(Protocol):
    """Sees the trainer's data, with its logprobs, before the update."""

    def __call__(self, args: Namespace, rollout_id: int, rollout_data: RolloutBatch) -> None: ...


class RewardPostProcess(Protocol):
    """(raw, normalised) rewards, one a sample."""

    def __call__(self, args: Namespace, samples: list[Sample]) -> tuple[list[float], list[float]]: ...


class ConvertSamples(Protocol):
    """The columns for the trainer."""

    def __call__(self, args: Namespace, samples: list[Sample]) -> RolloutBatch: ...


class Advantages(Protocol):
    """Fills in `advantages` and `returns`."""

    def __call__(self, args: Namespace, rollout_data: RolloutBatch) -> None: ...


class Loss(Protocol):
    """(loss, metrics) of a micro-batch."""

    def __call__(self, args: Namespace, batch: Mapping[str, Any], logits: Any, sum_of_sample_mean: Any) -> Any: ...


class TruncatedImportanceSampling(Protocol):
    """(policy loss, masks, metrics) with the mismatch of engine and trainer corrected."""

    def __call__(
        self,
        args: Namespace,
        *,
        pg_loss: Any,
        train_log_probs: Any,
        rollout_log_probs: Any,
        loss_masks: Any,
        total_lengths: Any,
        response_lengths: Any,
    ) -> Any: ...


class PolicyLossReducer(Protocol):
    """A function that makes one number of the policy loss."""

    def __call__(
        self, total_lengths: Any, response_lengths: Any, loss_masks: Any, calculate_per_token_loss: bool
    ) -> Any: ...


class RolloutLog(Protocol):
    """True: the default metrics are not logged."""

    def __call__(
        self,
        rollout_id: int,
        args: Namespace,
        samples: list[Sample],
        extra_metrics: MutableMapping[str, Any] | None,
        rollout_time: float,
    ) -> bool | None: ...


class EvalLog(Protocol):
    """The same for an evaluation."""

    def __call__(
        self, rollout_id: int, args: Namespace, data: Mapping[str, Any], extra_metrics: MutableMapping[str, Any] | None
    ) -> bool | None: ...


class MegatronInit(Protocol):
    """Called once in each trainer process, when Megatron is set up."""

    def __call__(self, args: Namespace) -> None: ...


class BeforeLogProb(Protocol):
    """Called before a logprob pass."""

    def __call__(self, args: Namespace, model: Any, store_prefix: str) -> None: ...


class BeforeTrainStep(Protocol):
    """Called before each update."""

    def __call__(
        self, args: Namespace, rollout_id: int, step_id: int, model: Any, optimizer: Any, opt_param_scheduler: Any
    ) -> None: ...


class ModelProvider(Protocol):
    """The Megatron model of a pipeline stage. `vp_stage` is passed where it has such a parameter."""

    def __call__(self, pre_process: bool, post_process: bool) -> Any: ...


class UpdateWeightPostWrite(Protocol):
    """Called when the files of a weight update are written."""

    def __call__(self, args: Namespace, version_dir: str, rollout_engines: Any) -> None: ...
