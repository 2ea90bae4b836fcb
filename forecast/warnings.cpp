// SPDX-License-Identifier: Apache-2.0
#include "forecast/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "forecast/allocator_use.hpp"
#include "plans/duties.hpp"
#include "plans/words.hpp"
#include "units/text.hpp"

namespace forecast {

namespace {

// Whether every stage that recomputes anything recomputes only the core of attention.
bool drops_core_only(const strategies::Plan& plan) {
  using Kind = strategies::Recompute::Kind;
  if (!plan.layers.empty()) return false;
  if (plan.recompute_of_stage.empty()) return plan.recompute.kind == Kind::selective;
  bool any = false;
  for (const auto& stage : plan.recompute_of_stage) {
    if (stage.kind != Kind::selective && stage.kind != Kind::none) return false;
    any = any || stage.kind == Kind::selective;
  }
  return any;
}

std::string finds_only_pieces(const Memory& memory, const AllocatorFailure& failure,
                              bool expandable) {
  return "stage " + std::to_string(memory.peak_stage) + " has " +
         units::short_text(failure.reserved - failure.allocated) + " free in pieces of at most " +
         units::short_text(failure.largest_free) + " when " + failure.tensor + " asks for " +
         units::short_text(failure.requested) +
         (expandable ? "; leave more free"
                     : "; set software.allocator.expandable_segments: true, or leave more free");
}

std::string does_not_fit(const Scenario& scenario, const Memory& memory) {
  if (fails_by_fragments(memory))
    return finds_only_pieces(memory, *memory.allocator->failure,
                             scenario.software.allocator.expandable_segments);
  return "stage " + std::to_string(memory.peak_stage) + " needs " + units::short_text(memory.peak) +
         " of " + units::short_text(memory.capacity) + " device memory";
}

// Returns why overlap.expert hides nothing; empty if exchanges of experts can be hidden under
// another microbatch.
std::string hides_no_experts(const Scenario& scenario) {
  using enum strategies::ScheduleKind;
  const auto& plan = scenario.plan;
  if (!scenario.model.moe || plan.expert == 1)
    return "overlap.expert hides nothing: no experts are spread over ranks";
  if (plan.schedule == dualpipe || plan.schedule == dualpipe_v ||
      strategies::pairs_passes(scenario.model, plan, scenario.software))
    return {};
  return "overlap.expert hides nothing with schedule: " + std::string(units::word(plan.schedule)) +
         ", which runs one pass at a time; use 1f1b, interleaved or dualpipe";
}

// Returns a warning if the data loader takes as long for its sequences as the step lasts; else
// empty.
std::string waits_for_data(const Scenario& scenario, const Step& step) {
  const auto& loader = scenario.software.data_loader;
  if (!loader) return {};
  const auto sequences = static_cast<double>(step.microbatches * scenario.plan.micro_batch);
  const units::Seconds loading{sequences / loader->samples_per_second};
  if (loading < 0.99 * step.time) return {};
  return "the data loader sets the pace: it needs " + units::short_text(loading) + " for the " +
         std::to_string(step.microbatches * scenario.plan.micro_batch) +
         " sequences that a GPU takes in a step; raise software.data_loader.samples_per_second";
}

// Returns a warning if expert-parallel groups would fit into a node, but a node holds no whole
// number of them, so that some groups lie in two nodes and the others wait for them; else empty.
std::string splits_expert_groups(const Scenario& scenario) {
  const auto& plan = scenario.plan;
  const auto& cluster = scenario.cluster;
  const auto group = plan.expert * strategies::expert_tensor(plan);
  const std::int64_t node = cluster.node.gpus, tray = cluster.node.tray;
  if (plan.expert < 2 || plan.rank_order != strategies::Plan{}.rank_order) return {};
  if (group > node || node % group == 0 || cluster.gpus <= node) return {};
  const auto used = node / group * group, nodes = (cluster.gpus + used - 1) / used;
  const bool even = tray > 0 && used % tray == 0 && cluster.gpus == used * nodes;
  return "expert-parallel groups of " + std::to_string(group) + " GPUs lie across " +
         (tray > 0 ? "racks" : "nodes") + " of " + std::to_string(node) +
         ", and send tokens over the fabric; use " + std::to_string(used) + " of each: " +
         (even ? "cluster.trays: " + std::to_string(cluster.gpus / tray) +
                     " and cluster.racks: " + std::to_string(nodes) + ", without cluster.gpus"
               : "gpus: " + std::to_string(used) + " in cluster.node");
}

// Returns a warning if an expert-parallel group has more GPUs than a rack, with the seconds of the
// step in which its exchanges hide under nothing; else empty. Nodes smaller than racks are left
// out: groups across them are usual.
std::string spans_racks(const Scenario& scenario, const Forecast& forecast) {
  const auto& plan = scenario.plan;
  const auto& node = scenario.cluster.node;
  const auto group = plan.expert * strategies::expert_tensor(plan);
  if (plan.expert < 2 || node.tray == 0 || group <= node.gpus) return {};
  const auto least = (group + node.gpus - 1) / node.gpus;
  std::string text = "expert-parallel groups of " + std::to_string(group) + " GPUs span at least " +
                     std::to_string(least) + " racks of " + std::to_string(node.gpus) +
                     ", and send tokens over the fabric";
  const auto waits = forecast.time[StepPart::expert_comm];
  if (waits.value > 0)
    text += ": " + units::short_text(waits) + " of a step of " +
            units::short_text(forecast.step.time) + " are exposed exchanges of experts";
  return text + "; lower plan.expert, so that a group lies in a rack";
}

// Returns a warning if experts drop so many copies of tokens that the step is no measure of a
// training that computes them all; else empty.
std::string drops_tokens(const Step& step) {
  constexpr double many = 0.05;
  if (!(step.dropped > many)) return {};
  return "experts have no room for " + std::to_string(std::lround(100 * step.dropped)) +
         " % of the copies of tokens and drop them, so the step is shorter than one that computes "
         "all; raise model.moe.capacity_factor, or leave it out";
}

// Returns a warning if a pipeline reduces the gradients of every microbatch because nothing says
// when; else empty.
std::string reduces_each_microbatch(const Scenario& scenario, const Forecast& forecast) {
  const auto& plan = scenario.plan;
  const bool asked = plan.gradient_sync.has_value();
  if (asked || plan.zero < 2 || plan.pipeline == 1 || forecast.step.microbatches == 1) return {};
  if (strategies::gradient_sync(plan, scenario.software) != strategies::GradientSync::microbatch)
    return {};
  return "zero " + std::to_string(plan.zero) + " in a pipeline reduces the gradients of each of " +
         std::to_string(forecast.step.microbatches) +
         " microbatches; with plan.gradient_sync: step they stay whole and are reduced once";
}

std::string counts_as_fitting() {
  return " (the plan counts as fitting: " + std::to_string(std::lround(100 * unknown_room)) +
         " % more memory would do, and forecasts are not closer)";
}

}  // namespace

std::string node_misfit_of(const Memory& memory) {
  if (memory.host_fits) return {};
  const bool host = memory.host > memory.host_capacity;
  const auto text = [](const char* what, units::Bytes held, units::Bytes there) {
    return "a node keeps " + units::short_text(held) + " in " + what + " of " +
           units::short_text(there) + "; ";
  };
  if (host && memory.nvme_capacity > memory.nvme)
    return text("host memory", memory.host, memory.host_capacity) +
           "offload to nvme, shard more (zero), or use more nodes";
  if (host)
    return text("host memory", memory.host, memory.host_capacity) +
           "offload less, shard more (zero), or use more nodes";
  return text("NVMe storage", memory.nvme, memory.nvme_capacity) +
         "offload less, shard more (zero), or use more nodes";
}

std::string misfit_of(const Scenario& scenario, const Memory& memory) {
  std::string text = memory.fits ? "" : does_not_fit(scenario, memory);
  if (memory.host_fits) return text;
  return text + (text.empty() ? "" : "; ") + node_misfit_of(memory);
}

std::vector<std::string> warnings_of(const Scenario& scenario, const Forecast& forecast) {
  std::vector<std::string> warnings;
  const auto& memory = forecast.memory;
  if (!memory.fits || fails_by_fragments(memory))
    warnings.push_back(does_not_fit(scenario, memory) + (memory.fits ? counts_as_fitting() : ""));
  else if (memory.peak > 0.94 * memory.capacity)
    warnings.push_back("memory is " +
                       std::to_string(static_cast<int>(100 * (memory.peak / memory.capacity))) +
                       " % full: the allocator may stall the step; leave some 6 % free");
  if (!memory.host_fits) warnings.push_back(node_misfit_of(memory));
  if (drops_core_only(scenario.plan) &&
      scenario.software.kernels.attention != model::AttentionKernel::unfused)
    warnings.push_back(
        "selective recomputation frees almost nothing with flash attention, which keeps no score "
        "matrix, and computes it twice; use recompute: none");
  if (scenario.plan.pipeline > 1 && forecast.step.microbatches < scenario.plan.pipeline)
    warnings.push_back("fewer microbatches (" + std::to_string(forecast.step.microbatches) +
                       ") than pipeline stages (" + std::to_string(scenario.plan.pipeline) +
                       "): most stages wait; raise global_batch or lower micro_batch");
  if (scenario.plan.schedule == strategies::ScheduleKind::interleaved &&
      scenario.plan.virtual_stages == 1 && scenario.plan.pipeline > 1)
    warnings.push_back(
        "schedule: interleaved with one model chunk per rank is 1f1b; write plan.virtual_stages: 2 "
        "or more");
  if (scenario.plan.tensor > scenario.cluster.node.gpus)
    warnings.push_back("tensor " + std::to_string(scenario.plan.tensor) +
                       " reaches across nodes of " + std::to_string(scenario.cluster.node.gpus) +
                       " GPUs: its collectives cross the fabric in every layer");
  if (auto text = reduces_each_microbatch(scenario, forecast); !text.empty())
    warnings.push_back(text);
  if (auto text = splits_expert_groups(scenario); !text.empty()) warnings.push_back(text);
  if (auto text = spans_racks(scenario, forecast); !text.empty()) warnings.push_back(text);
  if (auto text = drops_tokens(forecast.step); !text.empty()) warnings.push_back(text);
  if (scenario.plan.overlap.expert.value_or(false))
    if (auto text = hides_no_experts(scenario); !text.empty()) warnings.push_back(text);
  if (auto text = waits_for_data(scenario, forecast.step); !text.empty()) warnings.push_back(text);
  if (const double padding = scenario.training.padding; padding > 0)
    warnings.push_back(
        std::to_string(static_cast<int>(padding * 100 + 0.5)) + " % of the tokens are padding: " +
        std::to_string(static_cast<std::int64_t>(forecast.step.useful_tokens_per_second())) +
        " useful tokens/s; pack sequences to lose fewer");
  return warnings;
}

}  // namespace forecast
