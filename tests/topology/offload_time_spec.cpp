// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "topology/offload_time.hpp"

namespace offload_time_spec {

using topology::offload_time;

TEST_CASE("a host is shared by the GPUs of its node, and its slowest part counts") {
  topology::Cluster cluster;
  cluster.node.gpus = 8;
  cluster.node.pcie = {.bandwidth = {25e9}, .latency = {0}};
  cluster.node.host = {.memory = {1e12}, .memory_bandwidth = {400e9}};
  cluster.node.nvme = {.capacity = {1e13}, .read = {20e9}, .write = {10e9}};
  cluster.gpus = 16;
  const auto time = [&](const topology::OffloadWork& work) {
    return offload_time(work, cluster, 0).value;
  };
  CHECK(time({}) == 0);
  CHECK(time({.moved = {25e9}}) == Approx(1));                      // each GPU has its own PCIe
  CHECK(time({.touched = {30e9}}) == Approx(1));                    // 8 x 30 GB at 0.6 of 400 GB/s
  CHECK(time({.read = {2.5e9}}) == Approx(1));                      // 8 x 2.5 GB at 20 GB/s
  CHECK(time({.read = {2.5e9}, .written = {2.5e9}}) == Approx(3));  // drives either read or write
  CHECK(time({.moved = {50e9}, .touched = {30e9}, .read = {2.5e9}}) == Approx(2));
  cluster.gpus = 4;  // fills half of a node
  CHECK(time({.touched = {30e9}}) == Approx(0.5));
}

}  // namespace offload_time_spec
