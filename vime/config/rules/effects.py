"""Options that do nothing beside the others that were given: a table. Each is told where it was written. What nothing reads at
all is in vime.config.rules.missing."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vime.config.derive import FULLY_ASYNC
from vime.config.groups import GROUPS
from vime.config.problems import Problem
from vime.config.rules.check import Check


@dataclass(frozen=True)
class Effect:
    """An option that has an effect only where `when` holds."""

    option: str
    when: Callable[[Check], bool]
    why: str
    fix: str = "leave it out"


def _policy(c: Check) -> bool:
    return c.loss_type == "policy_loss"


def _clips(c: Check) -> bool:
    return _policy(c) and c.advantage_estimator != "cispo"


def _by_group(c: Check) -> bool:
    return c.advantage_estimator != "reinforce_plus_plus"


def _corrects(c: Check) -> bool:
    return c.use_tis or c.get_mismatch_metrics


def _whitened(c: Check) -> bool:
    return c.loss_type != "sft_loss" and c.compute_advantages_and_returns


_NO_SUCH_LOSS = "only the policy's loss has it"

EFFECTS: tuple[Effect, ...] = (
    Effect("gamma", lambda c: c.advantage_estimator == "reinforce_plus_plus", "only reinforce_plus_plus discounts"),
    Effect("eps_clip_c", _clips, "cispo and other losses than the policy's have no dual clip"),
    Effect("eps_clip", _policy, _NO_SUCH_LOSS),
    Effect("eps_clip_high", _policy, _NO_SUCH_LOSS),
    Effect("entropy_coef", _policy, _NO_SUCH_LOSS),
    Effect("advantage_estimator", _whitened, "advantages are not computed"),
    Effect("normalize_advantages", _whitened, "advantages are not computed"),
    Effect("custom_advantage_function_path", _whitened, "advantages are not computed"),
    Effect("custom_pg_loss_reducer_function_path", _policy, _NO_SUCH_LOSS),
    Effect(
        "grpo_std_normalization",
        lambda c: c.advantage_estimator in ("grpo", "gspo", "cispo") and c.rewards_normalization,
        "rewards are not divided by a deviation with these options",
    ),
    Effect("rewards_normalization", _by_group, "reinforce_plus_plus does not subtract a group's mean"),
    Effect("kl_loss_type", lambda c: c.kl_coef != 0 or c.use_kl_loss, "no KL is computed"),
    Effect("use_unbiased_kl", lambda c: c.use_kl_loss and c.kl_loss_coef != 0, "no KL is in the loss"),
    Effect("use_kl_loss", _policy, _NO_SUCH_LOSS),
    Effect("kl_coef", _whitened, "advantages are not computed"),
    Effect("use_rollout_logprobs", _policy, _NO_SUCH_LOSS),
    Effect("use_tis", _policy, _NO_SUCH_LOSS),
    Effect("tis_clip", _corrects, "nothing is corrected", "add --use-tis"),
    Effect("tis_clip_low", _corrects, "nothing is corrected", "add --use-tis"),
    Effect("custom_tis_function_path", _corrects, "it is not called", "add --use-tis or --get-mismatch-metrics"),
    Effect("use_opsm", _policy, _NO_SUCH_LOSS),
    Effect("opsm_delta", lambda c: c.use_opsm, "no sequence is masked", "add --use-opsm"),
    Effect("ref_ckpt_step", lambda c: c.ref_load is not None, "no reference model is loaded"),
    Effect("ref_load", lambda c: c.kl_coef != 0 or c.use_kl_loss or c.load == c.ref_load, "no KL needs it"),
    Effect("no_save_optim", lambda c: c.save is not None, "nothing is saved", "set --save"),
    Effect(
        "lr_decay_iters",
        lambda c: c.lr_decay_style != "constant",
        "a constant step size does not decay",
        "leave it out",
    ),
    Effect("lr_wsd_decay_iters", lambda c: c.lr_decay_style == "WSD", "only WSD has a last part of its own"),
    Effect("lr_wsd_decay_style", lambda c: c.lr_decay_style == "WSD", "only WSD has a last part of its own"),
    Effect("min_lr", lambda c: c.lr_decay_style != "constant", "a constant step size does not decay"),
    Effect(
        "lr_warmup_init", lambda c: c.lr_warmup_iters > 0 or bool(c.lr_warmup_fraction), "there is no warm-up to begin"
    ),
    Effect("adam_beta1", lambda c: c.optimizer == "adam", "the optimizer is sgd"),
    Effect("adam_beta2", lambda c: c.optimizer == "adam", "the optimizer is sgd"),
    Effect("adam_eps", lambda c: c.optimizer == "adam", "the optimizer is sgd"),
    Effect(
        "load_debug_rollout_data_subsample",
        lambda c: c.load_debug_rollout_data is not None,
        "nothing is loaded",
        "set --load-debug-rollout-data",
    ),
    Effect(
        "fully_async_max_staleness",
        lambda c: c.rollout_function_path == FULLY_ASYNC,
        "only the fully-async rollout generates beside training",
        f"set --rollout-function-path {FULLY_ASYNC}",
    ),
    Effect(
        "over_sampling_batch_size",
        lambda c: c.rollout_function_path != FULLY_ASYNC,
        "the fully-async rollout asks for a prompt whenever there is room; --fully-async-max-staleness says how much",
    ),
    Effect("ci_train_rollout_logprob_abs_diff_threshold", lambda c: c.ci_test, "it is not looked at", "add --ci-test"),
)


_DEFAULTS = {field.name: field.default for group in GROUPS for field in dataclasses.fields(group)}


def effects(c: Check) -> Iterator[Problem]:
    """Whoever sets an option learns where it does nothing."""
    for row in EFFECTS:
        if c.set(row.option) and getattr(c, row.option) != _DEFAULTS[row.option] and not row.when(c):
            yield c.warning(row.option, row.why, row.fix)


RULES = (effects,)
