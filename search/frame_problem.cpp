// SPDX-License-Identifier: Apache-2.0
// A frame as a problem of partition.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plans/memory.hpp"
#include "plans/partition.hpp"
#include "search/frame.hpp"

namespace search {

using sim::Picoseconds;
using strategies::BlockOutline;
using strategies::LeastTime;
using strategies::ScheduleKind;

double Frame::room(double headroom) const {
  double least = HUGE_VAL;
  for (std::size_t kind = 0; kind < scenario_.cluster.kinds(); ++kind)
    least = std::min(least, scenario_.cluster.kind(kind).device.usable_memory.value);
  const auto& software = scenario_.software;
  // A plan may regroup no layer after all, and a stage may hold no experts.
  auto simple = plan_;
  simple.layer_tensor.reset();
  const strategies::Placement placement(simple);
  const double outside =
      strategies::communicators(placement, false) * software.communicator_memory.value +
      software.framework_memory.value + software.workspace.value +
      (scenario_.model.moe ? software.expert_workspace.value : 0);
  return least * scenario_.cluster.memory_fraction * (1 - headroom) - outside;
}

std::vector<StageTimes> Frame::besides(const strategies::Outline& outline,
                                       const strategies::Layout& layout) const {
  const bool graded = strategies::splits_gradients(plan_.schedule);
  const int last = layout.virtual_stages() - 1;
  std::vector<StageTimes> all(static_cast<std::size_t>(layout.virtual_stages()));
  // What the host bounds has the launch of its first kernel in it.
  const auto by_host = [](const LeastTime& whole) { return whole.host > whole.device; };
  const auto forward_launch = by_host(prices_.forward) ? 0 : outline.forward_launch();
  const bool gradients_by_host = by_host(prices_.backward) || by_host(prices_.backward_input) ||
                                 by_host(prices_.backward_weight);
  const auto backward_launch = gradients_by_host ? 0 : outline.backward_launch();
  // One unit of every pass has nothing beside it.
  Slowed most;
  for (const auto& blocks : prices_.outlines)
    for (const auto& block : blocks) {
      const auto more = slowed_always(block);
      most.forward = std::max(most.forward, unit() * more.forward);
      most.backward = std::max(most.backward, unit() * more.backward);
    }
  for (int v = 0; v <= last; ++v) {
    auto& times = all[static_cast<std::size_t>(v)];
    times.forward = forward_launch;
    times.backward = backward_launch;
    times.weight = graded ? backward_launch : 0;
    times.forward -= most.forward;
    (graded ? times.weight : times.backward) -= most.backward;
    const auto here = strategies::place_of(v, layout);
    if (here.chunk == 0) times.update = sharing_.between();
    // Behind all that its device reduces.
    if (lane_.reduces == DataLane::When::once && (v == 0 || v == last))
      times.reduction = times.last_unit = embedding_sum();
    if (outline.sends_beside()) continue;
    const auto sends = [&](int to, bool forward) -> Picoseconds {
      if (to < 0 || to > last) return 0;
      const auto there = strategies::place_of(to, layout);
      return there.stage == here.stage ? 0 : outline.sending(here.stage, forward);
    };
    // Down a V and up again: a message to the next virtual stage may go to the device before.
    times.forward += std::min(sends(v + 1, true), sends(v + 1, false));
    // Gradients that are reduced behind a pass leave while it sends.
    const auto sent_back = std::min(sends(v - 1, false), sends(v - 1, true));
    if (lane_.reduces != DataLane::When::always || lane_.beside) times.backward += sent_back;
    if (lane_.reduces == DataLane::When::once && !lane_.beside) times.reduction -= sent_back;
    // Beside the pass the last gradients leave once they are made, whether it still sends or not.
    if (lane_.beside) times.last_unit -= sent_back;
  }
  return all;
}

// Chunks of one device are as long as each other, but for a layer; only the first and the last may
// have none, beside the embedding and the head.
std::vector<PipelineProblem::Room> Frame::rooms(int stages) const {
  if (plan_.schedule != ScheduleKind::interleaved) return {};
  const auto layers = static_cast<int>(scenario_.model.layers);
  std::vector<PipelineProblem::Room> rooms(
      static_cast<std::size_t>(stages),
      {std::max(1, layers / stages), (layers + stages - 1) / stages});
  for (auto* end : {&rooms.front(), &rooms.back()})
    *end = {layers / stages + 1, (layers + stages - 1) / stages + 1};
  return rooms;
}

bool Frame::runs_rows() const {
  return std::ranges::any_of(prices_.ways,
                             [](const Way& way) { return !way.recompute.every.empty(); });
}

bool Frame::reduces_one_by_one() const {
  return lane_.reduces == DataLane::When::once && lane_.beside && unit() == 1 && !runs_rows();
}

// Where every layer fills a bucket, the gradients of the one behind it are reduced beside its last
// backward pass; what fills none is reduced with it. Rows of layers that run again together are
// reduced together.
strategies::Parameters Frame::reduced_beside(std::size_t element) const {
  if (!reduces_one_by_one() || element + 1 == prices_.elements.size()) return prices_.least;
  const auto behind = parameters(element + 1);
  return behind.all() < strategies::gradient_bucket(plan_, scenario_.training, scenario_.software)
             ? strategies::Parameters{}
             : behind;
}

// Of the ways to run a layer that which shows least.
void Frame::add_units(Layer& layer, std::size_t element) const {
  using enum strategies::When;
  const auto& ways = prices_.outlines[prices_.elements[element]];
  const auto reduced = reduced_beside(element);
  const bool graded = strategies::splits_gradients(plan_.schedule);
  constexpr auto most = std::numeric_limits<Picoseconds>::max();
  Slowed least{most, most};
  layer.first_unit = most;
  for (const auto& block : ways) {
    const auto each = price_beside(block);
    layer.first_unit = std::min(layer.first_unit, graded ? each.weight : each.backward);
    const auto more = slowed(block, reduced, prices_.least);
    least.forward = std::min(least.forward, more.forward);
    least.backward = std::min(least.backward, more.backward);
  }
  if (lane_.gathers == once) layer.slowed_forward = least.forward;
  if (lane_.reduces == once) layer.slowed_backward = least.backward;
}

// The last unit of a virtual stage, of a few layers, begins its backward pass: beside it, and what
// comes behind it and communicates nothing, no other is sent.
void Frame::find_edges(std::vector<Layer>& layers) const {
  const auto edge = [&](std::size_t last, Picoseconds Layer::*sent, Picoseconds Layer::*slowed) {
    Picoseconds sum = 0;
    int members = 0;
    for (auto i = last + 1; i-- > 0 && members < unit();) {
      sum += layers[i].*slowed;
      if (layers[i].*sent > 0) ++members;
    }
    return sum;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].less_slowed_forward = edge(i, &Layer::gathering, &Layer::slowed_forward);
    layers[i].less_slowed_backward = edge(i, &Layer::reduction, &Layer::slowed_backward);
  }
}

bool Frame::embedding_may_be_alone() const {
  if (is_cut()) return cut()[1] == 1;
  const auto rooms = this->rooms(layout_of(plan_).virtual_stages());
  return rooms.empty() || rooms.front().least == 1;
}

ByteCount Frame::peak_of(const BlockOutline& block) const {
  return std::max(block.forward_peak, strategies::splits_gradients(plan_.schedule)
                                          ? block.input_peak
                                          : block.backward_peak);
}

// Behind the last layer of a virtual stage nothing has been freed when its gradients are made:
// beside all that is kept there is its whole peak. Whichever is the last behind a layer, the least
// peak there is from it on counts; where devices hold several chunks, the least of any chunk's
// last.
void Frame::raise_to_peaks_of_last(std::vector<Layer>& layers) const {
  auto least = std::numeric_limits<ByteCount>::max();
  const auto peak_at = [&](std::size_t element) {
    auto peak = std::numeric_limits<ByteCount>::max();
    for (const auto& block : prices_.outlines[prices_.elements[element]])
      peak = std::min(peak, peak_of(block));
    return peak;
  };
  for (auto element = prices_.elements.size(); element-- > layers.size();)
    least = std::min(least, peak_at(element));
  const bool chunks = layout_.parts() > 1;
  if (chunks)
    for (std::size_t i = embedding_may_be_alone() ? 0 : 1; i < layers.size(); ++i)
      least = std::min(least, peak_at(i));
  for (auto i = layers.size(); i-- > 0;) {
    least = std::min(least, peak_at(i));
    for (auto& option : layers[i].options) option.transient = std::max(option.transient, least);
  }
}

// Where a device holds one virtual stage, the first backward pass finds everything kept that ever
// is, and its first layer, the stage's last, frees nothing before.
void Frame::find_peaks_as_last(std::vector<Layer>& layers) const {
  using enum ScheduleKind;
  if ((plan_.schedule != gpipe && plan_.schedule != one_f_one_b) || pairs() || runs_rows() ||
      plan_.offload.activations)
    return;
  // Behind the head may be prediction modules.
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    auto& prices = layers[i].options_as_last = layers[i].options;
    const auto& ways = prices_.outlines[prices_.elements[i]];
    for (std::size_t w = 0; w < ways.size(); ++w)
      prices[w].transient = std::max(prices[w].transient, ways[w].backward_peak);
  }
}

Layer Frame::layer(std::size_t element) const {
  const auto& outlines = prices_.outlines[prices_.elements[element]];
  using Held = strategies::Parameters;
  const auto fixed_of = [&](const Held& held, double cast) {
    const auto fixed = states_of(held, cast);
    return static_cast<ByteCount>((fixed.weights + fixed.gradients + fixed.optimizer).value);
  };
  const auto held = parameters(element);
  Layer layer;
  layer.fixed = fixed_of(held, outlines.front().cast);
  layer.reduction = least_of(element, [&](const Held& of) { return sharing_.reduction(of); });
  // The root unit stays gathered: what no pass gathers again is left out of all.
  const bool inside = element >= 1 && element <= static_cast<std::size_t>(scenario_.model.layers);
  if (inside || !scenario_.software.root_unit || !lane_.gathers_again)
    layer.gathering = least_of(element, [&](const Held& of) { return sharing_.gathering(of); });
  layer.update = least_of(element, [&](const Held& of) { return update(of); });
  layer.last_unit = layer.reduction;
  add_units(layer, element);
  // What runs takes the place of what the layers behind it have freed, perhaps: its peak counts
  // only where there are none (raise_to_peaks_of_last).
  for (std::size_t w = 0; w < outlines.size(); ++w) {
    const auto& block = outlines[w];
    auto priced = price_beside(block);
    if (outlines.size() > 1 && prices_.ways[w].regrouped) {
      // States beyond those of a layer as the plan divides it, as if they were kept of every
      // microbatch that may be in flight.
      const auto more = fixed_of(block.parameters, block.cast) - layer.fixed;
      priced.kept += std::max<ByteCount>(0, more) / most_in_flight();
      layer.first_regrouped = std::min(layer.first_regrouped, static_cast<int>(w));
    }
    layer.options.push_back(priced);
  }
  return layer;
}

// Forward passes of one chunk before the first backward pass of it frees anything, at most.
std::int64_t Frame::most_in_flight() const {
  const auto all = strategies::microbatches_of(plan_, scenario_.training);
  return plan_.schedule == ScheduleKind::one_f_one_b ? std::min(all, plan_.pipeline) : all;
}

namespace {

// Prediction modules stay with the head.
void join(Layer& into, const Layer& more) {
  into.slowed_forward += more.slowed_forward;
  into.slowed_backward += more.slowed_backward;
  into.first_unit = more.first_unit;
  into.last_unit = std::min(into.last_unit, more.last_unit);
  into.fixed += more.fixed;
  into.reduction += more.reduction;
  into.gathering += more.gathering;
  into.update += more.update;
  auto& a = into.options.front();
  const auto& b = more.options.front();
  a.kept += b.kept;
  a.forward += b.forward;
  a.backward += b.backward;
  a.weight += b.weight;
  a.transient = std::max(a.transient, b.transient);
}

}  // namespace

bool Frame::leaves_devices_bare() const {
  const auto layout = layout_of(plan_);
  const auto layers = strategies::layers_per_virtual_stage(plan_, scenario_.model.layers);
  std::vector<std::int64_t> held(static_cast<std::size_t>(layout.stages), 0);
  for (std::size_t v = 0; v < layers.size(); ++v)
    held[static_cast<std::size_t>(strategies::place_of(static_cast<int>(v), layout).stage)] +=
        layers[v];
  return std::ranges::find(held, 0) != held.end();
}

strategies::StaticMemory Frame::states_of(const strategies::Parameters& held, double cast) const {
  // Of Muon's states the least, as if all of it were matrices.
  return strategies::static_memory({.parameters = held, .cast = cast, .matrices = held}, shards_,
                                   plan_, scenario_.training, scenario_.software);
}

// At least: every stage has the smallest layer whole at some time, or as many gradients as ZeRO-2
// leaves whole. Partitions that are not given may leave a stage without a layer.
double Frame::whole_units() const {
  if (!is_cut() || leaves_devices_bare()) return 0;
  double weights = HUGE_VAL, gradients = HUGE_VAL;
  const auto count = [&](const strategies::Parameters& held) {
    const auto& offload = plan_.offload;
    const bool away = offload.parameters != strategies::Offload::Tier::none;
    weights = std::min(weights, strategies::not_whole(held, shards_, away));
    gradients = std::min(gradients, strategies::not_whole(
                                        held, shards_, plan_.zero == 2 ? offload.gradients : away));
  };
  for (std::size_t kind = 0; kind < prices_.kinds.size(); ++kind)
    if (prices_.kinds[kind].layer) {
      count(prices_.outlines[kind].front().parameters);
      if (const auto& regrouped = prices_.regrouped[kind]) count(*regrouped);
    }
  if (plan_.zero == 2)
    gradients = std::min(gradients,
                         strategies::most_unreduced(plan_, scenario_.training, scenario_.software));
  return strategies::static_memory(
             {.parameters = {.with_layer = weights}, .gathered = weights, .unreduced = gradients},
             shards_, plan_, scenario_.training, scenario_.software)
      .gathered.value;
}

PipelineProblem Frame::problem(const strategies::Costs& costs, double headroom) const {
  const auto p = static_cast<int>(plan_.pipeline);
  PipelineProblem problem;
  problem.layout = layout_;
  problem.microbatches = static_cast<int>(strategies::microbatches_of(plan_, scenario_.training));
  const strategies::Job job{scenario_.model, scenario_.training, plan_, scenario_.software,
                            scenario_.cluster};
  const strategies::Outline outline(job, costs, {});
  problem.besides = besides(outline, problem.layout);
  problem.lane = lane_;
  if (outline.sends_beside() && p > 1) {
    problem.latency = outline.sending(0, true);
    for (int stage = 0; stage < p; ++stage)
      for (const bool forward : {true, false})
        problem.latency = std::min(problem.latency, outline.sending(stage, forward));
  }
  const auto layers = static_cast<std::size_t>(scenario_.model.layers);
  for (std::size_t i = 0; i < prices_.elements.size(); ++i) {
    if (i > layers + 1)
      join(problem.chain.layers.back(), layer(i));
    else
      problem.chain.layers.push_back(layer(i));
  }
  find_edges(problem.chain.layers);
  raise_to_peaks_of_last(problem.chain.layers);
  find_peaks_as_last(problem.chain.layers);
  add_crowding(problem, outline, costs);
  problem.rooms = rooms(problem.layout.virtual_stages());
  const double free = room(headroom) - whole_units();
  problem.capacity.assign(static_cast<std::size_t>(p),
                          static_cast<ByteCount>(std::max(free, -1.0)));
  problem.order = strategies::order_of(
      {.schedule = plan_.schedule,
       .stages = p,
       .chunks = problem.layout.parts(),
       .microbatches = problem.microbatches,
       .pairs = strategies::pairs_passes(scenario_.model, plan_, scenario_.software)});
  return problem;
}

double Frame::states() const {
  double cast = 0;
  for (std::size_t k = 0; k < prices_.kinds.size(); ++k)
    cast += prices_.kinds[k].count * prices_.outlines[k].front().cast;
  auto whole = prices_.whole;
  // At least: what is held beside the head is left out where it adds, and nothing is regrouped.
  if (scenario_.model.tied_embeddings) whole.with_layer -= prices_.words;
  if (plan_.layer_tensor) whole.apart = 0;
  const auto fixed = states_of(whole, cast);
  return static_cast<double>(placement_.copies()) *
         (fixed.weights + fixed.gradients + fixed.optimizer).value /
         static_cast<double>(plan_.pipeline);
}

double Frame::rough_memory() const {
  const auto p = static_cast<double>(plan_.pipeline);
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  double kept = 0;
  for (std::size_t k = 0; k < prices_.kinds.size(); ++k)
    kept += prices_.kinds[k].count * static_cast<double>(prices_.outlines[k].front().kept);
  return states() + kept / p * std::min(m, p + 1);
}

}  // namespace search
