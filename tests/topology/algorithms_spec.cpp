// SPDX-License-Identifier: Apache-2.0
// Algorithms and protocols, each where it is the fastest. Latencies are those of NCCL's table:
//
//                        LL    LL128   Simple
//   start, ring         6.6    14       8.4
//   start, tree         6.8    14       8.4
//   NVLink, ring        0.6     1.9     3.4
//   NVLink, tree        0.6     1.25    4.0
//   network             2.7     4      14      and as the trees where a node has one member
//   network, tree       5       8.5    14
#include <cmath>

#include "tests/catch.hpp"
#include "topology/algorithms.hpp"

namespace algorithms_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using constants::Generation;
using enum Collective;

constexpr double us = 1e-6, GBps = 1e9;
// The size of a tree's buffer in bytes; the share of bandwidth that trees reach is tabled at 64
// bytes and every doubling of them.
double doublings(double of_64_bytes) { return 64 * std::exp2(of_64_bytes); }

// The paths of a node have no launch and no ramp, and so many channels that none of them limits
// anything.
Paths node(double ranks, double intra = 240 * GBps) {
  return {.generation = Generation::ampere,
          .ranks = ranks,
          .local = ranks,
          .nvlink = true,
          .intra = intra,
          .peers = ranks - 1,
          .channels = 1e6};
}

// A message between nodes takes 1 us in the NIC, with Simple 2 us, and 3 us on the wire.
Paths network(double nodes, double local, double inter = 100 * GBps, double intra = 240 * GBps) {
  return {.generation = Generation::hopper,
          .ranks = nodes * local,
          .nodes = nodes,
          .local = local,
          .nvlink = true,
          .intra = local > 1 ? intra : 0,
          .inter = inter,
          .peers = local - 1,
          .leaving = local * (nodes - 1) * local / inter,
          .channels = 1e6,
          .nic = 1 * us,
          .wire = 3 * us};
}

void takes(double seconds, Collective collective, double size, const Paths& paths) {
  CHECK_THAT(fastest(collective, size, paths).time, WithinRel(seconds, 1e-9));
}

TEST_CASE("an empty buffer takes the hops of single words, over PCIe slower ones") {
  takes((6.6 + 14 * 0.6) * us, all_reduce, 0, node(8));
  takes((6.6 + 7 * 0.6) * us, all_gather, 0, node(8));
  takes((6.6 + 8 * 0.6) * us, broadcast, 0, node(8));
  auto pcie = node(8);
  pcie.nvlink = false;
  takes((6.6 + 14 * 1.0) * us, all_reduce, 0, pcie);
  takes((6.6 + 7 * 1.0) * us, all_gather, 0, pcie);
}

TEST_CASE("hops over slower links are longer by as much, and none takes less than no time") {
  auto slow = node(8);
  slow.slower_hop = 2;
  takes((6.6 + 14 * 2.6) * us, all_reduce, 0, slow);
  takes((6.6 + 7 * 2.6) * us, all_gather, 0, slow);
  takes((6.6 + 2.6) * us, all_to_all, 0, slow);
  CHECK_THAT(message(0, slow).time, WithinRel((6.6 + 2.6) * us, 1e-9));
  slow.slower_hop = -1;
  takes(6.6 * us, all_gather, 0, slow);
}

TEST_CASE("single words go round a ring at half of its rate, and no faster than a CPU polls them") {
  const double latency = 6.6 + 2 * 0.6;
  takes((latency + 1) * us, broadcast, 30e3, node(2, 60 * GBps));
  // In one node a CPU polls 87.7 GB/s on Ampere, 141 on Hopper.
  auto fast = node(2, 1000 * GBps);
  takes((latency + 1) * us, broadcast, 87.7e3, fast);
  fast.generation = Generation::hopper;
  takes((latency + 1) * us, broadcast, 141e3, fast);
  // Between two nodes one hop waits for the NIC, and a CPU polls 22.5 GB/s beside A100s, else 39.
  auto two = network(2, 1);
  const double outside = 6.6 + 1.0 + (5 + 1 + 3);
  takes((outside + 10) * us, broadcast, 390e3, two);
  two.generation = Generation::ampere;
  takes((outside + 10) * us, broadcast, 225e3, two);
}

TEST_CASE("a ring between nodes pays the network's hop, less where a node has several members") {
  takes((6.6 + 1.0 + (5 + 4)) * us, broadcast, 0, network(2, 1));
  takes((6.6 + 3 * 1.0 + (2.7 + 4)) * us, broadcast, 0, network(2, 2));
  takes((6.6 + 2 * 1.0 + (2.7 + 4)) * us, all_gather, 0, network(2, 2));
}

TEST_CASE("a ring of lines of 128 bytes has 0.92 of the rate, or that of its channels") {
  auto two = network(2, 1, 10 * GBps);
  const double latency = 14 + 1.9 + (8.5 + 4);
  takes((latency + 14 / 0.92) * us, broadcast, 140e3, two);
  // The ramp counts half; its time depends on T, which here is far from 12 L.
  two.ramp = 0.01;
  const double transfer = 14 / 0.92, filling = latency * transfer / (1 + transfer / (12 * latency));
  takes((latency + transfer + 0.005 * std::sqrt(filling)) * us, broadcast, 140e3, two);
  // Two channels of 36.7 GB/s each do not fill a NIC of 100 GB/s.
  auto few = network(2, 1);
  few.channels = 2;
  few.nic = 5 * us;
  takes((latency + 4) * us + 1.2e6 / (2 * 36.7e9), broadcast, 1.2e6, few);
}

TEST_CASE("the slower of NVLink and network holds a ring between nodes back") {
  const double latency = (8.4 + 7 * 3.4 + (14 + 2 + 3)) * us;
  takes(latency + 1e9 / 20e9, broadcast, 1e9, network(2, 4, 20 * GBps, 100 * GBps));
  takes(latency + 1e9 / 20e9, broadcast, 1e9, network(2, 4, 100 * GBps, 20 * GBps));
  takes(latency + 10 / 0.5, broadcast, 10, network(2, 4, 100 * GBps, 0.5));
}

TEST_CASE("a large all-reduce over a ring of nodes waits 1.4 times its latency, Volta's 1.9") {
  auto three = network(3, 1);
  three.nvlink = false;
  // An all-reduce of three nodes takes four hops, each over the network.
  const double latency = (8.4 + 4 * (14 + 2 + 3)) * us;
  takes(1.4 * latency + 4e9 / 3 / 100e9, all_reduce, 1e9, three);
  three.generation = Generation::volta;
  takes(1.9 * latency + 4e9 / 3 / 100e9, all_reduce, 1e9, three);
  takes((8.4 + 2 * 19) * us + 2e9 / 3 / 100e9, all_gather, 1e9, three);
}

TEST_CASE("an all-reduce is large from 64 bytes a channel and rank on") {
  auto two = network(2, 1);
  two.nvlink = false;
  const double latency = (8.4 + 2 * 19) * us, edge = 64 * 1e6 * 2;
  takes(1.4 * latency + edge / 100e9, all_reduce, edge, two);
  takes(latency + (edge - 1) / 100e9, all_reduce, edge - 1, two);
}

TEST_CASE("members that are all joined take one step, or two to reduce, in one node only") {
  auto mesh = node(8);
  mesh.direct = true;
  takes((6.6 + 0.6) * us, all_gather, 0, mesh);
  takes((6.6 + 2 * 0.6) * us, all_reduce, 0, mesh);
  auto two = network(2, 2);
  const double ring = fastest(broadcast, 0, two).time;
  two.direct = true;
  takes(ring, broadcast, 0, two);
  // Where pipelines fill slowly, lines of 128 bytes win because they have half of the ramp.
  mesh.ramp = 2;
  const double latency = 14 + 1.9, transfer = 65;
  const double filling = latency * transfer / (1 + transfer / (12 * latency));
  takes((latency + transfer + std::sqrt(filling)) * us, all_gather,
        transfer * us * 0.92 * 240e9 * 8 / 7, mesh);
}

TEST_CASE("over 1,024 nodes a tree of ten levels takes every step up and down once") {
  takes((6.8 + 2 * 10 * (5 + 4)) * us, all_reduce, 0, network(1024, 1));
  takes((6.8 + 2 * (3 * 0.6 + 10 * (5 + 4))) * us, all_reduce, 0, network(1024, 4));
  auto pcie = network(1024, 4);
  pcie.nvlink = false;
  takes((6.8 + 2 * (3 * 1.0 + 10 * (5 + 4))) * us, all_reduce, 0, pcie);
  takes((6.8 + 2 * (7 * 0.6 + (5 + 4))) * us, all_reduce, 0, network(2, 8));
}

TEST_CASE("trees of nodes reduce at 0.47 of the rate, times the share of protocol and size") {
  auto many = network(1024, 1, 38 * GBps);
  const double size = doublings(23);  // trees reach 0.9 of Simple's rate
  const double lines = (14 + 20 * (8.5 + 4)) * us, simple = (8.4 + 20 * (14 + 2 + 3)) * us;
  takes(lines + size / (0.47 * 38e9 * 120 / 128), all_reduce, size, many);
  takes(lines + 4 * size / (0.47 * 38e9 * 120 / 128), all_reduce, 4 * size, many);
  // PCIe has no lines of 128 bytes.
  many.nvlink = false;
  takes(simple + size / (0.47 * 38e9 * 0.92 * 0.9), all_reduce, size, many);
  many.inter = 1000 * GBps;
  many.channels = 2;
  takes(simple + size / (0.47 * 2 * 36e9 * 0.9), all_reduce, size, many);
  // Single words take 1 / 3.8 of the rate, but no more than a CPU polls for three and more nodes:
  // 20.4 GB/s.
  takes((6.8 + 20 * 9) * us + doublings(3) / (0.47 * 20.4e9), all_reduce, doublings(3), many);
  many.inter = 38 * GBps;
  takes((6.8 + 20 * 9) * us + doublings(3) / (0.47 * 10e9), all_reduce, doublings(3), many);
  // On Ampere the two channels carry 20 GB/s each.
  many = network(1024, 1);
  many.generation = Generation::ampere;
  many.channels = 2;
  takes(lines + size / (0.47 * 2 * 20e9), all_reduce, size, many);
}

TEST_CASE("lines of 128 bytes have half of the ramp in a tree") {
  auto many = network(1024, 1, 38 * GBps);
  many.ramp = 0.01;
  const double latency = 14 + 20 * (8.5 + 4), transfer = 12 * latency;
  // With T = 12 L the ramp counts half of the root of L · 12 L / 2.
  takes((latency + transfer + 0.005 * latency * std::sqrt(6.0)) * us, all_reduce,
        transfer * us * 0.47 * 38e9 * 120 / 128 * 0.9, many);
}

TEST_CASE("between two nodes a tree passes twice the rate of the NICs, if NVLink passes as much") {
  const double size = doublings(17);  // 0.9 of the rate of lines of 128 bytes
  const double latency = (14 + 2 * (7 * 1.25 + (8.5 + 4))) * us;
  takes(latency + size / (0.47 * 200e9 * 120 / 128 * 0.9), all_reduce, size, network(2, 8));
  takes(latency + size / (0.47 * 150e9 * 120 / 128 * 0.9), all_reduce, size,
        network(2, 8, 100 * GBps, 150 * GBps));
  // A tree of many nodes passes what the NICs do, once.
  const double far = (14 + 2 * (7 * 1.25 + 10 * (8.5 + 4))) * us;
  takes(far + size / (0.47 * 100e9 * 120 / 128 * 0.9), all_reduce, size, network(1024, 8));
}

TEST_CASE("a tree of two members on two nodes passes the rate of a NIC, and does not wait longer") {
  // A ring would wait 1.4 times as long, and single words would pass 39 GB/s at most.
  auto two = network(2, 1, 400 * GBps);
  two.nvlink = false;
  two.channels = 100;
  const double size = doublings(15);  // trees reach 0.6 of Simple's rate
  takes((8.4 + 2 * 19) * us + size / (0.47 * 400e9 * 0.92 * 0.6), all_reduce, size, two);
}

TEST_CASE("a tree in one node has half of 7/9 of the rate in lines of 128 bytes") {
  auto volta = node(8, 1000 * GBps);
  volta.generation = Generation::volta;
  const double size = doublings(14);  // trees reach 0.6 of the rate
  takes((14 + 2 * 7 * 1.25) * us + size / (0.5 * 1000e9 * 7 / 9 * 0.6), all_reduce, size, volta);
  volta.channels = 24;
  takes((14 + 2 * 7 * 1.25) * us + size / (0.5 * 24 * 20e9 * 0.6), all_reduce, size, volta);
}

TEST_CASE("switches of several nodes reduce at the rate of their NICs, of two nodes at twice it") {
  auto many = network(1024, 8, 100 * GBps, 360 * GBps);
  many.multicast = true;
  const double n = 8192;
  takes((25 + 2 * 10 * (20.9 + 4)) * us + 1e9 * 2 * (n - 1) / n / (0.94 * 100e9), all_reduce, 1e9,
        many);
  auto two = network(2, 8, 100 * GBps, 360 * GBps);
  two.multicast = true;
  takes((25 + 2 * (20.9 + 4)) * us + 1e9 * 30 / 16 / (0.94 * 200e9), all_reduce, 1e9, two);
  // Four heads reduce 45.5 GB/s each, which is slower than the wide NICs.
  auto wide = network(1024, 4, 1000 * GBps, 1000 * GBps);
  wide.multicast = true;
  wide.channels = 1;
  takes((25 + 2 * 10 * (20.9 + 4)) * us + 1e9 * 2 * 4095 / 4096 / (0.94 * 4 * 45.5e9), all_reduce,
        1e9, wide);
}

TEST_CASE("the fabric reduces every byte once, no faster than it comes from inside the nodes") {
  auto one = network(1024, 1);
  one.in_network = true;
  const double share = 0.94 * 0.9 * 0.85;
  takes((2 * 3.7 + 31 + 2 + 3) * us, all_reduce, 0, one);
  takes((2 * 3.7 + 31 + 2 + 3) * us + 1e9 / (share * 100e9), all_reduce, 1e9, one);
  auto eight = network(1024, 8);
  eight.in_network = true;
  takes((2 * (3.7 + 7 * 0.4) + 31 + 2 + 3) * us, all_reduce, 0, eight);
  takes((2 * (3.7 + 7 * 0.4) + 31 + 2 + 3) * us + 1e9 / (share * 100e9), all_reduce, 1e9, eight);
  // Inside a node a tree has half of 0.92 of the rate; a switch has the share of all heads but
  // their own.
  auto two = network(1024, 2, 100 * GBps, 100 * GBps);
  two.in_network = true;
  two.channels = 1;
  const double latency = (2 * (3.7 + 0.4) + 31 + 2 + 3) * us;
  takes(latency + 1e9 / (0.46 * 100e9), all_reduce, 1e9, two);
  two.multicast = true;
  takes(latency + 1e9 / (100e9 * 8 / 9 * 0.85 / 2), all_reduce, 1e9, two);
}

TEST_CASE("an all-to-all starts eight messages together, over the slower way") {
  takes((6.6 + 0.6) * us, all_to_all, 0, node(9));
  takes((6.6 + 2 * 0.6) * us, all_to_all, 0, node(10));
  takes((6.6 + 2.7 + 4) * us, all_to_all, 0, network(2, 2));
  // Each of eight cards keeps an eighth of its data.
  auto pcie = node(8, 10 * GBps);
  pcie.nvlink = false;
  takes((8.4 + 5.7) * us + 7e9 / 10e9, all_to_all, 8e9, pcie);
  // A rank's data has four quarters, of which one goes to the neighbour and two to the other node.
  // Both members of a node send so.
  takes((8.4 + 19) * us + 1e9 / (0.83 * 1e9), all_to_all, 4e9, network(2, 2, 1000 * GBps, GBps));
  takes((8.4 + 19) * us + 4e9 / 10e9, all_to_all, 4e9, network(2, 2, 10 * GBps));
  takes((8.4 + 19) * us + 1e9 / 10e9, all_to_all, 2e9, network(2, 1, 10 * GBps));
}

TEST_CASE("a message takes one hop, in words where it is short") {
  CHECK_THAT(message(0, node(2)).time, WithinRel(7.2 * us, 1e-9));
  CHECK_THAT(message(120e3, node(2)).time, WithinRel(8.2 * us, 1e-9));
  CHECK_THAT(message(0, network(2, 1)).time, WithinRel((6.6 + 5 + 4) * us, 1e-9));
  CHECK_THAT(message(1e9, network(2, 1)).time, WithinRel((8.4 + 19) * us + 0.01, 1e-9));
}

}  // namespace
}  // namespace algorithms_spec
