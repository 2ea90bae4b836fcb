// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/paths.hpp"

namespace collective_spec {

using namespace topology;
namespace {

using Catch::Matchers::WithinRel;
using enum Collective;
using samples::a100;
using samples::across;
using samples::bare;
using samples::every;
using samples::h200;
using samples::inside;
using samples::v100;

double seconds(Collective collective, double size, const GroupShape& group, const Cluster& on) {
  return collective_time(collective, {size}, group, on).value;
}

// The bus bandwidth of an all-reduce in GB/s, as nccl-tests prints it.
double bus(double size, const GroupShape& group, const Cluster& on) {
  const double n = group.ranks;
  return 2 * (n - 1) / n * size / seconds(all_reduce, size, group, on) / 1e9;
}

TEST_CASE("without launch and ramp a large collective takes the closed form of its ring") {
  const auto node = bare(a100(1));
  // NCCL's Simple takes 8.4 us once and 3.4 us for each of seven hops, at 240 GB/s.
  CHECK_THAT(seconds(all_gather, 8e9, inside(8), node),
             WithinRel(8.4e-6 + 7 * 3.4e-6 + 7.0 / 8 * 8e9 / 240e9, 1e-12));
  CHECK_THAT(seconds(reduce_scatter, 8e9, inside(8), node),
             WithinRel(8.4e-6 + 7 * 3.4e-6 + 7.0 / 8 * 8e9 / 240e9, 1e-12));
  CHECK_THAT(seconds(broadcast, 8e9, inside(8), node),
             WithinRel(8.4e-6 + 8 * 3.4e-6 + 8e9 / 240e9, 1e-12));
  CHECK_THAT(seconds(all_reduce, 8e9, inside(8), node),
             WithinRel(8.4e-6 + 14 * 3.4e-6 + 14.0 / 8 * 8e9 / 240e9, 1e-12));
  // On 16 nodes 15 of 127 hops cross the network at 14 us each, over eight NICs of 25 GB/s.
  const auto cluster = bare(a100(16));
  CHECK_THAT(
      seconds(all_gather, 64e9, across(16, 8), cluster),
      WithinRel(8.4e-6 + 112 * 3.4e-6 + 15 * 14e-6 + 127.0 / 128 * 64e9 / (8 * 25e9 * 0.9), 1e-12));
}

TEST_CASE("a launch is added once, a fabric's only where the group leaves a node") {
  auto cluster = bare(a100(2));
  const double inner = seconds(all_gather, 1e9, inside(8), cluster);
  const double outer = seconds(all_gather, 1e9, across(2, 8), cluster);
  cluster.node.nvlink.launch = units::Seconds{1e-3};
  cluster.fabric.launch = {1e-2};
  CHECK_THAT(seconds(all_gather, 1e9, inside(8), cluster), WithinRel(inner + 1e-3, 1e-12));
  CHECK_THAT(seconds(all_gather, 1e9, across(2, 8), cluster), WithinRel(outer + 1.1e-2, 1e-12));
}

TEST_CASE("a ramp costs its square root until the pipeline is full, then a constant") {
  auto cluster = bare(a100(1));
  const double latency = 8.4e-6 + 7 * 3.4e-6;
  const auto ramp = [&](double size) {
    cluster.node.nvlink.ramp = 0;
    const double without = seconds(all_gather, size, inside(8), cluster);
    cluster.node.nvlink.ramp = 0.1;  // so little that Simple stays fastest
    return seconds(all_gather, size, inside(8), cluster) - without;
  };
  // A buffer of twelve latencies' worth of bytes pays √(L · 12 L / (1 + 1)).
  const double bytes = 12 * latency * 240e9 * 8 / 7;
  CHECK_THAT(ramp(bytes), WithinRel(0.1 * latency * std::sqrt(6.0), 1e-9));
  CHECK_THAT(ramp(1e13), WithinRel(0.1 * latency * std::sqrt(12.0), 1e-3));
}

TEST_CASE("GPUs that all have a link to each other reduce in two steps, whatever their number") {
  auto mesh = bare(a100(1));
  mesh.node.nvlink.kind = NvLink::Kind::mesh;
  CHECK_THAT(seconds(all_reduce, 8e9, inside(8), mesh),
             WithinRel(8.4e-6 + 2 * 3.4e-6 + 14.0 / 8 * 8e9 / 240e9, 1e-12));
  CHECK_THAT(seconds(all_reduce, 8, inside(8), mesh), WithinRel(6.6e-6 + 2 * 0.6e-6, 1e-3));
}

TEST_CASE("reduction in the network moves every byte once, at its share of the NICs") {
  auto sharp = bare(h200(32));
  sharp.fabric.collectives_in_network = true;
  // Eight NICs have 400 GB/s, 0.9 of it payload; a reduction in the network has 0.9 · 0.85 · 0.94
  // of that.
  const double rate = 8 * 50e9 * 0.9 * 0.9 * 0.85 * 0.94;
  const double latency = (2 * (3.7 + 0.4 * 7) + 31) * 1e-6;
  // Inside the nodes the switches reduce twice as fast as the buffer passes, so they are no limit
  // here.
  CHECK(seconds(all_reduce, 8e9, across(32, 8), sharp) >= latency + 8e9 / rate);
  const auto plain = bare(h200(32));
  for (const auto other : {all_gather, reduce_scatter, all_to_all})
    CHECK(seconds(other, 8e9, across(32, 8), sharp) == seconds(other, 8e9, across(32, 8), plain));
}

TEST_CASE("several groups at once share the NICs of their nodes") {
  const auto cluster = bare(a100(16));
  const auto alone = [&](double size) { return seconds(all_gather, size, across(16, 2), cluster); };
  const auto eight = [&](double size) {
    return seconds(all_gather, size, across(16, 2, 8), cluster);
  };
  // Two members use two of the eight NICs; with eight groups each group has one NIC.
  const double size = 64e9, share = 31.0 / 32 * size / (25e9 * 0.9);
  CHECK_THAT(eight(size) - alone(size), WithinRel(share - share / 2, 1e-9));
}

TEST_CASE("in an all-to-all of uneven nodes each member sends over its own NIC") {
  // The NICs carry 0.9 · 50 GB/s. Each of three members sends 1/4 of the buffer to the node of the
  // fourth, which sends 3/4 of it over its only NIC.
  const auto cluster = bare(h200(8));
  const GroupShape uneven{.ranks = 4, .nodes = 2, .least_per_node = 1, .most_per_node = 3};
  const double size = 360e9;
  CHECK_THAT(seconds(all_to_all, size, uneven, cluster), WithinRel(0.75 * size / 45e9, 1e-4));
  // Where eight GPUs share one NIC, the node of six counts: 6 · 8 of 14 parts leave it.
  auto few = cluster;
  few.node.nics.count = 1;
  const GroupShape halves{.ranks = 14, .nodes = 2, .least_per_node = 6, .most_per_node = 8};
  CHECK_THAT(seconds(all_to_all, size, halves, few), WithinRel(48.0 / 14 * size / 45e9, 1e-4));
  // Slow links inside: the fullest node holds all back, where each of eight sends to seven.
  few.node.nics.count = 8;
  few.node.nvlink.bandwidth = {1e9};
  CHECK_THAT(seconds(all_to_all, size, halves, few),
             WithinRel(7.0 / 14 * size / (0.83 * 0.8e9), 1e-4));
}

TEST_CASE("with a NIC for each GPU an all-to-all is never slower for sharing nodes") {
  const auto cluster = bare(h200(16));
  const int ranks = GENERATE(4, 9, 16);
  const double apart = seconds(all_to_all, 8e9, across(ranks, 1), cluster);
  for (int least = 1; least <= ranks / 2; ++least) {
    const int most = ranks - least;
    if (most > 8) continue;
    INFO(least << " and " << most);
    CHECK(seconds(all_to_all, 8e9,
                  {.ranks = ranks, .nodes = 2, .least_per_node = least, .most_per_node = most},
                  cluster) <= apart);
  }
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
  few.node.nics.count = 4;  // two GPUs to each NIC
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
  const double rate = 8 * 25e9 * 0.9;
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
  // Each of 16 ranks keeps 1/16 of its buffer, and passes 7/16 over NVLink and 8/16 over its NIC.
  const double size = 0x1p34;
  CHECK_THAT(seconds(all_to_all, size, across(2, 8), h200(2)),
             WithinRel(size * 8 / 16 / (50e9 * 0.9), 0.05));
}

TEST_CASE("GPUs without NVLink reduce over PCIe") {
  auto cards = a100(1);
  cards.node.nvlink = {.kind = NvLink::Kind::none};
  CHECK_THAT(bus(0x1p32, inside(8), cards), WithinRel(12.5, 0.03));
  cards.node.nvlink = {.kind = NvLink::Kind::pairs, .bandwidth = {300e9}};
  CHECK_THAT(bus(0x1p32, inside(2), cards), WithinRel(0.85 * 240, 0.03));
  CHECK_THAT(bus(0x1p32, inside(4), cards), WithinRel(25, 0.03));
}

// Draws a group that the cluster can hold.
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
  CHECK_THAT(t(0, 8), WithinRel(size / (25e9 * 0.9), 0.01));
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
  auto poor = a100(2);
  poor.node.nics.count = 0;
  const char* no_way =
      "the group spans nodes, but the nodes have no NIC or the fabric no bandwidth";
  refuse(across(2, 8), poor, no_way);
  poor.node.nvlink.bandwidth = {0};
  refuse(inside(8), poor, "the GPUs of a node have no link between them");
  poor = a100(2);
  poor.fabric.link_bandwidth = {0};
  refuse(across(2, 8), poor, no_way);
  refuse(across(3, 8), a100(2),
         "a group of 24 GPUs on 3 nodes, up to 8 on each, is larger than the cluster of 16 GPUs in "
         "nodes of 8");
}

}  // namespace
}  // namespace collective_spec
