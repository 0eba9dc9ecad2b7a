"""Partial rollout with the streaming generate function: each step aborts streams in the middle and goes on later."""

import slime.utils.external_utils.command_utils as U

TIGHT_HOST_MEMORY = U.get_bool_env_var("SLIME_TEST_TIGHT_HOST_MEMORY", "1")
MODEL = "Qwen3-4B"
NUM_GPUS = 8


def prepare():
    U.exec_command(f"hf download Qwen/{MODEL} --local-dir /root/models/{MODEL}")
    U.hf_download_dataset("zhuzilin/dapo-math-17k")


def execute():
    rollout_args = (
        # the loop is the ordinary one, only the request is another
        "--custom-generate-function-path slime.rollout.sglang_streaming_rollout.generate_streaming "
        f"--hf-checkpoint /root/models/{MODEL} --apply-chat-template --rm-type math "
        "--prompt-data /root/datasets/dapo-math-17k/dapo-math-17k.jsonl --label-key label "
        "--num-rollout 2 --rollout-batch-size 4 --over-sampling-batch-size 8 --n-samples-per-prompt 4 "
        "--partial-rollout --rollout-max-response-len 4096 "
        f"--max-tokens-per-gpu {2048 if TIGHT_HOST_MEMORY else 8192} "
    )
    sglang_args = (
        "--rollout-num-gpus-per-engine 2 "
        "--sglang-mem-fraction-static 0.8 "
        "--sglang-cuda-graph-max-bs 32 "
        "--sglang-max-running-requests 512 "
        "--sglang-enable-metrics "
    )
    U.execute_train(
        train_args=f"{rollout_args} {sglang_args} {U.get_default_wandb_args(__file__)} --ci-test --colocate",
        num_gpus_per_node=NUM_GPUS,
        megatron_model_type="qwen3-4B",
    )


if __name__ == "__main__":
    prepare()
    execute()
