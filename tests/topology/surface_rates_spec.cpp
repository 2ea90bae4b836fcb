// SPDX-License-Identifier: Apache-2.0
// Kernels priced by surfaces of rates where a device has no table of its own.
#include <array>
#include <cmath>
#include <utility>

#include "tests/catch.hpp"
#include "topology/kernel_time.hpp"
#include "topology/rate_surface.hpp"

namespace surface_rates_spec {
namespace {

using namespace topology;
using units::Kernel;
using units::Precision;
using Kind = RateSurface::Kind;
using Numbers = RateSurface::Numbers;
using Unit = RateSurface::Unit;

constexpr std::array<double, 2> sizes{1024, 4096}, few{1, 64}, heads{64, 128};
// Products reach 100 TFLOP/s everywhere in bf16 and 150 in fp8, experts 80, attention 60.
constexpr std::array<float, 8> hundred{100, 100, 100, 100, 100, 100, 100, 100};
constexpr std::array<float, 8> more{150, 150, 150, 150, 150, 150, 150, 150};
// The surface has no value for many rows of many experts.
constexpr std::array<float, 8> eighty{80, 80, 80, 0, 80, 80, 80, 0};
constexpr std::array<float, 8> sixty{60, 60, 60, 60, 60, 60, 60, 60};
constexpr std::array<RateSurface, 4> surfaces{
    {{Kind::product, "cublas", Numbers::bf16, Unit::teraflops, {sizes, sizes, sizes}, hundred},
     {Kind::product, "cutlass", Numbers::fp8, Unit::teraflops, {sizes, sizes, sizes}, more},
     {Kind::experts,
      "trtllm:cutlass:balanced",
      Numbers::bf16,
      Unit::teraflops,
      {sizes, few, sizes},
      eighty},
     {Kind::attention,
      "vllm:flashinfer-trtllm-prefill",
      Numbers::bf16,
      Unit::teraflops,
      {heads, few, sizes},
      sixty}}};
constexpr DeviceRates rates{"toy", "pencil", "today", "none", surfaces};

Device toy() {
  Device device;
  device.name = "toy";
  device.memory_bandwidth = {1e15};  // so fast that it never limits
  device.peak[static_cast<std::size_t>(Precision::bf16)] = {200e12};
  device.peak[static_cast<std::size_t>(Precision::fp8)] = {400e12};
  device.sms = 64;
  device.efficiency.kernel_gap = {3e-6};
  device.rates = &rates;
  return device;
}

// A device with formats of 8 bit and scales for blocks, which Hopper lacks.
Device blackwell() {
  auto device = toy();
  device.peak[static_cast<std::size_t>(Precision::mxfp8)] = {400e12};
  return device;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k,
               Precision precision = Precision::bf16, std::int64_t batch = 1) {
  Kernel kernel{.kind = Kernel::Kind::product, .precision = precision};
  kernel.batch = batch, kernel.m = m, kernel.n = n, kernel.k = k;
  kernel.flops = {2.0 * static_cast<double>(batch * m * n * k)};
  return kernel;
}

double seconds(const Kernel& kernel, const Device& device) {
  return kernel_time(kernel, device).value;
}

TEST_CASE("without a table a product takes as long as its surface says, its start-up included") {
  // The product has 2 · 2048³ flops, at 100 TFLOP/s, and in fp8 at 150.
  const double flops = 2.0 * 2048 * 2048 * 2048;
  CHECK(seconds(product(2048, 2048, 2048), toy()) == Approx(flops / 100e12));
  CHECK(seconds(product(2048, 2048, 2048, Precision::fp8), toy()) == Approx(flops / 150e12));
}

TEST_CASE("beyond the surface the model of shapes goes on from the nearest size") {
  // A wave of 64 processors is 64 tiles of 128 × 256, so 4096 × 4096 are eight waves, 16384 × 4096
  // are 32.
  const double gap = 3e-6, inside = seconds(product(4096, 4096, 4096), toy());
  CHECK(seconds(product(16384, 4096, 4096), toy()) - gap == Approx(4 * (inside - gap)));
}

TEST_CASE("the clock slows the rates of a surface") {
  auto slow = toy();
  slow.efficiency.sustained_clock = 0.5;
  const double gap = 3e-6, fast = seconds(product(2048, 2048, 2048), toy());
  CHECK(seconds(product(2048, 2048, 2048), slow) - gap == Approx(2 * (fast - gap)));
}

TEST_CASE("weight gradients run at 0.93 of a forward product's rate") {
  const double gap = 3e-6, forward = seconds(product(2048, 2048, 2048), toy());
  auto gradient = product(2048, 2048, 2048);
  gradient.layout = Kernel::Layout::weight_gradient;
  CHECK(seconds(gradient, toy()) - gap == Approx((forward - gap) / 0.93));
}

TEST_CASE("a table of training's products prices its own precision, and joins the surfaces to it") {
  auto measured = blackwell();
  // At 4096 cubed the table has 0.25 of 200 TFLOP/s, half of the surface's 100.
  measured.efficiency.products = {{Kernel::Layout::forward, 1, 4096, 4096, 4096, 0.25}};
  const double flops = 2.0 * 4096 * 4096 * 4096, gap = 3e-6;
  CHECK(seconds(product(4096, 4096, 4096), measured) == Approx(flops / 50e12));
  const auto narrow = product(4096, 4096, 4096, Precision::fp8);
  // Forward products alone may have been measured with an inference framework, so narrow products
  // stay with the model.
  auto without = measured;
  without.rates = nullptr;
  CHECK(seconds(narrow, measured) == seconds(narrow, without));
  measured.efficiency.products.push_back({Kernel::Layout::weight_gradient, 1, 64, 64, 64, 0.1});
  CHECK(seconds(narrow, measured) - gap == Approx(2 * (flops / 150e12 - gap)));
}

TEST_CASE("on Hopper a table of training's products prices products in 8 bit as well") {
  auto hopper = toy();
  hopper.efficiency.products = {{Kernel::Layout::forward, 1, 4096, 4096, 4096, 0.25},
                                {Kernel::Layout::weight_gradient, 1, 64, 64, 64, 0.1}};
  auto without = hopper;
  without.rates = nullptr;
  const auto narrow = product(4096, 4096, 4096, Precision::fp8);
  CHECK(seconds(narrow, hopper) == seconds(narrow, without));
}

TEST_CASE(
    "products of experts take the rate of layers of experts, of as many rows as were measured") {
  auto experts = product(1024, 2048, 2048, Precision::bf16, 64);
  experts.grouped = true;
  // A width of 2048 lies between two nodes of 80.
  CHECK(seconds(experts, toy()) == Approx(experts.flops.value / 80e12));
  auto beyond = product(4096, 2048, 2048, Precision::bf16, 64);
  beyond.grouped = true;
  CHECK(seconds(beyond, toy()) == Approx(4 * seconds(experts, toy())).epsilon(0.02));
}

TEST_CASE("a weight's gradient of experts takes the surface of as many rows as it sums up") {
  // The surface has no value for 64 experts of 4096 rows and a width of 4096, but one for 1024
  // rows. The rows of a weight's gradient are its k; its n of results are no rows.
  auto gradient = product(2048, 2048, 1024, Precision::bf16, 64);
  gradient.grouped = true;
  gradient.layout = Kernel::Layout::weight_gradient;
  auto forward = product(1024, 2048, 2048, Precision::bf16, 64);
  forward.grouped = true;
  // With 64 processors both products are whole waves in the model of shapes, with start-ups of 160
  // in k.
  const double gap = 3e-6,
               rate = (seconds(gradient, toy()) - gap) / (seconds(forward, toy()) - gap);
  CHECK(rate * 0.90 == Approx((1 + 160.0 / 1024) / (1 + 160.0 / 2048)));
}

TEST_CASE("where two kernels for narrow experts were measured the faster one counts") {
  static constexpr std::array<float, 8> slow{40, 40, 40, 40, 120, 120, 120, 120};
  static constexpr std::array<RateSurface, 2> both{{{Kind::experts,
                                                     "vllm:flashinfer-trtllm-monolithic:balanced",
                                                     Numbers::fp8,
                                                     Unit::teraflops,
                                                     {sizes, few, sizes},
                                                     eighty},
                                                    {Kind::experts,
                                                     "trtllm:deepgemm:balanced",
                                                     Numbers::fp8_block,
                                                     Unit::teraflops,
                                                     {sizes, few, sizes},
                                                     slow}}};
  static constexpr DeviceRates two{"toy", "pencil", "today", "none", both};
  auto device = toy();
  device.rates = &two;
  const auto layer = [&](std::int64_t width) {
    auto experts = product(1024, width, width, Precision::fp8, 64);
    experts.grouped = true;
    return experts.flops.value / (seconds(experts, device) * 1e12);
  };
  CHECK(layer(1024) == Approx(80));
  CHECK(layer(4096) == Approx(120));
}

TEST_CASE("experts one by one take as long as dense products, but for overlap and own gradients") {
  auto experts = product(1024, 2048, 2048, Precision::bf16, 64);
  experts.grouped = true;
  experts.launches = 64;
  auto one = product(1024, 2048, 2048);
  const double gap = 3e-6;
  const auto check = [&](const Device& device, std::array<double, 3> longer) {
    for (const auto layout : {Kernel::Layout::forward, Kernel::Layout::input_gradient,
                              Kernel::Layout::weight_gradient}) {
      experts.layout = one.layout = layout;
      const double more = longer[static_cast<std::size_t>(layout)];
      CHECK(seconds(experts, device) - gap == Approx(64 * more * (seconds(one, device) - gap)));
    }
  };
  check(toy(), {1.03, 1.00, 1.06});
  check(blackwell(), {0.92, 0.97, 1.21});
}

TEST_CASE("a table of 16 bit that has layers of experts prices them, however they are launched") {
  auto measured = toy();
  measured.efficiency.products = {{Kernel::Layout::forward, 64, 1024, 2048, 2048, 0.25}};
  auto experts = product(1024, 2048, 2048, Precision::bf16, 64);
  experts.grouped = true;
  CHECK(seconds(experts, measured) == Approx(experts.flops.value / 50e12));
  experts.launches = 64;
  CHECK(seconds(experts, measured) == Approx(experts.flops.value / 50e12));
}

TEST_CASE("batched products that are no experts' keep the model of shapes") {
  auto scores = product(2048, 2048, 128, Precision::bf16, 64);
  const double with = seconds(scores, toy());
  auto without = toy();
  without.rates = nullptr;
  CHECK(with == seconds(scores, without));
}

TEST_CASE("cuDNN's attention takes its surface's rate, backward 0.93 of it") {
  Kernel kernel{.kind = Kernel::Kind::attention, .causal = true};
  kernel.fused = units::FusedAttention::cudnn;
  kernel.batch = 64, kernel.m = kernel.n = 4096, kernel.k = 128;
  kernel.flops = {60e9};
  const double gap = 3e-6;
  CHECK(seconds(kernel, toy()) - gap == Approx(1e-3));
  kernel.layout = Kernel::Layout::input_gradient;
  CHECK(seconds(kernel, toy()) - gap == Approx(1e-3 * 3.4 / 3.15));
}

}  // namespace
}  // namespace surface_rates_spec
