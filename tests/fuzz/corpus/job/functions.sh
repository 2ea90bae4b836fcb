#!/bin/bash
set -euo pipefail
declare -A HIDDEN=([8]=4096 [70]=8192)
SIZE=${MODEL:-llama-8B}; SIZE=${SIZE##*-}; SIZE=${SIZE%B}
LIST=(--bf16 --swiglu)
for arg in --use-distributed-optimizer "--sequence-parallel"; do LIST+=($arg); done
(( ${#LIST[@]} > 3 )) && { TP=4; PP=2; }
let "GBS = 8 * 8"; ((GBS *= 2))
[[ $SIZE == 8 || ( $SIZE == 70 && -z "${X:-}" ) ]] && LIST+=(${TP:+--tensor-model-parallel-size $TP})
run() {
  local layers=$1; shift
  torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $layers --hidden-size ${HIDDEN[$SIZE]} "$@"
}
cat > inner.sh <<EOF
unset X
set -- 32 "\$@" --global-batch-size $GBS
torchrun pretrain_gpt.py --num-layers \$1 \${@:2}
EOF
run 32 --num-attention-heads 32 --seq-length 4096 "${LIST[@]}" --micro-batch-size 1 --global-batch-size $GBS
bash inner.sh --bf16
exit 0
