// SPDX-License-Identifier: Apache-2.0
// The time of a kernel depends on no unit of flops or bytes, and is the longer of its two terms.
#include <array>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/kernel_time.hpp"
#include "topology/offload_time.hpp"

namespace kernel_units_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using samples::round_device;
using units::Kernel;
using units::Precision;
using Layout = Kernel::Layout;

// The factor from a unit of flops or bytes to units of 2^60 of them, in which everything that a
// device does in a second is less than one.
constexpr double exa = 0x1p-60;

Device in_exa(Device device) {
  for (auto& peak : device.peak) peak = peak * exa;
  device.vector_peak = device.vector_peak * exa;
  device.memory_bandwidth = device.memory_bandwidth * exa;
  return device;
}

Kernel in_exa(Kernel kernel) {
  kernel.flops = kernel.flops * exa;
  kernel.traffic = kernel.traffic * exa;
  return kernel;
}

// A product so small that it has less than one such unit of flops and of bytes.
Kernel product(Precision precision = Precision::bf16, std::int64_t batch = 1) {
  return {.kind = Kernel::Kind::product,
          .precision = precision,
          .batch = batch,
          .m = 1280,
          .n = 1280,
          .k = 864,
          .flops = {2.0 * static_cast<double>(batch) * 1280 * 1280 * 864},
          .traffic = {1e6}};
}

Kernel attention(units::FusedAttention fused, Layout layout, std::int64_t head) {
  return {.kind = Kernel::Kind::attention,
          .layout = layout,
          .fused = fused,
          .batch = 16,
          .m = 4096,
          .n = 4096,
          .k = head,
          .flops = {1e12}};
}

TEST_CASE("no kernel's time depends on the unit in which flops and bytes are counted") {
  auto hopper = round_device(), volta = round_device();
  hopper.vector_peak = {1e12};
  hopper.efficiency.kernel_gap = {3e-6};
  samples::set_peak(hopper, Precision::fp8, 200e12);
  auto blackwell = hopper;
  samples::set_peak(blackwell, Precision::mxfp8, 200e12);
  samples::set_peak(volta, Precision::bf16, 0);
  samples::set_peak(volta, Precision::fp16, 100e12);
  auto tabled = hopper;  // no start-up, which would be subtracted in flops of the table's sizes
  tabled.efficiency.kernel_gap = {0};
  tabled.efficiency.products = {{Layout::forward, 1, 2048, 2048, 1024, 0.5},
                                {Layout::forward, 8, 1024, 2048, 1024, 0.3}};
  std::vector<Kernel> kernels{{.kind = Kernel::Kind::stream, .traffic = {1e9}},
                              {.kind = Kernel::Kind::random, .traffic = {1e9}},
                              {.kind = Kernel::Kind::stream, .flops = {1e9}, .traffic = {1e3}}};
  for (const auto precision : {Precision::bf16, Precision::fp16, Precision::fp8})
    for (const std::int64_t batch : {1, 8}) kernels.push_back(product(precision, batch));
  for (const auto fused : {units::FusedAttention::flash_2, units::FusedAttention::cudnn})
    for (const auto layout : {Layout::forward, Layout::input_gradient})
      for (const std::int64_t head : {64, 128}) kernels.push_back(attention(fused, layout, head));
  auto experts = product(Precision::bf16, 8);
  experts.grouped = true;
  experts.launches = 8;
  kernels.push_back(experts);
  auto slow = hopper;  // here products wait for their operands
  slow.memory_bandwidth = {1e11};
  for (const auto& device : {hopper, blackwell, volta, tabled, slow})
    for (const auto& kernel : kernels) {
      const bool computes =
          kernel.kind == Kernel::Kind::product || kernel.kind == Kernel::Kind::attention;
      if (computes && !(device.peak_of(kernel.precision).value > 0)) continue;
      CHECK_THAT(kernel_time(in_exa(kernel), in_exa(device)).value,
                 WithinRel(kernel_time(kernel, device).value, 1e-9));
    }
}

TEST_CASE("a stream takes the longer of its bytes and its arithmetic") {
  auto device = round_device();
  Kernel stream{.kind = Kernel::Kind::stream, .flops = {3e9}, .traffic = {1e9}};
  CHECK_THAT(kernel_time(stream, device).value, WithinRel(1e-3, 1e-12));  // its rate is not known
  device.vector_peak = {1e12};
  CHECK_THAT(kernel_time(stream, device).value, WithinRel(3e-3, 1e-12));
  stream.flops = {0.5e9};
  CHECK_THAT(kernel_time(stream, device).value, WithinRel(1e-3, 1e-12));
}

TEST_CASE("a product without rows, columns and depth takes its start-up, in 8 and in 16 bit") {
  auto device = round_device();
  device.efficiency.kernel_gap = {3e-6};
  for (const auto precision : {Precision::fp8, Precision::bf16}) {
    Kernel none{.kind = Kernel::Kind::product, .precision = precision};
    none.m = none.n = none.k = 0;
    CHECK(kernel_time(none, device).value == 3e-6);
  }
}

TEST_CASE(
    "a kernel that is limited by memory as much as by its arithmetic has the evidence of it") {
  auto device = round_device();
  device.efficiency.products = {{Layout::forward, 1, 1280, 1280, 864, 0.5}};
  auto kernel = product();
  const auto of = [&](double seconds_of_memory) {
    kernel.traffic = device.memory_bandwidth * units::Seconds{seconds_of_memory};
    return KernelTimes(device).evidence(kernel);
  };
  const double computing = kernel.flops.value / 50e12;
  CHECK(of(0.999 * computing) == Evidence::measured);
  CHECK(of(1.001 * computing) == Evidence::physics);
  // At half of the clock the arithmetic takes twice as long.
  device.efficiency.sustained_clock = 0.5;
  CHECK(of(1.999 * computing) == Evidence::measured);
  CHECK(of(2.001 * computing) == Evidence::physics);
}

Cluster host() {
  auto cluster = samples::a100(1);
  cluster.gpus = 4;
  cluster.node.pcie = {.bandwidth = {20e9}, .latency = {1e-5}};
  cluster.node.host.memory_bandwidth = {100e9};
  cluster.node.nvme = {.read = {8e9}, .write = {4e9}};
  return cluster;
}

double seconds(const OffloadWork& work, const Cluster& cluster) {
  return offload_time(work, cluster, 0).value;
}

TEST_CASE("copies of four GPUs share the host's memory, where that is slower than PCIe") {
  auto cluster = host();
  CHECK_THAT(seconds({.moved = {1e9}}, cluster), WithinRel(1e-5 + 0.05, 1e-12));
  cluster.node.host.memory_bandwidth = {40e9};
  CHECK_THAT(seconds({.moved = {1e9}}, cluster), WithinRel(0.1, 1e-12));
  cluster.node.host.memory_bandwidth = {0};  // its rate is not known
  CHECK_THAT(seconds({.moved = {1e9}}, cluster), WithinRel(1e-5 + 0.05, 1e-12));
}

TEST_CASE("an offload without bytes takes no time, on hosts without drives or memory too") {
  CHECK(seconds({}, host()) == 0);
  auto bare = host();
  bare.node.host.memory_bandwidth = {0};
  bare.node.nvme = {};
  CHECK(seconds({}, bare) == 0);
}

TEST_CASE("an offload that only reads needs no drive that writes, and the other way round") {
  auto cluster = host();
  cluster.node.nvme = {.read = {8e9}};
  CHECK_THAT(seconds({.read = {1e9}}, cluster), WithinRel(0.5, 1e-12));
  cluster.node.nvme = {.write = {4e9}};
  CHECK_THAT(seconds({.written = {1e9}}, cluster), WithinRel(1.0, 1e-12));
}

TEST_CASE("no offload's time depends on the unit in which bytes are counted") {
  auto cluster = host(), other = cluster;
  other.node.pcie.bandwidth = cluster.node.pcie.bandwidth * exa;
  other.node.host.memory_bandwidth = cluster.node.host.memory_bandwidth * exa;
  other.node.nvme.read = cluster.node.nvme.read * exa;
  other.node.nvme.write = cluster.node.nvme.write * exa;
  const units::Bytes all{1e9};
  for (const auto& [here, there] : std::array<std::pair<OffloadWork, OffloadWork>, 4>{
           {{{.moved = all}, {.moved = all * exa}},
            {{.touched = all}, {.touched = all * exa}},
            {{.read = all}, {.read = all * exa}},
            {{.written = all}, {.written = all * exa}}}})
    CHECK_THAT(seconds(there, other), WithinRel(seconds(here, cluster), 1e-9));
  other.node.host.memory_bandwidth = units::BytesPerSecond{40e9} * exa;
  CHECK_THAT(seconds({.moved = all * exa}, other), WithinRel(0.1, 1e-9));
}

}  // namespace
}  // namespace kernel_units_spec
