#!/bin/bash

# what an earlier run left behind
pkill -9 sglang
ray stop --force
sleep 2

set -ex
export PYTHONUNBUFFERED=1

EXAMPLE_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "${EXAMPLE_DIR}/../../scripts/models/qwen3-4B.sh"

ROLLOUT_ARGS=(
   --rollout-function-path fully_async_rollout.generate_rollout_fully_async
   --prompt-data /root/datasets/dapo-math-17k/dapo-math-17k.jsonl
   --label-key label
   --apply-chat-template
   --rm-type dapo
   --reward-key score
   --num-rollout 3000
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --rollout-max-response-len 8192
   --dynamic-sampling-filter-path slime.rollout.filter_hub.dynamic_sampling_filters.check_no_aborted
)

SGLANG_ARGS=(
   --rollout-num-gpus-per-engine 1
   --sglang-mem-fraction-static 0.8
)

ray start --head --num-gpus 8 --disable-usage-stats
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json="{\"env_vars\": {\"PYTHONPATH\": \"/root/Megatron-LM:${EXAMPLE_DIR}\"}}" \
   -- python3 train_async.py \
   --hf-checkpoint /root/models/Qwen3-4B \
   --actor-num-gpus-per-node 4 \
   --rollout-num-gpus 4 \
   "${MODEL_ARGS[@]}" \
   "${ROLLOUT_ARGS[@]}" \
   "${SGLANG_ARGS[@]}"
