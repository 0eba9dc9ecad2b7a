#!/usr/bin/env bash
# Fully asynchronous GRPO of Qwen2.5-0.5B-Instruct on DAPO-Math-17k, on one node: a GPU trains, three generate beside it. A
# few steps, to see that it works. What stands behind := may be set in the environment; further options of vime train may
# follow, and win:
#
#   MODEL=models/Qwen2.5-0.5B-Instruct DATA=data/dapo-math-17k.jsonl bash examples/fully_async/run-qwen2.5-0.5B-fully_async.sh
#
# It was not run where it was written: there was no GPU.
set -euo pipefail

: "${MODEL:=models/Qwen2.5-0.5B-Instruct}"
: "${DATA:=data/dapo-math-17k.jsonl}"
: "${OUT:=runs/qwen2.5-0.5B-fully_async}"
: "${GPUS:=4}"
: "${TRAINER_GPUS:=1}"
: "${PYTHON:=python}"

ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
export PYTHONUNBUFFERED=1

CKPT_ARGS=(
  --hf-checkpoint "${MODEL}" --save "${OUT}/checkpoints"
)

ROLLOUT_ARGS=(
  --rollout-function-path vime.rollout.fully_async_rollout.generate_rollout_fully_async
  --prompt-data "${DATA}" --input-key prompt --label-key label --apply-chat-template
  --rollout-shuffle --rm-type deepscaler --num-rollout 3 --rollout-batch-size 8
  --n-samples-per-prompt 4 --rollout-max-response-len 1024 --rollout-temperature 1
  --global-batch-size 32 --balance-data
)

PERF_ARGS=(
  --num-gpus-per-node "${GPUS}" --actor-num-nodes 1 --actor-num-gpus-per-node "${TRAINER_GPUS}"
  --rollout-num-gpus "$((GPUS - TRAINER_GPUS))" --rollout-num-gpus-per-engine 1
  --vllm-gpu-memory-utilization 0.55 --use-dynamic-batch-size --max-tokens-per-gpu 4096
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
