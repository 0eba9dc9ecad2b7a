#!/bin/bash
set -ex

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "${HERE}/../../scripts/models/qwen3-4B.sh"

SGLANG_ARGS=(
   --rollout-num-gpus-per-engine 2
   --sglang-mem-fraction-static 0.7
)

ray start --head --num-gpus 8 --disable-usage-stats
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json="{\"env_vars\": {\"PYTHONPATH\": \"/root/Megatron-LM:${HERE}\"}}" \
   -- python3 train.py \
   --hf-checkpoint /root/models/Qwen3-4B \
   --custom-generate-function-path generate_with_retool.generate \
   --custom-rm-path generate_with_retool.reward_func \
   --reward-key score \
   --prompt-data /root/datasets/dapo-math-17k/dapo-math-17k.jsonl \
   --label-key label \
   --colocate \
   --rollout-batch-size 32 \
   --n-samples-per-prompt 8 \
   --rollout-max-context-len 16384 \
   "${MODEL_ARGS[@]}" \
   "${SGLANG_ARGS[@]}"
