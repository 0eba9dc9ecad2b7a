"""Optimisation: step size and its schedule. Whatever else the optimizer knows comes from Megatron-core itself."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """Step size and its schedule."""

    NAME: ClassVar[str] = "optimizer"

    optimizer: Literal["adam", "sgd"] = option("adam", "The method.")
    lr: float = option(1e-6, "Step size.", low=0)
    min_lr: float = option(0.0, "Where its decay ends.", low=0)
    lr_decay_style: Literal["constant", "linear", "cosine", "inverse-square-root", "WSD"] = option(
        "linear", "How it decays."
    )
    lr_decay_iters: int | None = option(None, "Updates of the decay; the whole run when unset.", low=1)
    lr_wsd_decay_iters: int | None = option(None, "Updates of its last part, with WSD.", low=1)
    lr_wsd_decay_style: Literal["exponential", "linear", "cosine", "minus_sqrt"] = option(
        "exponential", "How it falls in that."
    )
    lr_warmup_iters: int = option(0, "Updates in which it rises.", low=0)
    lr_warmup_fraction: float | None = option(None, "The same as a share of the decay.", low=0, high=1)
    lr_warmup_init: float = option(0.0, "Where it begins.", low=0)
    weight_decay: float = option(0.01, "Pull of the weights to zero.", low=0)
    adam_beta1: float = option(0.9, "Memory of the mean.", low=0, below=1)
    adam_beta2: float = option(0.999, "Memory of the square.", low=0, below=1)
    adam_eps: float = option(1e-8, "Keeps the division finite.", above=0)
    clip_grad: float = option(1.0, "Longest gradient; 0 is any.", low=0)
    reset_optimizer_states: bool = option(False, "Forget the optimizer's state before each rollout.")
    use_stateless_adam: bool = option(False, "Keep no state of Adam's between rollouts.")
