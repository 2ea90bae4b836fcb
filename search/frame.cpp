// SPDX-License-Identifier: Apache-2.0
#include "search/frame.hpp"

#include <algorithm>

#include "plans/partition.hpp"
#include "search/frame_parts.hpp"

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

bool Frame::pairs() const {
  return plan_.schedule == ScheduleKind::dualpipe || plan_.schedule == ScheduleKind::dualpipe_v ||
         strategies::pairs_passes(scenario_.model, plan_, scenario_.software);
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
  const bool graded = runs_graded(plan_.schedule);
  return block.forward.host + (graded ? std::min(apart, block.backward.host) : block.backward.host);
}

// Gradients as the schedule has them.
Price Frame::price(const BlockOutline& block) const {
  Price price{.kept = block.kept};
  price.forward = time_of(prices_.forward, block.forward);
  const auto fused = time_of(prices_.backward, block.backward);
  if (!runs_graded(plan_.schedule)) {
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
  (runs_graded(plan_.schedule) ? price.weight : price.backward) += more.backward;
  return price;
}

Frame::Slowed Frame::slowed_always(const BlockOutline& block) const {
  using enum DataLane::When;
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
    if (device <= 0 || sent <= 0) return Picoseconds{0};
    const double slowdown =
        interference * std::min(1.0, static_cast<double>(sent) / static_cast<double>(device));
    return slowdown < 1.0 / 256 ? 0 : static_cast<Picoseconds>(stretch * slowdown);
  };
  using enum DataLane::When;
  const bool graded = runs_graded(plan_.schedule);
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
  const double bucket = std::max(sharing_.gradient_bucket(), sharing_.parameter_bucket());
  return 1 + static_cast<int>(bucket / std::max(1.0, prices_.least.all()));
}

bool Frame::embeds_and_predicts() const {
  const auto layout = layout_of(plan_);
  return layout.kind == strategies::Layout::Kind::mirrored ||
         strategies::place_of(0, layout).stage ==
             strategies::place_of(layout.virtual_stages() - 1, layout).stage;
}

Picoseconds Frame::embedding_sum() const {
  return embeds_and_predicts() ? 0 : sharing_.embedding();
}

// As it is held: the head may share the embedding's parameters, or need a copy beside it.
strategies::Parameters Frame::parameters(std::size_t element) const {
  auto held = prices_.outlines[prices_.elements[element]].front().parameters;
  const auto& model = scenario_.model;
  if (element != static_cast<std::size_t>(model.layers) + 1) return held;
  if (model.tied_embeddings && embeds_and_predicts()) held.dense -= prices_.words;
  if (!model.tied_embeddings && model.multi_token_prediction > 0 && !embeds_and_predicts())
    held.dense += prices_.words;
  return held;
}

Picoseconds Frame::update(const strategies::Parameters& of) const {
  auto time = sharing_.update(of);
  const bool gathers = plan_.zero == 1 || plan_.zero == 2;
  if (gathers && !sharing_.overlaps_parameters()) time += sharing_.gathering(of);
  return time;
}

bool Frame::is_cut() const {
  using enum ScheduleKind;
  if (!plan_.layers_per_stage.empty() || plan_.pipeline == 1) return true;
  if (plan_.schedule == interleaved)
    return !chunks_move_ || scenario_.model.layers % (plan_.pipeline * plan_.virtual_stages) == 0;
  return plan_.schedule != gpipe && plan_.schedule != one_f_one_b;
}

std::vector<int> Frame::cut() const {
  const auto layers = strategies::layers_per_virtual_stage(plan_, scenario_.model.layers);
  std::vector<int> first{0};
  for (std::size_t v = 0; v < layers.size(); ++v)
    first.push_back(first.back() + static_cast<int>(layers[v]) + (v == 0 ? 1 : 0));
  ++first.back();
  return first;
}

DataLane Frame::lane() const {
  using enum DataLane::When;
  DataLane lane;
  if (!sharing_.shares() || strategies::post_validates(plan_, scenario_.software)) return lane;
  lane.reduces = plan_.zero >= 2 ? always : once;
  lane.beside = sharing_.overlaps_gradients();
  if (plan_.zero == 3)
    lane.gathers = always;
  else if (plan_.zero > 0 && sharing_.overlaps_parameters())
    lane.gathers = once;
  lane.gathers_again = plan_.zero == 3 && plan_.reshard_after_forward &&
                       !(scenario_.software.root_unit && plan_.wrap.layers == 0);
  return lane;
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
