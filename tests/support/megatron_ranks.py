"""Trainer ranks in processes of their own: what one of them does for the tests of tensor and data parallelism."""

import socket
from collections.abc import Callable
from pathlib import Path

import torch
from megatron_world import FAMILIES, gradients, hf_model, logits, made_args, made_pack, made_state, updated
from rank_processes import run_in_processes

from vime.backends.megatron_utils.checkpoint import TrainState, load_checkpoint, save_checkpoint
from vime.backends.megatron_utils.model_provider import build_model
from vime.backends.megatron_utils.parallel import Parallel, init_parallel
from vime.backends.megatron_utils.weights import hf_tensors, load_hf, save_hf

PACKS = [[made_pack((9, 4, 12), seed), made_pack((3, 20), seed + 100)] for seed in range(4)]
UPDATES = 2


def run_ranks(work: Callable[[Parallel, Path], None], world: int, tp: int, folder: Path) -> None:
    """`work(place, folder)` in each of `world` processes, `tp` of them tensor-parallel."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    run_in_processes(_rank, (world, tp, master, work, folder), world)


def _rank(rank: int, world: int, tp: int, master: str, work: Callable[[Parallel, Path], None], folder: Path) -> None:
    place = init_parallel(rank, world, tp, master=master)
    work(place, folder)
    place.close()


def words(place: Parallel) -> list[str]:
    """The layout as arguments."""
    return ["--actor-num-gpus-per-node", str(place.world), "--tensor-model-parallel-size", str(place.tp_size)]


def tensor_parallel(place: Parallel, folder: Path) -> None:
    """Logits, exports and updates of a model over tensor-parallel ranks; what rank 0 saw goes to a file."""
    seen = {}
    for family in FAMILIES:
        args = made_args(folder / family, *words(place))
        model = build_model(args)
        load_hf(model, folder / family)
        with torch.no_grad():
            mine = logits(model[0], made_pack((5, 1, 40)))
        seen[family, "rows"] = model[0].embedding.word_embeddings.weight.shape[0]
        seen[family, "logits"] = _gathered(mine, place)
        seen[family, "export"] = {name: value.clone() for name, value in hf_tensors(model, args)}
        save_hf(model, args, folder / "out" / family, shard_bytes=50_000)
    for family in ("qwen3-tied", "qwen2"):
        args = made_args(folder / family, *words(place))
        state = made_state(args, folder / family)
        seen[family, "updates"] = [updated(state, packs) for packs in PACKS[:UPDATES]]
        save_checkpoint(folder / "tp2" / family, UPDATES, state)
        seen[family, "goes on"] = [updated(state, packs) for packs in PACKS[UPDATES:]]
        again = made_state(args, folder / family)
        load_checkpoint(folder / "tp2" / family, again)
        seen[family, "resumed"] = [updated(again, packs) for packs in PACKS[UPDATES:]]
        load_checkpoint(folder / "tp1" / family, again)
        seen[family, "resharded"] = [updated(again, packs) for packs in PACKS[UPDATES:]]
        gradients(again, PACKS[0])
        seen[family, "norms"] = again.optimizer.grad_norm()
    if place.rank == 0:
        torch.save(seen, folder / "seen.pt")


def _gathered(part: torch.Tensor, place: Parallel) -> torch.Tensor:
    parts = [torch.empty_like(part) for _ in range(place.tp_size)]
    torch.distributed.all_gather(parts, part.contiguous())
    return torch.cat(parts, dim=-1)


def data_parallel(place: Parallel, folder: Path) -> None:
    """Updates in which each rank takes half of the packs, over a checkpoint."""
    args = made_args(folder / "qwen3-tied", *words(place))
    state = made_state(args, folder / "qwen3-tied")
    losses, norms = [], []
    for number, packs in enumerate(PACKS):
        loss, norm = updated(state, packs[place.rank : place.rank + 1])
        both = torch.tensor([loss])
        torch.distributed.all_reduce(both)
        losses.append(both.item() / place.world)
        norms.append(norm)
        if number == 1:
            save_checkpoint(folder / "dp2", 1, state)
            state = made_state(args, folder / "qwen3-tied")
            load_checkpoint(folder / "dp2", state)
    save_checkpoint(folder / "dp2", 3, TrainState(state.model))
    if place.rank == 0:
        torch.save({"losses": losses, "norms": norms}, folder / "dp-seen.pt")


def one_fails(place: Parallel, folder: Path) -> None:
    """A save in which rank 1 cannot write: every rank is told."""
    args = made_args(folder / "qwen3-tied", *words(place))
    state = made_state(args, folder / "qwen3-tied")
    save_checkpoint(folder / "run", 0, state)
    if place.rank == 1:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        save_checkpoint(folder / "run", 1, state)
    except Exception as error:
        name = folder / f"said-{place.rank}"
        name.write_text(f"{type(error).__name__}: {error}"[:900])


def prepare(folder: Path) -> None:
    """The models of all families."""
    for family in FAMILIES:
        hf_model(family, folder / family)
