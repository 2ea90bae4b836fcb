// SPDX-License-Identifier: Apache-2.0
#include "search/block_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "plans/memory.hpp"

namespace search {

using sim::Picoseconds;
using strategies::BlockLeastCosts;
using strategies::Interference;
using strategies::LeastTime;

bool runs_in_pairs(const PlanFacts& facts) {
  return strategies::runs_in_pairs(facts.scenario.model, facts.plan, facts.scenario.software);
}

bool host_waits(const PlanFacts& facts) {
  return facts.plan.pipeline > 1 && facts.scenario.software.pipeline_sync && !runs_in_pairs(facts);
}

bool runs_rows(const PlanFacts& facts) { return facts.prices.rows; }

namespace {

// Whether computing takes less than exchanging, for which passes beside each other then wait.
bool mostly_exchanges(const PlanFacts& facts) {
  const auto over = facts.prices.forward.exchanging + facts.prices.backward.exchanging;
  return over > facts.prices.forward.computing + facts.prices.backward.computing;
}

// The least time of a block's pass. The host issues all kernels of a pass in order. Where it waits
// for the device before each pass, the one of the two that bounds the whole model is taken for each
// of its blocks, so that sums over blocks stay bounds. Elsewhere the host runs ahead, on all
// devices at once: microbatches and stages that follow each other wait for the device.
Picoseconds pass_time(const PlanFacts& facts, const LeastTime& whole, const LeastTime& block) {
  if (runs_in_pairs(facts)) return mostly_exchanges(facts) ? block.exchanging : block.computing;
  return host_waits(facts) && whole.host > whole.device ? block.host : block.device;
}

// The time in which the host issues both passes of a microbatch.
Picoseconds issue_time(const PlanFacts& facts, const BlockLeastCosts& block) {
  const auto apart = block.backward_input.host + block.backward_weight.host;
  return block.forward.host +
         (facts.graded ? std::min(apart, block.backward.host) : block.backward.host);
}

}  // namespace

Price price_of(const PlanFacts& facts, const BlockLeastCosts& block) {
  Price price{.kept = block.kept};
  price.forward = pass_time(facts, facts.prices.forward, block.forward);
  const auto fused = pass_time(facts, facts.prices.backward, block.backward);
  if (!facts.graded) {
    price.backward = fused;
    return price;
  }
  price.weight =
      std::min(pass_time(facts, facts.prices.backward_weight, block.backward_weight), fused);
  price.backward = std::min(pass_time(facts, facts.prices.backward_input, block.backward_input),
                            fused - price.weight);
  return price;
}

namespace {

bool bound_by_host(const LeastTime& whole) { return whole.host > whole.device; }

// The least lead of the kinds of blocks that such a pass may run first.
template <class RunsFirst>
Picoseconds least_lead(const PlanFacts& facts, Picoseconds BlockLeastCosts::Lead::*pass,
                       const RunsFirst& runs_first) {
  auto least = sim::unreached;
  for (std::size_t k = 0; k < facts.prices.kinds.size(); ++k)
    if (runs_first(k))
      for (const auto& block : facts.prices.least_costs[k])
        least = std::min(least, block.lead.*pass);
  return least;
}

// The leads of virtual stage v where the host issues kernels one by one. Where the host bounds a
// pass, its blocks' prices have all that it issues in them. A row of layers that runs again begins
// with work that none of its blocks begins with.
Leads leads_of_issued(const PlanFacts& facts, int v) {
  using Lead = BlockLeastCosts::Lead;
  const auto& prices = facts.prices;
  const bool last = v + 1 == facts.layout.virtual_stages();
  const auto embedding = prices.elements.front();
  const auto at_start = [&](std::size_t k) {
    return v == 0 ? k == embedding : prices.kinds[k].layer || (last && k != embedding);
  };
  // Head and prediction modules are on the last stage, behind all layers.
  const auto at_end = [&](std::size_t k) {
    return last ? !prices.kinds[k].layer && k != embedding
                : prices.kinds[k].layer || (v == 0 && k == embedding);
  };
  Leads leads{least_lead(facts, &Lead::forward, at_start),
              least_lead(facts, facts.graded ? &Lead::backward_input : &Lead::backward, at_end),
              facts.graded ? least_lead(facts, &Lead::backward_weight, at_end) : 0};
  if (bound_by_host(prices.forward)) leads.forward = 0;
  if (bound_by_host(prices.backward) || bound_by_host(prices.backward_input) ||
      bound_by_host(prices.backward_weight))
    leads.backward = leads.weight = 0;
  return leads;
}

}  // namespace

Leads leads_of(const PlanFacts& facts, int v) {
  const auto& software = facts.scenario.software;
  const auto schedule = facts.plan.schedule;
  // DualPipe runs some gradients in one pass, others in two.
  const bool both_ways = schedule == strategies::ScheduleKind::dualpipe ||
                         schedule == strategies::ScheduleKind::dualpipe_v;
  if (!host_waits(facts) || runs_rows(facts) || both_ways) return {};
  if (!software.cuda_graphs) return leads_of_issued(facts, v);
  const auto launch = [&](units::Seconds time) {
    return software.launch_blocking ? 0 : ticks(facts.by_host(time));
  };
  return {launch(software.launch_forward), launch(software.launch_backward),
          facts.graded ? launch(software.launch_backward) : 0};
}

namespace {

template <class Choose>
Leads of_all_stages(const PlanFacts& facts, const Choose& choose) {
  auto all = leads_of(facts, 0);
  for (int v = 1; v < facts.layout.virtual_stages(); ++v) {
    const auto here = leads_of(facts, v);
    all = {choose(all.forward, here.forward), choose(all.backward, here.backward),
           choose(all.weight, here.weight)};
  }
  return all;
}

}  // namespace

Leads least_leads(const PlanFacts& facts) {
  return of_all_stages(facts, [](Picoseconds a, Picoseconds b) { return std::min(a, b); });
}
Leads most_leads(const PlanFacts& facts) {
  return of_all_stages(facts, [](Picoseconds a, Picoseconds b) { return std::max(a, b); });
}

namespace {

// Adds the copies of a block's parameters and gradients in every pass that gathers or reduces them.
// Blocks of a root unit may stay gathered, so that their copies for the backward pass do not count.
void add_copies(const PlanBounds& bounds, const BlockLeastCosts& block, Price& price) {
  using enum strategies::When;
  const auto& lane = bounds.lane;
  const auto gathered = bounds.replicas.copying_parameters(block.parameters);
  if (lane.gathers == always && !bounds.scenario.software.root_unit) {
    price.forward += gathered;
    if (lane.gathers_again) price.backward += gathered;
  }
  if (lane.reduces == always)
    (bounds.graded ? price.weight : price.backward) +=
        bounds.replicas.copying_gradients(block.parameters);
}

}  // namespace

Price price_beside(const PlanBounds& bounds, const BlockLeastCosts& block) {
  auto price = price_of(bounds, block);
  const auto more = slowed_always(bounds, block);
  price.forward += more.forward;
  (bounds.graded ? price.weight : price.backward) += more.backward;
  add_copies(bounds, block, price);
  return price;
}

PassDelay slowed_always(const PlanBounds& bounds, const BlockLeastCosts& block) {
  using enum strategies::When;
  auto more = slowed(bounds, block, bounds.prices.least, bounds.prices.least);
  if (bounds.lane.gathers != always) more.forward = 0;
  if (bounds.lane.reduces != always) more.backward = 0;
  return more;
}

// The delay of a block's passes beside the traffic of another unit, which all units of a pass but
// one have.
PassDelay slowed(const PlanBounds& bounds, const BlockLeastCosts& block,
                 const strategies::Parameters& reduced, const strategies::Parameters& gathered) {
  if ((runs_in_pairs(bounds) && mostly_exchanges(bounds)) || bounds.plan.layer_tensor) return {};
  const auto beside = [](double sensitivity, Picoseconds device, const Interference& sent) {
    const double slowdown = sent.slowed_share(static_cast<double>(device));
    return slowdown < 1.0 / 256 ? 0 : static_cast<Picoseconds>(sensitivity * slowdown);
  };
  using enum strategies::When;
  Interference gathering(bounds.scenario.software), sent = gathering;
  if (bounds.lane.gathers != never) bounds.replicas.add_gathering(gathering, gathered);
  if (bounds.lane.reduces != never && bounds.lane.beside)
    bounds.replicas.add_reduction(sent, reduced);
  if (bounds.lane.gathers_again && !bounds.graded && bounds.lane.gathers != never)
    bounds.replicas.add_gathering(sent, gathered);
  return {beside(block.sensitivity.forward, block.forward.device, gathering),
          bounds.graded
              ? beside(block.sensitivity.backward_weight, block.backward_weight.device, sent)
              : beside(block.sensitivity.backward, block.backward.device, sent)};
}

int unit_blocks(const PlanFacts& facts) {
  if (const auto layers = strategies::layers_of_unit(facts.plan))
    return *layers == 0 ? static_cast<int>(facts.prices.elements.size())
                        : static_cast<int>(*layers);
  const auto& training = facts.scenario.training;
  const auto& software = facts.scenario.software;
  const double bucket = std::max(strategies::gradient_bucket(facts.plan, training, software),
                                 strategies::parameter_bucket(facts.plan, training, software));
  return 1 + static_cast<int>(bucket / std::max(1.0, facts.prices.least.all()));
}

strategies::Parameters parameters_of(const PlanFacts& facts, std::size_t element) {
  auto held = least_costs_of(facts, element).front().parameters;
  if (element == static_cast<std::size_t>(facts.scenario.model.layers) + 1)
    held += strategies::beside_head(facts.scenario.model, facts.layout, facts.prices.words);
  return held;
}

Picoseconds update_time(const PlanBounds& bounds, const strategies::Parameters& of) {
  auto time = bounds.replicas.update(of);
  if (bounds.duties.gathers_after) time += bounds.replicas.gathering(of);
  return time;
}

bool reduces_one_by_one(const PlanBounds& bounds) {
  return bounds.lane.reduces == DataLane::When::once && bounds.lane.beside &&
         unit_blocks(bounds) == 1 && !runs_rows(bounds);
}

Picoseconds embedding_time(const PlanBounds& bounds) {
  return strategies::embeds_and_predicts(bounds.layout) ? 0 : bounds.replicas.embedding();
}

// The least that any way takes of each part: the first way need not be the fastest.
LeastPassTimes pass_times(const PlanFacts& facts, std::size_t kind) {
  LeastPassTimes least{HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  for (const auto& block : facts.prices.least_costs[kind]) {
    const auto way = price_of(facts, block);
    least.forward = std::min(least.forward, static_cast<double>(way.forward));
    least.backward = std::min(least.backward, static_cast<double>(way.backward));
    least.weight = std::min(least.weight, static_cast<double>(way.weight));
    least.issued = std::min(least.issued, static_cast<double>(issue_time(facts, block)));
  }
  return least;
}

namespace {

// The time that a block's parameters take on the lane that a device has for its replicas.
double sent_time(const PlanBounds& bounds, const strategies::Parameters& of, bool layer) {
  if (!bounds.replicas.has_peers()) return 0;
  const auto m = static_cast<double>(bounds.microbatches);
  using enum strategies::When;
  const auto& lane = bounds.lane;
  double time = 0;
  // The root unit stays gathered.
  const bool stays = !layer && bounds.scenario.software.root_unit;
  if (lane.reduces != never)
    time += static_cast<double>(bounds.replicas.reduction(of)) * (lane.reduces == always ? m : 1);
  const double gathers = (lane.gathers == always ? m
                          : lane.gathers == once ? 1
                                                 : 0) +
                         (lane.gathers_again && !stays ? m : 0);
  return time + gathers * static_cast<double>(bounds.replicas.gathering(of));
}

}  // namespace

ReplicaTimes replica_times(const PlanBounds& bounds, std::size_t kind) {
  using strategies::Parameters;
  const auto& [first, count, layer] = bounds.prices.kinds[kind];
  ReplicaTimes least;
  if (bounds.replicas.has_peers())
    least.reduction = static_cast<double>(least_of(
        bounds, first, [&](const Parameters& held) { return bounds.replicas.reduction(held); }));
  least.update = static_cast<double>(
      least_of(bounds, first, [&](const Parameters& held) { return update_time(bounds, held); }));
  least.sent = least_of(bounds, first, [&, is_layer = layer](const Parameters& held) {
    return sent_time(bounds, held, is_layer);
  });
  return least;
}

}  // namespace search
