"""Upstream's way to set a rank up: from the environment that launchers give it."""

import os
from argparse import Namespace
from collections.abc import Mapping

from megatron.core import parallel_state

from vime.backends.megatron_utils.parallel import Parallel, init_parallel
from vime.device import detect
from vime.utils.misc import load_function

__all__ = ["init", "is_megatron_main_rank"]


def init(args: Namespace, environ: Mapping[str, str] = os.environ) -> Parallel:
    """Join the ranks that RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK tell of; alone without them.

    Then calls args.custom_megatron_init_path with `args`.
    """
    world = int(environ.get("WORLD_SIZE", "1"))
    place = init_parallel(
        rank=int(environ.get("RANK", "0")),
        world=world,
        tp=args.tensor_model_parallel_size,
        pp=args.pipeline_model_parallel_size,
        cp=args.context_parallel_size,
        master=f"{environ['MASTER_ADDR']}:{environ['MASTER_PORT']}" if world > 1 else None,
        device=detect(args.device),
        seed=args.seed,
        local_rank=int(environ.get("LOCAL_RANK", "0")),
    )
    if args.custom_megatron_init_path is not None:
        load_function(args.custom_megatron_init_path)(args)
    return place


def is_megatron_main_rank() -> bool:
    """Whether this is the rank that reports: the first of data and tensor parallelism, the last of the pipeline."""
    return (
        parallel_state.get_data_parallel_rank(with_context_parallel=True) == 0
        and parallel_state.get_tensor_model_parallel_rank() == 0
        and parallel_state.is_pipeline_last_stage()
    )
