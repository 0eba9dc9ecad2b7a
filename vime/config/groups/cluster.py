"""Where things run: the device, nodes, GPUs, and what shares them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Device, nodes and GPUs, and what shares them."""

    NAME: ClassVar[str] = "cluster"

    device: Literal["auto", "cpu", "cuda"] = option("auto", "What to compute on; auto takes GPUs where it finds some.")
    train_backend: Literal["megatron"] = option("megatron", "What trains.")
    actor_num_nodes: int = option(1, "Nodes of the trainer.", low=1)
    actor_num_gpus_per_node: int = option(8, "Trainer ranks on each node: GPUs, or processes on a CPU.", low=0)
    rollout_num_gpus: int | None = option(None, "GPUs of all engines together; with --colocate, the trainer's.", low=0)
    rollout_num_gpus_per_engine: int = option(1, "GPUs of one engine (tensor times pipeline parallel).", low=1)
    num_gpus_per_node: int = option(8, "GPUs that a node has.", low=1)
    colocate: bool = option(False, "Trainer and engines take turns on the same GPUs.")
    train_async: bool = option(
        False, "Generate the next rollout while the trainer works on this one; needs GPUs, or cores, for both at once."
    )
    offload: bool = option(False, "Both of --offload-train and --offload-rollout.")
    offload_train: bool | None = option(
        None, "Move the trainer's state to the CPU while engines generate.", spelling="both"
    )
    offload_rollout: bool | None = option(None, "Free the engines' memory while the trainer works.", spelling="both")
    distributed_timeout_minutes: int = option(10, "How long a collective call may take.", above=0, unit="minutes")
    train_env_vars: Mapping[str, Any] = option({}, "Environment variables of the trainer's processes.")
    use_fault_tolerance: bool = option(False, "Watch the engines and start dead ones again.")
    rollout_health_check_interval: float = option(30.0, "Between two looks at an engine.", above=0, unit="seconds")
    rollout_health_check_timeout: float = option(
        30.0, "Until an engine that is silent counts as dead.", above=0, unit="seconds"
    )
    rollout_health_check_first_wait: float = option(0.0, "Before the first look.", low=0, unit="seconds")
