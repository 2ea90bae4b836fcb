accelerate launch --num_processes 8 --num_machines 1 sft.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 --max_length 64 --bf16 --fsdp "full_shard offload" --optim adamw_8bit
