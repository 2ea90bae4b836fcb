// SPDX-License-Identifier: Apache-2.0
#include "strategies/routes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plans/shard_groups.hpp"

namespace strategies {

Routes::Routes(const Placement& placement, const topology::Cluster& cluster,
               const topology::Ports& ports, const Sample& sample, std::int64_t shards)
    : placement_(placement),
      cluster_(cluster),
      wires_(ports),
      sample_(sample),
      shards_(shards),
      apart_(apart_ranks_of(placement, shards)) {
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
        if (placement.lead_of(p) == p) add_ring(FlowKind::ring, placement.rank_of({t, 0, p}));
  if (placement.tensor() > 1)
    for (const auto rank : at_)
      if (placement.at(rank).tensor == 0)
        add_layer_ring(FlowKind::tensor, tensor_group(placement, rank));
  if (placement.context() > 1)
    for (const auto rank : at_)
      if (placement.at(rank).context == 0)
        add_layer_ring(FlowKind::context, context_group(placement, rank));
  if (placement.exchanges_tokens())
    for (const auto rank : at_) {
      const auto place = placement.expert_at(rank);
      if (placement.expert() > 1 && place.expert == 0) add_all_to_all(token_group(placement, rank));
      if (placement.expert() == 1 && place.tensor == 0)
        add_layer_ring(FlowKind::expert, token_group(placement, rank));
    }
  if (placement.holds_apart() && placement.apart_sharers() > 1)
    for (const auto rank : at_)
      if (placement.index_of_apart_sharer(rank) == 0) add_ring(FlowKind::expert_ring, rank);
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

// The number of ranks that hold the same parameters, or the same experts; below, a rank's place
// among these, and back.
std::int64_t Routes::sharers(FlowKind ring) const {
  return ring == FlowKind::expert_ring ? placement_.apart_sharers() : placement_.sharers();
}
std::int64_t Routes::index_of_sharer(FlowKind ring, std::int64_t rank) const {
  return ring == FlowKind::expert_ring ? placement_.index_of_apart_sharer(rank)
                                       : placement_.index_of_sharer(placement_.at(rank));
}
std::int64_t Routes::rank_of_sharer(FlowKind ring, std::int64_t sharer, std::int64_t like) const {
  const auto where = placement_.at(like);
  return ring == FlowKind::expert_ring ? placement_.rank_of_apart_sharer(sharer, like)
                                       : placement_.rank_of_sharer(sharer, where);
}

// The place of a sharer in a ring.
std::int64_t Routes::place_in(const Ring& ring, std::int64_t sharer) {
  return (sharer - ring.first) / ring.step;
}

// The ring's members on the node of the one at `place`, in its order.
std::vector<std::int64_t> Routes::on_node_with(FlowKind flow, const Ring& ring, std::int64_t place,
                                               std::int64_t like) const {
  const auto rank_at = [&](std::int64_t at) {
    return rank_of_sharer(flow, ring.first + at * ring.step, like);
  };
  const auto node = node_of(rank_at(place));
  const auto here = [&](std::int64_t at) {
    return at >= 0 && at < ring.count && node_of(rank_at(at)) == node;
  };
  auto first = place, last = place;
  while (here(first - 1)) --first;
  while (here(last + 1)) ++last;
  std::vector<std::int64_t> members;
  for (auto at = first; at <= last; ++at) members.push_back(rank_at(at));
  return members;
}

// The ranks of the rank's group that are in the sample, ascending.
std::vector<std::int64_t> Routes::sharers_looked_at(FlowKind ring, std::int64_t rank) const {
  std::vector<std::int64_t> members;
  const auto lead = placement_.lead_of(placement_.at(rank).pipeline);
  for (std::int64_t copy = 0; copy < placement_.copies(); ++copy) {
    auto where = placement_.at(rank);
    where.pipeline = copy == 0 ? lead : placement_.pipeline() - 1 - lead;
    const auto like = placement_.rank_of(where);
    if (ring == FlowKind::expert_ring) {
      const auto in_block = placement_.apart_sharers_in(sample_.period);
      auto there = placement_.expert_at(like);
      for (std::size_t d = 0; d < sample_.replicas.size();
           d += static_cast<std::size_t>(sample_.period)) {
        const auto first = placement_.apart_sharers_in(sample_.replicas[d]);
        for (there.data = first; there.data < first + in_block; ++there.data)
          members.push_back(placement_.rank_of(there, where.pipeline));
      }
      continue;
    }
    for (const auto d : sample_.replicas)
      for (std::int64_t c = 0; c < placement_.context(); ++c) {
        where.data = d;
        where.context = c;
        members.push_back(placement_.rank_of(where));
      }
  }
  std::ranges::sort(members);
  return members;
}

std::vector<std::vector<std::int64_t>> Routes::by_node(std::span<const std::int64_t> group) const {
  std::vector<std::vector<std::int64_t>> nodes;
  for (const auto member : group) {
    if (nodes.empty() || node_of(nodes.back().front()) != node_of(member)) nodes.emplace_back();
    nodes.back().push_back(member);
  }
  return nodes;
}

// Adds the ports that rings cross on the nodes of `members`. Each member is in one ring, which
// `ring_of` gives for the member's place among the sharers; all rings have the same shape.
void Routes::add_parts(FlowKind flow, std::span<const std::int64_t> members,
                       const topology::GroupShape& shape,
                       const std::function<Ring(std::int64_t)>& ring_of) {
  const int nics = topology::ports_of(shape, cluster_);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;  // nodes and rings
  for (const auto member : members) {
    const auto sharer = index_of_sharer(flow, member);
    const auto ring = ring_of(sharer);
    if (ring.count == 1 || !seen.emplace(node_of(member), ring.first).second) continue;
    const auto here = on_node_with(flow, ring, place_in(ring, sharer), member);
    if (std::ssize(here) == ring.count) {
      wires_.ring_part({}, here, {}, nics, uses_);
      continue;
    }
    const auto beside = [&](std::int64_t of, std::int64_t by) {
      const auto place = place_in(ring, index_of_sharer(flow, of)) + by;
      return on_node_with(flow, ring, (place + ring.count) % ring.count, member);
    };
    wires_.ring_part(beside(here.front(), -1), here, beside(here.back(), +1), nics, uses_);
  }
}

void Routes::add_ring(FlowKind kind, std::int64_t rank) {
  const auto members = sharers_looked_at(kind, rank);
  const auto shape = data_shape(kind, members.front());
  const auto all = sharers(kind);
  const bool apart = kind == FlowKind::expert_ring;
  const auto shards = apart ? apart_ : shards_;
  const auto end = [&](FlowKind of) {
    const auto flow = end_flow(of);
    for (const auto member : members)
      of_rank_[static_cast<std::size_t>(of)][index_of(member)] = flow;
  };
  if (shards >= all) {
    add_parts(kind, members, shape, [&](std::int64_t) { return Ring{0, 1, all}; });
    return end(kind);
  }
  const auto [inside, across] = halves_of(shape, static_cast<int>(shards));
  add_parts(kind, members, across, [&](std::int64_t sharer) {
    return Ring{sharer % shards, shards, all / shards};
  });
  end(kind);
  add_parts(kind, members, inside, [&](std::int64_t sharer) {
    return Ring{sharer / shards * shards, 1, shards};
  });
  end(apart ? FlowKind::expert_inside : FlowKind::inside);
}

void Routes::add_layer_ring(FlowKind kind, std::span<const std::int64_t> group) {
  const int nics = topology::ports_of(topology::shape_of(group, cluster_), cluster_);
  const auto nodes = by_node(group);
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

// A NIC sends as much to every other node. Uses of ports above the NICs count the bytes that one
// node gets, so that they are whole numbers; where nodes hold unlike numbers of members they are
// rounded up.
void Routes::add_all_to_all(std::span<const std::int64_t> group) {
  const auto nodes = by_node(group);
  std::uint32_t fan_out = 1, of = 1;
  if (nodes.size() == 1) {
    wires_.ring_part({}, nodes.front(), {}, 1, uses_);
  } else {
    fan_out = static_cast<std::uint32_t>(nodes.size() - 1);
    const int nics = topology::ports_of(topology::shape_of(group, cluster_), cluster_);
    of = wires_.all_to_all(nodes, nics, uses_);
  }
  const auto flow = end_flow(FlowKind::expert, fan_out, of);
  for (const auto member : group)
    of_rank_[static_cast<std::size_t>(FlowKind::expert)][index_of(member)] = flow;
}

std::uint32_t Routes::end_flow(FlowKind kind, std::uint32_t fan_out, std::uint32_t of) {
  const auto begin = crossings_.size();
  for (const auto& [port, times] : uses_) {
    const auto [found, fresh] =
        numbered_.try_emplace(port, Numbered{static_cast<std::uint32_t>(ports_.size())});
    auto& [number, latest] = found->second;
    if (fresh) ports_.push_back(port);
    if (!fresh && latest >= begin) {
      crossings_[latest].times += times;
      continue;
    }
    latest = crossings_.size();
    crossings_.push_back({number, times});
  }
  uses_.clear();
  const auto crossed = std::span(crossings_).subspan(begin);
  std::ranges::sort(crossed, {}, &Crossing::port);
  if (of > 1)
    for (auto& [port, times] : crossed)
      times = static_cast<std::uint32_t>((std::uint64_t{times} * fan_out + of - 1) / of);
  ends_.push_back(crossings_.size());
  kinds_.push_back(kind);
  fan_outs_.push_back(fan_out);
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

topology::GroupShape Routes::data_shape(FlowKind ring, std::int64_t rank) const {
  const auto ranks = static_cast<int>(sharers(ring));
  topology::GroupShape shape{
      .ranks = ranks, .nodes = 0, .least_per_node = ranks, .most_per_node = 1, .parts = 0};
  std::int64_t node = -1;
  int members = 0;
  const auto close = [&] {
    if (members == 0) return;
    shape.least_per_node = std::min(shape.least_per_node, members);
    shape.most_per_node = std::max(shape.most_per_node, members);
  };
  for (const auto member : sharers_looked_at(ring, rank)) {
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
