// SPDX-License-Identifier: Apache-2.0
// Collectives inside a node whose device has measured ones.
#include <array>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/rate_surface.hpp"

namespace measured_node_spec {
namespace {

using namespace topology;
using enum Collective;

// Collectives take 100 µs for a megabyte and 1 ms for sixteen, whatever the number of GPUs.
constexpr std::array<double, 2> ranks{2, 8}, bytes{1e6, 16e6};
constexpr std::array<float, 4> micros{100, 1000, 100, 1000};
constexpr std::array<RateSurface, 1> surfaces{{{RateSurface::Kind::collective,
                                                "all_gather:nccl-2.27.3",
                                                RateSurface::Numbers::bf16,
                                                RateSurface::Unit::microseconds,
                                                {ranks, bytes, {}},
                                                micros}}};
constexpr DeviceRates rates{"toy", "pencil", "today", "none", surfaces};

// A cluster of Hoppers as they were measured: 450 GB/s, of which 0.75 carry payload.
Cluster surveyed(std::int64_t nodes = 1) {
  auto cluster = samples::h200(nodes);
  cluster.node.nvlink.efficiency = 0.75;
  cluster.node.device.rates = &rates;
  return cluster;
}

double micro(Collective collective, double size, const GroupShape& group, const Cluster& on) {
  return collective_time(collective, {size}, group, on).value * 1e6;
}

TEST_CASE("on the machine of the measurements a collective takes the measured time") {
  for (const int members : {2, 5, 8}) {
    CHECK(micro(all_gather, 1e6, samples::inside(members), surveyed()) == Approx(100));
    CHECK(micro(all_gather, 16e6, samples::inside(members), surveyed()) == Approx(1000));
  }
  // Four times the size takes √10 times as long, on a straight line between logarithms.
  CHECK(micro(all_gather, 4e6, samples::inside(8), surveyed()) == Approx(316.2277660168));
}

TEST_CASE("collectives, groups and links that were not measured are left to the model") {
  auto without = surveyed(2);
  without.node.device.rates = nullptr;
  const auto with = surveyed(2);
  CHECK(micro(all_reduce, 1e6, samples::inside(8), with) ==
        micro(all_reduce, 1e6, samples::inside(8), without));
  CHECK(micro(all_gather, 1e6, samples::across(2, 8), with) ==
        micro(all_gather, 1e6, samples::across(2, 8), without));
  auto mesh = with, bare_mesh = without;
  mesh.node.nvlink.kind = bare_mesh.node.nvlink.kind = NvLink::Kind::mesh;
  CHECK(micro(all_gather, 1e6, samples::inside(8), mesh) ==
        micro(all_gather, 1e6, samples::inside(8), bare_mesh));
}

TEST_CASE("every key of the links goes on to count beside measured collectives") {
  const double known = micro(all_gather, 16e6, samples::inside(8), surveyed());
  auto slower = surveyed();
  slower.node.nvlink.bandwidth = {225e9};
  CHECK(micro(all_gather, 16e6, samples::inside(8), slower) > 1.5 * known);
  auto lossy = surveyed();
  lossy.node.nvlink.efficiency = 0.6;
  CHECK(micro(all_gather, 16e6, samples::inside(8), lossy) > known);
  auto late = surveyed();
  late.node.nvlink.launch = units::Seconds{1e-3};
  CHECK(micro(all_gather, 16e6, samples::inside(8), late) > known + 1000);
}

TEST_CASE("above the largest measured size time goes on as the model has it") {
  auto without = surveyed();
  without.node.device.rates = nullptr;
  const auto at = [](double size, const Cluster& on) {
    return micro(all_gather, size, samples::inside(8), on);
  };
  CHECK(at(64e6, surveyed()) / at(16e6, surveyed()) ==
        Approx(at(64e6, without) / at(16e6, without)));
}

}  // namespace
}  // namespace measured_node_spec
