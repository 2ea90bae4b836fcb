// SPDX-License-Identifier: Apache-2.0
#include "report/question_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/racks.hpp"
#include "report/terminal.hpp"
#include "report/words.hpp"
#include "search/limits.hpp"
#include "units/text.hpp"

namespace report {
namespace {

std::string schedule_words(const strategies::Plan& plan) {
  std::string words(word(plan.schedule));
  if (plan.virtual_stages > 1) words += fmt::format(", {} chunks", plan.virtual_stages);
  return words;
}

// ", an input kept every 8 layers".
std::string rows_words(const std::vector<std::int64_t>& every) {
  std::string words;
  for (const auto layers : every)
    words += fmt::format("{} {} layers", words.empty() ? ", an input kept every" : ", inside every",
                         layers);
  return words;
}

std::string recompute_phrase(const strategies::Recompute& recompute) {
  switch (recompute.kind) {
    case strategies::Recompute::Kind::none:
      return "no recomputation";
    case strategies::Recompute::Kind::selective:
      return "selective recomputation";
    case strategies::Recompute::Kind::full:
      return "full recomputation" + rows_words(recompute.every);
    case strategies::Recompute::Kind::full_layers:
      return fmt::format("recomputation of {} layers per stage{}", recompute.layers,
                         rows_words(recompute.every));
    case strategies::Recompute::Kind::per_op:
      return "recomputation of every second product";
    case strategies::Recompute::Kind::modules:
      return "recomputation of chosen modules";
  }
  return {};
}

// "175 billion", "812 million".
std::string parameter_count(std::int64_t count) {
  const auto number = static_cast<double>(count);
  return count >= 999'500'000 ? fmt::format("{:.3g} billion", number / 1e9)
                              : fmt::format("{:.3g} million", number / 1e6);
}

// Returns the GPUs counted in racks and trays, the reach of NVLink, and the trays that stay empty:
// "nodes: 32" with racks of 72 GPUs is 2,304 GPUs, although somebody who counts trays meant fewer.
// Empty for servers.
std::string racks_words(const topology::Cluster& cluster) {
  const auto counted = counted_in_racks(cluster);
  if (!counted) return {};
  const auto& c = *counted;
  auto words =
      fmt::format("{} GPUs in {} tray{} of {} in {} rack{}; NVLink ends at the rack",
                  grouped_count(cluster.gpus), grouped_count(c.trays), c.trays == 1 ? "" : "s",
                  c.tray_gpus, grouped_count(c.racks), c.racks == 1 ? "" : "s");
  words += c.last_rack_gpus == c.rack_gpus
               ? fmt::format(" ({} GPUs)", c.rack_gpus)
               : fmt::format(" ({} GPUs, {} in the last)", c.rack_gpus, c.last_rack_gpus);
  if (c.empty_trays > 0)
    words += fmt::format("; {} of {} trays stay empty", grouped_count(c.empty_trays),
                         grouped_count(c.empty_trays + c.trays));
  return words;
}

}  // namespace

std::string parameters_words(const model::Transformer& model) {
  auto words = parameter_count(model::parameters(model)) + " parameters";
  if (model.moe)
    words += fmt::format(", {} active", parameter_count(model::active_parameters(model)));
  return words;
}

std::string model_words(const model::Transformer& model) {
  return fmt::format("{} ({})", model.name.empty() ? "model" : model.name, parameters_words(model));
}

// "fp8 (in bf16: the first and the last 2 layers, attention, gradients of weights)".
std::string precision_words(const strategies::Training& training) {
  std::string words(units::to_text(training.precision));
  const auto& in_bf16 = training.in_bf16;
  std::vector<std::string> kept;
  const auto add_layers = [&](const char* which, std::int64_t layers) {
    if (layers == 1) kept.push_back(fmt::format("the {} layer", which));
    if (layers > 1) kept.push_back(fmt::format("the {} {} layers", which, layers));
  };
  add_layers("first", in_bf16.first_layers);
  add_layers("last", in_bf16.last_layers);
  for (const auto part : in_bf16.parts) {
    std::string name(word(part));
    std::ranges::replace(name, '_', ' ');
    kept.push_back(part == model::LinearPart::mlp ? "MLP" : name);
  }
  for (const auto gradient : in_bf16.gradients)
    kept.push_back(fmt::format("gradients of {}", word(gradient)));
  return kept.empty() ? words : fmt::format("{} (in bf16: {})", words, fmt::join(kept, ", "));
}

std::string setting_text(const forecast::Scenario& scenario, const TextOptions& options) {
  const std::string model = scenario.model.name.empty() ? "model" : scenario.model.name;
  const std::string title = scenario.name.empty() ? model : scenario.name;
  const std::string machine = fmt::format(
      "{} on {} GPUs ({}), {} tokens x {} sequences per step, {}", model_words(scenario.model),
      grouped(static_cast<double>(scenario.cluster.gpus)), scenario.cluster.node.device.name,
      grouped(static_cast<double>(scenario.training.sequence_length)),
      grouped(static_cast<double>(scenario.training.global_batch)),
      precision_words(scenario.training));
  const auto racks = racks_words(scenario.cluster);
  const int width = width_of(options);
  return toned(fitted(printable(title, options.unicode), width), Tone::strong, options) + '\n' +
         wrapped(printable(machine, options.unicode), 2, width) +
         (racks.empty() ? "" : wrapped(racks, 2, width));
}

std::string degrees_words(const strategies::Plan& plan) {
  std::string how = fmt::format("tensor {}{}, pipeline {} ({}), data {}, micro-batch {}",
                                plan.tensor, plan.sequence_parallel ? " with sequence" : "",
                                plan.pipeline, schedule_words(plan), plan.data, plan.micro_batch);
  if (plan.context > 1)
    how += fmt::format(", context {} ({})", plan.context, word(plan.context_method));
  if (plan.expert > 1) how += fmt::format(", expert {}", plan.expert);
  using enum strategies::ShardGroup::Extent;
  if (plan.zero > 0) {
    how += fmt::format(", ZeRO {}", plan.zero);
    if (plan.shard_group.extent == node) how += " within nodes";
    if (plan.shard_group.extent == ranks)
      how += fmt::format(" in groups of {}", plan.shard_group.ranks);
  }
  if (plan.layer_tensor) {
    std::int64_t layers = 0;
    for (const auto& range : plan.layers) layers += range.tensor ? range.to - range.from + 1 : 0;
    how += fmt::format(", tensor {} in {} layer{}", *plan.layer_tensor, layers,
                       layers == 1 ? "" : "s");
  }
  return how;
}

std::string gap_left_words(double proved, double asked, bool interrupted) {
  if (interrupted || proved <= asked + 1e-9) return {};
  return fmt::format(
      " ({} was asked for: every plan that may be faster was simulated, but the lower bound of "
      "some "
      "cannot be raised further)",
      percent(asked));
}

std::string missing_factor_words(const forecast::Scenario& scenario, const search::Space& space) {
  const auto relief = search::batch_relief(scenario, space);
  if (!relief) return {};
  return fmt::format(" (a batch of {} has the factor {} that {} lacks)",
                     grouped_count(relief->batch), grouped_count(relief->factor),
                     grouped_count(scenario.training.global_batch));
}

std::string question_text(const forecast::Scenario& scenario, const TextOptions& options) {
  const auto& plan = scenario.plan;
  std::string how = degrees_words(plan) + ", ";
  const bool by_layer = std::ranges::any_of(
      plan.layers, [](const auto& range) { return range.recompute.has_value(); });
  how += by_layer                          ? "recomputation layer by layer"
         : plan.recompute_of_stage.empty() ? recompute_phrase(plan.recompute)
                                           : "recomputation stage by stage";
  using enum strategies::Offload::Tier;
  const auto& offload = plan.offload;
  for (const auto& [what, tier] : {std::pair{"optimizer", offload.optimizer},
                                   {"gradients", offload.gradients ? cpu : none},
                                   {"parameters", offload.parameters},
                                   {"activations", offload.activations ? cpu : none}})
    if (tier != none) how += fmt::format(", {} on {}", what, tier == cpu ? "the host" : "NVMe");
  return setting_text(scenario, options) + wrapped(how, 2, width_of(options));
}

}  // namespace report
