// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/lower_limits.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "plans/schedules/limits.hpp"
#include "sim/contention.hpp"
#include "sim/flows/flows.hpp"
#include "strategies/lowering/bodies.hpp"
#include "strategies/lowering/sharding.hpp"
#include "units/text.hpp"

namespace strategies {

namespace {

// The keys of a scenario that say what a port carries.
std::vector<std::string> keys_of(topology::Port::Kind kind) {
  using enum topology::Port::Kind;
  switch (kind) {
    case nvlink:
      return {"cluster.node.nvlink.bandwidth"};
    case pcie:
      return {"cluster.node.pcie.bandwidth"};
    case nic:
      return {"cluster.fabric.link_bandwidth", "cluster.node.nics.bandwidth"};
    default:
      return {"cluster.fabric.link_bandwidth"};
  }
}

}  // namespace

void check_numbers(const Job& job) {
  constexpr std::int64_t most_ranks = std::int64_t{1} << 22;
  const auto& plan = job.plan;
  if (static_cast<double>(plan.tensor) * static_cast<double>(plan.context) *
          static_cast<double>(plan.pipeline) * static_cast<double>(plan.data) >
      static_cast<double>(most_ranks))
    throw Refusal({"cluster.nodes", "cluster.gpus"},
                  "a step on more than 4 million GPUs is not simulated; lower the number of nodes");
  if (const auto refused = too_large(
          {plan.schedule, plan.pipeline, plan.virtual_stages, microbatches_of(plan, job.training)}))
    throw Refusal(*refused);
}

namespace {

// The events that a pass of the longest virtual stage has for the exchanges inside its blocks:
// these, and the pieces that they cut it into.
double events_of_exchanges(const Cast& cast) {
  std::map<Block, double> of_block;
  double most = 0;
  for (const auto& blocks : cast.blocks) {
    double sum = 0;
    for (const auto& block : blocks) {
      auto [known, fresh] = of_block.try_emplace(block);
      for (auto pass : {Pass::forward, Pass::backward}) {
        if (!fresh) break;
        const auto pieces = written(cast, 0, {block}, pass);
        known->second += static_cast<double>(pieces.size() - (pieces.back().then ? 0 : 1));
        for (const auto& piece : pieces) known->second += piece.then ? 1 : 0;
      }
      sum += known->second / 2;  // forward and backward, on the average
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

void check_size(const Cast& cast, Ranks ranks) {
  constexpr double most_events = 2e7;
  const auto number = [](double value) {
    return std::to_string(static_cast<std::int64_t>(value / 1e6)) + " million";
  };
  std::size_t segments = 1;
  if (cast.job.plan.zero >= 2 || cast.job.plan.offload.activations)
    for (const auto& blocks : cast.blocks)
      segments =
          std::max(segments, cut_at_offloaded(cast, units_of(cast, blocks, true), true).size());
  const double slots = 2.0 * cast.layout.parts() * static_cast<double>(cast.microbatches.written) *
                       static_cast<double>(cast.actors.size());
  const double events = slots * (3.0 * static_cast<double>(segments) + events_of_exchanges(cast));
  if (events > most_events)
    throw Refusal(
        {"training.global_batch"},
        "the step would be " + number(events) + " events, more than " + number(most_events) + ": " +
            std::to_string(cast.actors.size()) + " of its " +
            std::to_string(cast.placement.ranks()) + " ranks differ from one another" +
            (ranks == Ranks::full
                 ? " with --full, which takes every rank apart"
                 : "; stragglers, degraded links and oversubscribed leaves that hold no whole "
                   "stages keep ranks from being alike") +
            "; or raise micro_batch, lower global_batch or virtual_stages");
}

void check_length(const Cast& cast, const sim::Program& program) {
  std::vector<double> alone;
  for (const auto& body : program.templates()) {
    double sum = 0;
    for (const auto& step : body.steps)
      sum += static_cast<double>(step.duration) + static_cast<double>(step.issue);
    alone.push_back(sum);
  }
  std::vector<double> sending;
  for (const auto& traffic : program.traffic())
    sending.push_back(traffic.bytes / sim::idle_rate(program, traffic) * 1e12);
  const auto& marks = program.marks();
  const auto left_out = static_cast<double>(program.left_out());
  const auto stands_for_others = [&](std::uint32_t op) {
    return marks.size() >= 2 && op >= marks[marks.size() - 2].op && op < marks.back().op;
  };
  std::vector<double> busy(program.actors());
  for (std::uint32_t index = 0; index < program.ops().size(); ++index) {
    const auto& op = program.ops()[index];
    const double times = stands_for_others(index) ? 1.0 + left_out : 1.0;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      auto& ticks = busy[static_cast<std::uint32_t>(program.participants()[op.first + i].actor)];
      ticks += times * (op.kind == sim::Op::Kind::pass
                            ? alone[static_cast<std::size_t>(program.body_of(op, i))]
                            : static_cast<double>(op.duration));
      if (op.traffic != sim::no_traffic) ticks += times * sending[op.traffic];
    }
  }
  const double all = std::accumulate(busy.begin(), busy.end(), 0.0);
  const double microbatch =
      all / static_cast<double>(busy.size()) / static_cast<double>(cast.microbatches.all);
  check_ticks(*std::ranges::max_element(busy) + (cast.stages() - 1) * microbatch);
}

void check_links(const Cast& cast, const sim::Program& program) {
  if (program.traffic().empty() || sim::SharedNetwork::can_join(program.links())) return;
  const auto [least, most] =
      std::ranges::minmax_element(cast.folding.links(), {}, &LinkClass::capacity);
  const auto words = [&](const LinkClass& link) {
    return cast.folding.ports().name(link.port) + " carries " +
           units::short_text(units::BytesPerSecond{link.capacity});
  };
  auto keys = keys_of(least->port.kind);
  if (!cast.job.cluster.degraded_links.empty()) keys.insert(keys.begin(), "cluster.degraded_links");
  throw Refusal(keys, words(*least) + " and " + words(*most) +
                          ": links that a step shares differ by less than a factor 2^35; are the "
                          "bandwidths of the scenario meant?");
}

}  // namespace strategies
