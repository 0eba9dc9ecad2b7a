MODEL_ARGS=(--num-layers 24 --hidden-size 896 --ffn-hidden-size 4864 --num-attention-heads 14 --num-query-groups 2)
