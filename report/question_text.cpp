// SPDX-License-Identifier: Apache-2.0
#include "report/question_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/terminal.hpp"
#include "report/words.hpp"
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

// Where a node is larger than a server, how many such there are: "nodes: 32" of a rack of 72 GPUs
// is 2,304 GPUs, and whoever counts trays meant fewer. Empty for servers.
std::string racks_words(const topology::Cluster& cluster) {
  constexpr int largest_server = 16;  // GPUs of a DGX-2
  const auto& node = cluster.node;
  if (node.gpus <= largest_server || node.nvlink.kind != topology::NvLink::Kind::nvswitch)
    return {};
  const auto nodes = cluster.nodes(), last = cluster.gpus - (nodes - 1) * node.gpus;
  auto words = fmt::format("{} node{} of {} GPUs, each a rack that NVLink joins",
                           grouped(static_cast<double>(nodes)), nodes == 1 ? "" : "s", node.gpus);
  if (last < node.gpus) words += fmt::format("; of the last, {} GPUs are used", last);
  return words;
}

}  // namespace

std::string setting_text(const forecast::Scenario& scenario, const TextOptions& options) {
  const std::string model = scenario.model.name.empty() ? "model" : scenario.model.name;
  const std::string title = scenario.name.empty() ? model : scenario.name;
  const std::string machine = fmt::format(
      "{} on {} GPUs ({}), {} tokens x {} sequences per step, {}", model,
      grouped(static_cast<double>(scenario.cluster.gpus)), scenario.cluster.node.device.name,
      grouped(static_cast<double>(scenario.training.sequence_length)),
      grouped(static_cast<double>(scenario.training.global_batch)),
      units::to_text(scenario.training.precision));
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
  if (plan.zero > 0) how += fmt::format(", ZeRO {}", plan.zero);
  if (plan.layer_tensor) {
    std::int64_t layers = 0;
    for (const auto& range : plan.layers) layers += range.tensor ? range.to - range.from + 1 : 0;
    how += fmt::format(", tensor {} in {} layer{}", *plan.layer_tensor, layers,
                       layers == 1 ? "" : "s");
  }
  return how;
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
