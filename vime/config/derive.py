"""Values that follow from others: what is unset and has a meaning then. A table, applied in its order, once."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from vime.config.args import Args, Guarded, Unreadable
from vime.device import Device


@dataclass(frozen=True)
class Derived:
    """`name` becomes `value(args)` where `when(args)` holds."""

    name: str
    value: Callable[[Guarded], Any]
    why: str
    when: Callable[[Guarded], bool]


def _unset(
    name: str, value: Callable[[Guarded], Any], why: str, when: Callable[[Guarded], bool] = lambda a: True
) -> Derived:
    return Derived(name, value, why, lambda a: getattr(a, name) is None and when(a))


def _like(name: str, other: str) -> Derived:
    return _unset(name, lambda a: getattr(a, other), f"as --{other.replace('_', '-')}")


def _always(name: str, value: Any, why: str, when: Callable[[Guarded], bool]) -> Derived:
    return Derived(name, lambda a: value, why, lambda a: when(a) and getattr(a, name) != value)


FULLY_ASYNC = "vime.rollout.fully_async_rollout.generate_rollout_fully_async"
"""The rollout function whose requests run on while the weights are updated."""
OWN_ROLLOUTS = ("vime.rollout.vllm_rollout.generate_rollout", FULLY_ASYNC)
"""The rollout functions that ask engines, and evaluate."""

TABLE: tuple[Derived, ...] = (
    _always("debug_train_only", True, "--load-debug-rollout-data", lambda a: a.load_debug_rollout_data is not None),
    Derived(
        "global_batch_size",
        lambda a: max(1, a.rollout_batch_size * a.n_samples_per_prompt // a.num_steps_per_rollout),
        "rollout_batch_size x n_samples_per_prompt / num_steps_per_rollout",
        lambda a: None not in (a.num_steps_per_rollout, a.rollout_batch_size) and a.global_batch_size is None,
    ),
    _unset(
        "global_batch_size",
        lambda a: a.rollout_batch_size * a.n_samples_per_prompt,
        "rollout_batch_size x n_samples_per_prompt: one update a rollout",
        lambda a: a.rollout_batch_size is not None,
    ),
    _like("over_sampling_batch_size", "rollout_batch_size"),
    _like("eps_clip_high", "eps_clip"),
    _like("eval_reward_key", "reward_key"),
    _like("eval_function_path", "rollout_function_path"),
    _like("eval_input_key", "input_key"),
    _like("eval_label_key", "label_key"),
    _like("eval_tool_key", "tool_key"),
    _like("eval_temperature", "rollout_temperature"),
    _like("eval_top_p", "rollout_top_p"),
    _like("eval_top_k", "rollout_top_k"),
    _unset(
        "rollout_max_response_len",
        lambda a: a.rollout_max_context_len - 1,
        "--rollout-max-context-len less one token of a prompt",
        lambda a: a.rollout_max_context_len is not None,
    ),
    _like("eval_max_response_len", "rollout_max_response_len"),
    _like("eval_max_context_len", "rollout_max_context_len"),
    _unset(
        "rollout_max_prompt_len",
        lambda a: a.rollout_max_context_len - 1,
        "--rollout-max-context-len less one token to answer with",
        lambda a: a.rollout_max_context_len is not None,
    ),
    _like("eval_max_prompt_len", "rollout_max_prompt_len"),
    _unset(
        "update_weight_pause_mode",
        lambda a: "retract",
        "requests of the fully-async rollout outlive a sync",
        lambda a: a.rollout_function_path == FULLY_ASYNC,
    ),
    _unset("update_weight_pause_mode", lambda a: "abort", "nothing that runs outlives a sync"),
    _unset("log_probs_max_tokens_per_gpu", lambda a: a.max_tokens_per_gpu, "as --max-tokens-per-gpu"),
    _always("balance_data", True, "--balance-by-flops", lambda a: a.balance_by_flops),
    _always("grpo_std_normalization", False, "a group of one has no deviation", lambda a: a.n_samples_per_prompt == 1),
    _always("offload_train", True, "--offload", lambda a: a.offload),
    _always("offload_rollout", True, "--offload", lambda a: a.offload),
    _unset("offload_train", lambda a: a.colocate and not a.release_train, "as --colocate"),
    _unset("offload_rollout", lambda a: a.colocate, "as --colocate"),
    _unset(
        "rollout_num_gpus",
        lambda a: a.actor_num_gpus_per_node * a.actor_num_nodes,
        "the trainer's, with --colocate",
        lambda a: a.colocate,
    ),
    _unset("rollout_num_gpus", lambda a: a.rollout_num_gpus_per_engine, "one engine"),
    _unset(
        "save_debug_rollout_data",
        lambda a: f"{a.dump_details}/rollout_data/{{rollout_id}}.pt",
        "--dump-details",
        lambda a: a.dump_details is not None,
    ),
    _unset(
        "save_debug_train_data",
        lambda a: f"{a.dump_details}/train_data/{{rollout_id}}.pt",
        "--dump-details",
        lambda a: a.dump_details is not None,
    ),
    _always("finetune", True, "without --load a run begins anew", lambda a: a.load is None),
    _unset("load", lambda a: a.ref_load or a.hf_checkpoint, "--ref-load, else --hf-checkpoint"),
    _always(
        "save_interval",
        1,
        "--release-train reloads after each rollout",
        lambda a: a.release_train and a.save_interval is None,
    ),
)


COMPUTED: dict[str, Callable[[Args, Device], Any]] = {
    "use_critic": lambda a, device: a.advantage_estimator == "ppo",
    "critic_num_nodes": lambda a, device: a.actor_num_nodes,
    "critic_num_gpus_per_node": lambda a, device: a.actor_num_gpus_per_node,
    "rollout_external": lambda a, device: a.rollout_external_engine_addrs is not None,
    "distributed_backend": lambda a, device: device.backend,
    "vllm_tp_size": lambda a, device: a.rollout_num_gpus_per_engine // _stages(a) // _replicas(a),
    "vllm_pp_size": lambda a, device: _stages(a),
    "vllm_dp_size": lambda a, device: _replicas(a),
    "vllm_ep_size": lambda a, device: _expert_ranks(a),
    "vllm_moe_dp_size": lambda a, device: 1,
    "num_rollout_per_epoch": lambda a, device: None,
}
"""Attributes of `args` that are no options: what upstream's code reads as well, and what a run finds out (run_length)."""


def _stages(args: Args) -> int:
    return getattr(args, "vllm_pipeline_parallel_size", 1)


def _replicas(args: Args) -> int:
    return getattr(args, "vllm_data_parallel_size", 1)


def _expert_ranks(args: Args) -> int:
    """Over how many ranks an engine's experts lie: with expert parallelism all of a stage; vLLM does not let that be chosen."""
    if not getattr(args, "vllm_enable_expert_parallel", False):
        return 1
    return args.rollout_num_gpus_per_engine // _stages(args)


def _device_rows(device: Device) -> tuple[Derived, ...]:
    return (
        Derived("device", lambda a: device.kind, device.why, lambda a: a.device == "auto"),
        _always("dtype", "bfloat16", "--bf16", lambda a: a.bf16 and a.dtype == "auto"),
        _always("dtype", "float16", "--fp16", lambda a: a.fp16 and a.dtype == "auto"),
        _always("dtype", device.dtype, f"the device is {device.kind}", lambda a: a.dtype == "auto"),
        _always("bf16", True, "--dtype", lambda a: a.dtype == "bfloat16"),
        _always("fp16", True, "--dtype", lambda a: a.dtype == "float16"),
        _unset(
            "update_weight_transport", lambda a: device.weight_transport(a.colocate), f"the device is {device.kind}"
        ),
    )


def derive(args: Args, device: Device, unreadable: Set[str]) -> tuple[Args, dict[str, str], frozenset[str]]:
    """(with what follows, why of each, what cannot be known because it follows from an unreadable option)."""
    why: dict[str, str] = {}
    unknown = set(unreadable)
    for row in (*_device_rows(device), *TABLE):
        seen = Guarded(args, unknown)
        try:
            if row.when(seen) and (value := row.value(seen)) != getattr(args, row.name):
                args = args.replace(**{row.name: value})
                why[row.name] = row.why
        except Unreadable:
            unknown.add(row.name)
    return args, why, frozenset(unknown)
