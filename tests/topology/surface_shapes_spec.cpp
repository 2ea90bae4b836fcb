// SPDX-License-Identifier: Apache-2.0
// The axes of a surface that a product's sizes go along, and the effect of missing nodes and of a
// table beside it.
#include <array>
#include <span>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/kernel_time.hpp"
#include "topology/product_rate.hpp"
#include "topology/rate_surface.hpp"

namespace surface_shapes_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using units::Kernel;
using units::Precision;
using Kind = RateSurface::Kind;
using Layout = Kernel::Layout;
using Numbers = RateSurface::Numbers;
using Unit = RateSurface::Unit;
using enum Evidence;

constexpr std::array<double, 2> of_m{1024, 4096}, of_n{512, 2048}, of_k{256, 8192};
constexpr std::array<float, 8> rates{10, 20, 30, 40, 50, 60, 70, 80};
constexpr std::array<float, 8> holed{10, 20, 30, 40, 50, 60, 70, 0};
constexpr std::array<float, 8> hundred{100, 100, 100, 100, 100, 100, 100, 100};

constexpr RateSurface dense(std::span<const float> values, Numbers numbers = Numbers::bf16,
                            std::string_view kernel = "cublas") {
  return {Kind::product, kernel, numbers, Unit::teraflops, {of_m, of_n, of_k}, values};
}

constexpr std::array<double, 2> widths{1024, 4096}, experts{2, 64}, rows{1024, 8192};
constexpr RateSurface layers(std::span<const float> values, Numbers numbers = Numbers::bf16,
                             std::string_view kernel = "trtllm:cutlass:balanced") {
  return {Kind::experts, kernel, numbers, Unit::teraflops, {widths, experts, rows}, values};
}

// A device of 100 TFLOP/s in bf16 and 200 in narrow numbers, without start-up, whose bytes never
// limit it.
Device with(const DeviceRates& of, bool scales_blocks = false) {
  auto device = samples::round_device();
  device.memory_bandwidth = {1e30};
  samples::set_peak(device, Precision::fp8, 200e12);
  if (scales_blocks) samples::set_peak(device, Precision::mxfp8, 200e12);
  device.rates = &of;
  return device;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k,
               Precision precision = Precision::bf16) {
  return {.kind = Kernel::Kind::product,
          .precision = precision,
          .m = m,
          .n = n,
          .k = k,
          .flops = {2.0 * static_cast<double>(m * n * k)}};
}

Kernel layer(std::int64_t width, std::int64_t count, std::int64_t of_each,
             Precision precision = Precision::bf16) {
  auto kernel = product(of_each, width, width, precision);
  kernel.batch = count;
  kernel.flops = kernel.flops * static_cast<double>(count);
  kernel.grouped = true;
  return kernel;
}

double teraflops(const Kernel& kernel, const Device& device) {
  return kernel.flops.value / kernel_time(kernel, device).value / 1e12;
}

Evidence of(const Kernel& kernel, const Device& device) {
  return KernelTimes(device).evidence(kernel);
}

constexpr std::array<RateSurface, 1> plain{dense(rates)};
constexpr DeviceRates plain_rates{"round", "pencil", "today", "none", plain};

TEST_CASE("m, n and k each go along an axis of their own") {
  const auto device = with(plain_rates);
  const ProductRates products(device);
  std::size_t node = 0;
  for (const auto m : of_m)
    for (const auto n : of_n)
      for (const auto k : of_k) {
        const auto at = product(static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                                static_cast<std::int64_t>(k));
        CHECK_THAT(teraflops(at, device), WithinRel(static_cast<double>(rates[node]), 1e-9));
        CHECK(products.evidence(at) == interpolated);
        ++node;
      }
  for (const auto& off :
       {product(512, 1024, 512), product(8192, 1024, 512), product(2048, 256, 512),
        product(2048, 4096, 512), product(2048, 1024, 128), product(2048, 1024, 16384)})
    CHECK(products.evidence(off) == scaled);
}

constexpr std::array<RateSurface, 2> with_holes{dense(holed), layers(holed)};
constexpr DeviceRates holed_rates{"round", "pencil", "today", "none", with_holes};
constexpr std::array<float, 8> nothing{};
constexpr std::array<RateSurface, 2> of_nothing{dense(nothing), layers(nothing)};
constexpr DeviceRates no_rates{"round", "pencil", "today", "none", of_nothing};

TEST_CASE("where nobody measured a surface the model of shapes goes on alone") {
  auto without = with(holed_rates);
  without.rates = nullptr;
  const auto at = product(4096, 2048, 8192);
  CHECK(teraflops(at, with(holed_rates)) == teraflops(at, without));
  CHECK(of(at, with(holed_rates)) == physics);
  CHECK(of(layer(4096, 64, 8192), with(no_rates)) == physics);
  CHECK(teraflops(layer(4096, 64, 8192), with(no_rates)) ==
        teraflops(layer(4096, 64, 8192), without));
}

TEST_CASE("layers of experts with more rows than anybody measured take half as many, and again") {
  const auto device = with(holed_rates);
  // The node of 8,192 rows is missing, and 4,096 rows lie between it and 1,024, which alone counts.
  CHECK(of(layer(4096, 64, 8192), device) == scaled);
  CHECK(of(layer(4096, 2, 8192), device) == interpolated);
  CHECK(of(layer(1024, 64, 8192), device) == interpolated);
  CHECK(of(layer(4096, 64, 1024), device) == interpolated);
  CHECK(of(layer(4096, 128, 1024), device) == scaled);
  CHECK(of(layer(8192, 2, 1024), device) == scaled);
}

// With rows of 1,024 and 2,048, the surface has few experts of narrow layers and many of wide ones,
// and both with 1,024 rows alone.
constexpr std::array<double, 2> close_rows{1024, 2048};
constexpr std::array<float, 8> few{10, 0, 0, 0, 0, 0, 70, 0};
constexpr std::array<RateSurface, 1> of_few{{{Kind::experts,
                                              "trtllm:cutlass:balanced",
                                              Numbers::bf16,
                                              Unit::teraflops,
                                              {widths, experts, close_rows},
                                              few}}};
constexpr DeviceRates few_rates{"round", "pencil", "today", "none", of_few};

TEST_CASE("fewer rows stand in for more, but no other width or number of experts for its own") {
  const auto device = with(few_rates);
  CHECK(of(layer(1024, 2, 2048), device) == scaled);
  CHECK(of(layer(4096, 64, 2048), device) == scaled);
  CHECK(of(layer(4096, 2, 2048), device) == physics);
  CHECK(of(layer(1024, 64, 2048), device) == physics);
  CHECK_THAT(teraflops(layer(1024, 2, 1024), device), WithinRel(10.0, 1e-9));
  CHECK_THAT(teraflops(layer(4096, 64, 2048), device), WithinRel(70.0, 1e-2));
}

TEST_CASE("beyond a surface the waves of the model's tiles go on from the nearest size") {
  // The 16 x 16 tiles leave 44 of 300 slots idle, the 16 x 17 tiles 28.
  const auto device = with(plain_rates);
  const auto at_edge = teraflops(product(2048, 2048, 1024), device);
  CHECK_THAT(teraflops(product(2048, 2176, 1024), device), WithinRel(17.0 / 16 * at_edge, 1e-9));
}

TEST_CASE("along an axis of one size a surface has that size only") {
  constexpr std::array<double, 1> one{8};
  constexpr std::array<float, 2> micros{10, 20};
  const RateSurface surface{Kind::collective,   "ring",          Numbers::bf16,
                            Unit::microseconds, {one, of_m, {}}, micros};
  CHECK_FALSE(value_at(surface, 8, 1024)->beyond);
  CHECK(value_at(surface, 4, 1024)->beyond);
  CHECK_THAT(value_at(surface, 4, 4096)->value, WithinRel(20.0, 1e-12));
}

TEST_CASE("a layer of experts as wide as was measured has that rate, by experts and by rows") {
  const auto device = with(holed_rates);
  std::size_t node = 0;
  for (const auto width : widths)
    for (const auto count : experts)
      for (const auto of_each : rows) {
        if (holed[node] > 0)
          CHECK_THAT(
              teraflops(layer(static_cast<std::int64_t>(width), static_cast<std::int64_t>(count),
                              static_cast<std::int64_t>(of_each)),
                        device),
              WithinRel(static_cast<double>(holed[node]), 1e-9));
        ++node;
      }
}

constexpr std::array<RateSurface, 2> fp8_layers{
    layers(hundred), layers(hundred, Numbers::fp8, "vllm:flashinfer-trtllm-monolithic:balanced")};
constexpr DeviceRates fp8_rates{"round", "pencil", "today", "none", fp8_layers};
constexpr std::array<float, 8> fifty{50, 50, 50, 50, 50, 50, 50, 50};
constexpr std::array<RateSurface, 1> wide_layers{layers(fifty)};
constexpr DeviceRates wide_rates{"round", "pencil", "today", "none", wide_layers};

TEST_CASE("layers of experts that were measured in wider numbers are scaled from these") {
  CHECK(of(layer(2048, 8, 2048, Precision::fp8), with(fp8_rates)) == interpolated);
  CHECK(of(layer(2048, 8, 2048, Precision::fp8), with(wide_rates)) == scaled);
  CHECK(of(layer(2048, 8, 2048), with(wide_rates)) == interpolated);
}

constexpr std::array<RateSurface, 3> both_widths{
    dense(hundred), dense(hundred, Numbers::fp8, "cutlass"), layers(hundred)};
constexpr DeviceRates both_rates{"round", "pencil", "today", "none", both_widths};

TEST_CASE("a surface is joined by the geometric mean of the table's dense forward products in it") {
  auto device = with(both_rates, true);
  // The rows have a half and an eighth of the surface's 100 TFLOP/s. Three other rows do not count:
  // one of several products, one of another pass, one outside of the grid.
  device.efficiency.products = {{Layout::forward, 1, 1024, 512, 256, 0.5},
                                {Layout::forward, 1, 4096, 2048, 8192, 0.125},
                                {Layout::forward, 2, 1024, 1024, 512, 0.9},
                                {Layout::weight_gradient, 1, 1024, 1024, 512, 0.9},
                                {Layout::forward, 1, 8192, 1024, 512, 0.9}};
  CHECK_THAT(teraflops(product(2048, 1024, 1024, Precision::fp8), device), WithinRel(25.0, 1e-9));
  // Without any such row, or without a dense surface, the surface counts as it is.
  device.efficiency.products = {{Layout::weight_gradient, 1, 1024, 1024, 512, 0.9}};
  CHECK_THAT(teraflops(product(2048, 1024, 1024, Precision::fp8), device), WithinRel(100.0, 1e-9));
  device.efficiency.products = {{Layout::forward, 1, 1024, 1024, 512, 0.9}};
  device.rates = &wide_rates;
  CHECK_THAT(teraflops(layer(2048, 8, 2048), device), WithinRel(50.0, 1e-9));
}

TEST_CASE("a table has layers of experts if it has a batch of two or more") {
  auto device = with(both_rates);
  device.efficiency.products = {{Layout::forward, 1, 1024, 1024, 1024, 0.2}};
  // The table has a fifth of the peak, so the surface counts with a fifth of 100.
  CHECK_THAT(teraflops(layer(2048, 2, 2048), device), WithinRel(20.0, 1e-9));
  device.efficiency.products = {{Layout::forward, 2, 2048, 2048, 2048, 0.3}};
  CHECK_THAT(teraflops(layer(2048, 2, 2048), device), WithinRel(30.0, 1e-9));
}

TEST_CASE("two experts launched apart are one by one, none of them beyond 0.95 of the peak") {
  auto device = with(both_rates, true);
  device.efficiency.sustained_clock = 0.5;
  device.efficiency.products = {{Layout::forward, 1, 2048, 2048, 2048, 0.92}};
  auto two = layer(2048, 2, 2048);
  two.launches = 2;
  // The table has a dense product at 0.92 of the peak, and an expert's product takes 0.92 times as
  // long.
  CHECK_THAT(teraflops(two, device), WithinRel(0.5 * 95, 1e-9));
  device.efficiency.products.front().efficiency = 0.46;
  CHECK_THAT(teraflops(two, device), WithinRel(0.5 * 50, 1e-9));
}

}  // namespace
}  // namespace surface_shapes_spec
