// SPDX-License-Identifier: Apache-2.0
// A plan as torchtitan's job configuration: model, training, and the file as a whole.
#include "report/launch/launch_torchtitan.hpp"

#include <algorithm>

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

struct Flavor {
  std::string_view model, name, flavor;
  std::int64_t layers, hidden, ffn, vocab;
};
constexpr Flavor flavors[] = {
    {"llama3-8b", "llama3", "8B", 32, 4096, 14336, 128256},
    {"llama3-70b", "llama3", "70B", 80, 8192, 28672, 128256},
    {"llama3-405b", "llama3", "405B", 126, 16384, 53248, 128256},
    {"deepseek-v3", "deepseek_v3", "671B", 61, 7168, 18432, 129280},
};

std::string torchtitan_model(const Scenario& s, Sentences& lost) {
  const auto& m = s.model;
  const auto known = std::ranges::find_if(flavors, [&](const Flavor& f) {
    return f.model == m.name && f.layers == m.layers && f.hidden == m.hidden && f.ffn == m.ffn &&
           f.vocab == m.vocab;
  });
  const bool listed = known != std::end(flavors);
  const auto flavor = listed ? std::string(known->flavor) : m.name.empty() ? "unnamed" : m.name;
  if (!listed)
    lost.push_back(fmt::format(
        "model {}: torchtitan takes models from a registry in Python; add a flavor of this name "
        "with {} layers of width {} and a vocabulary of {}",
        json_string(flavor), m.layers, m.hidden, m.vocab));
  if (m.multi_token_prediction > 0)
    lost.push_back(
        fmt::format("model.multi_token_prediction {}: torchtitan's models predict one "
                    "token",
                    m.multi_token_prediction));
  Table table("model");
  table.put("name", std::string(listed ? known->name : "llama3").c_str())
      .put("flavor", flavor.c_str());
  if (s.training.precision == Precision::fp8)
    table.put("converters", std::string("[\"quantize.linear.float8\"]"));
  if (s.training.precision == Precision::mxfp8)
    table.put("converters", std::string("[\"quantize.linear.mx\"]"));
  return table.text();
}

// Below 16 bit: the recipe of the converter.
std::string quantization_text(const Scenario& s, Sentences& lost) {
  const auto precision = s.training.precision;
  if (precision == Precision::nvfp4)
    lost.push_back(
        "training.precision nvfp4: torchtitan has float8 and mxfp8 below 16 bit; "
        "bfloat16 is written instead");
  if (precision == Precision::mxfp8)
    return Table("quantize.linear.mx").put("recipe_name", "mxfp8_cublas").text();
  if (precision != Precision::fp8) return {};
  using enum model::Scaling;
  const auto recipe = s.training.fp8_recipe;
  if (recipe != tensorwise && recipe != rowwise)
    lost.push_back(
        fmt::format("training.fp8_recipe {}: torchtitan has tensorwise and rowwise; "
                    "tensorwise is written instead",
                    word(recipe)));
  return Table("quantize.linear.float8")
      .put("recipe_name", recipe == rowwise ? "rowwise" : "tensorwise")
      .text();
}

std::string torchtitan_optimizer(const Scenario& s, Sentences& lost) {
  using enum strategies::Optimizer;
  const auto optimizer = s.training.optimizer;
  if (optimizer != adamw && optimizer != adam)
    lost.push_back(fmt::format(
        "training.optimizer {}: torchtitan has Adam and AdamW; AdamW is written instead",
        word(optimizer)));
  return Table("optimizer")
      .put("name", optimizer == adam ? "Adam" : "AdamW")
      .put("lr", 1e-4)
      .text();
}

// What FSDP moves to the host, it moves together; without FSDP nothing moves.
bool offloads_states(const Scenario& s, Sentences& lost) {
  const strategies::Offload states{.optimizer = s.plan.offload.optimizer,
                                   .parameters = s.plan.offload.parameters,
                                   .gradients = s.plan.offload.gradients};
  const strategies::Offload all{.optimizer = Tier::cpu, .parameters = Tier::cpu, .gradients = true};
  if (states == strategies::Offload{}) return false;
  const bool shards = s.plan.zero > 0 && sharers_of(s.plan) > 1;
  if (states != all || !shards)
    lost.push_back(fmt::format(
        "{}: torchtitan has parameters, gradients and optimizer states in host memory together, "
        "where FSDP shards them; {} is written instead",
        fmt::join(offloads(states), ", "), shards ? "that" : "none"));
  return shards;
}

std::string training_text(const Scenario& s, Sentences& lost) {
  using enum Precision;
  const auto& plan = s.plan;
  const auto precision = s.training.precision;
  if (precision == fp16 || precision == tf32)
    lost.push_back(fmt::format(
        "training.precision {}: torchtitan has bfloat16 and float32; {} is written instead",
        units::to_text(precision), precision == fp16 ? "bfloat16" : "float32"));
  if (gradient_precision_of(s) != fp32)
    lost.push_back(fmt::format("gradient_precision {}: torchtitan reduces gradients in fp32",
                               units::to_text(gradient_precision_of(s))));
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

void lose_torchtitan_overlaps(const Scenario& s, Sentences& lost) {
  const auto overlaps = overlaps_of(s);
  if (sharers_of(s.plan) == 1) return;
  if (!overlaps.data)
    lost.push_back("overlap.data false: torchtitan reduces gradients under the backward pass");
  if (!overlaps.parameters && s.plan.zero > 0)
    lost.push_back("overlap.parameters false: torchtitan gathers parameters ahead");
}

std::string torchtitan_preamble(const Scenario& s) {
  const auto machines = machines_of(s.cluster);
  return fmt::format(
      "# torchtitan 0.2: {}\n"
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
  auto& lost = out.not_expressed;
  const auto pipeline = pipeline_of(s, lost);
  // A statement each: what is lost is told in the order of the text.
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
  lose_groups(s.training.routing, "torchtitan", lost);
  lose_common(s, "torchtitan", lost);
  return out;
}

}  // namespace report
