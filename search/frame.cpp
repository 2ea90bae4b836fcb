// SPDX-License-Identifier: Apache-2.0
#include "search/frame.hpp"

#include <algorithm>

#include "plans/partition.hpp"
#include "search/cuts.hpp"

namespace search {

using forecast::Scenario;
using sim::Picoseconds;
using strategies::Block;
using strategies::BlockOutline;
using strategies::LeastTime;
using strategies::Module;
using strategies::Plan;
using strategies::Recompute;
using strategies::ScheduleKind;

// The host issues all kernels of a pass in order. Where it waits for the device before each,
// whichever bounds the whole model is taken for each of its blocks, so that sums over blocks stay
// bounds. Elsewhere it runs ahead, on all devices at once: what one microbatch after the other, or
// one stage after the other, has to wait for is the device.
Picoseconds Frame::time_of(const LeastTime& whole, const LeastTime& block) const {
  if (pairs()) return exchanges() ? block.exchanging : block.computing;
  return drains() && whole.host > whole.device ? block.host : block.device;
}

// Computing takes less than exchanging: that is what passes beside each other wait for.
bool Frame::exchanges() const {
  const auto over = prices_.forward.exchanging + prices_.backward.exchanging;
  return over > prices_.forward.computing + prices_.backward.computing;
}

bool Frame::drains() const {
  return plan_.pipeline > 1 && scenario_.software.pipeline_sync && !pairs();
}

// Of both passes of a microbatch.
Picoseconds Frame::issued(const BlockOutline& block) const {
  const auto apart = block.backward_input.host + block.backward_weight.host;
  const bool graded = strategies::splits_gradients(plan_.schedule);
  return block.forward.host + (graded ? std::min(apart, block.backward.host) : block.backward.host);
}

// Gradients as the schedule has them.
Price Frame::price(const BlockOutline& block) const {
  Price price{.kept = block.kept};
  price.forward = time_of(prices_.forward, block.forward);
  const auto fused = time_of(prices_.backward, block.backward);
  if (!strategies::splits_gradients(plan_.schedule)) {
    price.backward = fused;
    return price;
  }
  price.weight = std::min(time_of(prices_.backward_weight, block.backward_weight), fused);
  price.backward =
      std::min(time_of(prices_.backward_input, block.backward_input), fused - price.weight);
  return price;
}

// With what it takes longer in every pass that communicates.
Price Frame::price_beside(const BlockOutline& block) const {
  auto price = this->price(block);
  const auto more = slowed_always(block);
  price.forward += more.forward;
  (strategies::splits_gradients(plan_.schedule) ? price.weight : price.backward) += more.backward;
  return price;
}

Frame::Slowed Frame::slowed_always(const BlockOutline& block) const {
  using enum strategies::When;
  auto more = slowed(block, prices_.least, prices_.least);
  if (lane_.gathers != always) more.forward = 0;
  if (lane_.reduces != always) more.backward = 0;
  return more;
}

// All but one unit of a pass have another beside them.
Frame::Slowed Frame::slowed(const BlockOutline& block, const strategies::Parameters& reduced,
                            const strategies::Parameters& gathered) const {
  if ((pairs() && exchanges()) || plan_.layer_tensor) return {};
  const double interference = scenario_.software.interference;
  const auto beside = [&](double stretch, Picoseconds device, Picoseconds sent) {
    const double slowdown = strategies::slowed_share(interference, static_cast<double>(sent),
                                                     static_cast<double>(device));
    return slowdown < 1.0 / 256 ? 0 : static_cast<Picoseconds>(stretch * slowdown);
  };
  using enum strategies::When;
  const bool graded = strategies::splits_gradients(plan_.schedule);
  const auto gathering = lane_.gathers == never ? 0 : sharing_.gathering(gathered);
  auto sent = lane_.reduces == never || !lane_.beside ? 0 : sharing_.reduction(reduced);
  if (lane_.gathers_again && !graded) sent += gathering;
  return {beside(block.stretch.forward, block.forward.device, gathering),
          graded ? beside(block.stretch.backward_weight, block.backward_weight.device, sent)
                 : beside(block.stretch.backward, block.backward.device, sent)};
}

int Frame::unit() const {
  if (plan_.zero == 3 && plan_.wrap.layers == 0) return static_cast<int>(prices_.elements.size());
  if (plan_.zero == 3) return static_cast<int>(plan_.wrap.layers);
  const auto& training = scenario_.training;
  const auto& software = scenario_.software;
  const double bucket = std::max(strategies::gradient_bucket(plan_, training, software),
                                 strategies::parameter_bucket(plan_, training, software));
  return 1 + static_cast<int>(bucket / std::max(1.0, prices_.least.all()));
}

Picoseconds Frame::embedding_sum() const {
  return strategies::embeds_and_predicts(layout_) ? 0 : sharing_.embedding();
}

// As it is held: the head may share the embedding's parameters, or need a copy beside it.
strategies::Parameters Frame::parameters(std::size_t element) const {
  auto held = prices_.outlines[prices_.elements[element]].front().parameters;
  if (element == static_cast<std::size_t>(scenario_.model.layers) + 1)
    held += strategies::beside_head(scenario_.model, layout_, prices_.words);
  return held;
}

Picoseconds Frame::update(const strategies::Parameters& of) const {
  auto time = sharing_.update(of);
  if (duties_.gathers_after) time += sharing_.gathering(of);
  return time;
}

bool Frame::is_cut() const {
  if (!plan_.layers_per_stage.empty() || plan_.pipeline == 1) return true;
  if (plan_.schedule == ScheduleKind::interleaved)
    return !chunks_move_ || scenario_.model.layers % (plan_.pipeline * plan_.virtual_stages) == 0;
  return !cuts_anywhere(plan_.schedule);
}

std::vector<int> Frame::cut() const {
  const auto layers = strategies::layers_per_virtual_stage(plan_, scenario_.model.layers);
  std::vector<int> first{0};
  for (std::size_t v = 0; v < layers.size(); ++v)
    first.push_back(first.back() + static_cast<int>(layers[v]) + (v == 0 ? 1 : 0));
  ++first.back();
  return first;
}

// Left out where steps overlap each other.
DataLane Frame::lane() const {
  if (!sharing_.shares() || strategies::post_validates(plan_, scenario_.software)) return {};
  return {.reduces = duties_.reduces,
          .beside = duties_.beside,
          .gathers = duties_.gathers,
          .gathers_again =
              duties_.gathers_again && !strategies::root_is_model(plan_, scenario_.software)};
}

Plan Frame::with(const Partition& partition, bool recompute) const {
  auto result = plan_;
  const auto layers = scenario_.model.layers;
  result.layers_per_stage.clear();
  std::vector<std::size_t> way(static_cast<std::size_t>(layers), 0);
  for (std::size_t v = 0; v < partition.choices.size(); ++v) {
    const auto first = static_cast<std::int64_t>(partition.first_layer[v]);
    const auto last = static_cast<std::int64_t>(partition.first_layer[v + 1]);
    const auto from = std::max<std::int64_t>(0, first - 1), to = std::min(layers, last - 1);
    result.layers_per_stage.push_back(std::max<std::int64_t>(0, to - from));
    auto element = first;
    for (const auto& choice : partition.choices[v]) {
      if (element >= 1 && element <= layers)
        way[static_cast<std::size_t>(element - 1)] = static_cast<std::size_t>(choice.option);
      element += choice.layers;
    }
  }
  auto even = result;
  even.layers_per_stage.clear();
  if (plan_.layers_per_stage.empty() && layers >= plan_.pipeline * plan_.virtual_stages &&
      strategies::layers_per_virtual_stage(even, layers) == result.layers_per_stage)
    result.layers_per_stage.clear();
  write_ways(result, way, recompute);
  return result;
}

void Frame::write_ways(Plan& plan, const std::vector<std::size_t>& way, bool recompute) const {
  if (!recompute && !plan.layer_tensor) return;
  const auto of = [&](std::size_t layer) -> const Way& { return prices_.ways[way[layer]]; };
  plan.layers.clear();
  bool differs = false;
  if (recompute) {
    plan.recompute_of_stage.clear();
    plan.recompute = of(0).recompute;
    for (std::size_t i = 0; i < way.size(); ++i)
      differs = differs || !(of(i).recompute == plan.recompute);
    if (differs) plan.recompute = {};
  }
  for (std::size_t i = 0; i < way.size(); ++i) {
    strategies::LayerStrategy own{static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)};
    if (differs && !(of(i).recompute == Recompute{})) own.recompute = of(i).recompute;
    if (of(i).regrouped) own.tensor = plan.layer_tensor;
    if (!own.recompute && !own.tensor) continue;
    auto& all = plan.layers;
    if (!all.empty() && all.back().to == own.from - 1 && all.back().recompute == own.recompute &&
        all.back().tensor == own.tensor)
      ++all.back().to;
    else
      all.push_back(own);
  }
  if (std::ranges::none_of(way, [&](std::size_t w) { return prices_.ways[w].regrouped; }))
    plan.layer_tensor.reset();
}

}  // namespace search
