// SPDX-License-Identifier: Apache-2.0
// Steps that are too large to be simulated, or too long.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "plans/limits.hpp"
#include "sim/contention.hpp"
#include "sim/flows.hpp"
#include "strategies/lowering.hpp"
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

void check_ticks(double ticks) {
  if (ticks >= static_cast<double>(sim::unreached))
    throw Refusal({"training.global_batch"},
                  "the step would take longer than 26 days, which is not simulated; lower "
                  "global_batch or sequence_length");
}

void check_ticks(const Pieces& pass) {
  double sum = 0;
  for (const auto& piece : pass) {
    for (const auto& step : piece.body.steps)
      sum += static_cast<double>(step.duration) + static_cast<double>(step.issue);
    if (piece.then) sum += static_cast<double>(to_ticks(piece.then->sending.time()));
  }
  check_ticks(sum);
}

// What a pass of the longest virtual stage has for the exchanges inside its blocks: these, and the
// pieces that they cut it into.
double Lowering::events_of_exchanges() const {
  std::map<Block, double> of_block;
  double most = 0;
  for (const auto& blocks : blocks_) {
    double sum = 0;
    for (const auto& block : blocks) {
      auto [known, fresh] = of_block.try_emplace(block);
      for (auto pass : {Pass::forward, Pass::backward}) {
        if (!fresh) break;
        const auto pieces = written(0, {block}, pass, {});
        known->second += static_cast<double>(pieces.size() - (pieces.back().then ? 0 : 1));
        for (const auto& piece : pieces) known->second += piece.then ? 1 : 0;
      }
      sum += known->second / 2;  // forward and backward, on the average
    }
    most = std::max(most, sum);
  }
  return most;
}

// Refuses what would not fit into memory, before it is tried.
void Lowering::check_size() const {
  constexpr double most_events = 2e7;
  const auto number = [](double value) {
    return std::to_string(static_cast<std::int64_t>(value / 1e6)) + " million";
  };
  std::size_t segments = 1;
  if (job_.plan.zero >= 2 || job_.plan.offload.activations)
    for (int v = 0; v < layout_.virtual_stages(); ++v)
      segments = std::max(segments, cut_at_offloaded(units_of(v, true), true).size());
  const double slots = 2.0 * layout_.parts() * static_cast<double>(out_.microbatches) *
                       static_cast<double>(arrived_forward_.size());
  const double events = slots * (3.0 * static_cast<double>(segments) + events_of_exchanges());
  if (events > most_events)
    throw Refusal(
        {"training.global_batch"},
        "the step would be " + number(events) + " events, more than " + number(most_events) + ": " +
            std::to_string(arrived_forward_.size()) + " of its " +
            std::to_string(placement_.ranks()) + " ranks differ from one another" +
            (every_rank_
                 ? " with --full, which takes every rank apart"
                 : "; stragglers, degraded links and oversubscribed leaves that hold no whole "
                   "stages keep ranks from being alike") +
            "; or raise micro_batch, lower global_batch or virtual_stages");
}

// Times are 64-bit picoseconds, so the step is estimated before it is played: all that the busiest
// actor does, one thing after the other, behind a first microbatch on its way through the stages
// before. A step of up to four times the estimate is played without overflow.
void Lowering::check_length() const {
  std::vector<double> alone;
  for (const auto& body : out_.program.templates()) {
    double sum = 0;
    for (const auto& step : body.steps)
      sum += static_cast<double>(step.duration) + static_cast<double>(step.issue);
    alone.push_back(sum);
  }
  std::vector<double> sending;
  for (const auto& traffic : out_.program.traffic())
    sending.push_back(traffic.bytes / sim::idle_rate(out_.program, traffic) * 1e12);
  std::vector<double> busy(out_.program.actors());
  for (const auto& op : out_.program.ops())
    for (std::uint32_t i = 0; i < op.count; ++i) {
      auto& ticks =
          busy[static_cast<std::uint32_t>(out_.program.participants()[op.first + i].actor)];
      ticks += op.kind == sim::Op::Kind::pass
                   ? alone[static_cast<std::size_t>(out_.program.body_of(op, i))]
                   : static_cast<double>(op.duration);
      if (op.traffic != sim::no_traffic) ticks += sending[op.traffic];
    }
  const double all = std::accumulate(busy.begin(), busy.end(), 0.0);
  const double microbatch =
      all / static_cast<double>(busy.size()) / static_cast<double>(out_.microbatches);
  check_ticks(*std::ranges::max_element(busy) + (stages() - 1) * microbatch);
}

// Links that traffic shares are played in integers of 60 bits.
void Lowering::check_links() const {
  if (out_.program.traffic().empty() || sim::SharedNetwork::can_join(out_.program.links())) return;
  const auto [least, most] = std::ranges::minmax_element(out_.links, {}, &LinkClass::capacity);
  const auto words = [&](const LinkClass& link) {
    return folding_.ports().name(link.port) + " carries " +
           units::short_text(units::BytesPerSecond{link.capacity});
  };
  auto keys = keys_of(least->port.kind);
  if (!job_.cluster.degraded_links.empty()) keys.insert(keys.begin(), "cluster.degraded_links");
  throw Refusal(keys, words(*least) + " and " + words(*most) +
                          ": links that a step shares differ by less than a factor 2^35; are the "
                          "bandwidths of the scenario meant?");
}

}  // namespace strategies
