"""Prompts: where they come from, how a line is read, and how many make a rollout and an update."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Data:
    """Prompts, how a line is read, and the sizes of rollouts and updates."""

    NAME: ClassVar[str] = "data"

    num_rollout: int | None = option(None, "Rollouts of the whole run.", low=0)
    num_epoch: int | None = option(None, "Passes over the prompts, where --num-rollout is not set.", low=1)
    start_rollout_id: int | None = option(
        None, "Number of the first rollout; after the checkpoint's when unset.", low=0
    )
    rollout_batch_size: int | None = option(None, "Prompts of one rollout. Required.", low=1)
    n_samples_per_prompt: int = option(1, "Answers to each prompt: the size of a group.", low=1)
    global_batch_size: int | None = option(None, "Samples of one update.", low=1)
    num_steps_per_rollout: int | None = option(
        None, "Updates that one rollout gives, instead of --global-batch-size.", low=1
    )
    prompt_data: str | None = option(None, "File of prompts, JSON lines or Parquet; FILE@[a:b] takes a part.")
    rollout_shuffle: bool = option(False, "Shuffle the prompts in each epoch.")
    rollout_global_dataset: bool = option(
        True,
        "No common set of prompts: the rollout function brings its own.",
        spelling="off",
        flag="--disable-rollout-global-dataset",
    )
    data_source_path: str = option(
        "vime.rollout.data_source.RolloutDataSourceWithBuffer", "Class that gives out prompts."
    )
    apply_chat_template: bool = option(False, "Put prompts through the tokenizer's chat template.")
    apply_chat_template_kwargs: Mapping[str, Any] = option({}, "What else the chat template is given.")
    input_key: str = option("input", "Field of the prompt.")
    label_key: str | None = option(None, "Field of the right answer.")
    metadata_key: str = option("metadata", "Field of what belongs to a prompt otherwise.")
    tool_key: str = option("tools", "Field of the tools.")
    multimodal_keys: Mapping[str, Any] | None = option(None, "Fields of images and the like, by kind.")
    loss_mask_type: Literal["qwen", "qwen3", "qwen3_5", "distill_qwen"] = option(
        "qwen", "How the trained part of a conversation is found (supervised training)."
    )
    rollout_data_transport: Literal["object-store", "nixl"] = option(
        "object-store", "How training data reaches the trainer."
    )
