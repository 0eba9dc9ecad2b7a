"""What the end-to-end tests share: shell commands, downloads, and one call that starts a training run."""

import os
import subprocess
from pathlib import Path

repo_base_dir = Path(__file__).resolve().parents[3]


def exec_command(cmd: str) -> None:
    print(f"EXEC: {cmd}", flush=True)
    subprocess.run(["bash", "-c", cmd], check=True)


def get_bool_env_var(name: str, default: str = "false") -> bool:
    return os.environ.get(name, default).lower() in ("1", "true", "yes")


def hf_download_dataset(full_name: str) -> None:
    exec_command(f"hf download --repo-type dataset {full_name} --local-dir /root/datasets/{full_name.split('/')[-1]}")


def get_default_wandb_args(test_file: str) -> str:
    if not os.environ.get("WANDB_API_KEY"):
        return ""
    return f"--use-wandb --wandb-project slime-ci --wandb-group {Path(test_file).stem} "


def execute_train(train_args: str, num_gpus_per_node: int, megatron_model_type: str, train_script: str = "train.py"):
    """Start ray, submit the job, wait for it."""
    exec_command("pkill -9 sglang; ray stop --force; sleep 1; true")
    exec_command(f"ray start --head --num-gpus {num_gpus_per_node} --disable-usage-stats")
    exec_command(
        f'source "{repo_base_dir}/scripts/models/{megatron_model_type}.sh" && '
        f"ray job submit --address=http://127.0.0.1:8265 -- python3 {repo_base_dir}/{train_script} "
        f"${{MODEL_ARGS[@]}} {train_args}"
    )
