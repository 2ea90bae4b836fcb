// SPDX-License-Identifier: Apache-2.0
#include "tests/topology/graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <map>
#include <mutex>
#include <stdexcept>

#include "tests/topology/wiring.hpp"

namespace oracle {

// Each edge knows its link; Boost's ids of vertices are those of the wiring.
struct Cable {
  std::uint32_t link = 0;
};

namespace {

using Adjacency =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Cable>;
using Hops = std::vector<std::int32_t>;

Hops hops_from(std::uint32_t source, const Adjacency& graph) {
  Hops hops(boost::num_vertices(graph), -1);
  hops[source] = 0;
  auto record = boost::record_distances(hops.data(), boost::on_tree_edge());
  boost::breadth_first_search(graph, source, boost::visitor(boost::make_bfs_visitor(record)));
  return hops;
}

// Spreads equal-cost routes the same way on every run (the mixing step of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Among ways with equally many hops, one that arrives over NVLink or PCIe is preferred, so that no
// GPU reaches another of its node through a NIC that they share.
bool from_nic(const Link& link) { return link.from.starts_with("nic"); }

}  // namespace

struct Network::Graph {
  std::vector<Link> links;
  Adjacency graph;
  std::int64_t gpus;
  std::mutex guard;                     // threads may ask for routes at once
  std::map<std::uint32_t, Hops> known;  // hops by source, once asked for

  Graph(Wiring wiring, std::int64_t count)
      : links(std::move(wiring.links)), graph(wiring.vertices.size()), gpus(count) {
    for (std::size_t i = 0; i < wiring.ends.size(); ++i)
      boost::add_edge(wiring.ends[i].from, wiring.ends[i].to, Cable{static_cast<std::uint32_t>(i)},
                      graph);
  }

  struct Step {
    std::uint32_t link;
    std::size_t from;
  };

  // The last link of a shortest way to `at`, the `choice`-th of those that serve.
  Step last_link(std::size_t at, const Hops& hops, std::uint64_t choice) const {
    std::vector<Step> straight, nics;
    const auto [begin, end] = boost::out_edges(at, graph);
    for (auto edge = begin; edge != end; ++edge) {
      const auto neighbour = boost::target(*edge, graph);
      if (hops[neighbour] != hops[at] - 1) continue;
      const std::uint32_t link = graph[*edge].link ^ 1;  // the link of the same cable towards `at`
      (from_nic(links[link]) ? nics : straight).push_back({link, neighbour});
    }
    const auto& serve = straight.empty() ? nics : straight;
    return serve[choice % serve.size()];
  }

  const Hops& from(std::uint32_t source) {
    const std::lock_guard lock(guard);
    auto found = known.find(source);
    if (found == known.end()) found = known.emplace(source, hops_from(source, graph)).first;
    return found->second;
  }
};

Network::Network(const Cluster& cluster) {
  Wiring wiring;
  const auto plugs = wire_nodes(wiring, cluster);
  wire_fabric(wiring, plugs, cluster);
  graph_ = std::make_unique<Graph>(std::move(wiring), cluster.gpus);
}

Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

const std::vector<Link>& Network::links() const { return graph_->links; }

std::vector<LinkId> Network::route(std::int64_t from_gpu, std::int64_t to_gpu) const {
  if (std::min(from_gpu, to_gpu) < 0 || std::max(from_gpu, to_gpu) >= graph_->gpus)
    throw std::invalid_argument("the cluster has no such GPU");
  const Hops& hops = graph_->from(static_cast<std::uint32_t>(from_gpu));
  const auto seed =
      mix(static_cast<std::uint64_t>(from_gpu) << 32 | static_cast<std::uint64_t>(to_gpu));
  std::vector<LinkId> route;
  for (auto at = static_cast<std::size_t>(to_gpu); hops[at] > 0;) {
    const auto choice = mix(seed + static_cast<std::uint64_t>(hops[at]));
    const auto last = graph_->last_link(at, hops, choice);
    route.push_back(LinkId{last.link});
    at = last.from;
  }
  std::ranges::reverse(route);
  return route;
}

}  // namespace oracle
