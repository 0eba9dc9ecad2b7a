"""The algorithm: advantages, loss, clipping, KL, and corrections for samples of another policy."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """Advantages, loss, KL, and off-policy corrections."""

    NAME: ClassVar[str] = "algorithm"

    advantage_estimator: Literal[
        "grpo", "gspo", "cispo", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "ppo"
    ] = option("grpo", "How rewards become advantages.")
    loss_type: Literal["policy_loss", "sft_loss", "custom_loss"] = option("policy_loss", "What is minimised.")
    custom_loss_function_path: str | None = option(None, "The loss, for custom_loss.")
    custom_advantage_function_path: str | None = option(None, "Function that fills in advantages and returns.")
    custom_pg_loss_reducer_function_path: str | None = option(
        None, "Function that makes the reducer of the policy loss."
    )
    compute_advantages_and_returns: bool = option(
        True,
        "Leave advantages out, as supervised training does.",
        spelling="off",
        flag="--disable-compute-advantages-and-returns",
    )
    grpo_std_normalization: bool = option(
        True,
        "Do not divide by the group's deviation (Dr.GRPO).",
        spelling="off",
        flag="--disable-grpo-std-normalization",
    )
    rewards_normalization: bool = option(
        True, "Do not subtract the group's mean either.", spelling="off", flag="--disable-rewards-normalization"
    )
    normalize_advantages: bool = option(False, "Whiten advantages over the batch.")
    eps_clip: float = option(0.2, "How far the ratio may fall below 1.", low=0)
    eps_clip_high: float | None = option(None, "How far it may rise; --eps-clip when unset.", low=0)
    eps_clip_c: float | None = option(None, "Bound of dual clipping; must be above 1.", above=1)
    value_clip: float = option(0.2, "Clip of the value loss.", low=0)
    kl_coef: float = option(0.0, "Weight of the KL to the reference in the reward.")
    use_kl_loss: bool = option(False, "Add the KL to the reference to the loss.")
    kl_loss_coef: float = option(0.0, "Its weight.")
    kl_loss_type: Literal["k1", "k2", "k3", "low_var_kl"] = option("k1", "Estimator of the KL.")
    use_unbiased_kl: bool = option(False, "Weight the estimator by the ratio of the policies.")
    ref_update_interval: int | None = option(None, "Rollouts after which the reference becomes the actor.", low=1)
    entropy_coef: float = option(0.0, "Weight of the entropy bonus.")
    gamma: float = option(1.0, "Discount.", low=0, high=1)
    lambd: float = option(1.0, "Lambda of the generalised advantage.", low=0, high=1)
    use_rollout_entropy: bool = option(False, "Take the entropy of the policy that generated.")
    use_rollout_logprobs: bool = option(False, "Take the engine's logprobs for the old policy's.")
    use_tis: bool = option(False, "Truncated importance sampling between engine and trainer.")
    tis_clip: float = option(2.0, "Its upper bound.", above=0)
    tis_clip_low: float = option(0.0, "Its lower bound.", low=0)
    custom_tis_function_path: str | None = option(None, "Function that corrects instead.")
    get_mismatch_metrics: bool = option(False, "Measure the mismatch of engine and trainer.")
    use_opsm: bool = option(False, "Mask sequences that are too far from the policy.")
    opsm_delta: float = option(1e-4, "How far is too far.", low=0)
    use_routing_replay: bool = option(False, "Send tokens to the same experts again (models with experts).")
    use_rollout_routing_replay: bool = option(False, "The same, with the engine's choice of experts.")
    keep_old_actor: bool = option(False, "Keep the weights that generated, for the old logprobs.")
    calculate_per_token_loss: bool = option(False, "Weigh tokens alike, not samples.")
    loss_constant_length: int | None = option(
        None, "Divide each rollout's loss by this many tokens, not by its own (Dr.GRPO).", low=1
    )
    logprob_diff_mean_bound: float | None = option(
        None, "Largest mean difference of trainer's and engine's logprobs; by --dtype when unset.", above=0
    )
    logprob_diff_max_bound: float | None = option(None, "The largest difference of one token; as above.", above=0)
    nonfinite_update: Literal["error", "skip"] = option(
        "error", "What becomes of an update whose loss or gradient is not finite."
    )
    num_critic_only_steps: int = option(0, "Rollouts in which only the critic learns.", low=0)
    seed: int = option(1234, "Seed of the trainer.", low=0, high=2**62)
