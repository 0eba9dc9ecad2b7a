"""Rules about where things run, and what the device allows."""

from collections.abc import Iterator

from vime.config.problems import Problem
from vime.config.rules.check import Check

_LAYOUT = "tensor_model_parallel_size pipeline_model_parallel_size context_parallel_size actor_num_nodes actor_num_gpus_per_node"


def layout(c: Check) -> Iterator[Problem]:
    """The trainer's ranks divide into tensor, pipeline and context ranks, and a batch over what is left."""
    world = c.actor_num_nodes * c.actor_num_gpus_per_node
    tp, pp, cp = c.tensor_model_parallel_size, c.pipeline_model_parallel_size, c.context_parallel_size
    if c.debug_rollout_only or pp * cp > 1:  # such are refused below
        return
    if world == 0:
        yield c.problem(
            "actor_num_gpus_per_node", "the trainer has no rank", "set it to 1 or more, or add --debug-rollout-only"
        )
    elif world % (tp * pp * cp):
        yield c.problem(
            _LAYOUT,
            f"{world} trainer ranks do not divide by tensor {tp} x pipeline {pp} x context {cp} = {tp * pp * cp}",
            "change the layout, or --actor-num-nodes and --actor-num-gpus-per-node",
        )
    elif c.global_batch_size is not None and c.global_batch_size % (world // (tp * pp * cp)):
        dp = world // (tp * pp * cp)
        yield c.problem(
            "global_batch_size " + _LAYOUT,
            f"global_batch_size {c.global_batch_size} does not divide over {dp} data-parallel ranks",
            f"make it a multiple of {dp}",
        )


def whole_layers(c: Check) -> Iterator[Problem]:
    """What the trainer's ranks do not share."""
    if c.debug_rollout_only:
        return
    for name, part in (("pipeline_model_parallel_size", "layers"), ("context_parallel_size", "sequences")):
        if getattr(c, name) > 1:
            what = f"the trainer does not divide {part} over ranks"
            yield c.problem(name, what, "leave it out; --tensor-model-parallel-size divides each layer")


_DIVIDED = (
    ("num_attention_heads", "tensor_model_parallel_size"),
    ("num_query_groups", "tensor_model_parallel_size"),
    ("ffn_hidden_size", "tensor_model_parallel_size"),
    ("num_layers", "pipeline_model_parallel_size"),
    ("num_attention_heads", "rollout_num_gpus_per_engine"),
)
"""A part of the model's shape, and the ranks that share it."""


def shares(c: Check) -> Iterator[Problem]:
    """What ranks share divides over them; uneven pipeline stages are said with fields of their own."""
    uneven = c.set("num_layers_in_first_pipeline_stage") or c.set("num_layers_in_last_pipeline_stage")
    for part, ranks in _DIVIDED:
        size, among = getattr(c, part, None), getattr(c, ranks)
        if ranks == "rollout_num_gpus_per_engine":
            among //= _other_ranks(c)
        if (
            size
            and among
            and size % among
            and not (part == "num_layers" and (uneven or c.set("pipeline_model_parallel_layout")))
        ):
            what = f"{part} {size} does not divide over {ranks} {among}"
            yield c.problem(f"{ranks} {part}", what, f"choose a divisor of {size}")


def _other_ranks(c: Check) -> int:
    """What an engine's tensor-parallel ranks are multiplied by."""
    return c.given("vllm_pipeline_parallel_size", 1) * c.given("vllm_data_parallel_size", 1)


def engines(c: Check) -> Iterator[Problem]:
    """Engines are whole, and share GPUs with the trainer only as far as there are some."""
    total, each = c.rollout_num_gpus, c.rollout_num_gpus_per_engine
    if total == 0 and not c.rollout_external_engine_addrs and not c.debug_train_only:
        yield c.problem("rollout_num_gpus", "there is no engine", "set it to 1 or more, or add --debug-train-only")
    if total % each and not c.rollout_external_engine_addrs:
        yield c.problem(
            "rollout_num_gpus rollout_num_gpus_per_engine",
            f"rollout_num_gpus {total} is no multiple of rollout_num_gpus_per_engine {each}",
            "change one",
        )
    if each % _other_ranks(c):
        yield c.problem(
            "vllm_pipeline_parallel_size vllm_data_parallel_size rollout_num_gpus_per_engine",
            f"rollout_num_gpus_per_engine {each} is no multiple of the engine's {_other_ranks(c)} pipeline stages "
            "times data-parallel replicas",
            "change one",
        )
    if each > c.num_gpus_per_node and not c.rollout_external_engine_addrs:
        yield c.problem(
            "rollout_num_gpus_per_engine num_gpus_per_node",
            f"an engine of {each} GPUs does not fit on a node of {c.num_gpus_per_node}, and this version starts none over several",
            "choose fewer, or start such engines yourself and name them with --rollout-external-engine-addrs",
        )
    trainer = c.actor_num_nodes * c.actor_num_gpus_per_node
    if c.colocate and total > trainer:
        yield c.problem(
            "rollout_num_gpus colocate actor_num_nodes actor_num_gpus_per_node",
            f"{total} GPUs of engines do not fit on the trainer's {trainer} with --colocate",
            f"leave --rollout-num-gpus out, or set it to {trainer} at most",
        )
    if c.device.kind == "cuda" and c.actor_num_nodes == 1 and not c.debug_rollout_only:
        needed = trainer if c.colocate or c.debug_train_only else trainer + total
        if needed > c.device.count and needed <= c.num_gpus_per_node:
            yield c.problem(
                "actor_num_gpus_per_node rollout_num_gpus",
                f"{needed} GPUs are asked for and {c.device.count} can be seen",
                "ask for fewer, or add --colocate",
            )


def halves(c: Check) -> Iterator[Problem]:
    """Only one half of the loop can be left out."""
    if c.debug_rollout_only and c.debug_train_only:
        yield c.problem("debug_rollout_only debug_train_only", "together they leave nothing to do", "keep one of them")
    if c.save_debug_train_data and c.save_debug_train_data == c.save_debug_rollout_data:
        yield c.problem("save_debug_train_data save_debug_rollout_data", "both dumps go to the same file", "name two")


_NOT_ASYNC = (
    ("colocate", "engines cannot generate on GPUs that the trainer works on", "leave one of them out"),
    ("debug_rollout_only", "nothing is trained that a rollout could be ahead of", "leave --train-async out"),
    ("debug_train_only", "nothing is generated beside the trainer", "leave --train-async out"),
)
"""An option beside which --train-async means nothing, or cannot be."""


def asynchronous(c: Check) -> Iterator[Problem]:
    """Generation beside training needs both, each on its own."""
    for name, why, fix in _NOT_ASYNC:
        if c.train_async and getattr(c, name):
            yield c.problem(f"train_async {name}", why, fix)


def weight_sync(c: Check) -> Iterator[Problem]:
    """What each way of the weights needs."""
    way = c.update_weight_transport
    if way == "disk" and not c.update_weight_disk_dir:
        yield c.problem(
            "update_weight_transport update_weight_disk_dir", "disk needs a folder", "set --update-weight-disk-dir"
        )
    if way == "ipc" and not c.colocate:
        yield c.problem(
            "update_weight_transport", "ipc works between processes of one GPU", "add --colocate, or choose nccl"
        )
    if c.update_weight_mode == "delta":
        yield c.problem(
            "update_weight_mode",
            "only full weights are sent: what changed in an update is nearly every value",
            "leave it out; --update-weight-local-checkpoint-dir lets each host read its own copy",
        )
    if way == "ipc" and c.actor_num_nodes * c.actor_num_gpus_per_node > 1:
        yield c.problem(
            "update_weight_transport actor_num_gpus_per_node",
            "ipc reaches engines on the GPU of the trainer's first rank only",
            "choose nccl or disk",
        )
    if c.check_weight_update_equal and c.rollout_num_gpus_per_engine > 1:
        yield c.problem(
            "check_weight_update_equal rollout_num_gpus_per_engine",
            "weights are compared on engines of one GPU",
            "leave it out, and set --weight-sync-probe",
        )
    if c.release_train and (c.update_weight_mode != "full" or way != "disk" or c.save is None):
        yield c.problem("release_train", "needs --save, and full weights over disk", "set those, or leave it out")


def one_format(c: Check) -> Iterator[Problem]:
    """Numbers have one format."""
    if c.bf16 and c.fp16:
        yield c.problem("bf16 fp16 dtype", "the numbers have two formats", "keep one of them")


_CPU_HEADS = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)
"""Widths of attention heads for which vLLM has CPU kernels. It starts with others, and dies at the first request."""


_NOT_ON_A_CPU = {
    "sequence_parallel": "Megatron-core's norms for a CPU refuse it",
    "recompute_granularity": "Megatron-core saves the random state of GPUs for it",
    "use_distributed_optimizer": "Megatron-core shards its state on GPUs alone",
}
"""Options of the trainer, and why they need GPUs."""


def cpu(c: Check) -> Iterator[Problem]:
    """What a CPU cannot do."""
    if not c.device.is_cpu:
        return
    fix = "leave it out on a CPU"
    for name in ("colocate", "offload", "offload_train", "offload_rollout"):
        if c.set(name) and getattr(c, name):
            yield c.problem(name, "there is no GPU memory to share or free on a CPU", fix)
    if c.update_weight_transport in ("nccl", "ipc"):
        yield c.problem("update_weight_transport", f"{c.update_weight_transport} needs GPUs", "choose gloo or disk")
    if c.dtype == "float16":
        yield c.problem("dtype", "float16 is not supported on a CPU", "choose float32 or bfloat16")
    head = getattr(c.args, "kv_channels", None)
    if head and head not in _CPU_HEADS and not c.debug_train_only:
        sizes = ", ".join(map(str, _CPU_HEADS))
        yield c.problem(
            "hf_checkpoint",
            f"its heads are {head} wide, and vLLM's CPU engine dies of them",
            f"choose a model with {sizes}",
        )
    for name, why in _NOT_ON_A_CPU.items():
        if c.given(name):
            yield c.problem(name, why, fix)
    if getattr(c.args, "attention_dropout", 0) and not c.debug_rollout_only:
        yield c.problem(
            "attention_dropout hf_checkpoint", "attention to packed sequences has no dropout", "set it to 0"
        )
    if c.vllm_enable_deterministic_inference and c.given("vllm_enable_chunked_prefill", False):
        yield c.problem(
            "vllm_enable_deterministic_inference vllm_enable_chunked_prefill",
            "a seeded request whose prompt is read in chunks kills vLLM's CPU engine",
            "leave out one of them",
        )


RULES = (layout, whole_layers, shares, engines, halves, asynchronous, weight_sync, one_format, cpu)
