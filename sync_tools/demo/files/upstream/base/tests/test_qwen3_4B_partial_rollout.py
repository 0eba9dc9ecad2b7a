"""Partial rollout: ask for more groups than a step takes, so that each step aborts some and goes on with them later."""

import slime.utils.external_utils.command_utils as U

MODEL = "Qwen3-4B"
NUM_GPUS = 8


def prepare():
    U.exec_command(f"hf download Qwen/{MODEL} --local-dir /root/models/{MODEL}")
    U.hf_download_dataset("zhuzilin/dapo-math-17k")


def execute():
    rollout_args = (
        f"--hf-checkpoint /root/models/{MODEL} --apply-chat-template --rm-type math "
        "--prompt-data /root/datasets/dapo-math-17k/dapo-math-17k.jsonl --label-key label "
        "--num-rollout 2 --rollout-batch-size 4 --over-sampling-batch-size 8 --n-samples-per-prompt 4 "
        "--partial-rollout --rollout-max-response-len 4096 "
    )
    sglang_args = (
        "--rollout-num-gpus-per-engine 2 "
        "--sglang-mem-fraction-static 0.8 "
        "--sglang-cuda-graph-max-bs 32 "
        "--sglang-max-running-requests 256 "
    )
    U.execute_train(
        train_args=f"{rollout_args} {sglang_args} {U.get_default_wandb_args(__file__)} --ci-test --colocate",
        num_gpus_per_node=NUM_GPUS,
        megatron_model_type="qwen3-4B",
    )


if __name__ == "__main__":
    prepare()
    execute()
