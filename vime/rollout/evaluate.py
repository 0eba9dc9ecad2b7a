"""Evaluation sets: their own sampling and their own bound on requests, so that training is not touched."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from vime.config.derive import OWN_ROLLOUTS
from vime.rollout.groups import leaves, own_copy
from vime.rollout.sample_hooks import set_current_rollout_id
from vime.rollout.seeds import request_seed
from vime.rollout.together import together
from vime.utils.aborted import LIKELY_CAUSES, abort_reason
from vime.utils.data import Dataset, check_rows
from vime.utils.eval_config import EvalConfigError, EvalDatasetConfig
from vime.utils.types import Sample

_TRIES = 16


class EvalAborted(RuntimeError):
    """An evaluation sample was aborted again and again."""


def check_sets(args: Namespace, sets: Iterable[EvalDatasetConfig]) -> None:
    """Read the evaluation sets that will be answered, so that a bad row ends the run at its start and not hours later.

    Raises DataError. A function of the user's that evaluates reads its sets as it likes.
    """
    if args.eval_interval is None or args.debug_train_only or args.eval_function_path not in OWN_ROLLOUTS:
        return
    for one in sets:
        keys = {one.input_key: "--eval-input-key", one.label_key: "--eval-label-key"}
        check_rows(one.path, {key: option for key, option in keys.items() if key is not None})


async def evaluate(
    args: Namespace,
    state: Any,
    rollout_id: int,
    dataset_cfg: EvalDatasetConfig,
    generate_and_rm: Callable[..., Awaitable[Sample | list[Sample]]],
) -> dict[str, dict[str, list[Any]]]:
    """{name: rewards, truncated, samples}, in the order of the set. Rewards are of --eval-reward-key, if any."""
    if args.group_rm:
        raise ValueError("--group-rm rewards training groups; an evaluation set needs a reward of single samples")
    set_current_rollout_id(rollout_id)
    params = eval_sampling_params(args, dataset_cfg)
    prompts = _dataset(args, state, dataset_cfg).samples
    work = []
    for prompt in prompts:
        for attempt in range(dataset_cfg.n_samples_per_eval_prompt or 1):
            sample = _sample(dataset_cfg, prompt, len(work))
            seed = request_seed(args, sample, attempt, evaluation=True)
            own = params if seed is None else params | {"sampling_seed": seed}
            work.append(_one(args, sample, own, generate_and_rm))
    samples = [leaf for result in await together(work) for leaf in leaves(result)]
    if len(samples) < (dataset_cfg.min_eval_samples or 0):
        least = dataset_cfg.min_eval_samples
        raise EvalConfigError(f"{dataset_cfg.name}: {len(samples)} answers, and min_eval_samples is {least}: lower it")
    key = args.eval_reward_key or args.reward_key
    return {
        dataset_cfg.name: {
            "rewards": [sample.reward[key] if key else sample.reward for sample in samples],
            "truncated": [sample.status is Sample.Status.TRUNCATED for sample in samples],
            "samples": samples,
        }
    }


async def _one(
    args: Namespace, sample: Sample, params: dict[str, Any], generate_and_rm: Callable[..., Awaitable[Any]]
) -> Sample | list[Sample]:
    """Generated and rewarded; begun again where something else (a rollout that ends) aborted it on the engine."""
    for _ in range(_TRIES):
        result = await generate_and_rm(args, own_copy(sample), sampling_params=dict(params), evaluation=True)
        if all(leaf.status is not Sample.Status.ABORTED for leaf in leaves(result)):
            return result
    reason = next(why for leaf in leaves(result) if (why := abort_reason(leaf)))
    raise EvalAborted(
        f"evaluation sample {sample.index} was aborted {_TRIES} times ({reason}): {LIKELY_CAUSES.get(reason, '')}"
    )


def eval_sampling_params(args: Namespace, dataset_cfg: EvalDatasetConfig) -> dict[str, Any]:
    """How a set's answers are drawn: its own values, and training's where it has none. Temperature 0 is greedy."""
    greedy = dataset_cfg.temperature == 0
    own = {
        "temperature": dataset_cfg.temperature,
        # vLLM takes the likeliest token then; filters have no meaning and are left out.
        "top_p": 1.0 if greedy else dataset_cfg.top_p,
        "top_k": -1 if greedy else dataset_cfg.top_k,
        "max_new_tokens": dataset_cfg.max_response_len,
        "stop": _first(dataset_cfg.stop, args.rollout_stop),
        "stop_token_ids": _first(dataset_cfg.stop_token_ids, args.rollout_stop_token_ids),
        "skip_special_tokens": _first(dataset_cfg.skip_special_tokens, args.rollout_skip_special_tokens),
        "no_stop_trim": _first(dataset_cfg.no_stop_trim, True),
        "spaces_between_special_tokens": False,
    }
    optional = {
        "repetition_penalty": dataset_cfg.repetition_penalty,
        "min_new_tokens": _first(dataset_cfg.min_new_tokens, getattr(args, "eval_min_new_tokens", None)),
    }
    return own | {name: value for name, value in optional.items() if value is not None}


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _sample(dataset_cfg: EvalDatasetConfig, prompt: Sample, index: int) -> Sample:
    sample = own_copy(prompt)
    sample.index = index
    sample.metadata = dataset_cfg.inject_metadata(sample.metadata)
    sample.custom_rm_path = dataset_cfg.custom_rm_path
    sample.generate_function_path = dataset_cfg.custom_generate_function_path
    return sample


def _dataset(args: Namespace, state: Any, cfg: EvalDatasetConfig) -> Dataset:
    """The set, read once a run."""
    options = {
        "prompt_key": cfg.input_key,
        "label_key": cfg.label_key,
        "multimodal_keys": _first(cfg.multimodal_keys, args.multimodal_keys),
        "metadata_key": _first(cfg.metadata_key, "metadata"),
        "tool_key": cfg.tool_key,
        "apply_chat_template": _first(cfg.apply_chat_template, args.apply_chat_template),
        "apply_chat_template_kwargs": _first(cfg.apply_chat_template_kwargs, args.apply_chat_template_kwargs),
    }
    key = (cfg.path, json.dumps(options, sort_keys=True, default=dict))
    if key not in state.eval_data:
        length = getattr(args, "eval_max_prompt_len", None)
        state.eval_data[key] = Dataset(cfg.path, state.tokenizer, state.processor, length, **options)
    return state.eval_data[key]
