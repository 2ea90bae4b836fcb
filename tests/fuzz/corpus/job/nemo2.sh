nemo llm pretrain --factory llama3_8b trainer.devices=8 trainer.num_nodes=2 trainer.strategy.tensor_model_parallel_size=2 data.global_batch_size=64 +data.micro_batch_size=1
