// SPDX-License-Identifier: Apache-2.0
#include "strategies/contention_bound.hpp"

#include <algorithm>
#include <limits>

#include "plans/shard_groups.hpp"

namespace strategies {

using sim::Picoseconds;

namespace {

constexpr double ticks_per_second = 1e12;
// Sums of doubles are exact to this share.
constexpr double rounding = 1e-9;

double times_on(const std::vector<sim::Traffic::Use>& uses, sim::LinkId link) {
  const auto found = std::ranges::find(uses, link, &sim::Traffic::Use::link);
  return found == uses.end() ? 0 : found->times;
}

Picoseconds at_least(double seconds) {
  return std::max<Picoseconds>(
      0, static_cast<Picoseconds>(seconds * ticks_per_second * (1 - rounding)) - 2);
}

}  // namespace

ContentionBound::ContentionBound(const Job& job, const Costs& costs)
    : job_(job),
      costs_(costs),
      placement_(job.plan),
      traffic_(job, costs, shards_of(job.plan, placement_, job.cluster)),
      folding_(placement_, job.cluster, ranks_of_shard_group(job.plan, placement_, job.cluster),
               Ranks::folded) {
  const auto& actors = folding_.representative();
  const auto count = static_cast<std::size_t>(placement_.pipeline());
  if (actors.size() != count || placement_.copies() > 1) return;
  stages_.resize(count);
  for (const auto rank : actors)
    stages_[static_cast<std::size_t>(placement_.at(rank).pipeline)] = rank;
  load_.assign(folding_.links().size(), 0);
  for (const auto rank : stages_)
    for (std::size_t l = 0; l < load_.size(); ++l) {
      const auto times = [&](FlowKind kind) {
        return times_on(folding_.uses(kind, rank), sim::LinkId{static_cast<std::uint32_t>(l)});
      };
      // One message leaves after the other.
      load_[l] += times(FlowKind::expert) + times(FlowKind::tensor) + times(FlowKind::context) +
                  std::max(times(FlowKind::onward), times(FlowKind::back));
    }
}

Picoseconds ContentionBound::behind_message(const BlockLeastCosts& block, Picoseconds lead) const {
  const bool gathers = job_.plan.tensor > 1 && !job_.plan.sequence_parallel;
  if (!alike() || gathers || block.exchanged.bytes <= 0) return 0;
  auto least = std::numeric_limits<Picoseconds>::max();
  for (std::size_t s = 0; s + 1 < stages_.size(); ++s)
    least = std::min(least, behind_message(block, lead, stages_[s]));
  return least;
}

// On a link that both cross, of capacity C, an exchange of b bytes that takes x alone lasts until
// the link has carried b and the bytes that the message sends meanwhile. These are all that are
// left of the message when the exchange begins, or as many as its least rate lets it send.
Picoseconds ContentionBound::behind_message(const BlockLeastCosts& block, Picoseconds lead,
                                            std::int64_t rank) const {
  auto there = placement_.at(rank);
  ++there.pipeline;
  const auto message =
      costs_.transfer(units::Bytes{message_bytes(job_.share())}, rank, placement_.rank_of(there));
  const auto& sent = folding_.uses(FlowKind::onward, rank);
  const auto& exchanged = folding_.uses(FlowKind::expert, rank);
  const double parts = folding_.fan_out(FlowKind::onward, rank);
  // A message back may still be on its way before it.
  const auto& back = folding_.uses(FlowKind::back, rank);
  const bool sends_back = there.pipeline > 1;
  double least_rate = message.rate.value / parts;
  for (const auto* uses : {&sent, sends_back ? &back : &sent})
    for (const auto& [link, times] : *uses)
      least_rate = std::min(least_rate, capacity(link) / load_[static_cast<std::size_t>(link)]);
  const double begins = static_cast<double>(lead + block.exchanged.first_leaves) / ticks_per_second;
  const double before = std::max(0.0, begins - message.fixed.value) * message.rate.value;
  const double left = std::max(0.0, message.bytes.value - before) / parts;
  const double bytes = block.exchanged.first_bytes / folding_.fan_out(FlowKind::expert, rank);
  const double alone = static_cast<double>(block.exchanged.first_time) / ticks_per_second;
  double longer = 0;
  for (const auto& [link, times] : sent) {
    const double own = times_on(exchanged, link), c = capacity(link);
    if (own <= 0 || times * least_rate >= c) continue;
    if (sends_back && times_on(back, link) < times) continue;
    const double all = (own * bytes + times * left) / c - alone;
    const double slowly = (own * bytes - c * alone +
                           times * least_rate * std::max(0.0, alone - message.fixed.value)) /
                          (c - times * least_rate);
    longer = std::max(longer, std::min(all, slowly));
  }
  return at_least(longer);
}

// Adds a collective of one rank. While bytes of both are on their way, its gradients move at their
// own rate, or on some link of theirs no slower than the exchange, if that crosses all of these
// links too.
void ContentionBound::add(Reduction& all, FlowKind ring, std::int64_t rank,
                          const Shared& what) const {
  const Sharers sharers{folding_.data_shape(ring, rank), ring};
  const auto flow = traffic_.flow_of(sharers, false);
  const auto& links = folding_.uses(flow, rank);
  const auto& exchanged = folding_.uses(FlowKind::expert, rank);
  const auto sending = traffic_.reduction(sharers, what);
  const auto time = to_ticks(sending.time()), fixed = to_ticks(sending.fixed);
  const bool sends = !links.empty() && sending.bytes.value > 0;
  all.time += time;
  all.silent += sends ? fixed : time;
  if (!sends) return;
  const double rate = sending.rate.value / folding_.fan_out(flow, rank);
  double as_fast = 0, what_is_left = std::numeric_limits<double>::infinity();
  for (const auto& [link, times] : links) {
    const double own = times_on(exchanged, link), c = capacity(link);
    if (own <= 0) as_fast = std::numeric_limits<double>::infinity();
    as_fast = std::max(as_fast, c / (own + times));
    what_is_left = std::min(what_is_left, (c - times * rate) / own);
  }
  all.beside = std::max({all.beside, as_fast, what_is_left});
}

// The least time, the most silence and the fastest exchange of all stages.
ContentionBound::Reduction ContentionBound::reduction(const Parameters& of) const {
  Reduction least{.time = std::numeric_limits<Picoseconds>::max()};
  for (const auto rank : stages_) {
    Reduction here;
    if (placement_.sharers() > 1) add(here, FlowKind::ring, rank, of.of(Held::with_layer));
    if (of.apart > 0 && placement_.apart_sharers() > 1)
      add(here, FlowKind::expert_ring, rank, of.of(Held::apart));
    least = {std::min(least.time, here.time), std::max(least.silent, here.silent),
             std::max(least.beside, here.beside)};
  }
  return least;
}

Picoseconds ContentionBound::beside_reduction(const BlockLeastCosts& block, double rate) const {
  if (!alike() || rate <= 0 || block.exchanged.bytes <= 0) return 0;
  double fan_out = 1;
  for (const auto rank : stages_)
    fan_out = std::max(fan_out, static_cast<double>(folding_.fan_out(FlowKind::expert, rank)));
  return at_least(block.exchanged.bytes / fan_out / rate -
                  static_cast<double>(block.exchanged.time) / ticks_per_second);
}

double ContentionBound::exchange_rate() const {
  double most = 0;
  for (const auto rank : stages_) {
    double here = std::numeric_limits<double>::infinity();
    for (const auto& [link, times] : folding_.uses(FlowKind::expert, rank))
      here = std::min(here, capacity(link) / times);
    most = std::max(most, here);
  }
  return most;
}

}  // namespace strategies
