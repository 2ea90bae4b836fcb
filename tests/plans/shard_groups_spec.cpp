// SPDX-License-Identifier: Apache-2.0
// Groups that share one copy of what ZeRO divides, beside what counting says of them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plans/shard_groups.hpp"
#include "plans/words.hpp"
#include "tests/catch.hpp"
#include "tests/plans/drawn_placements.hpp"

namespace shard_groups_spec {

using namespace strategies;
using Ranks = std::vector<std::int64_t>;

namespace {

struct Drawn {
  Plan plan;
  topology::Cluster cluster;
};

Drawn drawn(std::mt19937& random, bool any_order) {
  Drawn made{.plan = tests::drawn_placement(random, any_order)};
  const auto ranks = Placement(made.plan).ranks();
  made.cluster.gpus = ranks;
  const std::vector<int> nodes{2, 3, 4, 6, 8, 12};
  made.cluster.node.gpus =
      nodes[std::uniform_int_distribution<std::size_t>(0, nodes.size() - 1)(random)];
  return made;
}

std::string words_of_drawn(const Drawn& one) {
  const auto& plan = one.plan;
  return "tensor " + std::to_string(plan.tensor) + " context " + std::to_string(plan.context) +
         " data " + std::to_string(plan.data) + " pipeline " + std::to_string(plan.pipeline) +
         " expert " + std::to_string(plan.expert) + " " + std::string(units::word(plan.schedule)) +
         " " + word(plan.rank_order) + " on nodes of " + std::to_string(one.cluster.node.gpus);
}

Plan dense(Plan plan) {
  plan.expert = 1;
  plan.expert_tensor.reset();
  return plan;
}

// All groups of ranks that share what layers hold.
std::vector<Ranks> groups_of(const Plan& plan) {
  const Placement placement(dense(plan));
  std::vector<Ranks> groups;
  for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
    if (placement.index_of_sharer(placement.at(rank)) != 0) continue;
    auto& group = groups.emplace_back();
    for (std::int64_t i = 0; i < placement.sharers(); ++i)
      group.push_back(placement.rank_of_sharer(i, placement.at(rank)));
  }
  return groups;
}

// The number of these ranks on each node that has any.
std::map<std::int64_t, int> on_nodes(const Ranks& ranks, int gpus) {
  std::map<std::int64_t, int> counts;
  for (const auto rank : ranks) ++counts[rank / gpus];
  return counts;
}

}  // namespace

TEST_CASE("the sharers on a node are as many as counting finds, in any order of degrees") {
  std::mt19937 random(11);
  int alike = 0, uneven = 0;
  for (int i = 0; i < 300; ++i) {
    const auto one = drawn(random, true);
    int least = 1 << 20, most = 0;
    for (const auto& group : groups_of(one.plan))
      for (const auto& [node, count] : on_nodes(group, one.cluster.node.gpus))
        least = std::min(least, count), most = std::max(most, count);
    INFO(words_of_drawn(one));
    const auto on = sharers_on_nodes(one.plan, one.cluster);
    CHECK(on.least == least);
    CHECK(on.most == most);
    // Where stages fill nodes this is said without counting.
    CHECK(shards_alike(one.plan, one.cluster) == (least == most));
    (least == most ? alike : uneven) += 1;
  }
  CHECK(alike >= 50);
  CHECK(uneven >= 50);
}

TEST_CASE("a shard group of a node has as many ranks as the node has sharers") {
  std::mt19937 random(12);
  int tried = 0;
  for (int i = 0; i < 300; ++i) {
    auto one = drawn(random, true);
    if (!shards_alike(one.plan, one.cluster)) continue;
    ++tried;
    INFO(words_of_drawn(one));
    one.plan.shard_group = ShardGroup::node;
    const Placement placement(one.plan);
    const auto ranks = [&](int zero) {
      one.plan.zero = zero;
      return ranks_of_shard_group(one.plan, placement, one.cluster);
    };
    const auto counts = on_nodes(groups_of(one.plan).front(), one.cluster.node.gpus);
    CHECK(ranks(1) == counts.begin()->second);
    CHECK(ranks(3) == counts.begin()->second);
    CHECK(ranks(0) == placement.sharers());  // nothing is divided
    one.plan.shard_group = ShardGroup::of(2);
    CHECK(ranks(2) == 2);
    one.plan.shard_group = ShardGroup::all;
    CHECK(ranks(2) == placement.sharers());
  }
  CHECK(tried >= 50);
}

namespace {

// Whether groups of so many sharers that follow each other hold whole nodes' sharers, or lie inside
// of one node.
bool fall_together(const Drawn& one, std::int64_t ranks) {
  for (const auto& group : groups_of(one.plan)) {
    const auto on_node = on_nodes(group, one.cluster.node.gpus);
    for (std::size_t first = 0; first < group.size(); first += static_cast<std::size_t>(ranks)) {
      const auto begin = group.begin() + static_cast<std::ptrdiff_t>(first);
      const auto part = on_nodes({begin, begin + ranks}, one.cluster.node.gpus);
      const bool inside = part.size() == 1;
      const bool whole = std::ranges::all_of(
          part, [&](const auto& node) { return on_node.at(node.first) == node.second; });
      if (!inside && !whole) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("groups fill nodes where each lies inside of one node or has all sharers of several") {
  std::mt19937 random(13);
  int fill = 0, tear = 0;
  for (int i = 0; i < 300; ++i) {
    const auto one = drawn(random, false);
    if (!shards_alike(one.plan, one.cluster)) continue;
    const auto sharers = dense_sharers(one.plan);
    for (std::int64_t ranks = 1; ranks <= sharers; ++ranks) {
      if (sharers % ranks != 0) continue;
      const bool expected = fall_together(one, ranks);
      INFO(words_of_drawn(one) << ": groups of " << ranks);
      CHECK(groups_fill_nodes(one.plan, ranks, one.cluster) == expected);
      (expected ? fill : tear) += 1;
    }
  }
  CHECK(fill >= 100);
  CHECK(tear >= 10);
}

TEST_CASE("halves of a group have the shapes of a shard group and of one place in each of them") {
  std::mt19937 random(14);
  int tried = 0;
  for (int i = 0; i < 300; ++i) {
    const auto one = drawn(random, false);
    if (!shards_alike(one.plan, one.cluster)) continue;
    const auto group = groups_of(one.plan).front();
    const auto shape = topology::shape_of(group, one.cluster);
    for (int ranks = 1; ranks <= shape.ranks; ++ranks) {
      if (shape.ranks % ranks != 0 || !groups_fill_nodes(one.plan, ranks, one.cluster)) continue;
      ++tried;
      Ranks inside(group.begin(), group.begin() + ranks), across;
      for (std::size_t at = 0; at < group.size(); at += static_cast<std::size_t>(ranks))
        across.push_back(group[at]);
      INFO(words_of_drawn(one) << ": groups of " << ranks);
      const auto halves = halves_of(shape, ranks);
      CHECK(halves.inside == topology::shape_of(inside, one.cluster));
      CHECK(halves.across == topology::shape_of(across, one.cluster));
    }
  }
  CHECK(tried >= 100);
}

// Sixteen GPUs on two nodes; a shard group of tensor ranks holds so many sets of experts.
TEST_CASE("as many copies are kept of experts as of all else") {
  struct Case {
    std::int64_t tensor, expert, parts, group;
    bool holds;
    std::int64_t apart;  // ranks that share the states of one expert
  };
  const std::vector<Case> cases{{1, 4, 1, 16, true, 4},   // one copy, all four holders
                                {1, 4, 1, 8, true, 2},    // two copies, two holders each
                                {1, 4, 1, 4, true, 1},    // each holder has a copy
                                {1, 4, 1, 2, false, 1},   // two ranks hold a half of the experts
                                {2, 4, 2, 4, true, 1},    // 4 x 2 GPUs hold 4 experts of 2 parts
                                {2, 4, 1, 4, true, 2},    // and twice those that are whole
                                {2, 8, 1, 2, false, 1}};  // 4 GPUs hold a half
  for (const auto& [tensor, expert, parts, group, holds, apart] : cases) {
    Plan plan{.tensor = tensor,
              .data = 16 / tensor,
              .expert = expert,
              .expert_tensor = parts,
              .zero = 1,
              .shard_group = ShardGroup::of(group)};
    topology::Cluster cluster;
    cluster.gpus = 16;
    cluster.node.gpus = 8;
    INFO("tensor " << tensor << " expert " << expert << " x " << parts << " groups of " << group);
    CHECK(groups_hold_all_parts(plan, cluster) == holds);
    CHECK(apart_ranks_of(Placement(plan), group) == apart);
  }
}

}  // namespace shard_groups_spec
