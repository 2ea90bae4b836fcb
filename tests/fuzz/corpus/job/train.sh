#!/bin/bash
#SBATCH --nodes=2
export TP=${TP:-$(nproc)}
M=(--num-layers 2 --hidden-size=64 "--bf16")
M+=(--swiglu)
if [ -n "$X" ]; then PP=2; fi
X="--num-attention-heads 4 $M"
cat <<EOF
--num-layers 3
EOF
torchrun --nproc-per-node 8 a.py "${M[@]}" $X --tensor-model-parallel-size ${TP} \
 --window-size '127,0' > out 2>&1
