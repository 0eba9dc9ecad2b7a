#!/usr/bin/env bash
# Fully asynchronous GRPO of Qwen3-4B on DAPO-Math-17k, on one node of eight GPUs: four train, four generate beside them. What
# stands behind := may be set in the environment; further options of vime train may follow, and win:
#
#   MODEL=models/Qwen3-4B DATA=data/dapo-math-17k.jsonl bash examples/fully_async/run-qwen3-4b-fully_async.sh --num-rollout 100
#
# Once more with the same OUT, it goes on from its last checkpoint. It was not run where it was written: there was no GPU.
set -euo pipefail

: "${MODEL:=models/Qwen3-4B}"
: "${DATA:=data/dapo-math-17k.jsonl}"
: "${OUT:=runs/qwen3-4b-fully_async}"
: "${GPUS:=8}"
: "${TRAINER_GPUS:=4}"
: "${PYTHON:=python}"

ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
export PYTHONUNBUFFERED=1

CKPT_ARGS=(
  --hf-checkpoint "${MODEL}" --save "${OUT}/checkpoints" --save-interval 20
)
if [[ -f "${OUT}/checkpoints/latest_checkpointed_iteration.txt" ]]; then
  CKPT_ARGS+=(--load "${OUT}/checkpoints")
fi

ROLLOUT_ARGS=(
  --rollout-function-path vime.rollout.fully_async_rollout.generate_rollout_fully_async
  --prompt-data "${DATA}" --input-key prompt --label-key label --apply-chat-template
  --rollout-shuffle --rm-type dapo --reward-key score --num-rollout 3000 --rollout-batch-size 32
  --n-samples-per-prompt 8 --rollout-max-response-len 8192 --rollout-temperature 1
  --global-batch-size 256 --balance-data
)

PERF_ARGS=(
  --num-gpus-per-node "${GPUS}" --actor-num-nodes 1 --actor-num-gpus-per-node "${TRAINER_GPUS}"
  --rollout-num-gpus "$((GPUS - TRAINER_GPUS))" --rollout-num-gpus-per-engine 1
  --tensor-model-parallel-size 2 --sequence-parallel --recompute-granularity full
  --recompute-method uniform --recompute-num-layers 1 --use-dynamic-batch-size
  --max-tokens-per-gpu 9216
)

GRPO_ARGS=(
  --advantage-estimator grpo --eps-clip 0.2 --eps-clip-high 0.28 --use-tis
)

OPTIMIZER_ARGS=(
  --lr 1e-6 --lr-decay-style constant --weight-decay 0.1 --adam-beta2 0.98
)

exec "${PYTHON}" "${ROOT}/train_async.py" \
  "${CKPT_ARGS[@]}" \
  "${ROLLOUT_ARGS[@]}" \
  "${PERF_ARGS[@]}" \
  "${GRPO_ARGS[@]}" \
  "${OPTIMIZER_ARGS[@]}" \
  --run-dir "${OUT}/log" \
  "$@"
