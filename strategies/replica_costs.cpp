// SPDX-License-Identifier: Apache-2.0
#include "strategies/replica_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "plans/memory.hpp"
#include "plans/placement.hpp"

namespace strategies {

namespace {

// The most groups that are looked at: they lie on nodes in patterns that the first ones show, and
// on other kinds of node here and there.
constexpr std::int64_t groups_looked_at = 64;

// The shapes of groups. `members(i)`: the ranks of group i of `groups`.
template <class Members>
std::set<topology::GroupShape> shapes_of(std::int64_t groups, const topology::Cluster& cluster,
                                         const Members& members) {
  std::set<topology::GroupShape> shapes;
  const auto stride = std::max<std::int64_t>(1, groups / (groups_looked_at / 2));
  for (std::int64_t i = 0; i < groups; i += i < groups_looked_at / 2 ? 1 : stride)
    shapes.insert(topology::shape_of(members(i), cluster));
  return shapes;
}

std::set<topology::GroupShape> dense_shapes(const Placement& placement,
                                            const topology::Cluster& cluster) {
  return shapes_of(placement.tensor() * placement.pipeline(), cluster, [&](std::int64_t i) {
    const Coordinates at{.tensor = i % placement.tensor(), .pipeline = i / placement.tensor()};
    std::vector<std::int64_t> members;
    for (std::int64_t sharer = 0; sharer < placement.sharers(); ++sharer)
      members.push_back(placement.rank_of_sharer(sharer, at));
    return members;
  });
}

std::set<topology::GroupShape> expert_shapes(const Placement& placement,
                                             const topology::Cluster& cluster) {
  const auto parts = placement.expert_tensor() * placement.expert();
  return shapes_of(parts * placement.pipeline(), cluster, [&](std::int64_t i) {
    const auto part = i % parts;
    const auto like =
        placement.rank_of(ExpertCoordinates{.tensor = part % placement.expert_tensor(),
                                            .expert = part / placement.expert_tensor()},
                          i / parts);
    std::vector<std::int64_t> members;
    for (std::int64_t sharer = 0; sharer < placement.apart_sharers(); ++sharer)
      members.push_back(placement.rank_of_apart_sharer(sharer, like));
    return members;
  });
}

// The shapes of the pairs of ranks that hold a copy each of the same part of the embedding. Both
// are equally far apart everywhere: if that is further than a node is wide, the first two show all.
std::set<topology::GroupShape> embedding_shapes(const Placement& placement,
                                                const topology::Cluster& cluster) {
  std::set<topology::GroupShape> shapes;
  for (std::int64_t i = 0; i < placement.tensor() * placement.sharers(); ++i) {
    Coordinates at{.tensor = i % placement.tensor()};
    const auto first = placement.rank_of_sharer(i / placement.tensor(), at);
    at.pipeline = placement.pipeline() - 1;
    const auto last = placement.rank_of_sharer(i / placement.tensor(), at);
    shapes.insert(topology::shape_of(std::array{first, last}, cluster));
    if (cluster.kinds() == 1 && std::abs(last - first) >= cluster.node.gpus) break;
  }
  return shapes;
}

// The time to sum `size` bytes of the embedding's gradients, in the pair where that is fastest.
sim::Picoseconds embedding_sum(units::Bytes size, const Placement& placement,
                               const topology::Cluster& cluster, const Costs& costs) {
  auto least = std::numeric_limits<sim::Picoseconds>::max();
  for (const auto& shape : embedding_shapes(placement, cluster))
    least = std::min(
        least, to_ticks(costs.collective(topology::Collective::all_reduce, size, shape).time()));
  return least;
}

}  // namespace

topology::GroupShape everyone(const topology::Cluster& cluster) {
  const auto per_node = std::min<std::int64_t>(cluster.node.gpus, cluster.gpus);
  const auto on_last = cluster.gpus - (cluster.nodes() - 1) * cluster.node.gpus;
  return {.ranks = static_cast<int>(cluster.gpus),
          .nodes = static_cast<int>(cluster.nodes()),
          .least_per_node = static_cast<int>(std::min(per_node, on_last)),
          .most_per_node = static_cast<int>(per_node),
          .parts = (1u << cluster.kinds()) - 1};
}

namespace {

// The least time of the norm of all gradients, and of the host's work before the update. The host's
// time for each tensor that a rank updates (Software::step_overhead_per_tensor) is left out.
sim::Picoseconds between_steps(const Job& job, const Costs& costs, const Placement& placement) {
  auto time = to_ticks(costs.by_host(job.software.step_overhead));
  if (placement.ranks() > 1 && !post_validates(job.plan, job.software))
    time += to_ticks(
        costs.collective(topology::Collective::all_reduce, units::Bytes{8.0}, everyone(job.cluster))
            .time());
  return time;
}

// The time of reading and writing `bytes` on the fastest kind of device: seconds.
double least_stream(const Job& job, const Costs& costs, double bytes) {
  double least = HUGE_VAL;
  for (std::size_t kind = 0; kind < job.cluster.kinds(); ++kind)
    least = std::min(
        least,
        costs.kernel({.kind = units::Kernel::Kind::stream, .traffic = {bytes}}, {kind, 1.0}).value);
  return least;
}

// The time of updating `held` parameters on the fastest kind of device: seconds.
double least_update(const Job& job, const Costs& costs, double held) {
  return least_stream(job, costs,
                      held * optimizer_traffic(job.plan, job.training, job.software, 0));
}

}  // namespace

// Prices the collectives of groups of these shapes, of which some have `all` parameters and one
// block at most `one`.
void ReplicaCosts::price(const Job& job, const DataTraffic& traffic, FlowKind ring,
                         const std::set<topology::GroupShape>& shapes, double all, double one,
                         double PerParameter::*held) {
  if (all <= 0) return;
  const bool units = job.plan.zero == 3;
  const double reduced =
      overlaps_gradients(job.plan, job.training, job.software) && !units
          ? std::min(all, gradient_bucket(job.plan, job.training, job.software) + one)
          : all;
  const double gathered =
      overlaps_parameters(job.plan, job.software) && !units
          ? std::min(all, parameter_bucket(job.plan, job.training, job.software) + one)
          : all;
  auto &reduction = reduction_.*held, &gathering = gathering_.*held;
  auto& processors = processors_.*held;
  reduction = gathering = processors = HUGE_VAL;
  for (const auto& shape : shapes) {
    const Sharers sharers{shape, ring};
    const auto reduces = traffic.reduction(sharers, {reduced, 1});
    reduction = std::min(reduction, reduces.time().value / reduced);
    processors = std::min(processors, reduces.processors);
    if (traffic.shards_of(sharers) == 1) {
      gathering = 0;
      continue;
    }
    const auto gathers = traffic.gathering(sharers, {gathered, 1});
    gathering = std::min(gathering, gathers.time().value / gathered);
    processors = std::min(processors, gathers.processors);
  }
}

// Prices the copies of units, of which all together have `divided` parameters.
void ReplicaCosts::price_copies(const Job& job, const DataTraffic& traffic, const Costs& costs,
                                const Shards& shards, double divided) {
  if (divided <= 0) return;
  const auto each = [&](double bytes) -> PerParameter {
    if (bytes <= 0) return {};
    const double time = least_stream(job, costs, bytes * divided) / divided;
    return {shards.with_layer > 1 ? time : 0, shards.apart > 1 ? time : 0};
  };
  copying_parameters_ =
      each(copied_parameter_traffic(job.plan, job.software, traffic.parameter_bytes()));
  copying_gradients_ =
      each(copied_gradient_traffic(job.plan, job.training, job.software, traffic.gradient_bytes()));
}

// Collectives and kernels take less per byte the larger they are: the largest that there can be is
// divided by its size.
ReplicaCosts::ReplicaCosts(const Job& job, const Costs& costs, const Parameters& blocks,
                           const Parameters& block) {
  const Placement placement(job.plan);
  const double words = static_cast<double>(dense_extent_of(job.share()).vocab * job.model.hidden);
  // The layout with most copies, of all that plans with these sharers may have.
  const Layout layout{placement.copies() > 1 ? Layout::Kind::mirrored : Layout::Kind::loop,
                      static_cast<int>(placement.pipeline()), 1};
  const bool copies = copies_embedding(job.model, layout);
  auto whole = blocks, largest = block;
  if (copies) {
    const auto beside = beside_head(job.model, layout, words);
    whole += beside, largest += beside;
  }
  const auto shards = shards_of(job.plan, placement, job.cluster);
  const DataTraffic traffic(job, costs, shards);
  if (placement.sharers() > 1) {
    has_peers_ = true;
    price(job, traffic, FlowKind::ring, dense_shapes(placement, job.cluster), whole.with_layer,
          largest.with_layer, &PerParameter::with_layer);
  }
  if (whole.apart > 0 && placement.apart_sharers() > 1) {
    has_peers_ = true;
    price(job, traffic, FlowKind::expert_ring, expert_shapes(placement, job.cluster), whole.apart,
          largest.apart, &PerParameter::apart);
  }
  price_copies(job, traffic, costs, shards, not_whole(whole, shards, false));
  if (copies) {
    const units::Bytes size{summed_words(job.plan, shards, words) * traffic.gradient_bytes()};
    embedding_ = embedding_sum(size, placement, job.cluster, costs);
  }
  if (job.plan.offload != Offload{}) return;
  const double held = owned_parameters(whole, shards);
  const double least = least_update(job, costs, held) / held;
  update_ = {least / shards.with_layer, least / shards.apart};
  between_ = between_steps(job, costs, placement);
}

void ReplicaCosts::add(Interference& beside, const PerParameter& each, const Parameters& of) const {
  beside.add(static_cast<double>(time({.with_layer = each.with_layer}, of)),
             processors_.with_layer);
  beside.add(static_cast<double>(time({.apart = each.apart}, of)), processors_.apart);
}

sim::Picoseconds ReplicaCosts::time(const PerParameter& each, const Parameters& of) {
  return static_cast<sim::Picoseconds>(
      1e12 * (each.with_layer * of.with_layer + each.apart * of.apart) * (1 - 1e-9));
}

}  // namespace strategies
