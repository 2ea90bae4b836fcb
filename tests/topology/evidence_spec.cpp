// SPDX-License-Identifier: Apache-2.0
// The evidence that a price has, case by case.
#include <array>
#include <string>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/kernel_time.hpp"
#include "topology/rate_surface.hpp"
#include "topology/words.hpp"

namespace evidence_spec {
namespace {

using namespace topology;
using units::Kernel;
using units::Precision;
using Layout = units::Kernel::Layout;
using enum Evidence;

// A device with a table of two forward products, and of attention of 1,024 and 4,096 tokens with
// heads of 128.
Device table_device() {
  auto device = samples::round_device();
  device.memory_bandwidth = {1e18};  // so fast that it never limits
  device.efficiency.products = {{Layout::forward, 1, 1024, 1024, 1024, 0.5},
                                {Layout::forward, 1, 4096, 4096, 4096, 0.7}};
  device.efficiency.attention = {{MeasuredAttention::Pass::forward, 128, 1024, true, 0.4},
                                 {MeasuredAttention::Pass::forward, 128, 4096, true, 0.5}};
  return device;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout = Layout::forward) {
  return {.kind = Kernel::Kind::product,
          .layout = layout,
          .m = m,
          .n = n,
          .k = k,
          .flops = {2.0 * static_cast<double>(m * n * k)},
          .traffic = {static_cast<double>(2 * (m * k + k * n + m * n))}};
}

Kernel attention(std::int64_t tokens, std::int64_t head) {
  return {.kind = Kernel::Kind::attention,
          .causal = true,
          .batch = 64,
          .m = tokens,
          .n = tokens,
          .k = head,
          .flops = {1e12}};
}

Evidence of(const Kernel& kernel, const Device& device) {
  return KernelTimes(device).evidence(kernel);
}

constexpr std::array<double, 2> sizes{1024, 4096}, ranks{2, 8}, bytes{1e6, 16e6};
constexpr std::array<float, 8> hundred{100, 100, 100, 100, 100, 100, 100, 100};
constexpr std::array<float, 4> micros{100, 1000, 100, 1000};
constexpr std::array<RateSurface, 2> surfaces{{{RateSurface::Kind::product,
                                                "cublas",
                                                RateSurface::Numbers::bf16,
                                                RateSurface::Unit::teraflops,
                                                {sizes, sizes, sizes},
                                                hundred},
                                               {RateSurface::Kind::collective,
                                                "all_gather:nccl-2.27.3",
                                                RateSurface::Numbers::bf16,
                                                RateSurface::Unit::microseconds,
                                                {ranks, bytes, {}},
                                                micros}}};
constexpr DeviceRates own_rates{"round", "pencil", "today", "none", surfaces};
constexpr DeviceRates other_rates{"square", "pencil", "today", "none", surfaces};

TEST_CASE("a product within 5 % of a measured one in every size is measured") {
  CHECK(of(product(1024, 1024, 1024), table_device()) == measured);
  CHECK(of(product(1072, 976, 1024), table_device()) == measured);       // by 1.047 and 1 / 1.049
  CHECK(of(product(1080, 1024, 1024), table_device()) == interpolated);  // factor 1.055
}

TEST_CASE("a product between the measured ones of its pass is interpolated, beyond them scaled") {
  CHECK(of(product(2048, 2048, 2048), table_device()) == interpolated);
  CHECK(of(product(1024, 4096, 2048), table_device()) == interpolated);
  CHECK(of(product(8192, 2048, 2048), table_device()) == scaled);
  CHECK(of(product(1024, 1024, 1024, Layout::weight_gradient), table_device()) == scaled);
}

TEST_CASE("another precision, another batch and rows that start off 16 bytes are scaled") {
  auto device = table_device();
  samples::set_peak(device, Precision::fp8, 200e12);
  samples::set_peak(device, Precision::fp16, 100e12);
  auto kernel = product(1024, 1024, 1024);
  kernel.precision = Precision::fp16;  // as wide as bf16
  CHECK(of(kernel, device) == measured);
  kernel.precision = Precision::fp8;
  CHECK(of(kernel, device) == scaled);
  CHECK(of(product(1024, 1023, 1024), device) == scaled);
  kernel = product(1024, 1024, 1024);
  kernel.batch = 8;
  CHECK(of(kernel, device) == scaled);
}

TEST_CASE("a table of the catalog is of the chip of its name, a user's of the user's") {
  auto device = table_device();
  const auto kernel = product(1024, 1024, 1024);
  device.name = "h200-sxm";
  device.efficiency.kernels = {"h100.csv", ""};
  CHECK(of(kernel, device) == scaled);
  CHECK(of(attention(1024, 128), device) == scaled);
  device.efficiency.kernels.digest = "0123456789abcdef";
  CHECK(of(kernel, device) == measured);
  device.efficiency.kernels = {"h100.csv", ""};
  device.name = "h800-80gb-sxm";  // the H800 computes as the H100 does
  CHECK(of(kernel, device) == measured);
}

TEST_CASE("kernels that memory limits, and kernels without a table, are physics") {
  auto device = table_device();
  CHECK(of({.kind = Kernel::Kind::stream, .traffic = {1e9}}, device) == physics);
  CHECK(of({.kind = Kernel::Kind::random, .traffic = {1e9}}, device) == physics);
  device.memory_bandwidth = {1e9};  // 1,024³ take 6.3 ms of traffic and 43 µs of flops
  CHECK(of(product(1024, 1024, 1024), device) == physics);
  CHECK(of(product(1024, 1024, 1024), samples::round_device()) == physics);
  CHECK(of(attention(1024, 128), samples::round_device()) == physics);
}

TEST_CASE("attention is measured, interpolated or scaled by its length, head, pass and kernel") {
  const auto device = table_device();
  CHECK(of(attention(4096, 128), device) == measured);
  CHECK(of(attention(2048, 128), device) == interpolated);
  CHECK(of(attention(8192, 128), device) == scaled);
  CHECK(of(attention(2048, 64), device) == scaled);
  auto other = attention(4096, 128);
  other.n = 1024;  // with a window
  CHECK(of(other, device) == scaled);
  other = attention(4096, 128);
  other.layout = Layout::input_gradient;  // no such pass was measured
  CHECK(of(other, device) == physics);
  auto flash_2 = device;
  for (auto& row : flash_2.efficiency.attention) row.fused = units::FusedAttention::flash_2;
  other = attention(4096, 128);
  other.fused = units::FusedAttention::flash_3;  // faster than the measured one by a factor
  CHECK(of(other, flash_2) == scaled);
}

TEST_CASE("a surface interpolates forward products of its own device and range") {
  auto device = samples::round_device();
  device.memory_bandwidth = {1e18};
  device.rates = &own_rates;
  CHECK(of(product(1024, 1024, 1024), device) == interpolated);  // nodes of surfaces are means
  CHECK(of(product(2048, 2048, 2048), device) == interpolated);
  CHECK(of(product(8192, 2048, 2048), device) == scaled);
  CHECK(of(product(2048, 2048, 2048, Layout::input_gradient), device) == scaled);
  device.rates = &other_rates;
  CHECK(of(product(2048, 2048, 2048), device) == scaled);
}

TEST_CASE("a collective in a node is as its surface has it, on the machine of the measurements") {
  auto cluster = samples::h200(2);
  cluster.node.device.name = "round";
  cluster.node.nvlink.efficiency = 0.75;
  cluster.node.device.rates = &own_rates;
  const auto of = [&](double size, const GroupShape& group,
                      Collective collective = Collective::all_gather) {
    return collective_evidence(collective, {size}, group, cluster);
  };
  CHECK(of(1e6, samples::inside(8)) == measured);
  CHECK(of(4e6, samples::inside(8)) == interpolated);
  CHECK(of(1e6, samples::inside(4)) == interpolated);
  CHECK(of(64e6, samples::inside(8)) == scaled);
  CHECK(of(1e6, samples::inside(8), Collective::all_reduce) == physics);
  CHECK(of(1e6, samples::across(2, 8)) == physics);
  cluster.node.nvlink.bandwidth = {200e9};
  CHECK(of(1e6, samples::inside(8)) == scaled);
}

TEST_CASE("a collective that its fabric has a table of is measured at the table's sizes") {
  auto cluster = samples::a100(2);
  cluster.fabric.measured = {{.collective = Collective::all_reduce,
                              .ranks = 16,
                              .nodes = 2,
                              .points = {{{1e6}, {1e-4}}, {{16e6}, {1e-3}}}}};
  const auto of = [&](double size) {
    return collective_evidence(Collective::all_reduce, {size}, samples::across(2, 8), cluster);
  };
  CHECK(of(16e6) == measured);
  CHECK(of(4e6) == interpolated);
  CHECK(of(1e9) == scaled);
  CHECK(of(1e3) == scaled);
}

TEST_CASE("evidence has a word each, and two prices together the weaker") {
  CHECK(std::string(units::word(interpolated)) == "interpolated");
  CHECK(weaker(measured, scaled) == scaled);
  CHECK(weaker(physics, interpolated) == physics);
}

}  // namespace
}  // namespace evidence_spec
