"""The differences between the logprobs of trainer and engine, over all data-parallel ranks."""

import itertools
import math
from argparse import Namespace
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from megatron.core import parallel_state

from vime.learning.agreement import CERTAIN, Agreement, EngineDisagrees, bounds_of, check_agreement
from vime.learning.policy import sequence_mean
from vime.utils.train_share import MalformedTrainData


@dataclass(frozen=True)
class EngineWeights:
    """What the engines hold, as far as the trainer knows."""

    version: str
    synced: bool
    """Whether this trainer brought them a version, by which samples can be told apart."""
    updates_since: int
    ages: Mapping[str, int] = field(default_factory=dict)
    """Of each version that this trainer brought: rollouts trained on since."""


def engine_agreement(
    args: Namespace,
    rollout_id: int,
    share: Mapping[str, Any],
    log_probs: Mapping[int, torch.Tensor],
    engine: EngineWeights,
) -> dict[str, float]:
    """The difference to the engine's logprobs, held to its bounds where the engine should have the trainer's weights.

    Raises EngineDisagrees, and MalformedTrainData where zeros were filled in. Every rank must call.
    """
    if share.get("rollout_log_probs") is None:
        return {}
    every = measure_agreement(share, log_probs)
    if every.filled_in is not None:
        raise MalformedTrainData(
            f"{every.filled_in}: the engine's logprobs of all its trained tokens are 0, that is, certain, and by the "
            f"trainer they are not: they were filled in; keep those that the engine returned with the tokens"
        )
    behind = args.update_weights_interval > 1 and engine.updates_since > 0
    if not args.debug_train_only and not behind:
        told = engine.synced and share.get("weight_versions") is not None
        current = measure_agreement(share, log_probs, _is_of(engine.version, share)) if told else every
        if told and every.tokens and _generates_with_recent_weights(args):
            recent = current
            if args.train_async:
                recent = measure_agreement(
                    share, log_probs, _is_recent(engine.ages, args.update_weights_interval, share)
                )
            if not recent.tokens:
                raise EngineDisagrees(_not_recent(args, rollout_id, engine))
        check_agreement(current, bounds_of(args), rollout_id)
    return {
        "train/train_rollout_logprob_abs_diff": every.mean,
        "train/train_rollout_logprob_abs_diff_max": every.max,
    }


def _generates_with_recent_weights(args: Namespace) -> bool:
    """Whether every rollout holds samples that were begun after the last sync; with --train-async, the sync before."""
    return not args.partial_rollout and args.rollout_function_path == "vime.rollout.vllm_rollout.generate_rollout"


def _is_of(version: str, share: Mapping[str, Any]) -> Callable[[int], bool]:
    """Whether all of a sample's tokens are of this version, as far as anything tells."""
    versions = share["weight_versions"]
    return lambda i: not versions[i] or all(str(one) == version for one in versions[i])


def _is_recent(ages: Mapping[str, int], most: int, share: Mapping[str, Any]) -> Callable[[int], bool]:
    """Whether at most `most` rollouts were trained on since any of a sample's versions was brought, as far as anything
    tells: a version of before a resume does not."""
    versions = share["weight_versions"]
    return lambda i: all(ages.get(str(one), 0) <= most for one in versions[i] or ())


def _not_recent(args: Namespace, rollout_id: int, engine: EngineWeights) -> str:
    beside = ", nor of the one before, with which it may have been begun" if args.train_async else ""
    return (
        f"rollout {rollout_id}: no sample is of weight version {engine.version}, which the last weight sync brought to "
        f"the engines{beside}. No update was made. Look at whether that sync reached them: --weight-sync-probe asks them"
    )


@dataclass(frozen=True)
class _Apart:
    """The differences on one rank."""

    total: float = 0.0
    tokens: int = 0
    largest: float = 0.0
    sample: str = "no sample"
    filled_in: str | None = None


def measure_agreement(
    share: Mapping[str, Any], log_probs: Mapping[int, torch.Tensor], eligible: Callable[[int], bool] = lambda i: True
) -> Agreement:
    """How far `log_probs` (by position in the share) are from the engine's, over the trained tokens of the eligible
    samples of all data-parallel ranks. Every rank must call."""
    positions = [position for position in log_probs if eligible(position)]
    mine = _apart(share, log_probs, positions)
    group = parallel_state.get_data_parallel_group(with_context_parallel=True)
    everyone: list[_Apart] = [mine]
    if group.size() > 1:
        everyone = [mine] * group.size()
        dist.all_gather_object(everyone, mine, group=group)
    count = sum(one.tokens for one in everyone)
    worst = max(everyone, key=lambda one: math.inf if math.isnan(one.largest) else one.largest)
    filled = next((one.filled_in for one in everyone if one.filled_in), None)
    mean = sum(one.total for one in everyone) / count if count else 0.0
    return Agreement(mean, worst.largest, count, worst.sample, filled)


def _apart(share: Mapping[str, Any], log_probs: Mapping[int, torch.Tensor], positions: Sequence[int]) -> _Apart:
    lengths = [share["response_lengths"][i] for i in positions]
    if not any(lengths):
        return _Apart()
    masks = torch.cat([share["loss_masks"][i] for i in positions])
    ours = torch.cat([log_probs[i] for i in positions])
    theirs = torch.cat([share["rollout_log_probs"][i] for i in positions])
    apart = torch.where(masks > 0, (ours - theirs).abs().double(), 0.0)
    place = int(apart.argmax())  # of NaN, where there is one
    owner = positions[bisect_right(list(itertools.accumulate(lengths)), place)]
    unlike = (sequence_mean(theirs.abs(), masks, lengths) == 0) & (sequence_mean(ours, masks, lengths) < -CERTAIN)
    filled = [sample_name(share, positions[number]) for number in unlike.nonzero()[:1, 0].tolist()]
    return _Apart(
        total=float(apart.sum()),
        tokens=int((masks > 0).sum()),
        largest=float(apart[place]),
        sample=sample_name(share, owner),
        filled_in=filled[0] if filled else None,
    )


def sample_name(share: Mapping[str, Any], position: int) -> str:
    """How a message calls a sample of the share."""
    indices = share.get("sample_indices")
    return f"sample {indices[position]}" if indices else f"the sample at position {share['partition'][position]}"
