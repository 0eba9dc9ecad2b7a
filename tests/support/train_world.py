"""What the tests of the training step share: rollouts of random samples, and an actor on a small model."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from megatron_world import VOCAB, made_args
from rank_processes import run_in_processes
from safetensors.torch import load_file

from vime.backends.megatron_utils.actor import MegatronTrainRayActor
from vime.config.args import Args
from vime.utils.network import get_free_port

Rollout = dict[str, list[Any]]

TRAINING = [
    "--use-dynamic-batch-size",
    "--max-tokens-per-gpu",
    "64",
    "--n-samples-per-prompt",
    "4",
    "--dtype",
    "float32",
]


def train_args(folder: Path, *words: str) -> Args:
    """The arguments of a run whose rollouts are 4 prompts of 4 samples."""
    return made_args(folder, *TRAINING, *words)


def made_rollout(count: int = 16, seed: int = 0, longest: int = 20) -> dict[str, list[Any]]:
    """Training data of `count` random samples, without the engine's logprobs; some tokens are masked."""
    chance = random.Random(seed)
    responses = [chance.randint(1, longest) for _ in range(count)]
    prompts = [chance.randint(1, longest) for _ in range(count)]
    return {
        "tokens": [[chance.randrange(VOCAB) for _ in range(p + r)] for p, r in zip(prompts, responses)],
        "response_lengths": responses,
        "rewards": [chance.gauss(0, 1) for _ in range(count)],
        "raw_reward": [float(chance.random() < 0.5) for _ in range(count)],
        "truncated": [0] * count,
        "sample_indices": list(range(100, 100 + count)),
        "rollout_ids": list(range(count)),
        "loss_masks": [[1] + [int(chance.random() < 0.8) for _ in range(r - 1)] for r in responses],
    }


def with_engine_log_probs(actor: MegatronTrainRayActor, rollout: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The rollout with the logprobs that an engine with the actor's weights reports."""
    return {**rollout, "rollout_log_probs": actor.log_probs(rollout["tokens"], rollout["response_lengths"])}


@contextmanager
def one_actor(args: Args, **init: Any) -> Iterator[MegatronTrainRayActor]:
    """An actor that is the only rank."""
    actor = MegatronTrainRayActor()
    actor.init(args, **init)
    try:
        yield actor
    finally:
        actor.parallel.close()


def weights_of(actor: MegatronTrainRayActor) -> list[Any]:
    """Copies of the actor's parameters."""
    return [parameter.detach().clone() for parameter in actor.trainer.model[0].parameters()]


def largest_difference(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Of two lists of tensors."""
    return max(float((a - b).abs().max()) for a, b in zip(one, other, strict=True))


def trained(
    model: Path, *words: str, rollout: Rollout | None = None, change: Callable[[Rollout], Rollout] = lambda one: one
) -> tuple[dict[str, float], list[Any]]:
    """(figures, weights afterwards) of one rollout."""
    with one_actor(train_args(model, *words)) as actor:
        data = change(with_engine_log_probs(actor, rollout or made_rollout()))
        return actor.train(0, data), weights_of(actor)


def ones(args: Any, rollout_data: dict) -> None:
    """For --custom-advantage-function-path: every advantage is 1."""
    assert rollout_data["log_probs"][0].shape == rollout_data["kl"][0].shape
    rollout_data["advantages"] = rollout_data["returns"] = [torch.ones_like(one) for one in rollout_data["kl"]]


def _rank(rank: int, world: int, port: int, args: Args, rollouts: list[dict[str, list[Any]]], out: str) -> None:
    """One of several ranks: the figures of each rollout, and the weights in Hugging Face's form on rank 0."""
    actor = MegatronTrainRayActor(world, rank, "127.0.0.1", port)
    actor.init(args)
    figures = []
    for number, rollout in enumerate(rollouts):
        figures.append(actor.train(number, with_engine_log_probs(actor, rollout)))
    actor.save_hf(Path(out) / "hf")
    torch.save(figures, Path(out) / f"figures-{rank}.pt")
    actor.close()


def train_on_ranks(
    args: Args, rollouts: list[dict[str, list[Any]]], world: int, out: Path
) -> tuple[list[list[dict[str, float]]], dict[str, Any]]:
    """(figures of each rank and rollout, weights afterwards) of training on `world` processes."""
    out.mkdir()
    arguments = (world, get_free_port(), args, rollouts, str(out))
    run_in_processes(_rank, arguments, world)
    figures = [torch.load(out / f"figures-{rank}.pt") for rank in range(world)]
    weights: dict[str, Any] = {}
    for file in sorted((out / "hf").glob("*.safetensors")):
        weights |= load_file(file)
    return figures, weights
