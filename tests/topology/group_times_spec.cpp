// SPDX-License-Identifier: Apache-2.0
// Times of a group: asked once or often, measured in its node or not, and the bytes that its ports
// send.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/collective_times.hpp"
#include "topology/paths.hpp"
#include "topology/rate_surface.hpp"

namespace group_times_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using enum Collective;
using samples::a100;
using samples::across;
using samples::bare;
using samples::every;
using samples::h200;
using samples::inside;

double seconds(Collective collective, double size, const GroupShape& group, const Cluster& on) {
  return collective_time(collective, {size}, group, on).value;
}

RateSurface surface_of(std::string_view kernel, std::span<const double> ranks,
                       std::span<const double> bytes, std::span<const float> micros) {
  return {RateSurface::Kind::collective,
          kernel,
          RateSurface::Numbers::bf16,
          RateSurface::Unit::microseconds,
          {ranks, bytes, {}},
          micros};
}

constexpr std::array<double, 2> two_to_four{2, 4}, two_to_eight{2, 8}, bytes{1e6, 1e9};
// The surface has no value for a large buffer of four GPUs.
constexpr std::array<float, 4> micros{100, 10000, 200, 0}, slow{300, 30000, 400, 40000};
const std::array<RateSurface, 2> surfaces{
    surface_of("all_gather:nccl-2.27.3", two_to_four, bytes, micros),
    surface_of("all_reduce:nccl-2.27.3", two_to_eight, bytes, slow)};
const DeviceRates rates{"h200", "pencil", "today", "none", surfaces};

// A cluster of nodes as they were measured: NVLink of 450 GB/s, of which 0.75 is payload.
Cluster measured_node(std::int64_t nodes) {
  auto cluster = h200(nodes);
  cluster.node.nvlink.efficiency = 0.75;
  cluster.node.device.name = "h200";
  cluster.node.device.rates = &rates;
  return cluster;
}

TEST_CASE(
    "reduction in the switch takes the measured time on the machine of the measurements too") {
  const auto cluster = measured_node(1);
  CHECK_THAT(seconds(all_gather, 1e6, inside(2), cluster), WithinRel(100e-6, 1e-6));
  CHECK_THAT(seconds(all_gather, 1e9, inside(2), cluster), WithinRel(10e-3, 1e-6));
  CHECK_THAT(seconds(all_gather, 1e6, inside(4), cluster), WithinRel(200e-6, 1e-6));
  // The switch reduces for eight GPUs, and gains speed with size as it did when it was measured.
  CHECK_THAT(seconds(all_reduce, 1e6, inside(8), cluster), WithinRel(400e-6, 1e-6));
  CHECK_THAT(seconds(all_reduce, 1e9, inside(8), cluster), WithinRel(40e-3, 1e-6));
}

TEST_CASE("more members, several nodes and unmeasured collectives are left to the model") {
  const auto cluster = measured_node(2);
  auto without = cluster;
  without.node.device.rates = nullptr;
  const auto same = [&](Collective collective, double size, const GroupShape& group) {
    CHECK(seconds(collective, size, group, cluster) == seconds(collective, size, group, without));
    CHECK(collective_evidence(collective, {size}, group, cluster) == Evidence::physics);
  };
  same(all_gather, 1e9, inside(4));
  same(all_gather, 1e6, inside(8));
  same(all_gather, 1e6, across(2, 1));
  same(all_gather, 1e6, across(2, 2));
  same(broadcast, 1e6, inside(2));
  CHECK(collective_evidence(all_gather, {1e6}, inside(2), cluster) == Evidence::measured);
}

TEST_CASE("where a node was measured slower than the model its ports send slower") {
  // A GPU sends half of a gigabyte in ten milliseconds, beside 450 GB/s · 0.75.
  const auto cluster = measured_node(1);
  const auto sent = collective_sending(all_gather, {1e9}, inside(2), cluster);
  CHECK(sent.bytes.value == Approx(0.5e9));
  const double modelled = (0.5e9 / 337.5e9) / seconds(all_gather, 1e9, inside(2), [&] {
                            auto without = cluster;
                            without.node.device.rates = nullptr;
                            return without;
                          }());
  CHECK_THAT(sent.bytes.value / sent.rate.value, WithinRel(modelled * 10e-3, 1e-6));
}

Cluster any_cluster(std::mt19937& random) {
  auto cluster = random() % 2 == 0 ? measured_node(8) : a100(8);
  using enum NvLink::Kind;
  cluster.node.nvlink.kind = std::vector{nvswitch, nvswitch, mesh, pairs}[random() % 4];
  if (random() % 2 == 0) cluster.others = {{measured_node(1).node, 3}};
  if (random() % 2 == 0)
    cluster.fabric.measured = {
        {.collective = all_gather, .ranks = 4, .nodes = 1, .points = {{{1e6}, {1e-4}}}},
        {.collective = all_reduce, .ranks = 16, .nodes = 2, .points = {{{1e6}, {1e-4}}}}};
  return cluster;
}

TEST_CASE("many sizes of one group asked at once have the same times as one by one, bit for bit") {
  std::mt19937 random(31);
  for (int i = 0; i < 400; ++i) {
    const auto cluster = any_cluster(random);
    auto group = random() % 2 == 0 ? inside(1 << random() % 4)
                                   : across(1 << (1 + random() % 3), 1 << random() % 4);
    if (!cluster.others.empty()) group.parts = static_cast<std::uint32_t>(1 + random() % 3);
    const CollectiveTimes times(group, cluster);
    for (const auto collective : every)
      for (const double size : {0.0, 1e3, 1e6, 3e9})
        CHECK(times.of(collective, {size}) == collective_time(collective, {size}, group, cluster));
  }
}

TEST_CASE("where NVLink holds a ring between nodes back each NIC passes its part as slowly") {
  auto cluster = bare(a100(16));
  cluster.node.nvlink.bandwidth = {10e9};  // 8 GB/s of payload for eight NICs
  const auto check = [&](Collective collective, double bytes_of_each) {
    const auto sent = collective_sending(collective, {64e9}, across(16, 8), cluster);
    CHECK_THAT(sent.bytes.value, WithinRel(bytes_of_each, 1e-9));
    CHECK_THAT(sent.rate.value, WithinRel(1e9, 1e-9));
  };
  check(all_reduce, 2 * 127.0 / 128 * 8e9);
  check(all_gather, 127.0 / 128 * 8e9);
  check(reduce_scatter, 127.0 / 128 * 8e9);
  check(broadcast, 8e9);
  check(reduce, 8e9);
}

TEST_CASE(
    "in an all-to-all each NIC passes its part of the bytes that the members of its node send "
    "out") {
  auto cluster = bare(a100(16));
  cluster.node.nvlink.bandwidth = {1e9};
  for (const int nodes : {2, 16}) {
    const int n = 8 * nodes;
    const auto sent = collective_sending(all_to_all, {64e9}, across(nodes, 8), cluster);
    CHECK_THAT(sent.bytes.value, WithinRel(8.0 * (n - 8) / n * 64e9 / 8, 1e-9));
  }
}

TEST_CASE("a message in single words passes its NICs as well, twice as long") {
  auto cluster = bare(a100(2));
  // A tree takes 5 us over the network where a node has one member, besides 6.6 us at the start.
  CHECK_THAT(transfer_time({0}, 0, 8, cluster).value, WithinRel(11.6e-6, 1e-9));
  CHECK(transfer_sending({1e3}, 0, 8, cluster).bytes.value == 1e3);
  cluster.node.nics.count = 16;
  CHECK(transfer_sending({1e3}, 0, 8, cluster).bytes.value == 500);
}

TEST_CASE("a message waits for the kinds of node of its ends alone") {
  auto cluster = a100(8);
  cluster.others = {{cluster.node, 4}};
  cluster.others.front().node.nvlink.launch = units::Seconds{1};
  CHECK(transfer_time({1e6}, 8, 16, cluster).value < 1);
  CHECK(transfer_time({1e6}, 8, 32, cluster).value > 1);
  CHECK(transfer_time({1e6}, 32, 8, cluster).value > 1);
}

TEST_CASE("a bridged GPU reaches its partner over NVLink and no other GPU") {
  auto cluster = bare(a100(1));
  cluster.node.nvlink.kind = NvLink::Kind::pairs;
  for (std::int64_t from = 0; from < 8; ++from)
    for (std::int64_t to = 0; to < 8; ++to) {
      if (from == to) continue;
      const bool partners = (from ^ 1) == to;
      CHECK(transfer_sending({9e9}, from, to, cluster).rate.value ==
            Approx(partners ? 0.85 * 240e9 : 25e9));
    }
}

TEST_CASE("a group in any order of its GPUs has the same shape") {
  const auto cluster = a100(4);
  std::vector<std::int64_t> gpus{0, 1, 2, 8, 9};
  do
    CHECK(shape_of(gpus, cluster) ==
          GroupShape{.ranks = 5, .nodes = 2, .least_per_node = 2, .most_per_node = 3});
  while (std::ranges::next_permutation(gpus).found);
}

}  // namespace
}  // namespace group_times_spec
