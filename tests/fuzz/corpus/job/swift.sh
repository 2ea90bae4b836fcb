export NNODES=2
NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2 --sequence_parallel true --max_length 4096 --packing true --no_rope_fusion false
