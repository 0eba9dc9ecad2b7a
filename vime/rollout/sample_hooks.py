"""The functions of --rollout-sample-hook-path: each sees every sample that was generated, before it is rewarded."""

from __future__ import annotations

import contextvars
import inspect
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vime.rollout.hooks import load_hook
from vime.utils.types import Sample

__all__ = ["apply_rollout_sample_hooks", "set_current_rollout_id"]

# The rollout that the running task works for; a task inherits it from the one that started it.
_rollout_id: contextvars.ContextVar[int | None] = contextvars.ContextVar("vime_rollout_id", default=None)


def set_current_rollout_id(rollout_id: int | None) -> None:
    """For this task and those that it starts from now on."""
    _rollout_id.set(rollout_id)


async def apply_rollout_sample_hooks(args: Namespace, value: Any, **kwargs: Any) -> Any:
    """`value`, a sample or lists of them, with each sample replaced by what the hooks make of it."""
    paths = getattr(args, "rollout_sample_hook_path", None)
    if not paths:
        return value
    kwargs.setdefault("rollout_id", _rollout_id.get())
    if isinstance(value, list):
        return [await apply_rollout_sample_hooks(args, item, **kwargs) for item in value]
    return await _apply_to_sample(args, value, paths, **kwargs)


async def _apply_to_sample(args: Namespace, sample: Sample, paths: Sequence[str], **kwargs: Any) -> Sample:
    for path in paths:
        hook = load_hook("rollout_sample_hook_path", path)
        result = hook(args, sample, **_accepted_kwargs(hook, kwargs))
        if inspect.isawaitable(result):
            result = await result
        if result is None:
            continue
        if not isinstance(result, Sample):
            raise TypeError(f"{path} (--rollout-sample-hook-path) returned {type(result).__name__}, not Sample or None")
        sample = result
    return sample


def _accepted_kwargs(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `kwargs` that `function` has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return dict(kwargs)
    return {name: value for name, value in kwargs.items() if name in parameters}
