// SPDX-License-Identifier: Apache-2.0
#include "strategies/folding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <numeric>

#include "strategies/colours.hpp"

namespace strategies {
namespace {

using topology::NvLink;

// The nearness of two ranks, on which the time of a message depends: 0 on other nodes, 1 on the
// same, 2 in the same NVLink pair.
std::uint64_t nearness(std::int64_t a, std::int64_t b, const topology::Cluster& cluster) {
  if (a / cluster.node.gpus != b / cluster.node.gpus) return 0;
  return cluster.node.nvlink.kind == NvLink::Kind::pairs && a / 2 == b / 2 ? 2 : 1;
}

bool is_message(FlowKind kind) {
  return kind == FlowKind::onward || kind == FlowKind::back || kind == FlowKind::tied;
}

// Kinds of vertices and of edges.
enum : std::uint64_t { a_rank, a_flow, a_port };
enum : std::uint32_t { sends, sent_by, receives, received_by, crosses };

}  // namespace

Folding::Folding(const Placement& placement, const topology::Cluster& cluster, std::int64_t shards,
                 Ranks ranks)
    : placement_(placement),
      ports_(cluster),
      sample_(ranks == Ranks::full ? every_replica(placement)
                                   : sample_of(placement, cluster, ports_, shards)),
      routes_(placement_, cluster, ports_, sample_, shards) {
  if (ranks == Ranks::folded) {
    refine(cluster);
    return;
  }
  const auto counted = [](std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
  };
  number(counted(routes_.ranks()), counted(routes_.flows()), counted(routes_.ports().size()));
}

// The shape of the group whose flow this is.
topology::GroupShape Folding::shape_of(FlowKind kind, std::int64_t rank,
                                       const topology::Cluster& cluster) const {
  switch (kind) {
    case FlowKind::tensor:
      return topology::shape_of(tensor_group(placement_, rank), cluster);
    case FlowKind::context:
      return topology::shape_of(context_group(placement_, rank), cluster);
    case FlowKind::expert:
      return topology::shape_of(token_group(placement_, rank), cluster);
    default:
      return routes_.data_shape(kind, rank);
  }
}

void Folding::refine(const topology::Cluster& cluster) {
  using Vertex = Colours::Vertex;
  const auto ranks = static_cast<Vertex>(routes_.ranks());
  const auto flows = static_cast<Vertex>(routes_.flows());
  const auto ports = static_cast<Vertex>(routes_.ports().size());
  Colours graph;
  std::map<topology::GroupShape, std::uint64_t> shapes;
  const auto number_of = [&](const topology::GroupShape& shape) {
    return shapes.try_emplace(shape, shapes.size()).first->second;
  };
  for (Vertex i = 0; i < ranks; ++i) {
    const auto rank = routes_.rank_at(i);
    // Parts of experts, or of regrouped layers, meet in groups that are no flow.
    const auto meets =
        placement_.expert_tensor() > 1 && placement_.holds_apart()
            ? number_of(topology::shape_of(apart_tensor_group(placement_, rank), cluster))
            : 0;
    const auto regroups =
        placement_.regroups()
            ? number_of(topology::shape_of(regrouping_group(placement_, rank), cluster))
            : 0;
    graph.add({a_rank, static_cast<std::uint64_t>(placement_.at(rank).pipeline),
               cluster.kind_of_node(rank / cluster.node.gpus),
               std::bit_cast<std::uint64_t>(cluster.slowdown_of(rank)), meets, regroups});
  }
  // A number by flow for all that its time alone depends on, besides its ranks.
  std::vector<std::uint64_t> alone(flows, ~std::uint64_t{0});
  for (Vertex i = 0; i < ranks; ++i) {
    const auto rank = routes_.rank_at(i);
    for (const auto kind : {FlowKind::onward, FlowKind::back, FlowKind::tied})
      if (const auto flow = routes_.flow_of(kind, i); flow != Routes::none)
        alone[flow] = nearness(rank, routes_.receiver(kind, rank), cluster);
    for (const auto kind : {FlowKind::ring, FlowKind::inside, FlowKind::tensor, FlowKind::context,
                            FlowKind::expert, FlowKind::expert_ring, FlowKind::expert_inside})
      if (const auto flow = routes_.flow_of(kind, i);
          flow != Routes::none && alone[flow] == ~std::uint64_t{0})
        alone[flow] = number_of(shape_of(kind, rank, cluster));
  }
  for (Vertex f = 0; f < flows; ++f)
    graph.add({a_flow, static_cast<std::uint64_t>(routes_.kind(f)), alone[f], routes_.fan_out(f)});
  for (const auto& port : routes_.ports())
    graph.add({a_port, static_cast<std::uint64_t>(port.kind), port.out,
               std::bit_cast<std::uint64_t>(ports_.capacity(port))});
  join(graph);

  const auto colours = graph.stable();
  const auto part = [&](Vertex first, Vertex count) {
    return std::vector<std::uint32_t>(colours.begin() + first, colours.begin() + first + count);
  };
  number(part(0, ranks), part(ranks, flows), part(ranks + flows, ports));
}

void Folding::join(Colours& graph) const {
  using Vertex = Colours::Vertex;
  const auto ranks = static_cast<Vertex>(routes_.ranks());
  const auto flows = static_cast<Vertex>(routes_.flows());
  for (Vertex i = 0; i < ranks; ++i) {
    const auto rank = routes_.rank_at(i);
    for (std::size_t k = 0; k < flow_kinds; ++k) {
      const auto kind = static_cast<FlowKind>(k);
      const auto flow = routes_.flow_of(kind, i);
      if (flow == Routes::none) continue;
      graph.join(i, ranks + flow, sends, sent_by);
      if (!is_message(kind)) continue;
      const auto other = routes_.index_of(routes_.receiver(kind, rank));
      graph.join(static_cast<Vertex>(other), ranks + flow, receives, received_by);
    }
  }
  for (Vertex f = 0; f < flows; ++f)
    for (const auto& [port, times] : routes_.crossings(f))
      graph.join(ranks + f, ranks + flows + port, crosses + times, crosses + times);
}

namespace {

// Renumbers colours from zero in the order in which `order` meets them; returns how many there are.
template <class Order>
std::uint32_t renumber(std::vector<std::uint32_t>& colours, Order&& order) {
  if (colours.empty()) return 0;
  constexpr std::uint32_t none = 0xffffffffu;
  std::vector<std::uint32_t> numbers(*std::ranges::max_element(colours) + 1, none);
  std::uint32_t count = 0;
  for (const std::size_t i : order)
    if (auto& number = numbers[colours[i]]; number == none) number = count++;
  for (auto& colour : colours) colour = numbers[colour];
  return count;
}

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

void Folding::number(std::vector<std::uint32_t> ranks, std::vector<std::uint32_t> flows,
                     std::vector<std::uint32_t> ports) {
  auto ascending = in_order(routes_.ranks());
  std::ranges::sort(ascending, {}, [&](std::size_t i) { return routes_.rank_at(i); });
  const auto actors = renumber(ranks, ascending);
  representative_.assign(actors, -1);
  multiplicity_.assign(actors, 0);
  for (const auto i : ascending) {
    const auto rank = routes_.rank_at(i);
    ranks_.push_back(rank);
    if (representative_[ranks[i]] < 0) representative_[ranks[i]] = rank;
    multiplicity_[ranks[i]] += sample_.weight[sample_.stand_in(placement_.at(rank).data)];
  }
  actor_of_ = std::move(ranks);

  std::vector<std::uint32_t> shown;  // a port of each class
  const auto links = renumber(ports, in_order(ports.size()));
  links_.assign(links, {.alike = 0});
  const auto weight_of = [&](const topology::Port& port) {
    return sample_.weight[sample_.stand_in(placement_.at(ports_.lowest_gpu(port)).data)];
  };
  for (std::uint32_t port = 0; port < ports.size(); ++port) {
    auto& link = links_[ports[port]];
    if (link.alike == 0) {
      link.port = routes_.ports()[port];
      link.capacity = ports_.capacity(link.port);
      shown.push_back(port);
    }
    link.alike += weight_of(routes_.ports()[port]);
  }
  uses_.assign(renumber(flows, in_order(flows.size())), {});
  std::vector<FlowKind> kinds(uses_.size());
  for (std::size_t f = 0; f < flows.size(); ++f) kinds[flows[f]] = routes_.kind(f);
  std::vector<std::array<std::uint32_t, 3>> crossed;  // class of flows, link, times
  for (std::uint32_t f = 0; f < flows.size(); ++f)
    for (const auto& [port, times] : routes_.crossings(f))
      if (shown[ports[port]] == port) crossed.push_back({flows[f], ports[port], times});
  std::ranges::sort(crossed);
  for (const auto& [flow, link, times] : crossed) {
    auto& uses = uses_[flow];
    if (!uses.empty() && uses.back().link == sim::LinkId{link})
      uses.back().times += times;
    else
      uses.push_back({sim::LinkId{link}, times});
  }
  class_of_ = std::move(flows);

  // Every tensor-parallel group sends in every layer: those that cross a port do so together.
  tensor_load_.assign(links_.size(), 0);
  for (std::size_t i = 0; i < uses_.size(); ++i)
    if (kinds[i] == FlowKind::tensor)
      for (const auto& [link, times] : uses_[i])
        tensor_load_[static_cast<std::size_t>(link)] += times;
}

double Folding::tensor_rate(std::int64_t rank) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const auto& use : uses(FlowKind::tensor, rank)) {
    const auto link = static_cast<std::size_t>(use.link);
    rate = std::min(rate, links_[link].capacity / tensor_load_[link]);
  }
  return rate;
}

const std::vector<sim::Traffic::Use>& Folding::uses(FlowKind kind, std::int64_t rank) const {
  static const std::vector<sim::Traffic::Use> nothing;
  const auto flow = routes_.flow_of(kind, routes_.index_of(rank));
  return flow == Routes::none ? nothing : uses_[class_of_[flow]];
}

std::uint32_t Folding::fan_out(FlowKind kind, std::int64_t rank) const {
  const auto flow = routes_.flow_of(kind, routes_.index_of(rank));
  return flow == Routes::none ? 1 : routes_.fan_out(flow);
}

}  // namespace strategies
