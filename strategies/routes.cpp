// SPDX-License-Identifier: Apache-2.0
#include "strategies/routes.hpp"

#include <algorithm>

namespace strategies {

Routes::Routes(const Placement& placement, const topology::Cluster& cluster,
               const topology::Ports& ports, const Sample& sample, bool sharded_in_node)
    : placement_(placement),
      cluster_(cluster),
      wires_(ports),
      sample_(sample),
      sharded_in_node_(sharded_in_node) {
  for (std::int64_t p = 0; p < placement.pipeline(); ++p)
    for (const auto d : sample.replicas)
      for (std::int64_t c = 0; c < placement.context(); ++c)
        for (std::int64_t t = 0; t < placement.tensor(); ++t)
          at_.push_back(placement.rank_of({t, d, p, c}));
  for (auto& of : of_rank_) of.assign(at_.size(), none);
  if (placement.pipeline() > 1)
    for (const auto kind : {FlowKind::onward, FlowKind::back, FlowKind::tied}) add_messages(kind);
  if (placement.sharers() > 1)
    for (std::int64_t p = 0; p < placement.pipeline(); ++p)
      for (std::int64_t t = 0; t < placement.tensor(); ++t)
        if (placement.lead_of(p) == p) add_rings(t, p);
  if (placement.tensor() > 1)
    for (const auto rank : at_)
      if (placement.at(rank).tensor == 0)
        add_layer_ring(FlowKind::tensor, placement.tensor_group(rank));
  if (placement.context() > 1)
    for (const auto rank : at_)
      if (placement.at(rank).context == 0)
        add_layer_ring(FlowKind::context, placement.context_group(rank));
}

std::size_t Routes::index_of(std::int64_t rank) const {
  const auto where = placement_.at(rank);
  const auto replicas = static_cast<std::int64_t>(sample_.replicas.size());
  const auto place = static_cast<std::int64_t>(sample_.stand_in(where.data));
  return static_cast<std::size_t>(
      where.tensor +
      placement_.tensor() *
          (where.context + placement_.context() * (place + replicas * where.pipeline)));
}

std::int64_t Routes::receiver(FlowKind kind, std::int64_t rank) const {
  auto where = placement_.at(rank);
  const auto stages = placement_.pipeline();
  if (kind == FlowKind::tied)
    where.pipeline = stages - 1 - where.pipeline;
  else
    where.pipeline = (where.pipeline + (kind == FlowKind::onward ? 1 : stages - 1)) % stages;
  return placement_.rank_of(where);
}

void Routes::add_messages(FlowKind kind) {
  for (std::size_t i = 0; i < at_.size(); ++i) {
    if (kind == FlowKind::tied && placement_.at(at_[i]).pipeline != 0) continue;
    wires_.message(at_[i], receiver(kind, at_[i]), uses_);
    if (kind == FlowKind::tied) wires_.message(receiver(kind, at_[i]), at_[i], uses_);
    of_rank_[static_cast<std::size_t>(kind)][i] = end_flow(kind);
  }
}

// Ranks of its data-parallel group on the same node, ascending.
std::vector<std::int64_t> Routes::on_node_with(std::int64_t rank) const {
  const auto where = placement_.at(rank);
  const auto here = [&](std::int64_t i) {
    return i >= 0 && i < placement_.sharers() &&
           node_of(placement_.rank_of_sharer(i, where)) == node_of(rank);
  };
  auto first = placement_.sharer(where), last = first;
  while (here(first - 1)) --first;
  while (here(last + 1)) ++last;
  std::vector<std::int64_t> members;
  for (auto i = first; i <= last; ++i) members.push_back(placement_.rank_of_sharer(i, where));
  return members;
}

// Ranks of its data-parallel group in the sample, ascending.
std::vector<std::int64_t> Routes::sharers_looked_at(std::int64_t rank) const {
  auto where = placement_.at(rank);
  std::vector<std::int64_t> members;
  for (std::int64_t copy = 0; copy < placement_.copies(); ++copy) {
    for (const auto d : sample_.replicas)
      for (std::int64_t c = 0; c < placement_.context(); ++c) {
        where.data = d;
        where.context = c;
        members.push_back(placement_.rank_of(where));
      }
    where.pipeline = placement_.pipeline() - 1 - where.pipeline;
  }
  std::ranges::sort(members);
  return members;
}

void Routes::add_part(std::span<const std::int64_t> before, std::span<const std::int64_t> here,
                      std::span<const std::int64_t> after, int nics) {
  if (!sharded_in_node_ || before.empty())
    return wires_.ring_part(before, here, after, nics, uses_);
  for (std::size_t i = 0; i < here.size(); ++i)
    wires_.ring_part(before.subspan(i % before.size(), 1), here.subspan(i, 1),
                     after.subspan(i % after.size(), 1), nics, uses_);
}

void Routes::add_rings(std::int64_t tensor, std::int64_t pipeline) {
  const auto beside = [&](std::int64_t rank, std::int64_t by) {
    const auto where = placement_.at(rank);
    const auto all = placement_.sharers();
    return placement_.rank_of_sharer((placement_.sharer(where) + by + all) % all, where);
  };
  const auto members = sharers_looked_at(placement_.rank_of({tensor, 0, pipeline}));
  auto shape = data_shape(members.front());
  const bool halved = sharded_in_node_ && shape.nodes > 1;
  if (halved)
    shape = {.ranks = shape.nodes, .nodes = shape.nodes, .least_per_node = 1, .most_per_node = 1};
  const int nics = topology::ports_of(shape, cluster_);

  std::vector<std::vector<std::int64_t>> nodes;  // those looked at
  for (const auto rank : members)
    if (nodes.empty() || node_of(nodes.back().front()) != node_of(rank))
      nodes.push_back(on_node_with(rank));
  for (const auto& here : nodes) {
    if (shape.nodes == 1) {
      add_part({}, here, {}, nics);
      continue;
    }
    const auto before = on_node_with(beside(here.front(), -1));
    const auto after = on_node_with(beside(here.back(), +1));
    add_part(before, here, after, nics);
  }
  const auto ring = end_flow(FlowKind::ring);
  auto inside = none;
  if (halved) {
    for (const auto& here : nodes)
      if (here.size() > 1) wires_.ring_part({}, here, {}, 1, uses_);
    inside = end_flow(FlowKind::inside);
  }
  for (const auto rank : members) {
    const auto index = index_of(rank);
    of_rank_[static_cast<std::size_t>(FlowKind::ring)][index] = ring;
    of_rank_[static_cast<std::size_t>(FlowKind::inside)][index] = inside;
  }
}

void Routes::add_layer_ring(FlowKind kind, std::span<const std::int64_t> group) {
  const int nics = topology::ports_of(topology::shape_of(group, cluster_), cluster_);
  std::vector<std::vector<std::int64_t>> nodes;
  for (const auto member : group) {
    if (nodes.empty() || node_of(nodes.back().front()) != node_of(member)) nodes.emplace_back();
    nodes.back().push_back(member);
  }
  const auto count = nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count == 1)
      wires_.ring_part({}, nodes[i], {}, nics, uses_);
    else
      wires_.ring_part(nodes[(i + count - 1) % count], nodes[i], nodes[(i + 1) % count], nics,
                       uses_);
  }
  const auto flow = end_flow(kind);
  for (const auto member : group) of_rank_[static_cast<std::size_t>(kind)][index_of(member)] = flow;
}

std::uint32_t Routes::end_flow(FlowKind kind) {
  const auto begin = static_cast<std::ptrdiff_t>(crossings_.size());
  for (const auto& [port, times] : uses_) {
    const auto [found, fresh] =
        number_of_.try_emplace(port, static_cast<std::uint32_t>(ports_.size()));
    if (fresh) ports_.push_back(port);
    crossings_.push_back({found->second, times});
  }
  uses_.clear();
  std::sort(crossings_.begin() + begin, crossings_.end());
  auto kept = crossings_.begin() + begin;
  for (auto next = kept; next != crossings_.end(); ++next) {
    if (kept != crossings_.begin() + begin && std::prev(kept)->port == next->port)
      std::prev(kept)->times += next->times;
    else
      *kept++ = *next;
  }
  crossings_.erase(kept, crossings_.end());
  ends_.push_back(crossings_.size());
  kinds_.push_back(kind);
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

topology::GroupShape Routes::data_shape(std::int64_t rank) const {
  const auto ranks = static_cast<int>(placement_.sharers());
  topology::GroupShape shape{
      .ranks = ranks, .nodes = 0, .least_per_node = ranks, .most_per_node = 1, .parts = 0};
  std::int64_t node = -1;
  int members = 0;
  const auto close = [&] {
    if (members == 0) return;
    shape.least_per_node = std::min(shape.least_per_node, members);
    shape.most_per_node = std::max(shape.most_per_node, members);
  };
  for (const auto member : sharers_looked_at(rank)) {
    const auto on = node_of(member);
    if (on != node) {
      close();
      node = on;
      members = 0;
      shape.nodes += static_cast<int>(sample_.weight[sample_.stand_in(placement_.at(member).data)]);
      shape.parts |= 1u << cluster_.kind_of_node(node);
    }
    ++members;
  }
  close();
  return shape;
}

}  // namespace strategies
