// SPDX-License-Identifier: Apache-2.0
// Small machines with round numbers.
#pragma once
#include <array>

#include "topology/cluster.hpp"
#include "topology/collective.hpp"
#include "topology/device.hpp"

namespace topology::samples {

inline constexpr std::array every{Collective::all_reduce,     Collective::all_gather,
                                  Collective::reduce_scatter, Collective::all_to_all,
                                  Collective::broadcast,      Collective::reduce};

inline void set_peak(Device& device, units::Precision precision, double flops) {
  device.peak[static_cast<std::size_t>(precision)] = {flops};
}

// A device of 100 TFLOP/s, 1 TB/s and 100 processors, without measurements and start-up, that
// reaches all of its peaks.
inline Device round_device() {
  Device device{.name = "round"};
  set_peak(device, units::Precision::bf16, 100e12);
  device.memory_bandwidth = {1e12};
  device.sms = 100;
  device.efficiency = {.product_plateau = 0.8,
                       .product_half_depth = 96,
                       .attention_plateau = 0.5,
                       .memory = 1.0,
                       .sustained_clock = 1.0,
                       .kernel_gap = {0}};
  return device;
}

// A cluster of `nodes` nodes with eight GPUs behind NVSwitches and one NIC of 25 GB/s per GPU.
inline Cluster a100(std::int64_t nodes) {
  Cluster cluster;
  set_peak(cluster.node.device, units::Precision::bf16, 312e12);
  cluster.node.nvlink = {.kind = NvLink::Kind::nvswitch, .bandwidth = {300e9}};
  cluster.node.nics = {.count = 8, .bandwidth = {25e9}};
  cluster.fabric = {.name = "rails", .link_bandwidth = {25e9}};
  cluster.gpus = 8 * nodes;
  return cluster;
}

// The same cluster with NVLink4, switches that reduce, and NICs of 50 GB/s.
inline Cluster h200(std::int64_t nodes) {
  auto cluster = a100(nodes);
  set_peak(cluster.node.device, units::Precision::bf16, 989e12);
  set_peak(cluster.node.device, units::Precision::fp8, 1979e12);
  cluster.node.nvlink.bandwidth = {450e9};
  cluster.node.nvlink.multicast = true;
  cluster.node.nics.bandwidth = cluster.fabric.link_bandwidth = {50e9};
  return cluster;
}

// A node of eight GPUs in a hybrid cube mesh of six links of 25 GB/s each.
inline Cluster v100() {
  auto cluster = a100(1);
  cluster.node.device.peak = {};
  set_peak(cluster.node.device, units::Precision::fp16, 125e12);
  cluster.node.nvlink = {.kind = NvLink::Kind::mesh, .bandwidth = {150e9}, .efficiency = 0.9};
  return cluster;
}

// A group of so many GPUs of one node; after it, one of so many on each of several nodes.
inline GroupShape inside(int ranks) {
  return {.ranks = ranks, .nodes = 1, .least_per_node = ranks, .most_per_node = ranks};
}

inline GroupShape across(int nodes, int per_node, int sharing = 1) {
  return {.ranks = nodes * per_node,
          .nodes = nodes,
          .least_per_node = per_node,
          .most_per_node = per_node,
          .sharing = sharing};
}

// The cluster with nothing but hops and bytes: no launch, no ramp.
inline Cluster bare(Cluster cluster) {
  cluster.node.nvlink.launch = units::Seconds{0};
  cluster.node.nvlink.ramp = cluster.fabric.ramp = 0;
  cluster.node.nics.latency = cluster.fabric.latency = {0};
  return cluster;
}

}  // namespace topology::samples
