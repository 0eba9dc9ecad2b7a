"""Rules about the algorithm and checkpoints."""

from collections.abc import Iterator
from pathlib import Path

from vime.config.groups.reward import RM_TYPES
from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.utils.checkpoint_names import MARKER


def reference(c: Check) -> Iterator[Problem]:
    """A KL needs a reference model, and counts once."""
    wanted = c.kl_coef != 0 or c.use_kl_loss
    if wanted and c.ref_load is None:
        yield c.problem("kl_coef use_kl_loss ref_load", "the KL needs a reference model", "set --ref-load, or no KL")
    elif wanted and not Path(c.ref_load).exists():
        yield c.problem("ref_load", f"{c.ref_load} does not exist", "name the reference model's checkpoint")
    if c.kl_coef != 0 and c.use_kl_loss and c.kl_loss_coef != 0:
        yield c.problem("kl_coef kl_loss_coef", "the KL would count twice, in reward and loss", "keep one coefficient")
    if c.use_kl_loss and c.kl_loss_coef == 0 and c.kl_coef == 0:
        yield c.warning(
            "use_kl_loss kl_loss_coef",
            "the reference model costs a pass and changes nothing at weight 0",
            "set --kl-loss-coef, or leave it out",
        )
    if c.kl_loss_coef != 0 and not c.use_kl_loss:
        yield c.warning("kl_loss_coef", "it does nothing without --use-kl-loss", "add --use-kl-loss, or leave it out")
    if c.ref_update_interval is not None and not wanted:
        yield c.problem("ref_update_interval", "there is no reference model without a KL", "leave it out")
    if c.ref_update_interval is not None and c.save is not None:
        yield c.warning(
            "ref_update_interval save",
            "checkpoints do not hold the reference: a run that is resumed begins with --ref-load's again",
            "name the last checkpoint's weights with --ref-load then",
        )


def kl(c: Check) -> Iterator[Problem]:
    """A KL does what its user expects."""
    if c.use_kl_loss and c.kl_loss_coef != 0 and c.kl_loss_type == "k1" and not c.use_unbiased_kl:
        yield c.warning(
            "kl_loss_type use_kl_loss",
            "k1 in the loss has a gradient of 0 in the mean: it holds nothing near the reference",
            "choose k2, k3 or low_var_kl, or add --use-unbiased-kl",
        )
    if c.kl_coef != 0 and c.advantage_estimator in ("grpo", "gspo", "cispo"):
        yield c.warning(
            "kl_coef advantage_estimator",
            f"it lowers each token's advantage; upstream ignores it with {c.advantage_estimator}",
            "keep it if you mean that, else leave it out; --use-kl-loss is GRPO's own way",
        )


def nucleus(c: Check) -> Iterator[Problem]:
    """The engine's logprobs are of the words that sampling kept, so the trainer has to know them."""
    if c.loss_type != "policy_loss" or c.debug_rollout_only:
        return
    if c.rollout_top_k > 0 and c.rollout_top_p == 1:
        yield c.problem(
            "rollout_top_k",
            f"the engine's logprobs would be of {c.rollout_top_k} words and the trainer's of all",
            "leave it out",
        )
    if c.rollout_top_p == 1 or c.debug_train_only:
        return
    if c.device.is_cpu:
        yield c.problem(
            "rollout_top_p",
            "the engine's logprobs would be of the words it kept and the trainer's of all: on a CPU vLLM does not tell which",
            "leave it out",
        )
    elif not c.given("vllm_return_sampling_mask", False) and not c.rollout_external_engine_addrs:
        yield c.problem("rollout_top_p", "the trainer has to know the words kept", "add --vllm-return-sampling-mask")


def estimator(c: Check) -> Iterator[Problem]:
    """What an estimator or a loss needs besides."""
    if c.advantage_estimator.startswith("reinforce_plus_plus") and not c.normalize_advantages:
        yield c.problem(
            "advantage_estimator", f"{c.advantage_estimator} needs whitened advantages", "add --normalize-advantages"
        )
    if c.loss_type == "custom_loss" and not c.custom_loss_function_path:
        yield c.problem("loss_type", "custom_loss needs its function", "set --custom-loss-function-path")
    if c.custom_loss_function_path and c.loss_type != "custom_loss":
        yield c.problem(
            "custom_loss_function_path loss_type", f"it is not used with {c.loss_type}", "add --loss-type custom_loss"
        )
    if c.loss_type == "policy_loss" and not c.compute_advantages_and_returns and not c.rollout_data_postprocess_path:
        yield c.problem(
            "compute_advantages_and_returns loss_type",
            "the policy's loss needs advantages",
            "leave it out, or fill them in with --rollout-data-postprocess-path",
        )
    if c.advantage_estimator == "ppo":
        yield c.problem("advantage_estimator", "ppo needs a critic, which is not trained here", "choose grpo, say")
    if c.loss_constant_length is not None and c.calculate_per_token_loss:
        yield c.problem(
            "loss_constant_length calculate_per_token_loss", "the loss would be divided twice", "keep one of them"
        )
    if c.num_critic_only_steps and c.advantage_estimator != "ppo":
        yield c.problem("num_critic_only_steps", f"{c.advantage_estimator} has no critic", "leave it out")


def corrections(c: Check) -> Iterator[Problem]:
    """Corrections for the mismatch of engine and trainer do not contradict each other."""
    if c.use_rollout_logprobs and c.use_tis:
        yield c.problem(
            "use_rollout_logprobs use_tis", "TIS compares the engine's logprobs with the trainer's", "keep one of them"
        )
    if c.use_tis and c.tis_clip_low > c.tis_clip:
        yield c.problem(
            "tis_clip_low tis_clip", f"tis_clip_low {c.tis_clip_low} is above tis_clip {c.tis_clip}", "swap them"
        )
    if c.get_mismatch_metrics and not c.custom_tis_function_path:
        yield c.problem(
            "get_mismatch_metrics", "its figures come from a function of yours", "set --custom-tis-function-path"
        )
    if c.keep_old_actor:
        yield c.problem(
            "keep_old_actor", "older weights are not kept here", "set --use-rollout-logprobs: the engine's are of them"
        )
    if c.mask_offpolicy_in_partial_rollout and not c.partial_rollout:
        yield c.problem("mask_offpolicy_in_partial_rollout", "nothing is partial", "add --partial-rollout")
    if c.only_train_params_name_list and c.freeze_params_name_list:
        yield c.problem(
            "only_train_params_name_list freeze_params_name_list", "each says what the other leaves", "keep one of them"
        )


def rewards(c: Check) -> Iterator[Problem]:
    """A reward is one that there is, and a remote one has an address."""
    if c.rm_type and not c.custom_rm_path and c.rm_type.removeprefix("boxed_") not in RM_TYPES:
        yield c.problem("rm_type", f"there is no reward {c.rm_type}", f"choose one of {', '.join(RM_TYPES)}")
    if c.rm_type == "remote_rm" and not c.rm_url:
        yield c.problem("rm_type", "remote_rm needs an address", "set --rm-url")


def experts(c: Check) -> Iterator[Problem]:
    """Routing exists in models with experts only, which this version does not train."""
    for name in ("use_routing_replay", "use_rollout_routing_replay"):
        if getattr(c, name):
            yield c.problem(name, "the model has no experts", "leave it out")


def schedule(c: Check) -> Iterator[Problem]:
    """The step size rises, and then falls."""
    if c.min_lr > c.lr:
        yield c.problem("min_lr lr", f"min_lr {c.min_lr} is above lr {c.lr}", "lower it")
    if c.lr_warmup_init > c.lr:
        yield c.problem("lr_warmup_init lr", f"lr_warmup_init {c.lr_warmup_init} is above lr {c.lr}", "lower it")
    if c.lr_warmup_iters and c.lr_warmup_fraction:
        yield c.problem("lr_warmup_iters lr_warmup_fraction", "the warm-up has two lengths", "keep one of them")
    if c.debug_rollout_only or c.lr_decay_style == "constant":
        return
    if c.lr_warmup_fraction == 1:
        yield c.problem("lr_warmup_fraction", "the warm-up leaves nothing of the decay", "lower it")
    decay = _decay(c)
    if decay is not None and c.lr_warmup_iters >= decay:
        what = f"the warm-up takes {c.lr_warmup_iters} updates and the decay ends after {decay}"
        yield c.problem("lr_warmup_iters lr_decay_iters num_rollout", what, f"set --lr-warmup-iters below {decay}")
    if c.lr_decay_style == "WSD" and c.lr_wsd_decay_iters is None:
        yield c.problem("lr_decay_style", "WSD has a last part of its own", "set --lr-wsd-decay-iters")
    if decay is not None and c.lr_wsd_decay_iters is not None and c.lr_wsd_decay_iters > decay:
        what = f"the last part takes {c.lr_wsd_decay_iters} updates and the decay ends after {decay}"
        yield c.problem("lr_wsd_decay_iters lr_decay_iters num_rollout", what, "shorten it")


def _decay(c: Check) -> int | None:
    """Updates until the step size is at its end; None where that is not known yet."""
    if c.lr_decay_iters is not None:
        return c.lr_decay_iters
    if not c.num_rollout or None in (c.rollout_batch_size, c.global_batch_size):
        return None
    return max(1, c.num_rollout * c.rollout_batch_size * c.n_samples_per_prompt // c.global_batch_size)


def saving(c: Check) -> Iterator[Problem]:
    """Checkpoints have a place."""
    if c.save_interval is not None and c.save is None and c.save_hf is None:
        yield c.problem("save_interval", "there is no folder to save to", "set --save")
    if c.load is not None and c.set("load") and not Path(c.load).exists() and c.load != c.save:
        yield c.problem("load", f"{c.load} does not exist", "name a checkpoint, or the folder of --save")
    if c.save is not None and (Path(c.save) / MARKER).is_file() and not _goes_on(c):
        yield c.problem(
            "save",
            f"{c.save} holds checkpoints of another run",
            f"go on from them with --load {c.save}, or choose another folder",
        )


def _goes_on(c: Check) -> bool:
    """Whether the run goes on from a checkpoint in the folder to which it saves."""
    return c.load is not None and Path(c.load).resolve().is_relative_to(Path(c.save).resolve())


RULES = (reference, kl, nucleus, estimator, corrections, rewards, experts, schedule, saving)
