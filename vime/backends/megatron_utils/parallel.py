"""The trainer's process groups: torch.distributed over gloo or NCCL, and Megatron-core's groups in it."""

import random
from dataclasses import dataclass

import torch
from megatron.core import parallel_state, tensor_parallel

from vime.device import Device, detect
from vime.device.torch_shim import CpuShim


@dataclass(frozen=True)
class Parallel:
    """One rank's place. Sizes and ranks: tensor (`tp`), pipeline (`pp`), context (`cp`), data (`dp`, without `cp`)."""

    rank: int
    world: int
    tp_rank: int
    tp_size: int
    pp_rank: int
    pp_size: int
    cp_rank: int
    cp_size: int
    dp_rank: int
    dp_size: int
    device: Device
    shim: CpuShim | None

    def close(self) -> None:
        """Leave the groups, so that the process could join others."""
        parallel_state.destroy_model_parallel()
        torch.distributed.destroy_process_group()
        if self.shim is not None:
            self.shim.stop()


def init_parallel(
    rank: int = 0,
    world: int = 1,
    tp: int = 1,
    pp: int = 1,
    cp: int = 1,
    master: str | None = None,
    device: Device | None = None,
    seed: int = 1234,
    local_rank: int = 0,
) -> Parallel:
    """Join rank `rank` of `world`; `master` is host:port of rank 0, needed when there are several.

    On a CPU, Megatron-core's requests for a GPU are answered by the CPU from here to `close()`, in this thread.
    Raises ValueError when `world` is no multiple of tp x pp x cp, or `master` is missing.
    """
    device = device or detect()
    if world % (tp * pp * cp):
        raise ValueError(f"{world} ranks cannot be divided into tensor {tp} x pipeline {pp} x context {cp}")
    if world > 1 and master is None:
        raise ValueError("several ranks need `master`, host:port of the first")
    shim = CpuShim().start() if device.is_cpu else None
    try:
        _join(rank, world, master, device, local_rank)
        parallel_state.initialize_model_parallel(
            tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp, context_parallel_size=cp
        )
        random.seed(seed)
        torch.manual_seed(seed)
        tensor_parallel.model_parallel_cuda_manual_seed(seed)
    except BaseException:
        if shim is not None:
            shim.stop()
        raise
    return Parallel(
        rank=rank,
        world=world,
        tp_rank=parallel_state.get_tensor_model_parallel_rank(),
        tp_size=tp,
        pp_rank=parallel_state.get_pipeline_model_parallel_rank(),
        pp_size=pp,
        cp_rank=parallel_state.get_context_parallel_rank(),
        cp_size=cp,
        dp_rank=parallel_state.get_data_parallel_rank(),
        dp_size=parallel_state.get_data_parallel_world_size(),
        device=device,
        shim=shim,
    )


def _join(rank: int, world: int, master: str | None, device: Device, local_rank: int) -> None:
    if device.is_cpu:
        torch.set_num_threads(device.trainer_threads or 1)
    else:
        torch.cuda.set_device(local_rank)
    where = {"store": torch.distributed.HashStore()} if master is None else {"init_method": f"tcp://{master}"}
    torch.distributed.init_process_group(device.backend, rank=rank, world_size=world, **where)
