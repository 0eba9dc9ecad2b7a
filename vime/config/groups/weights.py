"""Weight sync: how new weights reach the engines, and how often."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How new weights reach the engines."""

    NAME: ClassVar[str] = "weights"

    update_weight_mode: Literal["full", "delta"] = option("full", "All weights, or what changed.")
    update_weight_transport: Literal["nccl", "gloo", "disk", "ipc"] | None = option(
        None, "The way they take; nccl on GPUs (ipc with --colocate) and gloo on a CPU when unset."
    )
    update_weight_disk_dir: str | None = option(None, "Folder that trainer and engines share, for disk.")
    update_weight_disk_keep_files: bool = option(False, "Leave the files there afterwards.")
    update_weight_local_checkpoint_dir: str | None = option(None, "Fast folder of the engine's host, for delta.")
    update_weight_delta_encoding: Literal["xor", "overwrite"] = option("xor", "How a change is written.")
    update_weight_delta_checksum: Literal["xxh3-128", "blake3", "adler32"] = option("xxh3-128", "How it is checked.")
    update_weight_buffer_size: int = option(512 * 1024**2, "Bytes of one bucket.", low=1, unit="bytes")
    update_weight_pause_mode: Literal["abort", "retract"] | None = option(
        None,
        "What becomes of requests that run during a sync: cut short, or gone on with by the new weights. When unset retract "
        "with the fully-async rollout, else abort.",
    )
    update_weights_interval: int = option(1, "Rollouts between two syncs.", low=1)
    custom_update_weight_post_write_path: str | None = option(None, "Function to call once the files are written.")
    vllm_custom_pull_weights_pre_read_hook: str | None = option(
        None, "Function that an engine's host calls before it reads published weights: (source_dir, target_version)."
    )
    check_weight_update_equal: bool = option(False, "Compare the engines' weights with the trainer's after each sync.")
    weight_sync_probe: int = option(
        0, "Prompts that each engine answers after a sync, to compare with the trainer's logprobs; 0 is none.", low=0
    )
    release_train: bool = option(False, "End the trainer's processes while engines generate.")
