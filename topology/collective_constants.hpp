// SPDX-License-Identifier: Apache-2.0
// Numbers of the collective model. Where nothing else is said: NVIDIA/nccl @5067397c (2.30.7),
// src/graph/tuning.cc and src/graph/topo.h. Times in microseconds, bandwidths in GB/s.
#pragma once
#include <array>

namespace topology::constants {

enum class Generation { volta, ampere, hopper, blackwell };
enum class Protocol { low_latency, low_latency_128, simple };  // LL, LL128, Simple

using PerProtocol = std::array<double, 3>;
using PerGeneration = std::array<double, 4>;
// One node, two nodes, three or more.
using PerSpread = std::array<double, 3>;

inline constexpr PerProtocol ring_base{6.6, 14.0, 8.4}, tree_base{6.8, 14.0, 8.4};
inline constexpr PerProtocol ring_nvlink{0.6, 1.9, 3.4}, tree_nvlink{0.6, 1.25, 4.0};
inline constexpr PerProtocol ring_pcie{1.0, 2.5, 5.7}, tree_pcie{1.0, 1.9, 4.0};
inline constexpr PerProtocol ring_network{2.7, 4.0, 14.0}, tree_network{5.0, 8.5, 14.0};
inline constexpr double nvls = 25, nvls_tree_network = 20.9;
inline constexpr double in_network = 31, in_network_intra = 3.7, in_network_per_gpu = 0.4;
inline constexpr PerProtocol post_overhead{1.0, 1.0, 3.0};  // of a message to the NIC
inline constexpr double plateau_old = 1.9, plateau = 1.4;   // ring, Simple, several nodes

// LL reaches at most this; across nodes the CPU counts: Intel as volta, AMD as ampere.
inline constexpr std::array<PerSpread, 4> low_latency_most{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}}};
inline constexpr std::array<PerSpread, 4> ring_128_per_channel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
inline constexpr std::array<PerSpread, 4> tree_128_per_channel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
inline constexpr std::array<PerSpread, 4> tree_per_channel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
inline constexpr std::array<PerSpread, 4> nvls_tree_per_channel{
    {{0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 80}}};
inline constexpr double ring_128_share = 0.92, tree_share = 0.92, low_latency_share = 0.5;
inline constexpr double tree_low_latency_divisor = 3.8;
inline constexpr double tree_128_one_node = 7.0 / 9, tree_128_nodes = 120.0 / 128;

// Share of a tree's bandwidth by size, doubling from 64 bytes.
inline constexpr std::array<std::array<double, 24>, 3> tree_by_size{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

// In-switch reduction (NVLS): every GPU is head of a channel of at most `head` GB/s; all heads
// together reach `share` of the NVLink bandwidth. From the speed steps in src/graph/search.cc
// (8 heads of 40 of 45 GB/s on H100; on B200 the 32 heads of 20 GB/s of an NVL72 rack).
inline constexpr PerGeneration nvls_head{0, 0, 60, 90}, nvls_share{0, 0, 8.0 / 9, 0.9};
inline constexpr PerGeneration nvls_efficiency{0, 0, 0.85, 0.74};
inline constexpr int nvls_heads_most = 32, nvls_ranks_least = 3;
// Reduction in network switches: share of the NIC rate and of the rate inside the node.
inline constexpr double in_network_share = 0.9 * 0.85;

// Rings of one link each that fit into 2 … 8 GPUs of the hybrid cube mesh of eight V100s: plateau
// bandwidths of VIA-Research/vTrain trace/v100 @f8dda84 over 22.5 GB/s per link.
inline constexpr std::array<double, 7> cube_mesh_rings{1, 2, 3.8, 1.65, 2, 3.85, 6};
inline constexpr int cube_mesh_links = 6;

// NVLink of the machines that docs/rates.md tells of, GB/s, and the `efficiency` at which a
// forecast is what was measured there: what the largest all-gathers reach, on Blackwell NCCL's own
// 720 of 900.
inline constexpr PerGeneration surveyed_nvlink{0, 300, 450, 900};
inline constexpr PerGeneration surveyed_efficiency{0, 0.69, 0.75, 0.8};

// Two, three or four GPUs behind NVSwitches of the A100 do not fill their links: plateaus of
// vTrain's trace/a100 @f8dda84 over that of eight; vidur's pair agrees.
inline constexpr std::array<double, 3> few_ranks{0.85, 0.92, 0.96};

// A ring through PCIe host bridges: share of the practical rate of one card, both directions at
// once. MooreThreads/SimuMax @4dcaae5 configs/system/a100_pcie.json (0.37 … 0.45 of 30 GB/s).
inline constexpr double pcie_ring_share = 0.5;

// Blocks of a collective's kernel for each NIC that it uses, or for its way over PCIe: every ring
// that NCCL finds runs twice (mem).
inline constexpr double blocks_per_path = 2;

// Beyond NCCL's own table: time = start_up + L + T + ramp·√(L·T/(1 + T/(ramp_end·L))), T = S/B,
// of trees between nodes B times network_tree_share. The ramp is the pipeline of chunks filling;
// the chunks stop growing, and so does it. LL moves words and has none; LL128 half. Fitted with
// tools/fit_collectives.py to nccl-tests sweeps on V100, A100, H100, H200 and B200 nodes.
inline constexpr double network_tree_share = 0.94;
inline constexpr PerGeneration start_up{4, 10, 2, 2};
inline constexpr PerGeneration ring_ramp{0.1, 0.4, 0.4, 0.4};
inline constexpr double switch_ramp = 1.1, network_ramp = 0.7, ramp_end = 12;
inline constexpr PerProtocol ramp_share{0, 0.5, 1};
inline constexpr double low_latency_payload = 0.5;  // eight bytes of data, eight of flags

inline constexpr double peers_per_batch = 8;  // all-to-all: messages started together
// Share of the ring's NVLink bandwidth that messages to all peers reach: PKU-DAIR/Hetu-Galvatron
// sp_time_1nodes_8gpus_per_node.json, 4 and 8 GPUs of 240 GB/s, 195 to 199 GB/s.
inline constexpr double peers_share = 0.83;

}  // namespace topology::constants
