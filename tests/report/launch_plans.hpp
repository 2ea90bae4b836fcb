// SPDX-License-Identifier: Apache-2.0
// Plans of published models of several kinds, whose launch configurations are checked.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/scenario_file.hpp"

namespace tests {

struct LaunchPlan {
  std::string_view kind, model, nodes, training, plan, software = "megatron-core";

  forecast::Scenario scenario() const {
    const auto text = "name: " + std::string(kind) + "\nmodel: " + std::string(model) +
                      "\ncluster: {node: dgx-h100, nodes: " + std::string(nodes) +
                      "}\ntraining: {" + std::string(training) + "}\nplan: {" + std::string(plan) +
                      "}\nsoftware: " + std::string(software) + "\n";
    return scenarios::read_scenario(text, std::string(kind));
  }
};

// The plans are dense, with experts, of long contexts, interleaved and of other pipelines, with
// ZeRO 0 to 3, 8-bit products, recomputation and offloading.
inline const std::vector<LaunchPlan>& launch_plans() {
  constexpr const char* short_batch =
      "sequence_length: 4096, global_batch: 64, precision: bf16, optimizer: adamw";
  constexpr const char* gpt_batch = "sequence_length: 1024, global_batch: 64, precision: bf16";
  static const std::vector<LaunchPlan> plans{
      {"dense", "llama3-8b", "1", short_batch, "tensor: 2, zero: 1"},
      {"dense wide", "llama3-70b", "8", short_batch,
       "tensor: 8, sequence_parallel: true, pipeline: 4, zero: 1, schedule: 1f1b"},
      {"dense large", "llama3-405b", "18", short_batch,
       "tensor: 8, sequence_parallel: true, pipeline: 9, zero: 0, schedule: 1f1b, "
       "layers_per_stage: [14, 14, 14, 14, 14, 14, 14, 14, 14]",
       "megatron-core"},
      {"short GPT", "gpt2-xl", "1", gpt_batch, "zero: 0, micro_batch: 4"},
      {"large GPT", "gpt3-175b", "16", "sequence_length: 2048, global_batch: 64, precision: bf16",
       "tensor: 8, sequence_parallel: true, pipeline: 8, schedule: interleaved, virtual_stages: 2, "
       "zero: 1, recompute: selective"},
      {"alibi", "bloom-176b", "14", "sequence_length: 2048, global_batch: 64, precision: bf16",
       "tensor: 8, pipeline: 7, zero: 1, recompute: full", "megatron-deepspeed-bf16"},
      {"learned positions", "opt-175b", "8",
       "sequence_length: 2048, global_batch: 64, precision: fp16", "zero: 3, recompute: full",
       "deepspeed"},
      {"parallel block", "gpt-neox-20b", "4",
       "sequence_length: 2048, global_batch: 64, precision: bf16", "tensor: 2, zero: 1"},
      {"windows and sinks", "gpt-oss-120b", "8", short_batch, "expert: 8, zero: 1"},
      {"experts", "mixtral-8x7b", "2", short_batch,
       "tensor: 2, sequence_parallel: true, expert: 8, zero: 1"},
      {"experts in a pipeline", "mixtral-8x22b", "8", short_batch,
       "tensor: 2, sequence_parallel: true, pipeline: 4, expert: 8, expert_tensor: 1, zero: 1"},
      {"many experts", "qwen3-30b-a3b", "2", short_batch, "expert: 8, zero: 1"},
      {"many experts, ZeRO-3", "qwen3-235b-a22b", "8", short_batch,
       "expert: 8, zero: 3, recompute: full", "torchtitan"},
      {"latent attention", "deepseek-v3", "32",
       "sequence_length: 4096, global_batch: 512, precision: fp8, fp8_recipe: blockwise",
       "pipeline: 8, expert: 32, zero: 1, schedule: 1f1b, "
       "layers_per_stage: [8, 8, 8, 8, 8, 7, 7, 7], recompute: full"},
      {"latent attention, ZeRO-3", "deepseek-v2", "8", short_batch,
       "expert: 16, zero: 3, recompute: full", "torchtitan"},
      {"long context, ring", "llama3-8b", "2",
       "sequence_length: 131072, global_batch: 2, precision: bf16",
       "tensor: 2, sequence_parallel: true, context: 4, context_method: ring, zero: 1"},
      {"long context, Ulysses", "llama3-8b", "2",
       "sequence_length: 65536, global_batch: 4, precision: bf16",
       "context: 4, context_method: ulysses, zero: 1", "deepspeed"},
      {"zero-bubble", "llama3-70b", "8", short_batch,
       "tensor: 8, sequence_parallel: true, pipeline: 4, schedule: zb-v, virtual_stages: 2, zero: "
       "0",
       "torchtitan"},
      {"dualpipe", "deepseek-v3", "32", "sequence_length: 4096, global_batch: 512, precision: bf16",
       "pipeline: 16, expert: 16, schedule: dualpipe, zero: 1"},
      {"all forward first", "llama2-7b", "1", short_batch,
       "pipeline: 2, schedule: gpipe, zero: 1, bucket: 50 MiB", "nanotron"},
      {"ZeRO-2", "llama2-13b", "2", short_batch, "zero: 2, recompute: full", "deepspeed"},
      {"ZeRO-3", "llama3-8b", "2", short_batch, "zero: 3, recompute: full", "torchtitan"},
      {"shards of a node", "llama3-8b", "2", short_batch, "zero: 3, shard_group: node",
       "torchtitan"},
      {"8-bit by tensors", "llama3-8b", "1",
       "sequence_length: 8192, global_batch: 32, precision: fp8, fp8_recipe: tensorwise",
       "tensor: 2, sequence_parallel: true, zero: 1"},
      {"8-bit, delayed", "llama3-70b", "8",
       "sequence_length: 8192, global_batch: 64, precision: fp8, fp8_recipe: delayed",
       "tensor: 8, sequence_parallel: true, pipeline: 4, zero: 1, schedule: interleaved, "
       "virtual_stages: 5"},
      {"first layers", "llama3-70b", "8", short_batch,
       "tensor: 8, sequence_parallel: true, pipeline: 4, zero: 1, recompute: {full_layers: 4}"},
      {"modules", "mixtral-8x7b", "2", short_batch,
       "tensor: 2, sequence_parallel: true, expert: 4, zero: 1, recompute: {selective: [layernorm, "
       "moe_act]}"},
      {"states on the host", "llama2-7b", "1", short_batch,
       "zero: 1, offload: {optimizer: cpu}, recompute: full"}};
  return plans;
}

}  // namespace tests
