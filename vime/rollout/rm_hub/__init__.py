"""Rewards by name, by a function of the user's, or by a service."""

from __future__ import annotations

import asyncio
import inspect
import random
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vime.rollout.hooks import load_hook
from vime.rollout.rm_hub.deepscaler import get_deepscaler_rule_based_reward
from vime.rollout.rm_hub.exact_match import exact_match
from vime.rollout.rm_hub.f1 import f1_score
from vime.rollout.rm_hub.gpqa import compute_gpqa_reward
from vime.rollout.rm_hub.grading import graders
from vime.rollout.rm_hub.ifbench import RewardTypeRefused, compute_ifbench_reward
from vime.rollout.rm_hub.math_dapo_utils import compute_score
from vime.rollout.rm_hub.math_utils import extract_answer, grade_answer_verl
from vime.utils.http_utils import post
from vime.utils.types import Sample

__all__ = ["RewardTypeRefused", "async_rm", "batched_async_rm", "get_deepscaler_rule_based_reward", "grade_answer_verl"]
__all__ += ["remote_rm"]

_BOXED = "boxed_"
_Rule = Callable[[str, Any, Mapping[str, Any]], Any]
_RULES: Mapping[str, _Rule] = {
    "exact_match": lambda response, label, metadata: exact_match(response, label),
    "dapo": lambda response, label, metadata: compute_score(response, label),
    "f1": lambda response, label, metadata: f1_score(response, label)[0],
    "gpqa": compute_gpqa_reward,
    "ifbench": compute_ifbench_reward,
    "random": lambda response, label, metadata: random.randint(0, 1),
}
# These wait for a grader process, and so run beside the event loop.
_GRADED: Mapping[str, Callable[[str, Any], Any]] = {
    "math": lambda response, label: int(grade_answer_verl(response, label)),
    "deepscaler": get_deepscaler_rule_based_reward,
}


async def async_rm(args: Namespace, sample: Sample, **kwargs: Any) -> Any:
    """The reward of one sample, by the function that it or `args` names, else by its type of reward.

    Raises RewardTypeRefused for a type that there is not, and TimeoutError where a service takes longer than
    `args.rm_timeout`. Rules need no bound, and a grader has its own, which does not count the wait for a free one.
    """
    path = sample.custom_rm_path or args.custom_rm_path
    if path is not None:
        return await _called(load_hook("custom_rm_path", path), args, sample, **kwargs)
    named = str(sample.metadata.get("rm_type") or getattr(args, "rm_type", None) or "").strip()
    kind, response = named.removeprefix(_BOXED), sample.response
    if named.startswith(_BOXED):
        response = extract_answer(response) or ""
    if kind == "remote_rm":
        return await asyncio.wait_for(remote_rm(args, sample), getattr(args, "rm_timeout", None))
    if kind in _GRADED:
        graders().grow(getattr(args, "rm_processes", 1))
        return await asyncio.get_running_loop().run_in_executor(
            graders().threads, _GRADED[kind], response, sample.label
        )
    if kind in _RULES:
        return _RULES[kind](response, sample.label, sample.metadata)
    known = ", ".join(sorted({*_RULES, *_GRADED, "remote_rm"}))
    raise RewardTypeRefused(
        f"there is no reward type {kind!r}: set --rm-type (or rm_type in a sample's metadata) to one of {known}, or "
        "name a function of your own with --custom-rm-path"
    )


async def batched_async_rm(args: Namespace, samples: Sequence[Sample], **kwargs: Any) -> list[Any]:
    """The rewards of several samples, in their order. A function of the user's gets them all at once."""
    if args.custom_rm_path is not None:
        return list(await _called(load_hook("custom_rm_path", args.custom_rm_path), args, samples, **kwargs))
    return list(await asyncio.gather(*(async_rm(args, sample, **kwargs) for sample in samples)))


async def remote_rm(args: Namespace, sample: Sample, max_retries: int = 10) -> Any:
    """What the service at `args.rm_url` says about prompt, response and label."""
    question = {"prompt": sample.prompt, "response": sample.response, "label": sample.label}
    return await post(args.rm_url, question, max_retries=max_retries)


async def _called(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result
