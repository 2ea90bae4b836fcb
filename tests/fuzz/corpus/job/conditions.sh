: "${NODES:=2}"
TYPE=${1:-bf16}
TYPES=()
if [[ "$TYPE" == fp8 ]] || [ $NODES -gt 4 ]; then
  TYPES+=(--fp8-format hybrid)
else TYPES=(--bf16); fi
sbatch <<EOT
#!/bin/bash
#SBATCH --nodes=$NODES
srun torchrun --nnode=\$SLURM_NNODES --nproc=8 -- pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 \
  --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 --global-batch-size 16 ${TYPES[@]}
EOT
