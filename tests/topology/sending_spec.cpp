// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/paths.hpp"

namespace sending_spec {

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

void same(const Sending& sending, double fixed, double bytes, double rate) {
  CHECK_THAT(sending.fixed.value, WithinRel(fixed, 1e-9));
  CHECK_THAT(sending.bytes.value, WithinRel(bytes, 1e-12));
  CHECK_THAT(sending.rate.value, WithinRel(rate, 1e-12));
}

TEST_CASE("inside a node every GPU's port passes the bytes of the ring, at the rate of NVLink") {
  const auto node = bare(a100(1));
  // NCCL's Simple takes 8.4 us once and 3.4 us per hop, at 0.8 of 300 GB/s.
  same(collective_sending(all_gather, {8e9}, inside(8), node), 8.4e-6 + 7 * 3.4e-6, 7e9, 240e9);
  same(collective_sending(all_reduce, {8e9}, inside(8), node), 8.4e-6 + 14 * 3.4e-6, 14e9, 240e9);
  same(collective_sending(broadcast, {8e9}, inside(8), node), 8.4e-6 + 8 * 3.4e-6, 8e9, 240e9);
  // Each GPU keeps an eighth of its buffer and passes 7 GB at 0.83 of the rate, to one batch of
  // peers.
  same(collective_sending(all_to_all, {8e9}, inside(8), node), 8.4e-6 + 3.4e-6, 7e9, 0.83 * 240e9);
}

TEST_CASE("between nodes every NIC passes its part of the bytes that leave the node") {
  const auto cluster = bare(a100(16));
  // Of 127 hops 15 cross the network at 14 us each, over eight NICs of 0.9 x 25 GB/s.
  same(collective_sending(all_gather, {64e9}, across(16, 8), cluster),
       8.4e-6 + 112 * 3.4e-6 + 15 * 14e-6, 127.0 / 128 * 64e9 / 8, 22.5e9);
  // Two members use two of the NICs; sixteen GPUs pass 7/8 of their buffers to other nodes.
  same(collective_sending(all_to_all, {16e9}, across(8, 2), cluster), 8.4e-6 + 2 * 14e-6,
       2 * 14e9 / 2, 22.5e9);
}

TEST_CASE("the emptiest node's NIC passes the most of an uneven all-to-all") {
  // One member sends 12 GB of its 16 to the node of the three others.
  same(collective_sending(all_to_all, {16e9},
                          {.ranks = 4, .nodes = 2, .least_per_node = 1, .most_per_node = 3},
                          bare(a100(2))),
       8.4e-6 + 14e-6, 12e9, 22.5e9);
}

TEST_CASE("a reduction in the switch fills its ports and no more") {
  // A ring would pass 14 GB; the switch passes its bytes at its own pace, and the port's bytes are
  // those that it could carry in that time.
  const auto sent = collective_sending(all_reduce, {8e9}, inside(8), h200(1));
  CHECK(sent.rate.value == 0.8 * 450e9);
  CHECK(sent.bytes.value < 14e9);
  CHECK(sent.bytes.value > 8e9);
}

TEST_CASE("a message passes the NICs near its sender, each a part of it") {
  auto cluster = bare(a100(2));
  // Ring and Simple take 8.4 us, and 14 us to the other node.
  same(transfer_sending({9e9}, 0, 8, cluster), 8.4e-6 + 14e-6, 9e9, 22.5e9);
  same(transfer_sending({9e9}, 0, 1, cluster), 8.4e-6 + 3.4e-6, 9e9, 0.85 * 240e9);
  cluster.node.nics.count = 16;
  same(transfer_sending({9e9}, 0, 8, cluster), 8.4e-6 + 14e-6, 4.5e9, 22.5e9);
  // GPUs 1 and 2 are on different bridges, so their message takes PCIe.
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  same(transfer_sending({9e9}, 1, 2, cluster), 8.4e-6 + 5.7e-6, 9e9, 25e9);
}

TEST_CASE("nothing to send takes its fixed part only") {
  const auto cluster = a100(2);
  const auto none = [](const Sending& sent, units::Seconds fixed, double port) {
    CHECK(sent == Sending{fixed, {0}, {port}});
    CHECK(sent.time() == fixed);
  };
  for (const auto collective : every) {
    none(collective_sending(collective, {1e9}, inside(1), cluster), {0}, 240e9);
    none(collective_sending(collective, {0}, inside(8), cluster),
         collective_time(collective, {0}, inside(8), cluster), 240e9);
    none(collective_sending(collective, {0}, across(2, 8), cluster),
         collective_time(collective, {0}, across(2, 8), cluster), 22.5e9);
  }
  none(transfer_sending({1e9}, 3, 3, cluster), {0}, 240e9);
  none(transfer_sending({0}, 3, 9, cluster), transfer_time({0}, 3, 9, cluster), 22.5e9);
}

TEST_CASE("the measured time beyond that of the bytes at full rate is the fixed part") {
  auto cluster = a100(1);
  const MeasuredCollective table{.collective = all_gather, .ranks = 8, .points = {{{8e9}, {0.04}}}};
  cluster.fabric.measured = {table};
  same(collective_sending(all_gather, {8e9}, inside(8), cluster), 0.04 - 7e9 / 240e9, 7e9, 240e9);
  // The measured time is shorter than the port's, so the port passed fewer bytes.
  cluster.fabric.measured.front().points.front().second = {0.01};
  CHECK(collective_sending(all_gather, {8e9}, inside(8), cluster) ==
        Sending{{0}, {2.4e9}, {240e9}});
}

TEST_CASE("a collective holds one of the device's 100 processors for each block of its kernel") {
  auto cluster = a100(16);
  cluster.node.device.sms = 100;
  const auto held = [&](const GroupShape& group) {
    return collective_sending(all_gather, {8e9}, group, cluster).processors;
  };
  CHECK(held(inside(8)) == 0.24);
  CHECK(held(across(16, 8)) == 0.16);  // two for each NIC
  CHECK(held(across(16, 1)) == 0.02);
  CHECK(transfer_sending({8e6}, 0, 8, cluster).processors == 0.02);
  cluster.node.nvlink.kind = NvLink::Kind::none;
  CHECK(held(inside(8)) == 0.02);  // over PCIe
  cluster.node.device.sms = 0;     // not known, or none that compute and send
  CHECK(held(across(16, 8)) == 0);
}

TEST_CASE("a group uses whole NICs, the nearest to its members") {
  auto cluster = a100(4);
  CHECK(ports_of(inside(8), cluster) == 1);
  CHECK(ports_of(across(4, 3), cluster) == 3);
  cluster.node.nics.count = 4;
  CHECK(ports_of(across(4, 1), cluster) == 1);
  CHECK(ports_of(across(4, 2), cluster) == 1);
  CHECK(ports_of(across(4, 3), cluster) == 2);
  CHECK(ports_of(across(4, 8), cluster) == 4);
  cluster.node.nics.count = 16;
  CHECK(ports_of(across(4, 3), cluster) == 6);
  CHECK(ports_of({.ranks = 4, .nodes = 2, .least_per_node = 1, .most_per_node = 3}, cluster) == 2);
}

// A cluster of four nodes of the samples' A100s, then four of their H200s.
Cluster mixed() {
  auto cluster = a100(8);
  cluster.others = {{h200(1).node, 4}};
  cluster.fabric.link_bandwidth = {50e9};
  return cluster;
}

GroupShape on(std::uint32_t parts, GroupShape group) {
  group.parts = parts;
  return group;
}

TEST_CASE("the shape of a group names the kinds of node it lies on") {
  const auto parts = [](std::vector<std::int64_t> gpus) { return shape_of(gpus, mixed()).parts; };
  CHECK(parts({0, 8}) == 1);
  CHECK(parts({32, 40}) == 2);
  CHECK(parts({31, 32}) == 3);
}

TEST_CASE("a group on nodes of several kinds is as slow as the slowest of them") {
  auto slow = a100(8), fast = h200(8);
  slow.fabric.link_bandwidth = {50e9};
  for (const double size : {1e3, 1e6, 1e9})
    for (const auto collective : every) {
      const auto time = [&](std::uint32_t parts, const Cluster& cluster) {
        return collective_time(collective, {size}, on(parts, across(4, 8)), cluster);
      };
      CHECK(time(1, mixed()) == time(1, slow));
      CHECK(time(2, mixed()) == time(1, fast));
      CHECK(time(3, mixed()) == std::max(time(1, slow), time(1, fast)));
    }
}

TEST_CASE("no port of a mixed group sends faster than the slowest of them carries") {
  auto cluster = mixed();
  // The nodes with fast NICs are slow to start: all wait for them, and none sends faster than 22.5
  // GB/s.
  cluster.others.front().node.nvlink.launch = units::Seconds{1};
  const auto group = on(3, across(4, 8));
  const auto sent = collective_sending(all_gather, {1e9}, group, cluster);
  CHECK(sent.rate.value <= 22.5e9);
  CHECK_THAT(sent.time().value,
             WithinRel(collective_time(all_gather, {1e9}, group, cluster).value, 1e-12));
  const auto message = transfer_sending({1e9}, 0, 63, cluster);
  CHECK(message.rate.value <= 22.5e9);
  CHECK(message.time().value > 1);
}

TEST_CASE("a group on a kind of node that is not there is refused") {
  for (const std::uint32_t parts : {0u, 4u, 5u}) {
    const auto group = on(parts, inside(2));
    CHECK_THROWS_WITH(collective_time(all_reduce, {1}, group, mixed()),
                      "a group lies on kinds of node that the cluster has");
    CHECK_THROWS_WITH(collective_sending(all_reduce, {1}, group, mixed()),
                      "a group lies on kinds of node that the cluster has");
  }
}

Cluster any_cluster(std::mt19937& random) {
  auto cluster = random() % 2 == 0 ? a100(32) : h200(32);
  using enum NvLink::Kind;
  cluster.node.nvlink.kind = std::vector{nvswitch, nvswitch, mesh, pairs, none}[random() % 5];
  cluster.node.nics.count = std::vector{1, 4, 8, 16}[random() % 4];
  cluster.fabric.collectives_in_network = random() % 3 == 0;
  if (random() % 4 == 0) cluster.others = {{v100().node, 1 + static_cast<int>(random() % 31)}};
  if (!cluster.others.empty()) cluster.others.front().node.nics.count = cluster.node.nics.count;
  return cluster;
}

GroupShape any_group(const Cluster& cluster, std::mt19937& random) {
  const int nodes = 1 + static_cast<int>(random() % 32),
            members = 1 + static_cast<int>(random() % 8);
  auto group = nodes == 1 ? inside(members) : across(nodes, members, random() % 3 == 0 ? 2 : 1);
  if (!cluster.others.empty()) group.parts = static_cast<std::uint32_t>(1 + random() % 3);
  return group;
}

double any_size(std::mt19937& random) {
  return random() % 20 == 0 ? 0 : std::exp2(std::uniform_real_distribution<double>(0, 36)(random));
}

void sound(const Sending& sent, units::Seconds alone, double port) {
  CHECK_THAT(sent.time().value, WithinRel(alone.value, 1e-12));
  CHECK(sent.fixed.value >= 0);
  CHECK(sent.bytes.value >= 0);
  CHECK(sent.rate.value > 0);
  CHECK(sent.rate.value <= port);
}

TEST_CASE("alone a collective takes its closed form and no port sends more than it carries") {
  std::mt19937 random(17);
  for (int i = 0; i < 4000; ++i) {
    const auto cluster = any_cluster(random);
    const auto group = any_group(cluster, random);
    const auto collective = every[random() % every.size()];
    const units::Bytes size{any_size(random)};
    sound(collective_sending(collective, size, group, cluster),
          collective_time(collective, size, group, cluster), port_rate(group, cluster));
  }
}

TEST_CASE("alone a message takes its closed form and no port sends more than it carries") {
  std::mt19937 random(19);
  for (int i = 0; i < 2000; ++i) {
    const auto cluster = any_cluster(random);
    const auto pick = [&](int n) { return static_cast<std::int64_t>(random()) % n; };
    const auto from = pick(256);
    const auto to = pick(2) == 0 ? pick(256) : from / 8 * 8 + pick(8);
    const units::Bytes size{any_size(random)};
    const std::vector<std::int64_t> ends = from == to ? std::vector{from} : std::vector{from, to};
    sound(transfer_sending(size, from, to, cluster), transfer_time(size, from, to, cluster),
          port_rate(shape_of(ends, cluster), cluster));
  }
}

}  // namespace
}  // namespace sending_spec
