#!/usr/bin/env bash
# Supervised training of Qwen3-4B on ReTool-SFT, on one node of GPUs. What stands behind := may be set in the
# environment; further options of vime train may follow, and win:
#
#   MODEL=models/Qwen3-4B-Instruct-2507 GPUS=4 bash examples/retool/retool_qwen3_4b_sft.sh --num-epoch 1
set -euo pipefail

: "${MODEL:=models/Qwen3-4B-Instruct-2507}"
: "${DATA:=data/ReTool-SFT.parquet}"
: "${OUT:=runs/retool-sft}"
: "${GPUS:=8}"
: "${VIME:=vime}"
command -v -- "${VIME}" >/dev/null || {
  echo "error: there is no command ${VIME}; activate the environment that vime is installed in, or set VIME" >&2
  exit 2
}

export PYTHONUNBUFFERED=1

CKPT_ARGS=(
  --hf-checkpoint "${MODEL}"
  --save "${OUT}/checkpoints" --save-interval 1000 --save-hf "${OUT}/hf"
)

# No engine: the conversations are there already.
SFT_ARGS=(
  --debug-train-only --rollout-function-path vime.rollout.sft_rollout.generate_rollout
  --prompt-data "${DATA}" --input-key messages --rollout-shuffle --num-epoch 3
  --loss-type sft_loss --calculate-per-token-loss --disable-compute-advantages-and-returns
  --rollout-batch-size 128 --global-batch-size 128
)

TRAINER_ARGS=(
  --actor-num-nodes 1 --actor-num-gpus-per-node "${GPUS}" --num-gpus-per-node "${GPUS}"
  --tensor-model-parallel-size 1
  --use-dynamic-batch-size --max-tokens-per-gpu 9216
  --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
  --attention-softmax-in-fp32 --accumulate-allreduce-grads-in-fp32
)

OPTIMIZER_ARGS=(
  --optimizer adam --adam-beta1 0.9 --adam-beta2 0.95 --weight-decay 0.1
  --lr 1e-5 --min-lr 1e-6 --lr-decay-style cosine --lr-warmup-fraction 0.1
)

exec "${VIME}" train --run-dir "${OUT}" \
  "${CKPT_ARGS[@]}" "${SFT_ARGS[@]}" "${TRAINER_ARGS[@]}" "${OPTIMIZER_ARGS[@]}" "$@"
