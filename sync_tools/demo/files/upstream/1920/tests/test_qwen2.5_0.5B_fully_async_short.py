"""The fully asynchronous rollout on the smallest model, as examples/fully_async has it."""

import slime.utils.external_utils.command_utils as U

TIGHT_DEVICE_MEMORY = U.get_bool_env_var("SLIME_TEST_TIGHT_DEVICE_MEMORY", "1")
MODEL = "Qwen2.5-0.5B-Instruct"
NUM_GPUS = 4


def prepare():
    U.exec_command(f"hf download Qwen/{MODEL} --local-dir /root/models/{MODEL}")
    U.hf_download_dataset("zhuzilin/gsm8k")


def execute():
    rollout_args = (
        "--rollout-function-path slime.rollout.fully_async_rollout.generate_rollout_fully_async "
        f"--hf-checkpoint /root/models/{MODEL} --actor-num-gpus-per-node 1 --rollout-num-gpus 3 "
        "--prompt-data /root/datasets/gsm8k/train.jsonl --label-key label "
        "--rm-type math --apply-chat-template "
        "--num-rollout 3 --rollout-batch-size 8 --n-samples-per-prompt 4 "
    )
    sglang_args = (
        "--rollout-num-gpus-per-engine 1 "
        f"--sglang-mem-fraction-static {0.55 if TIGHT_DEVICE_MEMORY else 0.65} "
        "--sglang-cuda-graph-max-bs 32 "
    )
    U.execute_train(
        train_args=f"{rollout_args} {sglang_args} {U.get_default_wandb_args(__file__)} --ci-test",
        num_gpus_per_node=NUM_GPUS,
        megatron_model_type="qwen2.5-0.5B",
        train_script="train_async.py",
    )


if __name__ == "__main__":
    prepare()
    execute()
