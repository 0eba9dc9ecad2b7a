"""Rules about sizes: prompts, samples, updates, lengths."""

from collections.abc import Iterator

from vime.config.problems import Problem
from vime.config.rules.check import Check

_LOOKED_AT = 100_000
"""Sizes among which one to suggest is looked for."""


def required(c: Check) -> Iterator[Problem]:
    """A run needs its size, and prompts or a function that brings them."""
    if c.rollout_batch_size is None:
        yield c.problem("rollout_batch_size", "is required", "say how many prompts make a rollout")
    if c.num_rollout is None and c.num_epoch is None:
        yield c.problem("num_rollout", "the run has no end", "set --num-rollout or --num-epoch")
    if c.num_rollout is None and c.num_epoch is not None and not c.rollout_global_dataset:
        yield c.problem(
            "num_epoch rollout_global_dataset",
            "without a common set of prompts there are no epochs",
            "set --num-rollout",
        )
    own_prompts = c.rollout_function_path != "vime.rollout.vllm_rollout.generate_rollout" or c.load_debug_rollout_data
    if c.rollout_global_dataset and c.prompt_data is None and not own_prompts:
        yield c.problem(
            "prompt_data", "there are no prompts", "set --prompt-data, or a --rollout-function-path of your own"
        )


def model_known(c: Check) -> Iterator[Problem]:
    """Engines and tokenizer come from the Hugging Face folder."""
    if c.hf_checkpoint is None:
        yield c.problem("hf_checkpoint", "there is no model", "set --hf-checkpoint to its Hugging Face folder")


def updates(c: Check) -> Iterator[Problem]:
    """A rollout's samples are whole updates."""
    if c.rollout_batch_size is None:
        return
    samples = c.rollout_batch_size * c.n_samples_per_prompt
    shown = f"rollout_batch_size {c.rollout_batch_size} x n_samples_per_prompt {c.n_samples_per_prompt} = {samples}"
    names = "rollout_batch_size n_samples_per_prompt global_batch_size num_steps_per_rollout"
    if c.num_steps_per_rollout and samples % c.num_steps_per_rollout:
        yield c.problem(
            names, f"{shown} is not divisible by num_steps_per_rollout {c.num_steps_per_rollout}", "change one"
        )
    elif c.num_steps_per_rollout and c.global_batch_size != samples // c.num_steps_per_rollout:
        right = samples // c.num_steps_per_rollout
        yield c.problem(
            names,
            f"global_batch_size {c.global_batch_size} is not {shown} / {c.num_steps_per_rollout}",
            f"leave it out, or set {right}",
        )
    elif not c.num_steps_per_rollout and samples % c.global_batch_size:
        near = max(size for size in range(1, min(samples, c.global_batch_size, _LOOKED_AT) + 1) if samples % size == 0)
        yield c.problem(
            names, f"{shown} is no multiple of global_batch_size {c.global_batch_size}", f"set it to {near}, say"
        )


def over_sampling(c: Check) -> Iterator[Problem]:
    """Asking for fewer prompts than a rollout needs would never end it."""
    if c.rollout_batch_size and c.over_sampling_batch_size < c.rollout_batch_size:
        yield c.problem(
            "over_sampling_batch_size rollout_batch_size",
            f"over_sampling_batch_size {c.over_sampling_batch_size} is less than rollout_batch_size {c.rollout_batch_size}",
            "leave it out, or make it larger",
        )


def lengths(c: Check) -> Iterator[Problem]:
    """At least one token of an answer fits behind the longest prompt."""
    context, prompt = c.rollout_max_context_len, c.rollout_max_prompt_len
    if context is not None and prompt is not None and prompt >= context:
        yield c.problem(
            "rollout_max_prompt_len rollout_max_context_len",
            f"rollout_max_prompt_len {prompt} leaves no token of rollout_max_context_len {context} for an answer",
            f"set it to {context - 1} at most",
        )
    if c.rollout_max_response_len is None and context is None and not c.debug_train_only:
        yield c.problem(
            "rollout_max_response_len",
            "answers have no bound",
            "set --rollout-max-response-len or --rollout-max-context-len",
        )


def token_budget(c: Check) -> Iterator[Problem]:
    """Packing needs a budget, and balancing by work needs packing."""
    if c.use_dynamic_batch_size and c.max_tokens_per_gpu is None:
        yield c.problem(
            "use_dynamic_batch_size max_tokens_per_gpu", "packing needs a budget of tokens", "set --max-tokens-per-gpu"
        )
    if c.balance_by_flops and not c.use_dynamic_batch_size:
        yield c.problem("balance_by_flops", "it balances packed samples only", "add --use-dynamic-batch-size")


RULES = (required, model_known, updates, over_sampling, lengths, token_budget)
