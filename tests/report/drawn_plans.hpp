// SPDX-License-Identifier: Apache-2.0
// Scenarios drawn from those whose plans a framework has.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace tests {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::string of(const std::vector<const char*>& words) {
    return words[std::uniform_int_distribution<std::size_t>(0, words.size() - 1)(random_)];
  }
  int number(const std::vector<int>& numbers) {
    return numbers[std::uniform_int_distribution<std::size_t>(0, numbers.size() - 1)(random_)];
  }

 private:
  std::mt19937 random_;
};

// The models of a framework's plans, and further keys of plan and training.
struct Range {
  report::Framework framework;
  std::vector<const char*> models, schedules, keys, precisions, optimizers;
  std::vector<int> tensors, pipelines, contexts;
  const char* software;
};

inline const std::vector<Range>& drawn_ranges() {
  static const std::vector<Range> ranges{
      {report::Framework::megatron,
       {"{layers: 8, hidden: 1024, heads: 16, kv_heads: 4, ffn: 2816, vocab: 32000, activation: "
        "swiglu, norm: rmsnorm, position: rope, biases: false, tied_embeddings: false, dropout: 0}",
        "{layers: 8, hidden: 1024, heads: 16, vocab: 50257, max_sequence: 4096}",
        "{layers: 8, hidden: 1024, heads: 16, kv_heads: 4, ffn: 2816, vocab: 32000, activation: "
        "swiglu, norm: rmsnorm, position: rope, biases: false, dropout: 0, moe: {experts: 16, "
        "top_k: "
        "2, expert_ffn: 704, shared_experts: 2, shared_ffn: 704, first_dense_layers: 1}}",
        "{layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 32000, activation: swiglu, norm: "
        "rmsnorm, position: rope, biases: false, dropout: 0, attention: {kind: mla, q_lora_rank: "
        "256, kv_lora_rank: 128, qk_nope_head_dim: 64, qk_rope_head_dim: 32, v_head_dim: 64}, moe: "
        "{experts: 16, top_k: 4, expert_ffn: 512, router_bias: true}, multi_token_prediction: 1}"},
       {"1f1b", "1f1b", "interleaved"},
       {"", "", ", recompute: full", ", recompute: selective", ", recompute: {full_layers: 1}",
        ", recompute: {selective: [layernorm, mlp]}", ", recompute: {full: {checkpoint_every: 2}}",
        ", overlap: {data: false}", ", overlap: {parameters: true}", ", gradient_precision: bf16",
        ", bucket: 100 MB", ", shard_group: node", ", rank_order: tp-cp-ep-pp-dp",
        ", reshard_after_forward: true", ", offload: {optimizer: cpu}", ", context_method: ulysses",
        ", context_method: all-gather"},
       {"bf16", "bf16", "fp16", "fp32", "fp8, fp8_recipe: delayed", "fp8, fp8_recipe: blockwise",
        "fp8, fp8_recipe: blockwise, in_bf16: {first_layers: 1, last_layers: 2}",
        "fp8, fp8_recipe: delayed, in_bf16: {gradients: [weights]}", "mxfp8"},
       {"adamw", "adamw", "sgd", "muon"},
       {1, 2, 4},
       {1, 2, 4},
       {1, 1, 2},
       "{base: megatron-core, overlap_pipeline: false}"},
      {report::Framework::deepspeed,
       {"llama2-7b", "gpt2-xl", "mixtral-8x7b", "{base: llama2-7b, layers: 4}",
        "{base: qwen3-30b-a3b, layers: 4}"},
       {"1f1b"},
       {"", "", ", recompute: full", ", gradient_precision: bf16", ", bucket: 100 MB",
        ", bucket: {reduce: 100 MB, gather: 50 MB}", ", overlap: {data: false, parameters: false}",
        ", offload: {optimizer: cpu, gradients: cpu}", ", overlap: {data: true, parameters: false}",
        ", offload: {optimizer: cpu, gradients: cpu, parameters: cpu}", ", shard_group: node"},
       {"bf16", "bf16", "fp16", "fp32"},
       {"adamw", "adamw", "adam", "lamb", "sgd", "muon", "adafactor"},
       {1, 1, 2},
       {1},
       {1, 1, 2},
       "{base: deepspeed, overlap_parameters: false}"},
      {report::Framework::torchtitan,
       {"{base: llama3-8b}", "qwen3-30b-a3b", "gpt-oss-120b",
        "{layers: 6, hidden: 256, heads: 16, ffn: 768, vocab: 2048, activation: swiglu, norm: "
        "rmsnorm, position: rope, tied_embeddings: false, biases: false, dropout: 0}"},
       {"1f1b", "gpipe", "interleaved", "zb-v", "dualpipe-v"},
       {"", "", ", recompute: full", ", recompute: per-op", ", reshard_after_forward: false",
        ", layers: [{from: 1, to: 1, recompute: full}, {from: 3, to: 3, recompute: full}]",
        ", offload: {optimizer: cpu, gradients: cpu, parameters: cpu}", ", shard_group: node",
        ", context_method: all-gather"},
       {"bf16", "bf16", "fp32", "fp8, fp8_recipe: tensorwise", "fp8, fp8_recipe: rowwise", "mxfp8",
        "fp8, fp8_recipe: rowwise, in_bf16: {gradients: [weights]}",
        "fp8, fp8_recipe: tensorwise, in_bf16: {first_layers: 1, last_layers: 2}",
        "mxfp8, in_bf16: {modules: [attention, mlp]}", "mxfp8, in_bf16: {modules: [experts]}"},
       {"adamw", "adam"},
       {1, 1, 2},
       {1, 2},
       {1, 1, 2},
       "torchtitan"},
      {report::Framework::nanotron,
       {"{layers: 8, hidden: 1024, heads: 16, kv_heads: 4, ffn: 2816, vocab: 32000, activation: "
        "swiglu, norm: rmsnorm, position: rope, biases: false, tied_embeddings: false, dropout: 0}",
        "{layers: 8, hidden: 1024, heads: 16, kv_heads: 4, ffn: 2816, vocab: 32000, activation: "
        "swiglu, norm: rmsnorm, position: rope, biases: false, qkv_biases: true, dropout: 0}",
        "{layers: 8, hidden: 1024, heads: 16, ffn: 2816, vocab: 32001, activation: swiglu, norm: "
        "rmsnorm, position: rope, biases: false, dropout: 0, moe: {experts: 8, top_k: 2, "
        "expert_ffn: "
        "704, shared_experts: 1, shared_ffn: 1408}}"},
       {"1f1b", "gpipe"},
       {"", "", ", recompute: full", ", gradient_precision: bf16, bucket: 25 MiB",
        ", bucket: 8 MiB", ", overlap: {tensor: true}", ", rank_order: tp-cp-dp-pp-ep"},
       {"bf16", "bf16", "fp16", "fp32"},
       {"adamw", "sgd"},
       {1, 2, 4},
       {1, 2, 4},
       {1},
       "nanotron"}};
  return ranges;
}

inline forecast::Scenario drawn(const Range& range, Draw& draw) {
  const auto tensor = draw.number(range.tensors), pipeline = draw.number(range.pipelines),
             context = draw.number(range.contexts), data = draw.number({1, 2, 4}),
             micro = draw.number({1, 2});
  const auto model = draw.of(range.models), schedule = draw.of(range.schedules);
  const bool experts = golden::contains(model, "experts:") || golden::contains(model, "mixtral") ||
                       golden::contains(model, "30b") || golden::contains(model, "120b");
  const bool chunks = schedule != "1f1b" && schedule != "gpipe";
  const auto zero = draw.of({"0", "1", "2", "3"});
  auto plan = "tensor: " + std::to_string(tensor) + ", pipeline: " + std::to_string(pipeline) +
              ", context: " + std::to_string(context) + ", data: " + std::to_string(data) +
              ", micro_batch: " + std::to_string(micro) + ", zero: " + zero;
  if (tensor > 1) plan += ", sequence_parallel: " + draw.of({"true", "true", "false"});
  if (pipeline > 1) plan += ", schedule: " + schedule;
  if (pipeline > 1 && chunks) plan += ", virtual_stages: 2";
  if (experts) plan += ", expert: " + draw.of({"1", "2"});
  plan += draw.of(range.keys);
  const auto gpus = tensor * pipeline * context * data;
  const auto batch = data * micro * pipeline * draw.number({1, 2, 4});
  const auto optimizer = draw.of(range.optimizers), precision = draw.of(range.precisions);
  const auto text =
      "model: " + model + "\ncluster: {node: dgx-h100, gpus: " + std::to_string(gpus) +
      "}\nsoftware: " + range.software +
      "\ntraining: {sequence_length: 1024, global_batch: " + std::to_string(batch) +
      ", optimizer: " + optimizer + ", precision: " + precision + "}\nplan: {" + plan + "}\n";
  INFO(text);
  return scenarios::read_scenario(text, "drawn");
}

}  // namespace tests
