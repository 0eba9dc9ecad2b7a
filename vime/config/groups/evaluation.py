"""Evaluation: on what, how often, and sampled how. What is unset is as in training."""

from dataclasses import dataclass
from typing import ClassVar

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Evaluation sets and how their answers are drawn."""

    NAME: ClassVar[str] = "evaluation"

    eval_interval: int | None = option(None, "Rollouts between two evaluations; never when unset.", low=1)
    eval_prompt_data: tuple[str, ...] | None = option(None, "Name and file of each set, in turn.")
    eval_config: str | None = option(None, "YAML file with the sets and their own sampling, instead.")
    eval_function_path: str | None = option(None, "Function that evaluates; --rollout-function-path when unset.")
    skip_eval_before_train: bool = option(False, "No evaluation before the first update.")
    eval_input_key: str | None = option(None, "Field of the prompt.")
    eval_label_key: str | None = option(None, "Field of the right answer.")
    eval_tool_key: str | None = option(None, "Field of the tools.")
    n_samples_per_eval_prompt: int = option(1, "Answers to each prompt.", low=1)
    eval_temperature: float | None = option(None, "Temperature; 0 is greedy.", low=0)
    eval_top_p: float | None = option(None, "Share of probability that is kept.", above=0, high=1)
    eval_top_k: int | None = option(None, "Tokens that are kept.", low=-1)
    eval_max_response_len: int | None = option(None, "Longest answer.", low=1)
    eval_max_prompt_len: int | None = option(None, "Longest prompt.", low=1)
    eval_max_context_len: int | None = option(None, "Longest of both together.", low=2)
    eval_min_new_tokens: int | None = option(None, "Shortest answer.", low=0)
