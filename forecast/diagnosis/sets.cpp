// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "forecast/diagnosis/weigh.hpp"
#include "topology/cluster.hpp"
#include "units/text.hpp"

namespace forecast {

namespace {

std::string short_number(double value) { return units::significant(value, 3); }

std::string straggling(const Suspect& suspect) {
  std::string ranks;
  for (const auto rank : suspect.ranks) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return "cluster.stragglers=[{gpus: [" + ranks + "], slowdown: " + short_number(suspect.factor) +
         "}]";
}

std::string overlap_key(StepPart part) {
  switch (part) {
    case StepPart::data_comm:
      return "data";
    case StepPart::tensor_comm:
      return "tensor";
    case StepPart::pipeline_comm:
      return "pipeline";
    case StepPart::expert_comm:
      return "expert";
    default:
      return {};
  }
}

// Whether the groups of this part fit into a node and so use the links inside of it.
bool inside_node(StepPart part, const Scenario& scenario) {
  const auto gpus = scenario.cluster.node.gpus;
  if (scenario.cluster.gpus <= gpus) return true;
  return (part == StepPart::tensor_comm && scenario.plan.tensor <= gpus) ||
         (part == StepPart::expert_comm && scenario.plan.expert * scenario.plan.tensor <= gpus);
}

std::string slower_link(const Suspect& suspect, const Scenario& scenario) {
  const bool inside = inside_node(*suspect.part, scenario);
  const auto& cluster = scenario.cluster;
  const double rate =
      inside ? cluster.node.nvlink.bandwidth.value
             : std::min(cluster.fabric.link_bandwidth.value, cluster.node.nics.bandwidth.value);
  if (!(rate > 0)) return {};
  return std::string(inside ? "cluster.node.nvlink.bandwidth=" : "cluster.node.nics.bandwidth=") +
         short_number(rate / suspect.factor / 1e9) + " GB/s";
}

// Measured tables give the rates of most kernels, and only `slowdown` scales those too.
std::string slower_class(const Suspect& suspect, const Scenario& scenario) {
  const auto& slowdown = scenario.cluster.node.device.efficiency.slowdown;
  const auto set = [&](std::string_view name, double now) {
    return "cluster.node.device.efficiency.slowdown." + std::string(name) + "=" +
           short_number(now * suspect.factor);
  };
  switch (*suspect.kernels) {
    case KernelClass::products:
      return set("products", slowdown.products);
    case KernelClass::attention:
      return set("attention", slowdown.attention);
    case KernelClass::experts:
      return set("experts", slowdown.experts);
    case KernelClass::others:
      return set("others", slowdown.others);
  }
  return {};
}

std::string all_slower(const Suspect& suspect, const Scenario& scenario) {
  Suspect every = suspect;
  every.ranks.clear();
  for (std::int64_t rank = 0; rank < scenario.cluster.gpus; ++rank) every.ranks.push_back(rank);
  constexpr std::int64_t most = 64;
  return scenario.cluster.gpus <= most
             ? straggling(every)
             : "cluster.stragglers=[{gpus: [0], slowdown: " + short_number(suspect.factor) + "}]";
}

std::string moved_layer(const Suspect& suspect, const Scenario& scenario) {
  const auto& plan = scenario.plan;
  if (plan.virtual_stages > 1 || plan.pipeline < 2) return {};
  auto layers = plan.layers_per_stage;
  const auto even = scenario.model.layers / plan.pipeline;
  if (layers.empty()) layers.assign(static_cast<std::size_t>(plan.pipeline), even);
  const auto at = static_cast<std::size_t>(suspect.stage);
  const auto more = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(layers[at]) * (suspect.factor - 1) + 0.5));
  const auto from = at + 1 < layers.size() ? at + 1 : at - 1;
  layers[at] += more;
  layers[from] -= std::min(more, layers[from]);
  std::string list;
  for (const auto count : layers) list += (list.empty() ? "" : ", ") + std::to_string(count);
  return "plan.layers_per_stage=[" + list + "]";
}

// The host between steps takes `more`, which the profile's time becomes on this cluster's hosts.
std::string longer_step(units::Seconds more, const Scenario& scenario) {
  const auto in_profile = more / scenario.cluster.slowest_call_time();
  return "software.step_overhead=" +
         short_number((scenario.software.step_overhead + in_profile).value) + " s";
}

}  // namespace

std::string set_of(const Suspect& suspect, const Scenario& scenario) {
  switch (suspect.cause) {
    case Cause::straggler:
      return straggling(suspect);
    case Cause::late_rank:
    case Cause::unseen_rank:
    case Cause::stall:
      return {};
    case Cause::slow_link:
      return slower_link(suspect, scenario);
    case Cause::host_bound:
      return longer_step(suspect.seconds, scenario);
    case Cause::no_overlap: {
      const auto key = overlap_key(*suspect.part);
      return key.empty() ? key : "plan.overlap." + key + "=false";
    }
    case Cause::slow_kernels:
      return slower_class(suspect, scenario);
    case Cause::low_clock:
      return all_slower(suspect, scenario);
    case Cause::data_loading:
      return longer_step(suspect.seconds, scenario);
    case Cause::stage_imbalance:
      return moved_layer(suspect, scenario);
    case Cause::expert_imbalance:
      return "model.moe.imbalance=" + short_number(suspect.factor);
    case Cause::recomputation:
      return suspect.kernels ? "plan.recompute=selective" : "plan.recompute=full";
    case Cause::copies:
      return {};
  }
  return {};
}

}  // namespace forecast
