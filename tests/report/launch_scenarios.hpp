// SPDX-License-Identifier: Apache-2.0
// Scenarios whose launch configurations are kept as golden files, and one in which every key of a
// plan has an effect.
#pragma once
#include "tests/report/examples.hpp"

namespace examples {

// GPT-3 of 96 layers on 1,024 GPUs, divided as in NVIDIA's runs, but with a short last stage.
inline forecast::Scenario interleaved_gpt3() {
  auto s = scenario();
  s.name = "GPT-3 on 128 nodes";
  s.model = {.name = "gpt3-175b",
             .layers = 96,
             .hidden = 12288,
             .heads = 96,
             .kv_heads = 96,
             .head_dim = 128,
             .ffn = 49152,
             .vocab = 51200,
             .max_sequence = 2048};
  s.cluster.gpus = 1024;
  s.training.sequence_length = 2048;
  s.training.global_batch = 1536;
  s.plan = {.tensor = 8, .pipeline = 8, .data = 16};
  s.plan.sequence_parallel = true;
  s.plan.schedule = strategies::ScheduleKind::interleaved;
  s.plan.virtual_stages = 2;
  s.plan.layers_per_stage = {5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 5};
  s.plan.zero = 1;
  s.plan.recompute.kind = strategies::Recompute::Kind::selective;
  s.software.overlap_tensor = s.software.overlap_pipeline = true;
  return s;
}

// DeepSeek-V3 as it was trained: experts, latent attention, a prediction module, DualPipe, fp8.
inline forecast::Scenario dualpipe_deepseek() {
  using strategies::Module;
  auto s = scenario();
  s.name = "DeepSeek-V3 on 256 nodes";
  s.model = {.name = "deepseek-v3",
             .layers = 61,
             .hidden = 7168,
             .heads = 128,
             .kv_heads = 128,
             .head_dim = 192,
             .ffn = 18432,
             .vocab = 129280,
             .max_sequence = 163840};
  s.model.activation = model::Activation::swiglu;
  s.model.norm = model::Norm::rmsnorm;
  s.model.position = model::Position::rope;
  s.model.tied_embeddings = s.model.biases = s.model.qkv_biases = false;
  s.model.dropout = 0;
  s.model.latent = model::LatentAttention{.q_lora_rank = 1536,
                                          .kv_lora_rank = 512,
                                          .qk_nope_head_dim = 128,
                                          .qk_rope_head_dim = 64,
                                          .v_head_dim = 128};
  s.model.moe = model::Moe{.experts = 256,
                           .top_k = 8,
                           .expert_ffn = 2048,
                           .shared_experts = 1,
                           .shared_ffn = 2048,
                           .first_dense_layers = 3,
                           .router_bias = true};
  s.model.multi_token_prediction = 1;
  s.cluster.gpus = 2048;
  s.training.sequence_length = 4096;
  s.training.global_batch = 15360;
  s.training.precision = units::Precision::fp8;
  s.training.fp8_recipe = strategies::Fp8Recipe::blockwise;
  s.plan = {.pipeline = 16, .data = 128, .expert = 64};
  s.plan.schedule = strategies::ScheduleKind::dualpipe;
  s.plan.layers_per_stage = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1};
  s.plan.zero = 1;
  s.plan.recompute = {strategies::Recompute::Kind::modules,
                      0,
                      {Module::layernorm, Module::mla_up_proj, Module::moe_act}};
  s.plan.activation_compression = strategies::ActivationCompression::fp8;
  s.software.moe_dispatcher = strategies::MoeDispatcher::deepep;
  return s;
}

// A scenario whose degrees are all 2 or more, with sharded states and equally many layers on each
// stage.
inline forecast::Scenario everything_at_once() {
  auto s = scenario();
  s.model.layers = 16;
  s.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 1024};
  s.cluster.gpus = 64;
  s.training.global_batch = 64;
  s.plan = {.tensor = 2, .pipeline = 4, .data = 4, .context = 2, .expert = 2};
  s.plan.sequence_parallel = true;
  s.plan.zero = 1;
  return s;
}

}  // namespace examples
