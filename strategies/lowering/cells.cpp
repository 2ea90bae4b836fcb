// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/cells.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace strategies {

namespace {

using topology::GroupShape;

// The actors of a tensor-parallel group, ascending.
std::vector<std::uint32_t> actors_of(const Cast& cast, const std::vector<std::int64_t>& group) {
  std::vector<std::uint32_t> actors;
  for (auto member : group) actors.push_back(cast.folding.actor_of(member));
  std::ranges::sort(actors);
  actors.erase(std::unique(actors.begin(), actors.end()), actors.end());
  return actors;
}

// One actor of each class of the tensor-parallel group, and their neighbours along the pipeline.
Cell cell_of(const Cast& cast, int stage, const std::vector<std::int64_t>& group) {
  const auto& placement = cast.placement;
  Cell cell{.stage = stage};
  std::set<std::uint32_t> seen;
  for (auto member : group) {
    const auto actor = cast.folding.actor_of(member);
    if (!seen.insert(actor).second) continue;
    cell.actors.push_back(actor);
    cell.ranks.push_back(member);
    const auto neighbour = [&](std::int64_t by) {
      auto there = placement.at(member);
      there.pipeline = (there.pipeline + by + placement.pipeline()) % placement.pipeline();
      return cast.folding.actor_of(placement.rank_of(there));
    };
    cell.previous.push_back(neighbour(-1));
    cell.next.push_back(neighbour(1));
  }
  return cell;
}

// A rank's share of the job, but for what its tensor-parallel group settles.
Share share_on(const Cast& cast, std::int64_t rank) {
  const auto& cluster = cast.job.cluster;
  const auto& placement = cast.placement;
  auto share = cast.job.share();
  if (!cast.job.loads.empty()) {
    const auto load = cast.job.loads[static_cast<std::size_t>(placement.expert_at(rank).expert)];
    share.loaded = {load, load};
  }
  share.gpu = gpu_of(cast.job, rank);
  share.processors = cluster.kind(share.gpu.kind).device.sms;
  share.context_shape = topology::shape_of(context_group(placement, rank), cluster);
  share.expert_shape = topology::shape_of(expert_group(placement, rank), cluster);
  share.apart_tensor_shape = topology::shape_of(apart_tensor_group(placement, rank), cluster);
  if (placement.regroups())
    share.regrouping_shape = topology::shape_of(regrouping_group(placement, rank), cluster);
  return share;
}

// Whether some tensor-parallel group lies on several nodes.
bool leaves_nodes(const Cast& cast) {
  return std::ranges::any_of(cast.folding.ranks(), [&](std::int64_t rank) {
    return topology::shape_of(tensor_group(cast.placement, rank), cast.job.cluster).nodes > 1;
  });
}

// Finds the writer of a rank's passes, one for all ranks that are alike to it, or makes it.
class WriterFinder {
 public:
  explicit WriterFinder(Cast& cast) : cast_(cast) {}

  std::size_t writer_of(const Share& share) {
    const auto [writer, fresh] = known_.try_emplace(
        {share.tensor_shape, share.tensor_rate, share.gpu, share.context_shape, share.expert_shape,
         share.apart_tensor_shape, share.regrouping_shape, share.loaded},
        cast_.writers.size());
    if (fresh)
      cast_.writers.push_back(std::make_shared<PassWriter>(share, cast_.costs, cast_.blocks));
    return writer->second;
  }

 private:
  Cast& cast_;
  std::map<std::tuple<GroupShape, double, Gpu, GroupShape, GroupShape, GroupShape, GroupShape,
                      std::optional<Share::Loaded>>,
           std::size_t>
      known_;
};

}  // namespace

void add_cells(Cast& cast) {
  const auto actors = cast.folding.representative().size();
  cast.writer_of.resize(actors);
  cast.inside.resize(actors);
  const bool outside = leaves_nodes(cast);
  WriterFinder writers(cast);
  std::set<std::vector<std::uint32_t>> known;
  for (auto rank : cast.folding.ranks()) {
    const auto where = cast.placement.at(rank);
    if (where.tensor != 0) continue;
    const auto group = tensor_group(cast.placement, rank);
    if (!known.insert(actors_of(cast, group)).second) continue;
    auto cell = cell_of(cast, static_cast<int>(where.pipeline), group);
    const auto shape = topology::shape_of(group, cast.job.cluster);
    // Groups that leave their nodes meet on links; others get the rate that is there for them.
    const auto rate =
        outside ? std::numeric_limits<double>::infinity() : cast.folding.tensor_rate(rank);
    for (auto member : cell.ranks) {
      auto share = share_on(cast, member);
      share.tensor_shape = shape;
      share.tensor_rate = rate;
      share.outside = outside;
      cell.writers.push_back(writers.writer_of(share));
      cast.writer_of[cast.folding.actor_of(member)] = cell.writers.back();
    }
    if (!outside && group.size() > 1)
      cast.inside[cell.actors.front()] = {
          cast.folding.uses(FlowKind::tensor, rank),
          static_cast<double>(cast.folding.fan_out(FlowKind::tensor, rank))};
    const auto lead = static_cast<std::size_t>(cast.placement.lead_of(cell.stage));
    cast.groups[static_cast<std::size_t>(FlowKind::tensor)][lead].push_back(
        {cell.stage, cell.actors, rank, shape, {cell.writers.front()}});
    if (std::ranges::count(cell.writers, cell.writers.front()) == std::ssize(cell.writers))
      cell.writers.resize(1);  // one body serves all
    cast.cells[lead].push_back(std::move(cell));
  }
}

}  // namespace strategies
