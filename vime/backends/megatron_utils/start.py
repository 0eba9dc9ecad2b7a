"""The trainer of one rank, built and loaded as `args` say."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from vime.backends.megatron_utils.checkpoint import TrainState, is_checkpoint, load_checkpoint
from vime.backends.megatron_utils.model_provider import build_model, data_parallel
from vime.backends.megatron_utils.optimizer import build_optimizer, build_scheduler
from vime.backends.megatron_utils.weights import load_hf
from vime.backends.megatron_utils.weights_backup import WeightSets, parameters_of


@dataclass(frozen=True)
class Started:
    """A trainer that is ready, the sets of weights beside it ("ref" if there is a reference model), and the rollout to
    begin with."""

    trainer: TrainState
    sets: WeightSets
    rollout_id: int


def wants_reference(args: Namespace) -> bool:
    """Whether a KL to a reference model counts anywhere."""
    return args.kl_coef != 0 or args.use_kl_loss


def start_trainer(args: Namespace, with_ref: bool) -> Started:
    """Build the model, the optimizer and its schedule, and load them; `init_parallel` comes first.

    Weights are from the checkpoint args.load, with all that belongs to them, or from a folder of Hugging Face's form.
    With args.finetune a checkpoint gives its weights alone and the first rollout is 0. The reference's are from
    args.ref_load. Raises CheckpointError and WeightsError.
    """
    model = build_model(args)
    sets = WeightSets(parameters_of(model))
    if with_ref:
        _load_weights(args.ref_load, model, args.ref_ckpt_step)
        sets.backup("ref")
    resumes = args.load is not None and is_checkpoint(args.load)
    if not resumes:
        load_hf(model, _hugging_face_folder(args))
    chunks = data_parallel(args, model)
    optimizer = build_optimizer(args, chunks)
    trainer = TrainState(chunks, optimizer, build_scheduler(args, optimizer))
    if not resumes:
        return Started(trainer, sets, 0)
    with_optimizer = not (args.no_load_optim or args.finetune)
    with_random = not (args.no_load_rng or args.finetune)
    done = load_checkpoint(args.load, trainer, args.ckpt_step, optimizer=with_optimizer, rng=with_random)
    if not with_optimizer:
        optimizer.reload_model_params()
    return Started(trainer, sets, 0 if args.finetune else done + 1)


def _hugging_face_folder(args: Namespace) -> str:
    """Where the weights are when there is no checkpoint: a run that is to be resumed names the folder it will save to."""
    if args.load is None or (args.load == args.save and not (Path(args.load) / "config.json").exists()):
        return args.hf_checkpoint
    return args.load


def _load_weights(path: str, model: Sequence[torch.nn.Module], iteration: int | None) -> None:
    """Weights alone, of either form."""
    if is_checkpoint(path):
        load_checkpoint(path, TrainState(model), iteration, optimizer=False, rng=False)
    else:
        load_hf(model, path)
