"""Logging: the run's own log, TensorBoard, Weights & Biases, and what is counted."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Logs:
    """TensorBoard, Weights & Biases, and what is counted."""

    NAME: ClassVar[str] = "logging"

    run_dir: str | None = option(
        None, "Folder of the run's own log, which `vime report` reads; runs/ and the time when unset."
    )
    use_tensorboard: bool = option(False, "Write TensorBoard files.")
    tb_project_name: str | None = option(None, "Their folder.")
    tb_experiment_name: str | None = option(None, "The folder below it.")
    use_wandb: bool = option(False, "Report to Weights & Biases.")
    wandb_mode: Literal["online", "offline", "disabled"] | None = option(None, "Its mode.")
    wandb_dir: str | None = option(None, "Its folder.")
    wandb_key: str | None = option(None, "Its key; WANDB_API_KEY keeps it off the command line.", secret=True)
    wandb_host: str | None = option(None, "Its address.")
    wandb_team: str | None = option(None, "The team.")
    wandb_project: str | None = option(None, "The project.")
    wandb_group: str | None = option(None, "The group of runs.")
    wandb_run_id: str | None = option(None, "The run to go on with.")
    wandb_random_suffix: bool = option(
        True, "Leave the random ending off the run's name.", spelling="off", flag="--disable-wandb-random-suffix"
    )
    wandb_always_use_train_step: bool = option(False, "Count everything in updates.")
    log_multi_turn: bool = option(False, "Figures of conversations with several turns.")
    log_passrate: bool = option(False, "pass@k.")
    log_reward_category: str | None = option(None, "Count rewards by this entry.")
    log_correct_samples: bool = option(False, "Figures of right answers apart.")
    custom_rollout_log_function_path: str | None = option(None, "Function that logs a rollout.")
    custom_eval_rollout_log_function_path: str | None = option(None, "Function that logs an evaluation.")
