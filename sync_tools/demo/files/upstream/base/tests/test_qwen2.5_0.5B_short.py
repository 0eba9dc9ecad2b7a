"""Three rollouts of the smallest model, to see the loop turn."""

import slime.utils.external_utils.command_utils as U

MODEL = "Qwen2.5-0.5B-Instruct"
NUM_GPUS = 4


def prepare():
    U.exec_command(f"hf download Qwen/{MODEL} --local-dir /root/models/{MODEL}")
    U.hf_download_dataset("zhuzilin/gsm8k")


def execute():
    rollout_args = (
        f"--hf-checkpoint /root/models/{MODEL} "
        "--prompt-data /root/datasets/gsm8k/train.jsonl --label-key label "
        "--rm-type math --apply-chat-template "
        "--num-rollout 3 --rollout-batch-size 8 --n-samples-per-prompt 4 "
        "--dynamic-sampling-filter-path slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std "
    )
    sglang_args = "--rollout-num-gpus-per-engine 1 --sglang-mem-fraction-static 0.6 --sglang-enable-metrics "
    U.execute_train(
        train_args=f"{rollout_args} {sglang_args} {U.get_default_wandb_args(__file__)} --ci-test --colocate",
        num_gpus_per_node=NUM_GPUS,
        megatron_model_type="qwen2.5-0.5B",
    )


if __name__ == "__main__":
    prepare()
    execute()
