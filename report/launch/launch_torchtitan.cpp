// SPDX-License-Identifier: Apache-2.0
// A plan as torchtitan's job configuration: model, training, and the file as a whole.
#include "report/launch/launch_torchtitan.hpp"

#include <algorithm>
#include <optional>

#include "report/launch/titan_precision.hpp"
#include "report/launch/titan_registry.hpp"
#include "report/words.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report {
namespace torchtitan {
namespace {

using forecast::Scenario;
using Tier = strategies::Offload::Tier;
using units::Precision;

// --- model and training

// Returns the model with only the parts that a registry defines: without name, the longest sequence
// of rotated positions, the distribution of tokens over experts, and modules that predict further
// tokens.
model::Transformer registered_part(model::Transformer m, const model::Transformer& like) {
  m.name.clear();
  m.multi_token_prediction = 0;
  if (m.position == model::Position::rope) m.max_sequence = like.max_sequence;
  if (m.moe && like.moe) {
    m.moe->imbalance = like.moe->imbalance;
    if (m.moe->shared_experts * m.moe->shared_ffn ==
        like.moe->shared_experts * like.moe->shared_ffn)
      m.moe->shared_experts = like.moe->shared_experts, m.moe->shared_ffn = like.moe->shared_ffn;
  }
  return m;
}

// Whether the two models differ in sizes alone, so that the classes of `of` can have those of `m`.
bool same_classes(const model::Transformer& m, const model::Transformer& of) {
  const auto classes = [](model::Transformer one) {
    one.layers = one.hidden = one.heads = one.kv_heads = one.head_dim = one.ffn = one.vocab = 0;
    one.max_sequence = 0;
    one.tied_embeddings = false;
    if (one.window) one.window->size = 0;
    if (one.latent) one.latent = model::LatentAttention{};
    if (one.moe)
      one.moe =
          model::Moe{.expert_biases = one.moe->expert_biases, .shared_gate = one.moe->shared_gate};
    return one;
  };
  return classes(registered_part(m, of)) == classes(of);
}

// The flavor that has the model's sizes (`listed`), or the family that has its classes.
struct Registered {
  std::string family, flavor;
  bool listed = false;
  std::optional<bool> router_bias{};  // the flavor's, if the model's is another
};

Registered registered_as(const model::Transformer& m) {
  Registered found;
  for (const auto& one : titan_registry()) {
    auto part = registered_part(m, one.sizes);
    const bool balances = part.moe && one.sizes.moe && one.sizes.moe->router_bias;
    const bool alike = !part.moe || part.moe->router_bias == balances;
    if (part.moe) part.moe->router_bias = balances;
    if (part == one.sizes)
      return {one.family, one.flavor, true, alike ? std::nullopt : std::optional(balances)};
    if (found.family.empty() && same_classes(m, one.sizes)) found.family = one.family;
  }
  found.flavor = m.name.empty() ? "unnamed" : m.name;
  return found;
}

std::string sizes_of(const model::Transformer& m) {
  auto text = fmt::format(
      "{} layers of width {}, {} heads of {} and {} of keys and values, MLP {}, vocabulary {}",
      m.layers, m.hidden, m.heads, m.head_dim, m.kv_heads, m.ffn, m.vocab);
  if (m.moe)
    text += fmt::format(", {} experts of {}, {} of them for a token", m.moe->experts,
                        m.moe->expert_ffn, m.moe->top_k);
  return text + (m.tied_embeddings ? ", tied embeddings" : "");
}

std::string torchtitan_model(const Scenario& s, LostKeys& lost) {
  const auto& m = s.model;
  auto as = registered_as(m);
  if (!as.listed && !as.family.empty())
    lost.push_back(
        {"model", fmt::format("model {}: no flavor of torchtitan's {} has its sizes, which are not "
                              "written; add one of this name to its registry in Python: {}",
                              json_string(as.flavor), as.family, sizes_of(m))});
  if (as.family.empty()) {
    as.family = as.flavor;
    lost.push_back(
        {"model",
         fmt::format(
             "model {}: none of torchtitan's families is like it; a family of this name, which "
             "torchtitan does not know, is written, and of the model nothing else: {}",
             json_string(as.flavor), sizes_of(m))});
  }
  if (as.router_bias)
    lost.push_back({"model.moe.router_bias",
                    fmt::format("model.moe.router_bias {}: torchtitan's {} {} has it {}",
                                !*as.router_bias, as.family, as.flavor, *as.router_bias)});
  if (m.multi_token_prediction > 0)
    lost.push_back(
        {"model.multi_token_prediction",
         fmt::format("model.multi_token_prediction {}: torchtitan's models predict one token",
                     m.multi_token_prediction)});
  Table table("model");
  table.put("name", as.family.c_str()).put("flavor", as.flavor.c_str());
  if (const auto converters = converters_of(s); !converters.empty())
    table.put("converters", json_list(converters));
  return table.text();
}

std::string torchtitan_optimizer(const Scenario& s, LostKeys& lost) {
  using enum strategies::Optimizer;
  const auto optimizer = s.training.optimizer;
  if (optimizer != adamw && optimizer != adam)
    lost.push_back(
        {"training.optimizer",
         fmt::format(
             "training.optimizer {}: torchtitan has Adam and AdamW; AdamW is written instead",
             word(optimizer))});
  return Table("optimizer")
      .put("name", optimizer == adam ? "Adam" : "AdamW")
      .put("lr", 1e-4)
      .text();
}

// Whether states are offloaded. FSDP moves parameters, gradients and states to the host together;
// without FSDP nothing moves.
bool offloads_states(const Scenario& s, LostKeys& lost) {
  const strategies::Offload states{.optimizer = s.plan.offload.optimizer,
                                   .parameters = s.plan.offload.parameters,
                                   .gradients = s.plan.offload.gradients};
  const strategies::Offload all{.optimizer = Tier::cpu, .parameters = Tier::cpu, .gradients = true};
  if (states == strategies::Offload{}) return false;
  const bool shards = s.plan.zero > 0 && emitted_sharers(s.plan) > 1;
  std::string words;
  for (const auto& offload : offloads(states)) words += (words.empty() ? "" : ", ") + offload.words;
  if (states != all || !shards)
    lost.push_back(
        {"offload.optimizer",
         fmt::format("{}: torchtitan has parameters, gradients and optimizer states in host memory "
                     "together, where FSDP shards them; {} is written instead",
                     words, shards ? "that" : "none")});
  return shards;
}

std::string training_text(const Scenario& s, LostKeys& lost) {
  using enum Precision;
  const auto& plan = s.plan;
  const auto precision = s.training.precision;
  if (precision == fp16 || precision == tf32)
    lost.push_back(
        {"training.precision",
         fmt::format(
             "training.precision {}: torchtitan has bfloat16 and float32; {} is written instead",
             units::to_text(precision), precision == fp16 ? "bfloat16" : "float32")});
  if (gradient_precision_of(s) != fp32)
    lost.push_back({"gradient_precision",
                    fmt::format("gradient_precision {}: torchtitan reduces gradients in fp32",
                                units::to_text(gradient_precision_of(s)))});
  // A pipeline takes a step's whole batch of a replica and cuts it up; otherwise batches of this
  // size are accumulated.
  const auto microbatches = plan.pipeline > 1 ? strategies::microbatches_of(plan, s.training) : 1;
  return Table("training")
      .put("local_batch_size", plan.micro_batch * microbatches)
      .put("global_batch_size", s.training.global_batch)
      .put("seq_len", s.training.sequence_length)
      .put("steps", 50)
      .put("mixed_precision_param", precision == fp32 || precision == tf32 ? "float32" : "bfloat16")
      .put("mixed_precision_reduce", "float32")
      .put("enable_cpu_offload", offloads_states(s, lost))
      .text();
}

void lose_torchtitan_overlaps(const Scenario& s, LostKeys& lost) {
  const auto overlaps = overlaps_of(s);
  if (emitted_sharers(s.plan) == 1) return;
  const bool behind = s.plan.pipeline > 1 && s.plan.zero >= 2;
  if (!overlaps.data && !behind)
    lost.push_back({"overlap.data",
                    "overlap.data false: torchtitan reduces gradients under the backward pass"});
  if (overlaps.data && behind)
    lost.push_back({"overlap.data",
                    "overlap.data true: torchtitan reduces gradients of a pipeline behind its last "
                    "backward pass"});
  if (!overlaps.parameters && s.plan.zero > 0)
    lost.push_back(
        {"overlap.parameters", "overlap.parameters false: torchtitan gathers parameters ahead"});
}

std::string torchtitan_preamble(const Scenario& s) {
  const auto machines = machines_of(s.cluster);
  return fmt::format(
      "# torchtitan 0.2.2: {}\n"
      "# torchrun --nproc_per_node {} --nnodes {} -m torchtitan.train --job.config_file THIS_FILE\n"
      "# Data, tokenizer, learning rate and length of the run are no part of a plan: replace "
      "them.\n",
      headline(s), machines.per_node, machines.nodes);
}

}  // namespace
}  // namespace torchtitan

Launch launch_torchtitan(const forecast::Scenario& s) {
  using namespace torchtitan;
  Launch out;
  out.name = "job.toml";
  auto& lost = out.not_expressed;
  const auto pipeline = pipeline_of(s, lost);
  // One statement for each part, so that lost keys are told in the order of the text.
  out.text = torchtitan_preamble(s);
  out.text += torchtitan_model(s, lost);
  out.text += quantization_text(s, lost);
  out.text += torchtitan_optimizer(s, lost);
  out.text += training_text(s, lost);
  out.text += parallelism_text(s, pipeline, lost);
  out.text += activations_text(s, pipeline, lost);
  out.text += Table("compile").put("enable", s.software.compile).text();
  lose_torchtitan_overlaps(s, lost);
  lose_gradient_compression(s.plan, "torchtitan", lost);
  lose_gradient_sync(s, s.plan.pipeline > 1, "torchtitan", lost);
  lose_groups(s.training.routing, "torchtitan", lost);
  lose_key_heads(s, "torchtitan", lost);
  lose_common(s, "torchtitan", lost);
  lose_narrow_weights(s, "torchtitan", lost);
  return out;
}

}  // namespace report
