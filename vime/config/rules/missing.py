"""Options of upstream's that nothing here reads: known, so that a command line of upstream's is understood, and told."""

import dataclasses
from collections.abc import Iterator

from vime.config.groups import GROUPS
from vime.config.problems import Problem
from vime.config.rules.check import Check

WITHOUT_EFFECT = {
    "ci_disable_kl_checker": "no such check is made",
    "distributed_timeout_minutes": "torch's own timeouts hold",
    "eval_max_context_len": "--rollout-max-context-len bounds evaluation as well",
    "lambd": "there is no critic",
    "num_critic_only_steps": "there is no critic",
    "offload": "memory is not handed over between trainer and engines: both must fit",
    "offload_rollout": "memory is not handed over between trainer and engines: both must fit",
    "offload_train": "memory is not handed over between trainer and engines: both must fit",
    "rollout_data_transport": "training data goes through Ray's object store",
    "rollout_health_check_first_wait": "engines are watched while they generate, from the start",
    "recompute_loss_function": "the loss takes the logits' memory as it is",
    "update_weight_delta_checksum": "weights are sent in full",
    "update_weight_delta_encoding": "weights are sent in full",
    "use_distributed_post": "one process sends all requests",
    "use_fault_tolerance": "engines that die are always started again",
    "value_clip": "there is no critic",
    "wandb_always_use_train_step": "figures are counted in rollouts",
    "wandb_random_suffix": "names get no ending",
}
"""What is so instead. The run does what it would do without them."""
REFUSED = {
    "megatron_config_path": "there is one role, the actor, and the flags are its own",
    "async_save": "a checkpoint is written before the run goes on",
    "ci_load_grad_norm": "gradient norms are not compared",
    "ci_save_grad_norm": "gradient norms are not written; they are in the run's log",
    "release_train": "the trainer's processes stay",
    "use_rollout_entropy": "the entropy is the trainer's",
    "use_stateless_adam": "Adam keeps its state; --reset-optimizer-states forgets it before each rollout's updates",
}
"""What is so instead, where the run would be another than the one that was asked for."""
_DEFAULTS = {field.name: field.default for group in GROUPS for field in dataclasses.fields(group)}


def missing(c: Check) -> Iterator[Problem]:
    """An option that does nothing is told, and refused where its absence changes what comes out."""
    for name, instead in WITHOUT_EFFECT.items():
        if _asked(c, name):
            yield c.warning(name, f"it has no effect here: {instead}", "leave it out")
    for name, instead in REFUSED.items():
        if _asked(c, name):
            yield c.problem(name, f"this version does not have it: {instead}", "leave it out")


def _asked(c: Check, name: str) -> bool:
    return c.set(name) and getattr(c, name) not in (None, False, _DEFAULTS[name])


RULES = (missing,)
