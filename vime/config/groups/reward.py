"""Rewards: which rule, service or function gives them."""

from dataclasses import dataclass
from typing import ClassVar

from vime.config.option import option

RM_TYPES = ("exact_match", "math", "dapo", "deepscaler", "f1", "gpqa", "ifbench", "random", "remote_rm")


@dataclass(frozen=True, kw_only=True)
class Reward:
    """What gives the rewards."""

    NAME: ClassVar[str] = "reward"

    rm_type: str | None = option(
        None, f"Built-in reward: {', '.join(RM_TYPES)}; boxed_ before one extracts the boxed answer."
    )
    rm_url: str | None = option(None, "Address of the service, for remote_rm.")
    custom_rm_path: str | None = option(
        None, "Function that gives the reward of a sample, or of a group with --group-rm."
    )
    group_rm: bool = option(False, "Reward a group at once, when all its answers are there.")
    reward_key: str | None = option(None, "Which entry to train on, where a reward is a mapping.")
    eval_reward_key: str | None = option(None, "The same for evaluation; --reward-key when unset.")
    custom_reward_post_process_path: str | None = option(None, "Function that normalises rewards.")
