"""Rewards by name, by a function of the user's, or by a service."""

from __future__ import annotations

import asyncio
import random
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.rollout.rm_hub.exact_match import exact_match
from vime.utils.http_utils import post
from vime.utils.misc import load_function
from vime.utils.types import Sample

__all__ = ["async_rm", "batched_async_rm", "remote_rm"]


async def async_rm(args: Namespace, sample: Sample, **kwargs: Any) -> Any:
    """The reward of one sample, by the function that it or `args` names, else by its type of reward."""
    path = sample.custom_rm_path or args.custom_rm_path
    if path is not None:
        return await load_function(path)(args, sample, **kwargs)
    rm_type = str(sample.metadata.get("rm_type") or getattr(args, "rm_type", None) or "").strip()
    if rm_type == "remote_rm":
        return await remote_rm(args, sample)
    if rm_type == "exact_match":
        return exact_match(sample.response, sample.label)
    if rm_type == "random":
        return random.randint(0, 1)
    raise NotImplementedError(
        f"reward type {rm_type!r}: this version has remote_rm and functions of your own (--custom-rm-path)"
    )


async def batched_async_rm(args: Namespace, samples: Sequence[Sample], **kwargs: Any) -> list[Any]:
    """The rewards of several samples, in their order. A function of the user's gets them all at once."""
    if args.custom_rm_path is not None:
        return list(await load_function(args.custom_rm_path)(args, samples, **kwargs))
    return list(await asyncio.gather(*(async_rm(args, sample, **kwargs) for sample in samples)))


async def remote_rm(args: Namespace, sample: Sample, max_retries: int = 10) -> Any:
    """What the service at `args.rm_url` says about prompt, response and label."""
    question = {"prompt": sample.prompt, "response": sample.response, "label": sample.label}
    return await post(args.rm_url, question, max_retries=max_retries)
