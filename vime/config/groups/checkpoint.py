"""Checkpoints: what is loaded, what is written, and when."""

from dataclasses import dataclass
from typing import ClassVar

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What is loaded and what is written."""

    NAME: ClassVar[str] = "checkpoint"

    load: str | None = option(
        None,
        "Checkpoint to go on from, of Megatron's or Hugging Face's form; --ref-load, then --hf-checkpoint when unset.",
    )
    ckpt_step: int | None = option(None, "Its step; the last when unset.", low=0)
    ref_load: str | None = option(None, "Checkpoint of the reference model.")
    ref_ckpt_step: int | None = option(None, "Its step.", low=0)
    no_load_optim: bool = option(False, "Take the weights only.")
    no_load_rng: bool = option(False, "Do not take the random state.")
    finetune: bool = option(False, "Take the weights only, and begin to count at 0.")
    save: str | None = option(None, "Folder of the checkpoints.")
    save_interval: int | None = option(None, "Rollouts between two of them; one after the last there is always.", low=1)
    save_hf: str | None = option(None, "Folder of weights in Hugging Face's form; {rollout_id} stands for the number.")
    no_save_optim: bool = option(False, "Write the weights only: nothing to resume from.")
    async_save: bool = option(False, "Write while training goes on.")
