#!/usr/bin/env bash
# Reinforcement learning with a Python tool on DAPO-Math-17k, evaluated on AIME 2024, on one node of GPUs. What stands
# behind := may be set in the environment; further options of vime train may follow, and win:
#
#   MODEL=runs/retool-sft/hf GPUS=8 bash examples/retool/retool_qwen3_4b_rl.sh --num-rollout 200
#
# The tool's own settings are environment variables as well: RETOOL_MAX_TURNS=8 and the like.
set -euo pipefail

: "${MODEL:=runs/retool-sft/hf}"
: "${DATA:=data/dapo_math_17k_cleaned.jsonl}"
: "${EVAL_DATA:=data/aime-2024.jsonl}"
: "${OUT:=runs/retool-rl}"
: "${WEIGHTS:=${OUT}/weights}" # on a fast disk, or in memory
: "${GPUS:=4}"
: "${VIME:=vime}"
command -v -- "${VIME}" >/dev/null || {
  echo "error: there is no command ${VIME}; activate the environment that vime is installed in, or set VIME" >&2
  exit 2
}

HERE="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
export PYTHONPATH="${HERE}${PYTHONPATH:+:${PYTHONPATH}}"
export PYTHONUNBUFFERED=1

CKPT_ARGS=(
  --hf-checkpoint "${MODEL}"
  --ref-load "${MODEL}"
  --save "${OUT}/checkpoints"
  --save-interval 20
)

CUSTOM_ARGS=(
  --custom-generate-function-path generate_with_retool.generate
  --custom-rm-path generate_with_retool.reward_func
  --reward-key score
)

ROLLOUT_ARGS=(
  --prompt-data "${DATA}" --input-key prompt --label-key label --rollout-shuffle
  --num-rollout 3000 --rollout-batch-size 32 --n-samples-per-prompt 8 --global-batch-size 256
  --rollout-temperature 1 --rollout-max-response-len 8192
)

EVAL_ARGS=(
  --eval-prompt-data aime "${EVAL_DATA}" --eval-interval 20 --n-samples-per-eval-prompt 16
  --eval-top-p 1 --eval-max-response-len 16384
)

# Engines and trainer take turns on the same GPUs.
PLACE_ARGS=(
  --actor-num-nodes 1 --actor-num-gpus-per-node "${GPUS}" --num-gpus-per-node "${GPUS}" --colocate
  --rollout-num-gpus-per-engine 2 --vllm-gpu-memory-utilization 0.7
  --update-weight-transport disk --update-weight-disk-dir "${WEIGHTS}"
)

TRAINER_ARGS=(
  --tensor-model-parallel-size 2 --sequence-parallel
  --use-dynamic-batch-size --max-tokens-per-gpu 9216 --balance-data
  --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
  --attention-softmax-in-fp32 --accumulate-allreduce-grads-in-fp32
)

LEARNING_ARGS=(
  --advantage-estimator grpo --eps-clip 0.2 --eps-clip-high 0.28 --entropy-coef 0
  --use-kl-loss --kl-loss-type low_var_kl --kl-loss-coef 0
  --optimizer adam --adam-beta1 0.9 --adam-beta2 0.98 --weight-decay 0.1
  --lr 1e-6 --lr-decay-style constant
)

exec "${VIME}" train --run-dir "${OUT}" \
  "${CKPT_ARGS[@]}" "${CUSTOM_ARGS[@]}" "${ROLLOUT_ARGS[@]}" "${EVAL_ARGS[@]}" \
  "${PLACE_ARGS[@]}" "${TRAINER_ARGS[@]}" "${LEARNING_ARGS[@]}" "$@"
