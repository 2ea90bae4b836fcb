// SPDX-License-Identifier: Apache-2.0
#include "strategies/sample.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>

namespace strategies {
namespace {

// The least number of consecutive replicas that hold whole groups of `shards` ranks: all of them
// where such a group is spread over replicas.
std::int64_t replicas_of_group(const Placement& placement, std::int64_t shards) {
  const auto context = placement.context();
  if (shards >= placement.sharers() || placement.data() == 1) return 1;
  const bool in_turn = placement.copies() == 1 && placement.index_of_sharer({.data = 1}) == context;
  if (in_turn && shards % context == 0) return shards / context;
  return in_turn && context % shards == 0 ? 1 : placement.data();
}

// The number of replicas after which the placement repeats itself on the nodes; all of them if it
// does not.
std::int64_t period_of(const Placement& placement, const topology::Cluster& cluster,
                       const topology::Ports& ports, std::int64_t shards) {
  const auto whole = std::lcm(placement.apart_replicas(), replicas_of_group(placement, shards));
  if (ports.unit() == 0) return placement.data();
  const bool pairs = cluster.node.nvlink.kind == topology::NvLink::Kind::pairs;
  const std::int64_t node =
      pairs ? std::lcm<std::int64_t>(cluster.node.gpus, 2) : cluster.node.gpus;
  const auto unit = node * ports.unit();
  const auto period = std::lcm(unit / std::gcd(unit, placement.data_stride()), whole);
  return placement.data() % period == 0 ? period : placement.data();
}

// A mark sets a block apart from one of sound nodes of the first kind, by place within the block: a
// device's kind, a device's slowdown, or the share of a port that is left.
struct Mark {
  std::int64_t place = 0;
  enum class What { kind, slowdown, port } what = What::kind;
  topology::Port::Kind port{};
  bool out = false;
  std::int64_t number = 0;
  double value = 0;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

class Marks {
 public:
  Marks(const Placement& placement, std::int64_t period)
      : placement_(placement),
        period_(period),
        of_block_(static_cast<std::size_t>(placement.data() / period)) {}

  void add(std::int64_t gpu, Mark mark) {
    auto where = placement_.at(gpu);
    const auto block = static_cast<std::size_t>(where.data / period_);
    where.data %= period_;
    mark.place = placement_.rank_of(where);
    of_block_[block].push_back(mark);
  }
  std::vector<std::vector<Mark>>& of_block() { return of_block_; }

 private:
  const Placement& placement_;
  std::int64_t period_;
  std::vector<std::vector<Mark>> of_block_;
};

}  // namespace

Sample sample_of(const Placement& placement, const topology::Cluster& cluster,
                 const topology::Ports& ports, std::int64_t shards) {
  const auto period = period_of(placement, cluster, ports, shards);
  Sample sample{.period = period};
  Marks marks(placement, period);
  if (!cluster.others.empty())
    for (std::int64_t gpu = 0; gpu < placement.ranks(); ++gpu)
      if (const auto kind = cluster.kind_of_node(gpu / cluster.node.gpus); kind != 0)
        marks.add(gpu, {.what = Mark::What::kind, .number = static_cast<std::int64_t>(kind)});
  for (const auto& straggler : cluster.stragglers)
    for (const auto gpu : straggler.gpus)
      marks.add(gpu, {.what = Mark::What::slowdown, .value = straggler.slowdown});
  for (const auto& [port, number, factor] : ports.degraded())
    marks.add(ports.lowest_gpu(port), {.what = Mark::What::port,
                                       .port = port.kind,
                                       .out = port.out,
                                       .number = number,
                                       .value = factor});

  std::map<std::vector<Mark>, std::uint32_t> seen;
  std::vector<std::int64_t> blocks;  // number of blocks of each sort
  std::vector<std::uint32_t> sort_of;
  for (auto& block : marks.of_block()) {
    std::ranges::sort(block);
    const auto [found, fresh] =
        seen.try_emplace(std::move(block), static_cast<std::uint32_t>(blocks.size()));
    if (fresh) {
      const auto first = static_cast<std::int64_t>(sort_of.size()) * period;
      for (std::int64_t d = 0; d < period; ++d) sample.replicas.push_back(first + d);
      blocks.push_back(0);
    }
    sort_of.push_back(found->second);
    ++blocks[found->second];
  }
  for (const auto count : blocks)
    sample.weight.insert(sample.weight.end(), static_cast<std::size_t>(period), count);
  for (const auto sort : sort_of)
    sample.place_of.push_back(sort * static_cast<std::uint32_t>(period));
  return sample;
}

Sample every_replica(const Placement& placement) {
  Sample sample{.period = placement.data(), .place_of = {0}};
  sample.replicas.resize(static_cast<std::size_t>(placement.data()));
  std::iota(sample.replicas.begin(), sample.replicas.end(), 0);
  sample.weight.assign(sample.replicas.size(), 1);
  return sample;
}

}  // namespace strategies
