// SPDX-License-Identifier: Apache-2.0
// Words of training frameworks for what scenarios call otherwise.
#pragma once
#include <string_view>

namespace scenarios {

// One word of a framework, in small letters with '_' for '-', and a word of scenarios that means
// the same. A word of a framework may mean several, one key here and another there.
struct Meaning {
  std::string_view theirs, ours;
};

inline constexpr Meaning meanings[] = {
    // Degrees.
    {"tp", "tensor"},
    {"model_parallel", "tensor"},
    {"pp", "pipeline"},
    {"stages", "pipeline"},
    {"cp", "context"},
    {"sequence_parallel_size", "context"},
    {"ep", "expert"},
    {"etp", "expert_tensor"},
    {"dp", "data"},
    {"replicas", "data"},
    {"vpp", "virtual_stages"},
    {"vp", "virtual_stages"},
    {"chunks", "virtual_stages"},
    {"interleave", "virtual_stages"},
    {"num_layers_per_virtual_pipeline_stage", "virtual_stages"},
    {"sp", "sequence_parallel"},
    {"fsdp", "zero"},
    {"distributed_optimizer", "zero"},
    {"use_distributed_optimizer", "zero"},
    // Batch and precision.
    {"mbs", "micro_batch"},
    {"gbs", "global_batch"},
    {"batch", "global_batch"},
    {"batch_size", "global_batch"},
    {"train_batch_size", "global_batch"},
    {"seq", "sequence_length"},
    {"seq_len", "sequence_length"},
    {"seq_length", "sequence_length"},
    {"seqlen", "sequence_length"},
    {"max_seq_len", "sequence_length"},
    {"context_length", "sequence_length"},
    {"dtype", "precision"},
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float8", "fp8"},
    {"e4m3", "fp8"},
    {"hybrid", "fp8"},
    {"float4", "nvfp4"},
    {"fp4", "nvfp4"},
    // Recomputation.
    {"remat", "recompute"},
    {"checkpointing", "recompute"},
    {"activation_checkpoint", "recompute"},
    {"activation_checkpointing", "recompute"},
    {"gradient_checkpointing", "recompute"},
    {"true", "full"},
    {"yes", "full"},
    {"on", "full"},
    {"false", "none"},
    {"no", "none"},
    {"off", "none"},
    // Models.
    {"n_layers", "layers"},
    {"n_layer", "layers"},
    {"num_layers", "layers"},
    {"num_hidden_layers", "layers"},
    {"d_model", "hidden"},
    {"dim", "hidden"},
    {"n_heads", "heads"},
    {"n_head", "heads"},
    {"num_heads", "heads"},
    {"num_attention_heads", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"num_query_groups", "kv_heads"},
    {"n_kv_heads", "kv_heads"},
    {"intermediate_size", "ffn"},
    {"d_ff", "ffn"},
    {"kv_channels", "head_dim"},
    {"num_experts", "experts"},
    {"num_local_experts", "experts"},
    {"num_experts_per_tok", "top_k"},
    {"topk", "top_k"},
    {"tie_word_embeddings", "tied_embeddings"},
    {"max_position_embeddings", "max_sequence"},
    // Machines.
    {"network", "fabric"},
    {"interconnect", "fabric"},
    {"num_nodes", "nodes"},
    {"nnodes", "nodes"},
    {"hosts", "nodes"},
    {"num_gpus", "gpus"},
    {"world_size", "gpus"},
    {"hardware", "cluster"},
    {"machine", "cluster"},
    {"system", "cluster"},
    {"parallelism", "plan"},
    {"strategy", "plan"},
    {"parallel", "plan"},
    {"framework", "software"},
    // Schedules.
    {"pipedream", "1f1b"},
    {"pipedream_flush", "1f1b"},
    {"zero_bubble", "zb-h1"},
    {"zerobubble", "zb-h1"},
    {"interleavedzerobubble", "zb-v"},
    {"zbvzerobubble", "zb-v"},
    {"interleaved1f1b", "interleaved"},
    {"dualpipev", "dualpipe-v"},
};

}  // namespace scenarios
