"""What a rollout function returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vime.utils.types import Sample


@dataclass
class RolloutFnTrainOutput:
    """Groups to train on, a group a prompt; where a sample was fanned out, a list stands for it."""

    samples: list[list[Sample]]
    metrics: dict[str, Any] | None = None


@dataclass
class RolloutFnEvalOutput:
    """For each evaluation set its `rewards`, `truncated` and `samples`, in one order."""

    data: dict[str, dict[str, Any]]
    metrics: dict[str, Any] | None = None


def call_rollout_fn(
    fn: Callable[..., Any], *args: Any, evaluation: bool, **kwargs: Any
) -> RolloutFnTrainOutput | RolloutFnEvalOutput:
    """What `fn` returns; a bare list of groups, or a bare mapping of an evaluation, is wrapped."""
    output = fn(*args, **kwargs, evaluation=evaluation)
    if isinstance(output, RolloutFnTrainOutput | RolloutFnEvalOutput):
        return output
    return RolloutFnEvalOutput(data=output) if evaluation else RolloutFnTrainOutput(samples=output)
