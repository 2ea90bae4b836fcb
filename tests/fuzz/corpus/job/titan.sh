torchrun --nproc_per_node 8 --nnodes 2 -m torchtitan.train --module llama3 --config llama3_8b --training.seq_len 64 --parallelism.tensor_parallel_degree=2 --compile.enable
