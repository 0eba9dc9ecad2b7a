"""Whether the engine that sampled and the trainer that learns give the same tokens the same logprobs."""

from dataclasses import dataclass
from typing import Any

_BOUNDS = {"float32": (1e-5, 1e-3), "bfloat16": (0.03, 3.0), "float16": (0.01, 1.0)}
"""Number format -> (mean, max): measured differences times 6 to 100. A missed sync is above the mean at once."""

CERTAIN = 0.01
"""Nats a token, in the mean of a sample, up to which logprobs of 0 may be the engine's rounding of a probability near 1."""


class EngineDisagrees(RuntimeError):
    """Engine and trainer do not compute the same logprobs, so that what was sampled is not of the policy trained."""


@dataclass(frozen=True)
class Bounds:
    """How far the logprobs of trainer and engine may be apart, in nats: the mean over tokens, and one token's."""

    mean: float
    max: float


@dataclass(frozen=True)
class Agreement:
    """The differences that were found over `tokens` trained tokens, in nats."""

    mean: float
    max: float
    tokens: int
    worst_sample: str = "unknown"
    filled_in: str | None = None
    """A sample whose logprobs by the engine are all 0, and by the trainer are not."""


def bounds_of(args: Any) -> Bounds:
    """The bounds as asked for, else what follows from the number format."""
    mean, largest = _BOUNDS[args.dtype]
    mean = args.logprob_diff_mean_bound or mean
    if args.ci_test:
        mean = min(mean, args.ci_train_rollout_logprob_abs_diff_threshold)
    return Bounds(mean, args.logprob_diff_max_bound or largest)


def check_agreement(found: Agreement, bounds: Bounds, rollout_id: int) -> None:
    """Raise EngineDisagrees where the differences are above a bound; not a number is above any."""
    if not found.tokens or (found.mean <= bounds.mean and found.max <= bounds.max):
        return
    raise EngineDisagrees(
        f"rollout {rollout_id}: logprobs of trainer and engine are {found.mean:.3g} apart in the mean of {found.tokens} "
        f"tokens and {found.max:.3g} at most, in {found.worst_sample} (bounds {bounds.mean:.3g} and {bounds.max:.3g}). "
        f"No update was made. Look at: whether the engines hold this trainer's weights (the last weight sync, its version); "
        f"their prefix cache, which must be cleared after it; --rollout-temperature, top-p and top-k, which the engine's "
        f"logprobs include (--logprobs-mode processed_logprobs); the number formats of both. "
        f"--logprob-diff-mean-bound and --logprob-diff-max-bound set the bounds."
    )
