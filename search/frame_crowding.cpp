// SPDX-License-Identifier: Apache-2.0
// What exchanges of experts take longer as messages and gradients share their links.
#include <algorithm>
#include <cmath>

#include "search/frame.hpp"
#include "strategies/crowding.hpp"

namespace search {

using sim::Picoseconds;

void Frame::add_crowding(PipelineProblem& problem, const strategies::Outline& outline,
                         const strategies::Costs& costs) const {
  using enum strategies::When;
  const auto by_host = [&](const strategies::LeastTime& whole) {
    return drains() && whole.host > whole.device;
  };
  // Gathered parameters would be beside messages too.
  const bool usual = plan_.schedule == strategies::ScheduleKind::one_f_one_b && !pairs() &&
                     outline.sends_beside() && !runs_rows() &&
                     plan_.offload == strategies::Offload{} &&
                     plan_.gradient_compression == strategies::GradientCompression::none &&
                     lane_.reduces != always && lane_.gathers != always && !lane_.gathers_again;
  const auto& cluster = scenario_.cluster;
  const bool even =
      cluster.kinds() == 1 && cluster.stragglers.empty() && cluster.degraded_links.empty();
  if (!usual || !even || !scenario_.model.moe || plan_.expert == 1 || plan_.pipeline == 1 ||
      by_host(prices_.forward) || by_host(prices_.backward))
    return;
  const strategies::Job job{scenario_.model, scenario_.training, plan_, scenario_.software,
                            scenario_.cluster};
  const strategies::Crowding crowding(job, costs);
  if (!crowding.alike()) return;
  auto& layers = problem.chain.layers;
  crowd_messages(layers, crowding, outline.backward_launch());
  problem.lane.crowds =
      std::ranges::any_of(layers, [](const Layer& layer) { return layer.crowded > 0; });
  const bool owns_tensors = plan_.zero == 1 && scenario_.software.states_by_tensor;
  if (reduces_one_by_one() && !owns_tensors) crowd_reductions(layers, crowding);
}

// A way whose first exchange comes when the message is further on meets less of it: its passes,
// which are no fewer than those behind forward passes, are counted as so much shorter.
void Frame::crowd_messages(std::vector<Layer>& layers, const strategies::Crowding& crowding,
                           Picoseconds launch) const {
  std::vector<std::vector<Picoseconds>> of_kind(prices_.kinds.size());
  for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
    auto& longer = of_kind[prices_.elements[i]];
    const auto& ways = prices_.outlines[prices_.elements[i]];
    if (longer.empty())
      for (const auto& way : ways) longer.push_back(crowding.behind_message(way, launch));
    auto& layer = layers[i];
    layer.crowded = std::ranges::max(longer);
    if (layer.options_as_last.empty()) layer.options_as_last = layer.options;
    for (std::size_t w = 0; w < ways.size(); ++w)
      layer.options_as_last[w].backward -= layer.crowded - longer[w];
  }
}

// Gradients of the layers behind are on their way without a break while a last backward pass goes
// on, as long as those of each take longer than the layer before it; only when one collective
// follows another nothing is sent for a moment. By the time the gradients of layer k begin, those
// of layer k + 1 have taken their time: so many moments there are for each picosecond of the pass,
// and those of the first gradients. What an exchange takes longer is less by what it could send
// then.
void Frame::crowd_reductions(std::vector<Layer>& layers,
                             const strategies::Crowding& crowding) const {
  std::vector<strategies::Crowding::Reduction> of_kind;
  for (std::size_t k = 0; k < prices_.kinds.size(); ++k)
    of_kind.push_back(crowding.reduction(parameters(prices_.kinds[k].first)));
  const auto reduction = [&](std::size_t i) -> const auto& { return of_kind[prices_.elements[i]]; };
  const auto exchanges = [&](std::size_t i) {
    return std::ranges::any_of(prices_.outlines[prices_.elements[i]],
                               [](const auto& way) { return way.exchanged.bytes > 0; });
  };
  std::size_t first = 1;
  while (first + 1 < layers.size() && !exchanges(first)) ++first;
  double silences = 0, fastest = 0;  // per picosecond; bytes/s, beside what is behind
  double silent_first = 0;           // head and prediction modules are one
  for (auto i = prices_.elements.size() - 1; i-- > first;) {
    const auto& behind = reduction(i + 1);
    if (behind.time <= 0 ||
        parameters(i + 1).all() <
            strategies::gradient_bucket(plan_, scenario_.training, scenario_.software))
      return;
    fastest = std::max(fastest, behind.beside);
    if (fastest <= 0 || std::isinf(fastest)) return;
    silent_first += static_cast<double>(behind.silent);
    if (i + 1 >= layers.size()) continue;
    silences = std::max(
        silences, static_cast<double>(reduction(i).silent) / static_cast<double>(behind.time));
    const double lost = std::max(0.0, crowding.exchange_rate() / fastest - 1);
    // Whatever stands behind layer i is the first to be reduced if it is the last of its stage.
    silent_first = i + 2 < layers.size() ? static_cast<double>(behind.silent) : silent_first;
    layers[i + 1].less_slowed_backward += static_cast<Picoseconds>(std::ceil(lost * silent_first));
    auto& layer = layers[i];
    Picoseconds longest = 0;
    for (const auto& way : layer.options)
      longest = std::max(longest, way.backward + layer.slowed_backward);
    double least = HUGE_VAL;
    const auto& ways = prices_.outlines[prices_.elements[i]];
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const auto longer = std::clamp<Picoseconds>(crowding.beside_reduction(ways[w], fastest), 0,
                                                  std::max<Picoseconds>(0, behind.time - longest));
      const auto pass = layer.options[w].backward + layer.slowed_backward + longer;
      least = std::min(least,
                       static_cast<double>(longer) - lost * silences * static_cast<double>(pass));
    }
    layer.slowed_backward += static_cast<Picoseconds>(std::floor(least));
    layer.less_slowed_backward += static_cast<Picoseconds>(std::floor(least));
  }
}

}  // namespace search
