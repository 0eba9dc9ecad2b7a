"""What end-to-end tests and launch scripts call: fetch data, convert a checkpoint, submit a training job to Ray.

Each is a command line that is shown before it runs. Secrets stay in the environment and never stand on one.
"""

import datetime
import json
import os
import random
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vime.utils.misc import exec_command

__all__ = [
    "ExecuteTrainConfig",
    "check_has_nvlink",
    "convert_checkpoint",
    "create_run_id",
    "exec_command",
    "execute_train",
    "get_bool_env_var",
    "get_default_wandb_args",
    "hf_download_dataset",
]

repo_base_dir = Path(__file__).resolve().parents[3]
_MEGATRON = "/root/Megatron-LM"
_DASHBOARD = "http://127.0.0.1:8265"


@dataclass(frozen=True)
class ExecuteTrainConfig:
    """How a job is launched. `extra_env_vars`: JSON, or NAME=value separated by spaces."""

    cuda_core_dump: bool = False
    num_nodes: int = field(default_factory=lambda: int(os.environ.get("SLURM_JOB_NUM_NODES", "1")))
    extra_env_vars: str = ""


def get_bool_env_var(name: str, default: str = "false") -> bool:
    """Whether the variable is "true" or "1". Raises ValueError for what is neither yes nor no."""
    value = os.environ.get(name, default).strip().lower()
    if value not in {"true", "1", "false", "0"}:
        raise ValueError(f"{name} is {value!r}: write true, 1, false or 0")
    return value in {"true", "1"}


def hf_download_dataset(full_name: str, root: str = "/root/datasets") -> None:
    """Download the dataset `owner/name` to `root`/name."""
    _, name = full_name.split("/")
    exec_command(shlex.join(["hf", "download", "--repo-type", "dataset", full_name, "--local-dir", f"{root}/{name}"]))


def convert_checkpoint(
    model_name: str,
    megatron_model_type: str,
    num_gpus_per_node: int,
    extra_args: str = "",
    dir_dst: str = "/root",
    hf_checkpoint: str | None = None,
) -> None:
    """Convert a Hugging Face checkpoint to Megatron's format, unless that was done before."""
    target = Path(dir_dst) / f"{model_name}_torch_dist"
    if target.exists():
        print(f"{target} is there already")
        return
    tool = _ours("tools/convert_hf_to_torch_dist.py")
    source = hf_checkpoint or f"/root/models/{model_name}"
    exec_command(
        f"{_model_arguments(megatron_model_type)}"
        f"PYTHONPATH={_MEGATRON} torchrun --nproc-per-node {num_gpus_per_node} {tool} "
        f'"${{MODEL_ARGS[@]}}" {shlex.join(["--hf-checkpoint", source, "--save", str(target)])} {extra_args}'
    )


def get_default_wandb_args(test_file: str, run_name_prefix: str | None = None, run_id: str | None = None) -> str:
    """Options that log the run to W&B under the test's name; none without WANDB_API_KEY, which W&B reads itself."""
    if not os.environ.get("WANDB_API_KEY"):
        return ""
    path = Path(test_file)
    test = path.stem if len(path.stem) >= 6 else f"{path.parent.name}_{path.stem}"
    parts = (run_name_prefix, run_id or create_run_id(), os.environ.get("GITHUB_COMMIT_NAME"))
    group = "_".join(part for part in parts if part)
    named = shlex.join(["--wandb-project", f"vime-{test}", "--wandb-group", group])
    return f"--use-wandb {named} --disable-wandb-random-suffix "


def create_run_id() -> str:
    """A name for a run: when it began, and three digits more."""
    now = datetime.datetime.now(datetime.UTC)
    return f"{now:%y%m%d-%H%M%S}-{random.randrange(1000):03d}"


def check_has_nvlink() -> bool:
    return int(exec_command("nvidia-smi topo -m 2>/dev/null | grep -c 'NV[0-9]' || true", capture_output=True) or 0) > 0


def execute_train(
    train_args: str,
    num_gpus_per_node: int,
    megatron_model_type: str | None,
    train_script: str = "train.py",
    before_ray_job_submit: Callable[[], None] | None = None,
    extra_env_vars: Mapping[str, str] | None = None,
    config: ExecuteTrainConfig | None = None,
) -> None:
    """Run a training script as a Ray job and wait for it; a local cluster is started unless VIME_SCRIPT_EXTERNAL_RAY.

    Raises FileNotFoundError, before anything is started, where the script is not there.
    """
    script = _ours(train_script)
    config = config or ExecuteTrainConfig()
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    if not get_bool_env_var("VIME_SCRIPT_EXTERNAL_RAY"):
        exec_command("ray stop --force")
        exec_command(
            f"ray start --head --node-ip-address {master} --num-gpus {num_gpus_per_node} --disable-usage-stats"
        )
    if before_ray_job_submit is not None:
        before_ray_job_submit()
    environment = {
        "PYTHONPATH": _MEGATRON,
        "PYTHONUNBUFFERED": "1",
        "CUDA_DEVICE_MAX_CONNECTIONS": "1",
        "NCCL_NVLS_ENABLE": str(int(check_has_nvlink())),
        "MASTER_ADDR": master,
        "no_proxy": f"127.0.0.1,{master}",
        **({"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1"} if config.cuda_core_dump else {}),
        **(extra_env_vars or {}),
        **_env_vars_in(config.extra_env_vars),
    }
    submit = [
        "ray",
        "job",
        "submit",
        f"--address={_DASHBOARD}",
        f"--runtime-env-json={json.dumps({'env_vars': environment})}",
    ]
    model = ("", "") if megatron_model_type is None else (_model_arguments(megatron_model_type), '"${MODEL_ARGS[@]}"')
    exec_command(f"{model[0]}no_proxy=127.0.0.1 {shlex.join(submit)} -- python3 {script} {model[1]} {train_args}")


def _ours(path: str) -> Path:
    script = repo_base_dir / path
    if not script.is_file():
        raise FileNotFoundError(f"{script}: this version of vime has no {path}")
    return script


def _model_arguments(megatron_model_type: str) -> str:
    return f"source {_ours(f'scripts/models/{megatron_model_type}.sh')} && "


def _env_vars_in(text: str) -> dict[str, str]:
    try:
        return json.loads(text)
    except ValueError:
        return dict(item.split("=", 1) for item in text.split())
