"""Debugging: half of the loop alone, dumps, and the bounds that continuous integration sets."""

from dataclasses import dataclass
from typing import ClassVar

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Debug:
    """Half of the loop alone, dumps, and bounds for tests."""

    NAME: ClassVar[str] = "debug"

    debug_rollout_only: bool = option(False, "Generate, and do not train.")
    debug_train_only: bool = option(False, "Train, and start no engine.")
    save_debug_rollout_data: str | None = option(
        None, "File of each rollout's samples; {rollout_id} stands for the number."
    )
    load_debug_rollout_data: str | None = option(None, "Train on such files, without engines.")
    load_debug_rollout_data_subsample: float | None = option(None, "Take only this share of them.", above=0, high=1)
    save_debug_train_data: str | None = option(None, "File of each rollout's training data.")
    dump_details: str | None = option(None, "Folder of both.")
    ci_test: bool = option(False, "Hold the run to the bounds below.")
    ci_disable_kl_checker: bool = option(False, "Leave the check of the KL out.")
    ci_train_rollout_logprob_abs_diff_threshold: float = option(
        0.1, "Largest mean difference of trainer's and engine's logprobs.", above=0
    )
    ci_save_grad_norm: str | None = option(None, "File to write gradient norms to.")
    ci_load_grad_norm: str | None = option(None, "File of gradient norms to compare with.")
