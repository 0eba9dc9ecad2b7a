"""Ranks in processes of their own, forked from one that has torch and Megatron-core already, whose import takes seconds."""

import multiprocessing
from collections.abc import Callable
from typing import Any

import torch

LOADED = ["vime.backends.megatron_utils.checkpoint", "vime.backends.megatron_utils.actor"]


def run_in_processes(function: Callable[..., None], arguments: tuple[Any, ...], world: int) -> None:
    """`function(rank, *arguments)` in each of `world` processes. Raises what one of them raised."""
    multiprocessing.set_forkserver_preload(LOADED)
    torch.multiprocessing.start_processes(function, arguments, nprocs=world, start_method="forkserver")
