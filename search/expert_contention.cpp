// SPDX-License-Identifier: Apache-2.0
#include "search/expert_contention.hpp"

#include <algorithm>
#include <cmath>

#include "search/block_bounds.hpp"
#include "strategies/contention_bound.hpp"

namespace search {

using sim::Picoseconds;

namespace {

// Adds the time of exchanges behind messages. A way whose first exchange comes when the message is
// further on meets less of it: its passes, which are no fewer than those behind forward passes,
// count as so much shorter.
void slow_behind_messages(const PlanBounds& bounds, std::vector<Layer>& layers,
                          const strategies::ContentionBound& contention, Picoseconds lead) {
  std::vector<std::vector<Picoseconds>> of_kind(bounds.prices.kinds.size());
  for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
    auto& longer = of_kind[bounds.prices.elements[i]];
    const auto& ways = least_costs_of(bounds, i);
    if (longer.empty())
      for (const auto& way : ways) longer.push_back(contention.behind_message(way, lead));
    auto& layer = layers[i];
    layer.message_contention = std::ranges::max(longer);
    if (layer.options_as_last.empty()) layer.options_as_last = layer.options;
    for (std::size_t w = 0; w < ways.size(); ++w)
      layer.options_as_last[w].backward -= layer.message_contention - longer[w];
  }
}

// Adds the time of exchanges beside the reduction of gradients. Gradients of the layers behind are
// on their way without a break while a last backward pass goes on, as long as those of each take
// longer than the layer before it; only when one collective follows another nothing is sent for a
// moment. By the time the gradients of layer k begin, those of layer k + 1 have taken their time:
// that gives the number of such moments for each picosecond of the pass, besides those of the first
// gradients. The time that an exchange takes longer is less by what it could send in these moments.
void slow_beside_reductions(const PlanBounds& bounds, std::vector<Layer>& layers,
                            const strategies::ContentionBound& contention, Picoseconds lead) {
  std::vector<strategies::ContentionBound::Reduction> of_kind;
  for (std::size_t k = 0; k < bounds.prices.kinds.size(); ++k)
    of_kind.push_back(contention.reduction(parameters_of(bounds, bounds.prices.kinds[k].first)));
  const auto reduction = [&](std::size_t i) -> const auto& {
    return of_kind[bounds.prices.elements[i]];
  };
  const auto exchanges = [&](std::size_t i) {
    return std::ranges::any_of(least_costs_of(bounds, i),
                               [](const auto& way) { return way.exchanged.bytes > 0; });
  };
  std::size_t first = 1;
  while (first + 1 < layers.size() && !exchanges(first)) ++first;
  double silences = 0, fastest = 0;  // per picosecond; bytes/s, beside what is behind
  double silent_first = 0;           // head and prediction modules are one
  for (auto i = bounds.prices.elements.size() - 1; i-- > first;) {
    const auto& behind = reduction(i + 1);
    if (behind.time <= 0 || parameters_of(bounds, i + 1).all() <
                                strategies::gradient_bucket(bounds.plan, bounds.scenario.training,
                                                            bounds.scenario.software))
      return;
    fastest = std::max(fastest, behind.beside);
    if (fastest <= 0 || std::isinf(fastest)) return;
    silent_first += static_cast<double>(behind.silent);
    if (i + 1 >= layers.size()) continue;
    silences = std::max(
        silences, static_cast<double>(reduction(i).silent) / static_cast<double>(behind.time));
    const double lost = std::max(0.0, contention.exchange_rate() / fastest - 1);
    // The layer behind layer i is the first to be reduced if it is the last of its stage.
    silent_first = i + 2 < layers.size() ? static_cast<double>(behind.silent) : silent_first;
    layers[i + 1].less_slowed_backward += static_cast<Picoseconds>(std::ceil(lost * silent_first));
    auto& layer = layers[i];
    Picoseconds longest = 0;
    for (const auto& way : layer.options)
      longest = std::max(longest, way.backward + layer.slowed_backward);
    double least = HUGE_VAL;
    const auto& ways = least_costs_of(bounds, i);
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const auto longer = std::clamp<Picoseconds>(contention.beside_reduction(ways[w], fastest), 0,
                                                  std::max<Picoseconds>(0, behind.time - longest));
      const auto pass = lead + layer.options[w].backward + layer.slowed_backward + longer;
      least = std::min(least,
                       static_cast<double>(longer) - lost * silences * static_cast<double>(pass));
    }
    layer.slowed_backward += static_cast<Picoseconds>(std::floor(least));
    layer.less_slowed_backward += static_cast<Picoseconds>(std::floor(least));
  }
}

}  // namespace

void add_expert_contention(PipelineProblem& problem, const PlanBounds& bounds,
                           const strategies::Costs& costs) {
  using enum strategies::When;
  const auto by_host = [&](const strategies::LeastTime& whole) {
    return host_waits(bounds) && whole.host > whole.device;
  };
  // Gathered parameters would be beside messages too.
  const bool usual =
      bounds.plan.schedule == strategies::ScheduleKind::one_f_one_b && !runs_in_pairs(bounds) &&
      overlaps_pipeline(bounds.plan, bounds.scenario.software) && !runs_rows(bounds) &&
      bounds.plan.offload == strategies::Offload{} &&
      bounds.plan.gradient_compression == strategies::GradientCompression::none &&
      bounds.lane.reduces != always && bounds.lane.gathers != always && !bounds.lane.gathers_again;
  const auto& cluster = bounds.scenario.cluster;
  const bool even =
      cluster.kinds() == 1 && cluster.stragglers.empty() && cluster.degraded_links.empty();
  if (!usual || !even || !bounds.scenario.model.moe || bounds.plan.expert == 1 ||
      bounds.plan.pipeline == 1 || by_host(bounds.prices.forward) ||
      by_host(bounds.prices.backward))
    return;
  const strategies::Job job{bounds.scenario.model, bounds.scenario.training, bounds.plan,
                            bounds.scenario.software, bounds.scenario.cluster};
  const strategies::ContentionBound contention(job, costs);
  if (!contention.alike()) return;
  auto& layers = problem.chain.layers;
  // A pass that begins later meets less of the message, by no more than it is later: the sum of
  // both is no less than with the most that any pass begins later.
  const auto lead = most_leads(bounds).backward;
  slow_behind_messages(bounds, layers, contention, lead);
  problem.lane.message_contends =
      std::ranges::any_of(layers, [](const Layer& layer) { return layer.message_contention > 0; });
  if (reduces_one_by_one(bounds) &&
      !strategies::owns_tensors(bounds.plan, bounds.scenario.software))
    slow_beside_reductions(bounds, layers, contention, lead);
}

}  // namespace search
