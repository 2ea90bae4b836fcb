// SPDX-License-Identifier: Apache-2.0
// The bandwidths and delays between the members of a group.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/paths.hpp"

namespace paths_spec {
namespace {

using namespace topology;
using constants::Generation;
using samples::a100;
using samples::across;
using samples::h200;
using samples::inside;
using units::Precision;
using Kind = Fabric::Kind;

double switches(Kind kind, std::int64_t nodes, int nics) {
  return switches_between(nodes, nics, {.kind = kind, .radix = 64});
}

TEST_CASE("a message crosses one switch, or up and down the tiers that the nodes need") {
  // Leaves with 32 ports downwards take four nodes of eight NICs, or a NIC of each of 32 nodes.
  CHECK(switches(Kind::fat_tree, 4, 8) == 1);
  CHECK(switches(Kind::fat_tree, 5, 8) == 3);
  CHECK(switches(Kind::fat_tree, 256, 8) == 3);
  CHECK(switches(Kind::fat_tree, 257, 8) == 5);
  CHECK(switches(Kind::rail_fat_tree, 32, 8) == 1);
  CHECK(switches(Kind::rail_fat_tree, 33, 8) == 3);
  CHECK(switches(Kind::rail_fat_tree, 257, 8) == 5);
  for (const auto flat : {Kind::single_switch, Kind::rail_only, Kind::torus_3d})
    CHECK(switches(flat, 1000, 8) == 1);
  auto cluster = h200(33);
  cluster.fabric.radix = 64;
  cluster.fabric.latency = {2e-6};
  CHECK(paths_of(across(2, 8), cluster).wire == Approx(6e-6));
}

TEST_CASE("dragonfly groups are four switches apart where one leaf does not take all NICs") {
  CHECK(switches(Kind::dragonfly_plus, 4, 8) == 1);
  CHECK(switches(Kind::dragonfly_plus, 5, 8) == 4);
  CHECK(switches(Kind::dragonfly_plus, 32, 1) == 1);
  CHECK(switches(Kind::dragonfly_plus, 33, 1) == 4);
  CHECK(switches(Kind::dragonfly_plus, 32, 0) == 1);
}

TEST_CASE("channels are as many as NICs, twice as many where these are few or old") {
  const auto channels = [](const GroupShape& group, const Cluster& cluster) {
    return paths_of(group, cluster).channels;
  };
  CHECK(channels(across(16, 8), a100(16)) == 16);
  CHECK(channels(across(16, 8), h200(16)) == 8);
  CHECK(channels(across(16, 5), h200(16)) == 5);
  CHECK(channels(across(16, 4), h200(16)) == 8);
  CHECK(channels(across(16, 1), h200(16)) == 2);
  auto shared = h200(16);
  shared.node.nics.count = 4;  // half a NIC for each of eight groups
  CHECK(channels(across(16, 1, 8), shared) == 2);
}

TEST_CASE("a device is of the latest generation of which it has a number format") {
  Device device;
  CHECK(generation_of(device) == Generation::volta);
  samples::set_peak(device, Precision::bf16, 1e12);
  CHECK(generation_of(device) == Generation::ampere);
  samples::set_peak(device, Precision::fp8, 1e12);
  CHECK(generation_of(device) == Generation::hopper);
  for (const auto narrow : {Precision::mxfp8, Precision::nvfp4}) {
    auto blackwell = device;
    samples::set_peak(blackwell, narrow, 1e12);
    CHECK(generation_of(blackwell) == Generation::blackwell);
  }
}

TEST_CASE("eight V100s that are meshed are a cube mesh, and nothing else is one") {
  auto node = samples::v100().node;
  CHECK(cube_mesh(node));
  node.gpus = 4;
  CHECK_FALSE(cube_mesh(node));
  node.gpus = 8;
  node.nvlink.kind = NvLink::Kind::nvswitch;
  CHECK_FALSE(cube_mesh(node));
  node.nvlink.kind = NvLink::Kind::mesh;
  samples::set_peak(node.device, Precision::bf16, 1e12);
  CHECK_FALSE(cube_mesh(node));
}

TEST_CASE("a ring of GPUs that are all joined uses the links to its own members") {
  auto node = a100(1).node;
  node.nvlink.kind = NvLink::Kind::mesh;
  CHECK(nvlink_rate(8, node) == Approx(240e9));
  CHECK(nvlink_rate(2, node) == Approx(240e9 / 7));
  node.gpus = 2;
  CHECK(nvlink_rate(2, node) == Approx(240e9));
}

TEST_CASE("up to four A100s behind switches do not fill their links") {
  const auto node = a100(1).node;
  CHECK(nvlink_rate(2, node) == Approx(0.85 * 240e9));
  CHECK(nvlink_rate(3, node) == Approx(0.92 * 240e9));
  CHECK(nvlink_rate(4, node) == Approx(0.96 * 240e9));
  CHECK(nvlink_rate(5, node) == Approx(240e9));
  CHECK(nvlink_rate(4, h200(1).node) == Approx(360e9));
}

TEST_CASE("two cards have PCIe for themselves, more share it unless bridges join every other") {
  auto cluster = a100(2);
  cluster.node.nvlink.kind = NvLink::Kind::none;
  CHECK(paths_of(inside(2), cluster).intra == 25e9);
  CHECK(paths_of(inside(3), cluster).intra == 12.5e9);
  CHECK(port_rate(inside(3), cluster) == 25e9);
  CHECK(paths_of(across(2, 1), cluster).intra == 0);
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  CHECK(paths_of(inside(2), cluster).nvlink);
  CHECK_FALSE(paths_of(inside(3), cluster).nvlink);
  CHECK(paths_of(inside(3), cluster).intra == 25e9);
  CHECK(port_rate(inside(3), cluster) == 25e9);
  CHECK(port_rate(inside(2), cluster) == Approx(240e9));
}

TEST_CASE("a switch reduces for three members of a node and more") {
  CHECK_FALSE(paths_of(inside(2), h200(2)).multicast);
  CHECK(paths_of(inside(3), h200(2)).multicast);
  CHECK(paths_of(across(2, 3), h200(2)).multicast);
  CHECK_FALSE(paths_of({.ranks = 7, .nodes = 2, .least_per_node = 3, .most_per_node = 4}, h200(2))
                  .multicast);
}

TEST_CASE("a switch gains speed with size no faster than rings do") {
  auto cluster = h200(1);
  CHECK(paths_of(inside(8), cluster).switch_ramp == 1.1);
  cluster.node.nvlink.ramp = 3;
  CHECK(paths_of(inside(8), cluster).switch_ramp == 3);
}

TEST_CASE("a node of one GPU lets it use all NICs") {
  auto cluster = a100(4);
  cluster.node.gpus = 1;
  cluster.node.nics.count = 4;
  cluster.gpus = 4;
  CHECK(nics_for(1, 1, cluster.node) == 4);
  CHECK(paths_of(across(4, 1), cluster).inter == Approx(4 * 22.5e9));
}

TEST_CASE("each of nodes, GPUs of a node and GPUs of the cluster limits a group") {
  auto cluster = a100(2);
  cluster.gpus = 12;
  const auto refused = [&](const GroupShape& group) {
    CHECK_THROWS_WITH(paths_of(group, cluster), STEPCAST_HOLDS("is larger than the cluster"));
  };
  refused(across(3, 1));
  refused(inside(9));
  refused(across(2, 8));
  CHECK_NOTHROW(paths_of(across(2, 6), cluster));
  CHECK(paths_of(inside(1), cluster).intra == 0);
}

TEST_CASE("links and number formats count however little a second of them is") {
  auto slow = a100(2);
  slow.node.nvlink.bandwidth = {0.5};
  slow.node.nics.bandwidth = {0.25};
  CHECK(port_rate(inside(2), slow) == Approx(0.8 * 0.5));
  CHECK(port_rate(across(2, 1), slow) == Approx(0.9 * 0.25));
  samples::set_peak(slow.node.device, Precision::fp8, 0.5);
  CHECK(generation_of(slow.node.device) == Generation::hopper);
}

TEST_CASE("a group that no link joins is told where it lacks one") {
  auto poor = a100(2);
  poor.node.nvlink.bandwidth = poor.node.pcie.bandwidth = {0};
  poor.node.nics.bandwidth = {0};
  const char* inside_it = "the GPUs of a node have no link between them";
  const char* outside =
      "the group spans nodes, but the nodes have no NIC or the fabric no bandwidth";
  CHECK_THROWS_WITH(port_rate(inside(2), poor), inside_it);
  CHECK_THROWS_WITH(paths_of(inside(2), poor), inside_it);
  CHECK_THROWS_WITH(port_rate(across(2, 1), poor), outside);
  CHECK_THROWS_WITH(paths_of(across(2, 1), poor), outside);
}

}  // namespace
}  // namespace paths_spec
