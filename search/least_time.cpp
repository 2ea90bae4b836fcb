// SPDX-License-Identifier: Apache-2.0
#include "search/least_time.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "search/block_bounds.hpp"
#include "search/least_memory.hpp"

namespace search {

using sim::Picoseconds;

namespace {

// Sums over the whole model. `passed` to `issued`: times of one microbatch's passes. `all`: the
// time of all devices' work on layers, of which the share `ahead`, the least of any layer, comes
// before the next device's work.
struct PassSums {
  double passed = 0, work = 0, longest = 0, issued = 0;
  double all = 0, ahead = 1;
};
PassSums pass_sums(const PlanFacts& facts) {
  PassSums sums;
  const auto m = static_cast<double>(facts.microbatches);
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k) {
    const auto one = pass_times(facts, k);
    const auto& kind = facts.prices.kinds[k];
    sums.passed += kind.count * (one.forward + one.backward);
    sums.work += kind.count * one.work();
    sums.longest = std::max(sums.longest, one.work());
    sums.issued += kind.count * one.issued;
    if (!kind.layer) continue;
    const double all = m * one.work();
    sums.all += kind.count * all;
    if (one.work() > 0)
      sums.ahead = std::min(sums.ahead, (facts.graded ? one.forward : one.work()) / all);
  }
  for (int v = 0; v < facts.layout.virtual_stages(); ++v) {
    const auto leads = leads_of(facts, v);
    const auto both = static_cast<double>(leads.forward + leads.backward);
    sums.passed += both;
    sums.work += both + static_cast<double>(leads.weight);
  }
  return sums;
}

// Sums over the whole model: the times that follow passes, and `all` and `ahead` with the reduction
// of gradients.
struct ReplicaSums {
  double sent = 0, update = 0;
  double all = 0, ahead = 1;
};
ReplicaSums replica_sums(const PlanBounds& bounds) {
  ReplicaSums sums;
  const auto m = static_cast<double>(bounds.microbatches);
  const bool always = bounds.duties.reduces == DataLane::When::always;
  for (std::size_t k = 0; k < bounds.prices.kinds.size(); ++k) {
    const auto one = replica_times(bounds, k);
    const auto& kind = bounds.prices.kinds[k];
    sums.sent += kind.count * one.sent;
    sums.update += kind.count * one.update;
    if (!kind.layer || !bounds.replicas.has_peers()) continue;
    const auto passes = pass_times(bounds, k);
    const double reduced = one.reduction * (always ? m : 1);
    const double work = m * passes.work();
    const double all = !bounds.duties.beside ? work + reduced
                       : always              ? reduced
                                             : work - (passes.backward + passes.weight) + reduced;
    sums.all += kind.count * all;
    if (passes.work() > 0) sums.ahead = std::min(sums.ahead, passes.forward / all);
  }
  return sums;
}

// The least T with ahead · (the work of devices before s) + (the work of s) ≤ T for every device s
// of p, where the devices do `all` together.
double least_with_ahead(double all, double ahead, double p) {
  if (ahead <= 0) return all / p;
  return all * ahead / (1 - std::pow(1 - std::min(1.0, ahead), p));
}

// Whether steps overlap: one begins before all passes of the one before have ended.
bool spans_steps(const PlanFacts& facts) {
  return strategies::post_validates(facts.plan, facts.scenario.software);
}
// Whether devices follow one another with one virtual stage each, and none begins its step early.
bool is_plain_line(const PlanFacts& facts) {
  const auto& layout = facts.layout;
  return layout.kind == strategies::Layout::Kind::loop && layout.chunks == 1 && !spans_steps(facts);
}
// The number of devices that hold a block: two if stages are mirrored, where half of the
// microbatches come from either end.
double copies_of(const PlanFacts& facts) {
  return static_cast<double>(strategies::copies_of(facts.plan));
}

// The bound in picoseconds, before rounding.
double bound_of_passes(const PlanFacts& facts) {
  const auto total = pass_sums(facts);
  const auto m = static_cast<double>(facts.microbatches);
  const auto p = static_cast<double>(facts.plan.pipeline);
  const bool spans = spans_steps(facts);
  // A step that the next one runs into begins with its first kernel, which is issued before.
  const double before =
      spans ? static_cast<double>(ticks(facts.by_host(facts.scenario.software.launch_forward))) : 0;
  double time = m * std::max(total.work / p, total.longest / copies_of(facts));
  time = std::max(time, m * total.issued / p - before);
  if (is_plain_line(facts)) time = std::max(time, least_with_ahead(total.all, total.ahead, p));
  // The first microbatch passes all stages, forward and back.
  if (!spans) time = std::max(time, facts.graded ? total.passed : total.work);
  return time;
}

}  // namespace

Picoseconds least_time_of_passes(const PlanFacts& facts) {
  return whole_bound(bound_of_passes(facts) * (1 - 1e-9));
}

Picoseconds least_time(const PlanBounds& bounds) {
  const auto total = replica_sums(bounds);
  const auto p = static_cast<double>(bounds.plan.pipeline);
  double time = std::max(bound_of_passes(bounds), total.sent / p);
  if (bounds.replicas.has_peers()) {
    if (is_plain_line(bounds)) time = std::max(time, least_with_ahead(total.all, total.ahead, p));
    if (!bounds.duties.beside || bounds.duties.reduces == DataLane::When::always)
      time = std::max(time, total.all / p);
  }
  if (!spans_steps(bounds))
    time += total.update / p + static_cast<double>(bounds.replicas.between());
  return whole_bound(time * (1 - 1e-9));
}

double least_time_of_chunks(const PlanFacts& facts) {
  double least = HUGE_VAL;
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k) {
    if (!facts.prices.kinds[k].layer) continue;
    const auto one = pass_times(facts, k);
    least = std::min(least, one.forward + one.backward + one.weight);
  }
  const auto leads = least_leads(facts);
  least += static_cast<double>(leads.forward + leads.backward + leads.weight);
  const auto m = static_cast<double>(facts.microbatches);
  return static_cast<double>(facts.plan.virtual_stages) * m * least * (1 - 1e-9);
}

std::optional<Picoseconds> guessed_time(const PlanBounds& bounds, double headroom) {
  // Some memory is always in the way; inputs of layers are kept whatever is recomputed.
  constexpr double usable = 0.95, most_dropped = 0.9;
  const double needed = rough_memory(bounds), kept = needed - average_states(bounds);
  const double dropped =
      std::max(0.0, (needed - usable * room_for_tensors(bounds, headroom)) / kept);
  if (dropped > most_dropped) return std::nullopt;
  const auto m = static_cast<double>(bounds.microbatches);
  const auto p = static_cast<double>(bounds.plan.pipeline);
  const auto time = static_cast<double>(least_time_as_cut(bounds));
  const double again = dropped * m / p * static_cast<double>(bounds.prices.forward.device);
  strategies::Interference beside(bounds.scenario.software);
  beside.add(replica_sums(bounds).sent / p, bounds.replicas.processors());
  const double slower = beside.slowed_share(time) * time;
  return whole_bound(time + again + slower);
}

}  // namespace search
