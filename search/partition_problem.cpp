// SPDX-License-Identifier: Apache-2.0
#include "search/partition_problem.hpp"

#include <algorithm>
#include <limits>

#include "search/block_bounds.hpp"
#include "search/expert_contention.hpp"
#include "search/least_memory.hpp"

namespace search {

using sim::Picoseconds;
using strategies::BlockLeastCosts;
using strategies::LeastTime;
using strategies::ScheduleKind;

namespace {

std::vector<StageTimes> besides(const PlanBounds& bounds,
                                const strategies::LeastCosts& least_costs) {
  const auto& layout = bounds.layout;
  const int last = layout.virtual_stages() - 1;
  std::vector<StageTimes> all(static_cast<std::size_t>(layout.virtual_stages()));
  // One unit of every pass has nothing beside it, so that its delay is taken off.
  PassDelay most;
  for (const auto& blocks : bounds.prices.least_costs)
    for (const auto& block : blocks) {
      const auto more = slowed_always(bounds, block);
      most.forward = std::max(most.forward, unit_blocks(bounds) * more.forward);
      most.backward = std::max(most.backward, unit_blocks(bounds) * more.backward);
    }
  for (int v = 0; v <= last; ++v) {
    auto& times = all[static_cast<std::size_t>(v)];
    // A pass that is slowed begins as late, but is done later by less.
    const auto leads = leads_of(bounds, v);
    const auto lead = [](Picoseconds found, Picoseconds launch, Picoseconds slowed) {
      return slowed > 0 ? std::min(found, launch) : found;
    };
    times.forward = lead(leads.forward, least_costs.forward_launch(), most.forward);
    times.backward =
        lead(leads.backward, least_costs.backward_launch(), bounds.graded ? 0 : most.backward);
    times.weight = lead(leads.weight, least_costs.backward_launch(), most.backward);
    times.forward -= most.forward;
    (bounds.graded ? times.weight : times.backward) -= most.backward;
    const auto here = strategies::place_of(v, layout);
    if (here.chunk == 0) times.update = bounds.replicas.between();
    // The sum of the embedding comes behind all reductions of its device.
    if (bounds.lane.reduces == DataLane::When::once && (v == 0 || v == last))
      times.reduction = times.last_unit = embedding_time(bounds);
    if (overlaps_pipeline(bounds.plan, bounds.scenario.software)) continue;
    const auto sends = [&](int to, bool forward) -> Picoseconds {
      if (to < 0 || to > last) return 0;
      const auto there = strategies::place_of(to, layout);
      return there.stage == here.stage ? 0 : least_costs.sending(here.stage, forward);
    };
    // Down a V and up again: a message to the next virtual stage may go to the device before.
    times.forward += std::min(sends(v + 1, true), sends(v + 1, false));
    // Gradients that are reduced behind a pass leave while it sends.
    const auto sent_back = std::min(sends(v - 1, false), sends(v - 1, true));
    if (bounds.lane.reduces != DataLane::When::always || bounds.lane.beside)
      times.backward += sent_back;
    if (bounds.lane.reduces == DataLane::When::once && !bounds.lane.beside)
      times.reduction -= sent_back;
    // Beside the pass the last gradients leave once they are made, whether it still sends or not.
    if (bounds.lane.beside) times.last_unit -= sent_back;
  }
  return all;
}

// Chunks of one device are as long as each other, but for a layer; only the first and the last may
// have no layer, beside the embedding and the head.
std::vector<PipelineProblem::LayerRange> layer_ranges(const PlanFacts& facts) {
  if (facts.plan.schedule != ScheduleKind::interleaved) return {};
  const auto layers = static_cast<int>(facts.scenario.model.layers);
  const int stages = facts.layout.virtual_stages();
  std::vector<PipelineProblem::LayerRange> ranges(
      static_cast<std::size_t>(stages),
      {std::max(1, layers / stages), (layers + stages - 1) / stages});
  for (auto* end : {&ranges.front(), &ranges.back()})
    *end = {layers / stages + 1, (layers + stages - 1) / stages + 1};
  return ranges;
}

// Parameters whose gradients are reduced beside an element's last backward pass. Where every layer
// fills a bucket, they are those of the one behind it; a layer that fills none is reduced with it.
// Rows of layers that run again together are reduced together.
strategies::Parameters reduced_beside(const PlanBounds& bounds, std::size_t element) {
  if (!reduces_one_by_one(bounds) || element + 1 == bounds.prices.elements.size())
    return bounds.prices.least;
  const auto behind = parameters_of(bounds, element + 1);
  return behind.all() < strategies::gradient_bucket(bounds.plan, bounds.scenario.training,
                                                    bounds.scenario.software)
             ? strategies::Parameters{}
             : behind;
}

// Sets a layer's times beside the traffic of units: the least over the ways to run it.
void add_units(const PlanBounds& bounds, Layer& layer, std::size_t element) {
  using enum strategies::When;
  const auto& ways = least_costs_of(bounds, element);
  const auto reduced = reduced_beside(bounds, element);
  constexpr auto most = std::numeric_limits<Picoseconds>::max();
  PassDelay least{most, most};
  layer.first_unit = most;
  for (const auto& block : ways) {
    const auto each = price_beside(bounds, block);
    layer.first_unit = std::min(layer.first_unit, bounds.graded ? each.weight : each.backward);
    const auto more = slowed(bounds, block, reduced, bounds.prices.least);
    least.forward = std::min(least.forward, more.forward);
    least.backward = std::min(least.backward, more.backward);
  }
  if (bounds.lane.gathers == once) layer.slowed_forward = least.forward;
  if (bounds.lane.reduces == once) layer.slowed_backward = least.backward;
}

// The last unit of a virtual stage, of a few layers, begins its backward pass: beside it, and
// beside blocks behind it that communicate nothing, no other is sent. Where kernels take longer,
// the host catches up: the slowdown counts less the time in which the device was idle before.
void find_edges(const PlanFacts& facts, std::vector<Layer>& layers) {
  const auto most = most_leads(facts);
  const auto edge = [&](std::size_t last, Picoseconds Layer::*sent, Picoseconds Layer::*slowed,
                        Picoseconds lead) {
    Picoseconds sum = layers[last].*slowed > 0 ? lead : 0;
    int members = 0;
    for (auto i = last + 1; i-- > 0 && members < unit_blocks(facts);) {
      sum += layers[i].*slowed;
      if (layers[i].*sent > 0) ++members;
    }
    return sum;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].less_slowed_forward =
        edge(i, &Layer::gathering, &Layer::slowed_forward, most.forward);
    layers[i].less_slowed_backward = edge(i, &Layer::reduction, &Layer::slowed_backward,
                                          facts.graded ? most.weight : most.backward);
  }
}

bool embedding_may_be_alone(const PlanFacts& facts) {
  if (is_cut(facts)) return cut_of(facts)[1] == 1;
  const auto ranges = layer_ranges(facts);
  return ranges.empty() || ranges.front().least == 1;
}

ByteCount peak_of(const PlanFacts& facts, const BlockLeastCosts& block) {
  return std::max(block.forward_peak, facts.graded ? block.input_peak : block.backward_peak);
}

// Behind the last layer of a virtual stage nothing has been freed when its gradients are made:
// beside all that is kept there is its whole peak. Any layer may be the last of its stage, so the
// least peak from a layer on counts; where devices hold several chunks, the least of any chunk's
// last.
void raise_to_peaks_of_last(const PlanFacts& facts, std::vector<Layer>& layers) {
  auto least = std::numeric_limits<ByteCount>::max();
  const auto peak_at = [&](std::size_t element) {
    auto peak = std::numeric_limits<ByteCount>::max();
    for (const auto& block : least_costs_of(facts, element))
      peak = std::min(peak, peak_of(facts, block));
    return peak;
  };
  for (auto element = facts.prices.elements.size(); element-- > layers.size();)
    least = std::min(least, peak_at(element));
  const bool chunks = facts.layout.parts() > 1;
  if (chunks)
    for (std::size_t i = embedding_may_be_alone(facts) ? 0 : 1; i < layers.size(); ++i)
      least = std::min(least, peak_at(i));
  for (auto i = layers.size(); i-- > 0;) {
    least = std::min(least, peak_at(i));
    for (auto& option : layers[i].options) option.transient = std::max(option.transient, least);
  }
}

// Where a device holds one virtual stage, the first backward pass finds everything kept that ever
// is, and its first layer, the stage's last, frees nothing before.
void find_peaks_as_last(const PlanFacts& facts, std::vector<Layer>& layers) {
  using enum ScheduleKind;
  if ((facts.plan.schedule != gpipe && facts.plan.schedule != one_f_one_b) ||
      runs_in_pairs(facts) || runs_rows(facts) || facts.plan.offload.activations)
    return;
  // Behind the head may be prediction modules.
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    auto& prices = layers[i].options_as_last = layers[i].options;
    const auto& ways = least_costs_of(facts, i);
    for (std::size_t w = 0; w < ways.size(); ++w)
      prices[w].transient = std::max(prices[w].transient, ways[w].backward_peak);
  }
}

// The most forward passes of one chunk before its first backward pass frees anything.
std::int64_t most_in_flight(const PlanFacts& facts) {
  const auto all = facts.microbatches;
  return facts.plan.schedule == ScheduleKind::one_f_one_b ? std::min(all, facts.plan.pipeline)
                                                          : all;
}

Layer layer_of(const PlanBounds& bounds, std::size_t element) {
  const auto& variants = least_costs_of(bounds, element);
  using strategies::Parameters;
  // Gradients that the backward pass makes are not there when it begins.
  const bool late = strategies::gradients_come_late(bounds.scenario.software, bounds.microbatches);
  const auto fixed_of = [&](const Parameters& held, double cast) {
    const auto fixed = states_of(bounds, held, cast);
    const auto gradients = late ? units::Bytes{} : fixed.gradients;
    return static_cast<ByteCount>((fixed.weights + gradients + fixed.optimizer).value);
  };
  const auto is_regrouped = [&](std::size_t way) {
    return variants.size() > 1 && bounds.prices.variants[way].regrouped;
  };
  const auto as_divided = fixed_of(parameters_of(bounds, element), variants.front().cast);
  const auto states_of_way = [&](std::size_t way) {
    return is_regrouped(way) ? fixed_of(variants[way].parameters, variants[way].cast) : as_divided;
  };
  Layer layer;
  layer.fixed = as_divided;
  for (std::size_t w = 0; w < variants.size(); ++w)
    layer.fixed = std::min(layer.fixed, states_of_way(w));
  layer.reduction = least_of(bounds, element,
                             [&](const Parameters& of) { return bounds.replicas.reduction(of); });
  // The root unit stays gathered: blocks that no pass gathers again are left out everywhere.
  const bool inside =
      element >= 1 && element <= static_cast<std::size_t>(bounds.scenario.model.layers);
  if (inside || !bounds.scenario.software.root_unit || !bounds.lane.gathers_again)
    layer.gathering = least_of(bounds, element,
                               [&](const Parameters& of) { return bounds.replicas.gathering(of); });
  layer.update =
      least_of(bounds, element, [&](const Parameters& of) { return update_time(bounds, of); });
  layer.last_unit = layer.reduction;
  add_units(bounds, layer, element);
  // A layer that runs may take the place of tensors that the layers behind it have freed: its peak
  // counts only where there are none (raise_to_peaks_of_last).
  for (std::size_t w = 0; w < variants.size(); ++w) {
    const auto& block = variants[w];
    auto priced = price_beside(bounds, block);
    // States beyond those of the way that has least, as if they were kept of every microbatch that
    // may be in flight.
    priced.kept += (states_of_way(w) - layer.fixed) / most_in_flight(bounds);
    if (is_regrouped(w))
      layer.first_regrouped = std::min(layer.first_regrouped, static_cast<int>(w));
    layer.options.push_back(priced);
  }
  return layer;
}

// Joins a prediction module to the head, with which it stays.
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

PipelineProblem pipeline_problem(const PlanBounds& bounds, const strategies::Costs& costs,
                                 double headroom, strategies::KnownOrders* orders) {
  const auto p = static_cast<int>(bounds.plan.pipeline);
  PipelineProblem problem;
  problem.layout = bounds.layout;
  problem.microbatches = static_cast<int>(bounds.microbatches);
  const strategies::Job job{bounds.scenario.model, bounds.scenario.training, bounds.plan,
                            bounds.scenario.software, bounds.scenario.cluster};
  const strategies::LeastCosts least_costs(job, costs, {});
  problem.besides = besides(bounds, least_costs);
  problem.lane = bounds.lane;
  problem.neighbours_matter = runs_rows(bounds);
  if (overlaps_pipeline(bounds.plan, bounds.scenario.software) && p > 1) {
    problem.latency = least_costs.sending(0, true);
    for (int stage = 0; stage < p; ++stage)
      for (const bool forward : {true, false})
        problem.latency = std::min(problem.latency, least_costs.sending(stage, forward));
  }
  const auto layers = static_cast<std::size_t>(bounds.scenario.model.layers);
  for (std::size_t i = 0; i < bounds.prices.elements.size(); ++i) {
    if (i > layers + 1)
      join(problem.chain.layers.back(), layer_of(bounds, i));
    else
      problem.chain.layers.push_back(layer_of(bounds, i));
  }
  find_edges(bounds, problem.chain.layers);
  raise_to_peaks_of_last(bounds, problem.chain.layers);
  find_peaks_as_last(bounds, problem.chain.layers);
  add_expert_contention(problem, bounds, costs);
  problem.ranges = layer_ranges(bounds);
  const double free = room_for_tensors(bounds, headroom) - whole_units(bounds);
  problem.capacity.assign(static_cast<std::size_t>(p),
                          static_cast<ByteCount>(std::max(free, -1.0)));
  problem.order =
      strategies::order_of({.schedule = bounds.plan.schedule,
                            .stages = p,
                            .chunks = problem.layout.parts(),
                            .microbatches = problem.microbatches,
                            .pairs = strategies::pairs_passes(bounds.scenario.model, bounds.plan,
                                                              bounds.scenario.software)},
                           orders);
  return problem;
}

}  // namespace search
