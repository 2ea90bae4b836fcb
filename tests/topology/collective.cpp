// SPDX-License-Identifier: Apache-2.0
#include "topology/collective.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/paths.hpp"

namespace topology {
namespace {

using Catch::Matchers::WithinRel;
using enum Collective;
using samples::a100;
using samples::h200;
using samples::v100;

const std::vector<Collective> every{all_reduce, all_gather, reduce_scatter,
                                    all_to_all, broadcast,  reduce};

GroupShape inside(int ranks) {
  return {.ranks = ranks, .nodes = 1, .least_per_node = ranks, .most_per_node = ranks};
}

GroupShape across(int nodes, int per_node, int sharing = 1) {
  return {.ranks = nodes * per_node,
          .nodes = nodes,
          .least_per_node = per_node,
          .most_per_node = per_node,
          .sharing = sharing};
}

double seconds(Collective collective, double size, const GroupShape& group, const Cluster& on) {
  return collective_time(collective, {size}, group, on).value;
}

// Bus bandwidth of an all-reduce in GB/s, as nccl-tests prints it.
double bus(double size, const GroupShape& group, const Cluster& on) {
  const double n = group.ranks;
  return 2 * (n - 1) / n * size / seconds(all_reduce, size, group, on) / 1e9;
}

TEST_CASE("the textbook ring takes what pencil and paper say") {
  // 4 ranks, 12 bytes, 3 bytes per second, half a second per hop.
  const auto t = [](Collective c) { return textbook_ring(c, {12}, 4, {3}, {0.5}).value; };
  CHECK(t(all_reduce) == 6 + 3);
  CHECK(t(all_gather) == 3 + 1.5);
  CHECK(t(reduce_scatter) == 3 + 1.5);
  CHECK(t(all_to_all) == 3 + 1.5);
  CHECK(t(broadcast) == 4 + 1.5);
  CHECK(t(reduce) == 4 + 1.5);
  CHECK(textbook_ring(all_reduce, {12}, 1, {3}, {0.5}).value == 0);
  CHECK_THROWS_WITH(textbook_ring(all_reduce, {12}, 2, {0}, {0}),
                    "a ring needs a positive bandwidth");
}

TEST_CASE("the shape of a group counts its nodes and its members on each") {
  const auto cluster = a100(4);
  const std::vector<std::int64_t> strided{1, 9, 17, 25}, uneven{0, 1, 2, 8};
  CHECK(shape_of(strided, cluster) == across(4, 1));
  CHECK(shape_of(uneven, cluster) ==
        GroupShape{.ranks = 4, .nodes = 2, .least_per_node = 1, .most_per_node = 3});
  CHECK_THROWS_WITH(shape_of({}, cluster), "a group of no GPUs has no shape");
}

TEST_CASE("a group of one takes no time") {
  for (const auto collective : every) CHECK(seconds(collective, 1e9, inside(1), a100(1)) == 0);
}

TEST_CASE("a large all-reduce reaches the bandwidth measured with nccl-tests") {
  const double size = 0x1p33;
  CHECK_THAT(bus(size, inside(8), a100(1)), WithinRel(234.6, 0.03));
  CHECK_THAT(bus(size, inside(4), h200(1)), WithinRel(363.3, 0.03));
  CHECK_THAT(bus(size, inside(5), h200(1)), WithinRel(414.2, 0.05));
  CHECK_THAT(bus(size, inside(6), h200(1)), WithinRel(435.6, 0.05));
  CHECK_THAT(bus(size, inside(8), h200(1)), WithinRel(473.1, 0.03));
}

TEST_CASE("parts of a cube mesh have fewer rings than the whole") {
  const double size = 0x1p30;
  CHECK_THAT(bus(size, inside(2), v100()), WithinRel(22.5, 0.03));
  CHECK_THAT(bus(size, inside(4), v100()), WithinRel(85.4, 0.06));
  CHECK_THAT(bus(size, inside(8), v100()), WithinRel(134.5, 0.06));
}

TEST_CASE("an H200 node reduces in its switch from five GPUs on") {
  auto plain = h200(1);
  plain.node.nvlink.multicast = false;
  for (int ranks = 2; ranks <= 8; ++ranks) {
    const bool faster = seconds(all_reduce, 0x1p33, inside(ranks), h200(1)) <
                        seconds(all_reduce, 0x1p33, inside(ranks), plain);
    CHECK(faster == (ranks >= 5));
  }
  CHECK(seconds(all_gather, 0x1p33, inside(8), h200(1)) ==
        seconds(all_gather, 0x1p33, inside(8), plain));
}

TEST_CASE("groups use the NICs of their members and share them") {
  const auto cluster = a100(16);
  CHECK(paths_of(across(16, 8), cluster).inter == Approx(8 * 25e9 * 0.9));
  CHECK(paths_of(across(16, 2), cluster).inter == Approx(2 * 25e9 * 0.9));
  CHECK(paths_of(across(16, 1, 8), cluster).inter == Approx(1 * 25e9 * 0.9));
  auto few = cluster;
  few.node.nics.count = 4;  // two GPUs to each
  CHECK(paths_of(across(16, 8), few).inter == Approx(4 * 25e9 * 0.9));
  CHECK(paths_of(across(16, 1), few).inter == Approx(1 * 25e9 * 0.9));
  CHECK(paths_of(across(16, 1, 8), few).inter == Approx(0.5 * 25e9 * 0.9));
  auto slow = cluster;
  slow.fabric.link_bandwidth = {10e9};
  CHECK(paths_of(across(16, 1), slow).inter == Approx(10e9 * 0.9));
}

TEST_CASE("an uneven group passes as few NICs as its emptiest node has") {
  const GroupShape uneven{.ranks = 9, .nodes = 2, .least_per_node = 1, .most_per_node = 8};
  CHECK(paths_of(uneven, a100(2)).inter == Approx(1 * 25e9 * 0.9));
}

TEST_CASE("a large all-gather between nodes runs at the rate of their NICs") {
  const double size = 0x1p36, nodes = 16, ranks = 8 * nodes;
  const double rate = 8 * 25e9 * 0.9 * 0.94;
  CHECK_THAT(seconds(all_gather, size, across(16, 8), a100(16)),
             WithinRel((ranks - 1) / ranks * size / rate, 0.05));
}

TEST_CASE("trees between two nodes reduce faster than between many") {
  CHECK(bus(0x1p34, across(2, 8), h200(16)) > 1.2 * bus(0x1p34, across(16, 8), h200(16)));
}

TEST_CASE("reduction in the network beats the ring over many nodes") {
  auto sharp = h200(32);
  sharp.fabric.collectives_in_network = true;
  CHECK(seconds(all_reduce, 0x1p30, across(32, 8), sharp) <
        0.8 * seconds(all_reduce, 0x1p30, across(32, 8), h200(32)));
}

TEST_CASE("an all-to-all over two nodes sends half of its bytes through the NICs") {
  // 16 ranks each keep 1/16, pass 7/16 over NVLink and 8/16 over their NIC.
  const double size = 0x1p34;
  CHECK_THAT(seconds(all_to_all, size, across(2, 8), h200(2)),
             WithinRel(size * 8 / 16 / (50e9 * 0.9 * 0.94), 0.05));
}

TEST_CASE("GPUs without NVLink reduce over PCIe") {
  auto cards = a100(1);
  cards.node.nvlink = {.kind = NvLink::Kind::none};
  CHECK_THAT(bus(0x1p32, inside(8), cards), WithinRel(12.5, 0.03));
  cards.node.nvlink = {.kind = NvLink::Kind::pairs, .bandwidth = {300e9}};
  CHECK_THAT(bus(0x1p32, inside(2), cards), WithinRel(0.85 * 240, 0.03));
  CHECK_THAT(bus(0x1p32, inside(4), cards), WithinRel(25, 0.03));
}

// Some group that the cluster can hold.
GroupShape any_group(std::mt19937& random) {
  const int nodes = 1 << (random() % 6), per_node = 1 << (random() % 4);
  return nodes * per_node == 1 ? inside(2)
                               : across(nodes, per_node, 1 + static_cast<int>(random() % 8));
}

TEST_CASE("a larger buffer never takes less time") {
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    const auto cluster = i % 3 == 0 ? a100(32) : i % 3 == 1 ? h200(32) : v100();
    const auto group = i % 3 == 2 ? inside(2 + static_cast<int>(random() % 7)) : any_group(random);
    const auto collective = every[random() % every.size()];
    const double size = std::exp2(std::uniform_real_distribution<double>(0, 36)(random));
    const double larger = size * std::uniform_real_distribution<double>(1, 1.1)(random);
    CHECK(seconds(collective, size, group, cluster) <= seconds(collective, larger, group, cluster));
  }
}

TEST_CASE("more bandwidth never makes a collective slower, nor does less sharing") {
  std::mt19937 random(13);
  for (int i = 0; i < 1000; ++i) {
    const auto cluster = i % 2 == 0 ? a100(32) : h200(32);
    auto group = any_group(random);
    const auto collective = every[random() % every.size()];
    const double size = std::exp2(std::uniform_real_distribution<double>(0, 36)(random));
    const double before = seconds(collective, size, group, cluster);
    auto faster = cluster;
    faster.node.nvlink.bandwidth = cluster.node.nvlink.bandwidth * 1.5;
    CHECK(seconds(collective, size, group, faster) <= before);
    faster.node.nics.bandwidth = faster.fabric.link_bandwidth = cluster.node.nics.bandwidth * 2;
    CHECK(seconds(collective, size, group, faster) <= before);
    ++group.sharing;
    CHECK(before <= seconds(collective, size, group, cluster));
  }
}

TEST_CASE("a message pays NVLink inside a node and its share of a NIC across nodes") {
  const auto cluster = a100(2);
  const double size = 0x1p32;
  const auto t = [&](std::int64_t from, std::int64_t to, int sharing = 1) {
    return transfer_time({size}, from, to, cluster, sharing).value;
  };
  CHECK(t(3, 3) == 0);
  CHECK_THAT(t(0, 1), WithinRel(size / (0.85 * 240e9), 0.01));
  CHECK_THAT(t(0, 8), WithinRel(size / (25e9 * 0.9 * 0.94), 0.01));
  CHECK_THAT(t(0, 8, 16), WithinRel(2 * t(0, 8), 0.01));
  CHECK(transfer_time({0}, 0, 8, cluster).value > transfer_time({0}, 0, 1, cluster).value);
}

TEST_CASE("impossible groups are refused with a reason") {
  const auto refuse = [](const GroupShape& group, const Cluster& cluster, const char* reason) {
    CHECK_THROWS_WITH(collective_time(all_reduce, {1}, group, cluster), reason);
  };
  const char* counts = "a group needs at least one rank, one node and one sharer";
  refuse({.ranks = 0}, a100(1), counts);
  refuse({.ranks = 2, .nodes = 0}, a100(1), counts);
  refuse({.ranks = 2, .sharing = 0}, a100(1), counts);
  refuse({.ranks = 2, .nodes = 3}, a100(4), "a group has more nodes than ranks");
  refuse({.ranks = 2, .least_per_node = 0}, a100(1),
         "every node of a group holds at least one of its ranks");
  auto bare = a100(2);
  bare.node.nics.count = 0;
  refuse(across(2, 8), bare,
         "the group spans nodes, but the nodes have no NIC or the fabric no bandwidth");
  bare.node.nvlink.bandwidth = {0};
  refuse(inside(8), bare, "the GPUs of a node have no link between them");
}

}  // namespace
}  // namespace topology
