"""Rewards: which rule, service or function gives them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

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
    rm_timeout: float = option(
        120.0, "How long one call of a reward function or service may take.", above=0, unit="seconds"
    )
    rm_retries: int = option(2, "Further calls where one failed.", low=0)
    rm_on_failure: Literal["fail", "zero", "drop"] = option(
        "fail", "Without a reward: stop the run, count it as 0, or do not train on the sample."
    )
    rm_processes: int = option(2, "Processes that grade mathematics.", low=1)
