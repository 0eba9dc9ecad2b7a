#!/bin/bash
# Three rollouts on one node with four GPUs: one trains, three generate.

pkill -9 sglang 2>/dev/null || true
ray stop --force 2>/dev/null || true

set -ex
export PYTHONUNBUFFERED=1

EXAMPLE_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ROOT="$(cd "${EXAMPLE_DIR}/../.." && pwd)"
source "${ROOT}/scripts/models/qwen2.5-0.5B.sh"

MODEL_DIR="${MODEL_DIR:-/root/models/Qwen2.5-0.5B-Instruct}"

ROLLOUT_ARGS=(
   --rollout-function-path slime.rollout.fully_async_rollout.generate_rollout_fully_async
   --prompt-data "${DATA_PATH:-/root/datasets/gsm8k/train.jsonl}"
   --label-key label
   --apply-chat-template
   --rm-type math
   --num-rollout 3
   --rollout-batch-size 8
   --n-samples-per-prompt 4
)

SGLANG_ARGS=(
   --rollout-num-gpus-per-engine 1
   --sglang-mem-fraction-static 0.55
   --sglang-server-concurrency 64
)

ray start --head --num-gpus 4 --disable-usage-stats
ray job submit --address="http://127.0.0.1:8265" -- python3 "${ROOT}/train_async.py" \
   --hf-checkpoint "${MODEL_DIR}" \
   --actor-num-gpus-per-node 1 \
   --rollout-num-gpus 3 \
   "${MODEL_ARGS[@]}" \
   "${ROLLOUT_ARGS[@]}" \
   "${SGLANG_ARGS[@]}"
