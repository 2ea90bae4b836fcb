// SPDX-License-Identifier: Apache-2.0
// Who runs passes together and who communicates together: cells, groups and actors of a step.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "strategies/lowering.hpp"

namespace strategies {

// One actor of each class of the tensor-parallel group, and who is before and behind it.
Cell Lowering::cell_of(int stage, const std::vector<std::int64_t>& group) const {
  Cell cell{.stage = stage};
  std::set<std::uint32_t> seen;
  for (auto member : group) {
    const auto actor = folding_.actor_of(member);
    if (!seen.insert(actor).second) continue;
    cell.actors.push_back(actor);
    cell.ranks.push_back(member);
    const auto neighbour = [&](std::int64_t by) {
      auto there = placement_.at(member);
      there.pipeline = (there.pipeline + by + placement_.pipeline()) % placement_.pipeline();
      return folding_.actor_of(placement_.rank_of(there));
    };
    cell.previous.push_back(neighbour(-1));
    cell.next.push_back(neighbour(1));
  }
  return cell;
}

Share Lowering::share_of(std::int64_t rank) const {
  auto share = job_.share();
  share.gpu = gpu_of(rank);
  share.context_shape = topology::shape_of(placement_.context_group(rank), job_.cluster);
  share.expert_shape = topology::shape_of(placement_.expert_group(rank), job_.cluster);
  share.apart_tensor_shape = topology::shape_of(placement_.apart_tensor_group(rank), job_.cluster);
  if (placement_.regroups())
    share.regrouping_shape = topology::shape_of(placement_.regrouping_group(rank), job_.cluster);
  return share;
}

void Lowering::find_cells() {
  cells_of_stage_.resize(static_cast<std::size_t>(stages()));
  tensor_groups_of_stage_.resize(static_cast<std::size_t>(stages()));
  Known known;
  using Shape = topology::GroupShape;
  std::map<std::tuple<Shape, double, Gpu, Shape, Shape, Shape, Shape>, std::size_t> writer_of;
  writer_of_actor_.resize(folding_.representative().size());
  out_.inside.resize(folding_.representative().size());
  const bool outside = std::ranges::any_of(folding_.ranks(), [&](std::int64_t rank) {
    return topology::shape_of(placement_.tensor_group(rank), job_.cluster).nodes > 1;
  });
  for (auto rank : folding_.ranks()) {
    const auto where = placement_.at(rank);
    if (where.tensor != 0) continue;
    const auto group = placement_.tensor_group(rank);
    auto cell = cell_of(static_cast<int>(where.pipeline), group);
    std::vector<std::uint32_t> actors = cell.actors;
    std::ranges::sort(actors);
    if (!known.insert(std::move(actors)).second) continue;
    const auto shape = topology::shape_of(group, job_.cluster);
    // Where groups leave their nodes they meet on links; else they get what is there for them.
    const auto rate =
        outside ? std::numeric_limits<double>::infinity() : folding_.tensor_rate(rank);
    for (auto member : cell.ranks) {
      auto share = share_of(member);
      share.tensor_shape = shape;
      share.tensor_rate = rate;
      share.outside = outside;
      const auto [writer, fresh] =
          writer_of.try_emplace({shape, rate, share.gpu, share.context_shape, share.expert_shape,
                                 share.apart_tensor_shape, share.regrouping_shape},
                                writers_.size());
      if (fresh) writers_.push_back(std::make_unique<PassWriter>(share, costs_, blocks_));
      cell.writers.push_back(writer->second);
      writer_of_actor_[folding_.actor_of(member)] = writer->second;
    }
    if (!outside && group.size() > 1)
      out_.inside[cell.actors.front()] = {
          folding_.uses(FlowKind::tensor, rank),
          static_cast<double>(folding_.shares(FlowKind::tensor, rank))};
    const auto lead = static_cast<std::size_t>(placement_.lead_of(cell.stage));
    tensor_groups_of_stage_[lead].push_back(
        {cell.stage, cell.actors, rank, shape, {cell.writers.front()}});
    if (std::ranges::count(cell.writers, cell.writers.front()) == std::ssize(cell.writers))
      cell.writers.resize(1);  // one body serves all
    cells_of_stage_[lead].push_back(cells_.size());
    cells_.push_back(std::move(cell));
  }
  find_context_groups();
  find_expert_groups();
}

std::vector<std::uint32_t> Lowering::new_group(const std::vector<std::int64_t>& ranks,
                                               Known& known) const {
  std::set<std::uint32_t> actors;
  for (auto rank : ranks) actors.insert(folding_.actor_of(rank));
  std::vector<std::uint32_t> group(actors.begin(), actors.end());
  if (!known.insert(group).second) group.clear();
  return group;
}

void Lowering::find_context_groups() {
  context_groups_of_stage_.resize(static_cast<std::size_t>(stages()));
  if (placement_.context() == 1) return;
  Known known;
  for (auto rank : folding_.ranks()) {
    const auto where = placement_.at(rank);
    if (where.context != 0) continue;
    const auto group = placement_.context_group(rank);
    auto actors = new_group(group, known);
    if (actors.empty()) continue;
    context_groups_of_stage_[static_cast<std::size_t>(placement_.lead_of(where.pipeline))]
        .push_back({static_cast<int>(where.pipeline),
                    std::move(actors),
                    rank,
                    topology::shape_of(group, job_.cluster),
                    {writer_of_actor_[folding_.actor_of(rank)]}});
  }
}

void Lowering::find_data_groups() {
  groups_of_stage_.resize(static_cast<std::size_t>(stages()));
  if (placement_.sharers() == 1) return;
  Known known;
  for (auto rank : folding_.ranks()) {
    auto where = placement_.at(rank);
    const auto lead = where.pipeline;
    if (where.data != 0 || where.context != 0 || placement_.lead_of(lead) != lead) continue;
    std::vector<std::int64_t> sharers;
    for (std::int64_t copy = 0; copy < placement_.copies(); ++copy) {
      where.pipeline = copy == 0 ? lead : placement_.pipeline() - 1 - lead;
      for (auto replica : folding_.replicas())
        for (where.context = 0; where.context < placement_.context(); ++where.context) {
          where.data = replica;
          sharers.push_back(placement_.rank_of(where));
        }
    }
    auto actors = new_group(sharers, known);
    if (actors.empty()) continue;
    groups_of_stage_[static_cast<std::size_t>(lead)].push_back(
        {static_cast<int>(lead), std::move(actors), rank,
         folding_.data_shape(FlowKind::ring, rank)});
  }
}

void Lowering::describe_actors() {
  out_.shards = shards_of(job_.plan, placement_, job_.cluster);
  for (std::size_t actor = 0; actor < folding_.representative().size(); ++actor) {
    ActorFacts facts{.rank = folding_.representative()[actor],
                     .gpu = gpu_of(folding_.representative()[actor]),
                     .multiplicity = folding_.multiplicity()[actor]};
    facts.stage = static_cast<int>(placement_.at(facts.rank).pipeline);
    for (int chunk = 0; chunk < chunks(); ++chunk)
      for (const auto& block :
           blocks_[static_cast<std::size_t>(virtual_stage_of(facts.stage, chunk, layout_))]) {
        facts.layers += block.kind == Block::Kind::layer ? 1 : 0;
        const auto& cost = writers_.front()->cost(block);
        facts.held.parameters += parameters_of(block);
        facts.held.cast += cost.cast;
        facts.held.matrices += placement_.holds_apart() ? cost.matrices : cost.matrices.together();
      }
    describe_units(facts);
    describe_gradients(facts);
    facts.communicators = communicators(placement_, facts.held.parameters.apart > 0);
    out_.actors.push_back(facts);
  }
}

Gpu Lowering::gpu_of(std::int64_t rank) const {
  return {job_.cluster.kind_of_node(rank / job_.cluster.node.gpus), job_.cluster.slowdown_of(rank)};
}

}  // namespace strategies
