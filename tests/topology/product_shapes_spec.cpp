// SPDX-License-Identifier: Apache-2.0
// The model of a product's shape and its correction by a table, beside slow and obvious versions.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/product_rate.hpp"

namespace product_shapes_spec {
namespace {

using namespace topology;
using Catch::Matchers::WithinRel;
using samples::round_device;
using units::Kernel;
using units::Precision;
using Layout = Kernel::Layout;

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1,
               Layout layout = Layout::forward) {
  return {.kind = Kernel::Kind::product, .layout = layout, .batch = batch, .m = m, .n = n, .k = k};
}

double flops(const Kernel& p) { return 2.0 * static_cast<double>(p.batch * p.m * p.n * p.k); }

// The rate of the kernel as a share of 100 TFLOP/s.
double share(const Kernel& kernel, const Device& device) {
  return ProductRates(device).rate(kernel).value / 100e12;
}

// A device on which bytes never limit a product.
Device device_of(int processors) {
  auto device = round_device();
  device.sms = processors;
  device.memory_bandwidth = {1e30};
  return device;
}

// The number of results that fit into the waves of all tiles of so many copies.
double room(const Kernel& p, std::int64_t copies, std::int64_t high, std::int64_t wide,
            std::int64_t processors) {
  std::int64_t tiles = 0, waves = 0;
  for (std::int64_t copy = 0; copy < copies; ++copy)
    for (std::int64_t row = 0; row < p.m; row += high)
      for (std::int64_t column = 0; column < p.n; column += wide) ++tiles;
  for (; tiles > 0; tiles -= processors) ++waves;
  return static_cast<double>(waves * processors * high * wide);
}

double slow_share(const Kernel& p, std::int64_t processors) {
  double work = 1e300;
  for (const std::int64_t parts : {1, 2, 4}) {
    const bool less_than_a_wave = p.batch * p.m * p.n < processors * 128 * 256;
    if (parts > 1 && !less_than_a_wave) continue;
    for (const auto& [high, wide] : {std::pair{256, 128}, {128, 256}, {128, 128}})
      work = std::min(work, room(p, p.batch * parts, high, wide, processors) /
                                static_cast<double>(parts) * static_cast<double>(p.k + parts * 96) /
                                0.8);
  }
  return std::min(0.95, flops(p) / (2 * work));
}

TEST_CASE("a product takes the waves of its tiles, counted one by one, under the best cut") {
  std::mt19937 random(23);
  const auto upto = [&](std::int64_t n) { return 1 + static_cast<std::int64_t>(random()) % n; };
  for (int i = 0; i < 1500; ++i) {
    const auto p = product(8 * upto(i % 3 == 0 ? 64 : 400), 8 * upto(i % 2 == 0 ? 64 : 400),
                           8 * upto(500), upto(4));
    const auto processors = upto(i % 5 == 0 ? 2 : 132);
    INFO(p.batch << " of " << p.m << " x " << p.n << " x " << p.k << " on " << processors);
    CHECK_THAT(share(p, device_of(static_cast<int>(processors))),
               WithinRel(slow_share(p, processors), 1e-9));
  }
}

TEST_CASE("a product of hundreds of tiles a side has a tile for each 128 rows and columns") {
  // Both 300 x 1 and 1 x 300 tiles make three waves of a hundred.
  const auto device = device_of(100);
  CHECK_THAT(share(product(300 * 128, 128, 864), device), WithinRel(0.72, 1e-9));
  CHECK_THAT(share(product(128, 300 * 128, 864), device), WithinRel(0.72, 1e-9));
}

TEST_CASE("k is cut only where the results are fewer than in a wave of large tiles") {
  // A product of 160 x 1,024 has as many results as five tiles of 128 x 256. In four parts of k it
  // would take 65 slots of five processors, a quarter each, instead of 20.
  for (const auto& [rows, columns] : {std::pair{160, 1016}, {160, 1024}, {164, 1000}}) {
    const auto p = product(rows, columns, 8192);
    CHECK_THAT(share(p, device_of(5)), WithinRel(slow_share(p, 5), 1e-9));
  }
}

TEST_CASE("where the number of processors is unknown no wave is left unfinished") {
  CHECK_THAT(share(product(3968, 1280, 864), device_of(0)), WithinRel(0.72, 1e-9));
}

TEST_CASE("a product runs no faster than its operands and its result come, each once") {
  auto device = round_device();
  device.memory_bandwidth = {1e9};
  device.efficiency.memory = 0.5;
  // The operands have 256 x 1024 and 1024 x 512 values, the result 256 x 512, of two bytes each.
  const double bytes = 2 * (256 * 1024 + 1024 * 512 + 256 * 512);
  for (const std::int64_t batch : {1, 3}) {
    const auto p = product(256, 512, 1024, batch);
    CHECK_THAT(share(p, device) * 100e12,
               WithinRel(flops(p) / (static_cast<double>(batch) * bytes) * 0.5e9, 1e-9));
  }
  device.memory_bandwidth = {0};  // the bandwidth is not known
  CHECK_THAT(share(product(1280, 1280, 864), device), WithinRel(0.72, 1e-9));
}

TEST_CASE("narrow numbers that are no faster than wide ones, or alone, need no more depth") {
  auto device = round_device();
  samples::set_peak(device, Precision::fp8, 50e12);
  auto p = product(1280, 1280, 768);
  p.precision = Precision::fp8;
  const double expected = 50e12 * 0.8 * 0.93 * 768 / (768 + 96);
  CHECK_THAT(ProductRates(device).rate(p).value, WithinRel(expected, 1e-9));
  samples::set_peak(device, Precision::bf16, 0);
  CHECK_THAT(ProductRates(device).rate(p).value, WithinRel(expected, 1e-9));
}

TEST_CASE("numbers that are slower than those of the table need less depth, as the time is one") {
  auto device = round_device();
  device.memory_bandwidth = {0};  // not known
  samples::set_peak(device, Precision::fp32, 10e12);
  auto p = product(1280, 1280, 768);
  p.precision = Precision::fp32;
  // 96 of the table's depth take as long as 9.6 at a tenth of its peak.
  CHECK_THAT(ProductRates(device).rate(p).value, WithinRel(10e12 * 0.8 * 768 / (768 + 9.6), 1e-9));
}

TEST_CASE("a table of a device without bf16 is in fp16") {
  auto device = round_device();
  samples::set_peak(device, Precision::bf16, 0);
  samples::set_peak(device, Precision::fp16, 100e12);
  device.efficiency.kernel_gap = {5e-6};
  device.efficiency.products = {{Layout::forward, 1, 2048, 4096, 4096, 0.61}};
  auto p = product(2048, 4096, 4096);
  p.precision = Precision::fp16;
  const double seconds = 5e-6 + flops(p) / ProductRates(device).rate(p).value;
  CHECK_THAT(flops(p) / seconds, WithinRel(61e12, 1e-9));
}

// The share of a device with one processor, which leaves no wave unfinished; a table's correction
// is its share over this one.
double model(double k) { return 0.8 * k / (k + 96); }

TEST_CASE("between measurements their corrections count by the fourth power of their distances") {
  auto device = device_of(1);
  const auto row = [](std::int64_t m, double correction) {
    return MeasuredProduct{Layout::forward, 1, m, 1024, 1024, correction * model(1024)};
  };
  device.efficiency.products = {row(1024, 0.25), row(4096, 1)};
  // The geometric mean of both, 0.5, counts as four octaves away, with 1/256 of the weight of a row
  // one octave away.
  CHECK_THAT(share(product(2048, 1024, 1024), device),
             WithinRel(model(1024) * (0.25 + 1 + 0.5 / 256) / (2 + 1 / 256.0), 1e-9));
  // The size 8,192 is three octaves from one row and one from the other.
  CHECK_THAT(
      share(product(8192, 1024, 1024), device),
      WithinRel(model(1024) * (0.25 / 81 + 1 + 0.5 / 256) / (1 / 81.0 + 1 + 1 / 256.0), 1e-9));
}

// The number of doublings from 1 to x, interpolated linearly between them.
double doublings(double x) {
  double whole = 0;
  for (; x >= 2; x /= 2) ++whole;
  return whole + x - 1;
}

double squared_distance(const Kernel& p, const MeasuredProduct& row) {
  double sum = p.layout == row.layout ? 0 : 4;
  for (const auto& [a, b] :
       {std::pair{p.batch, row.batch}, {p.m, row.m}, {p.n, row.n}, {p.k, row.k}})
    sum += std::pow(doublings(static_cast<double>(a)) - doublings(static_cast<double>(b)), 2);
  return sum;
}

double slow_correction(const Kernel& p, const std::vector<MeasuredProduct>& rows) {
  double sum = 0, weights = 0, logs = 0;
  for (const auto& row : rows) {
    const double c = row.efficiency / model(static_cast<double>(row.k));
    const double weight = std::pow(squared_distance(p, row), -2);
    sum += weight * c;
    weights += weight;
    logs += std::log(c) / static_cast<double>(rows.size());
  }
  return (sum + std::exp(logs) / 256) / (weights + 1 / 256.0);
}

TEST_CASE("a table corrects every product by all of its rows and their geometric mean") {
  std::mt19937 random(29);
  const auto tiles = [&](std::int64_t most) {
    return 256 * (1 + static_cast<std::int64_t>(random()) % most);
  };
  const auto batch = [&] { return 1 + static_cast<std::int64_t>(random()) % 8; };
  const auto layout = [&] { return static_cast<Layout>(random() % 3); };
  for (const int size : {1, 2, 15, 16, 17, 40}) {
    auto device = device_of(1);
    auto& rows = device.efficiency.products;
    for (int i = 0; i < size; ++i)
      rows.push_back({layout(), batch(), tiles(20), tiles(20), tiles(20),
                      std::uniform_real_distribution<double>(0.1, 0.6)(random)});
    for (int i = 0; i < 30; ++i) {
      const auto p = product(tiles(40) + 64, tiles(40), tiles(40), batch(), layout());
      const double filled =
          static_cast<double>(p.m) / std::ceil(static_cast<double>(p.m) / 128) / 128;
      CHECK_THAT(
          share(p, device),
          WithinRel(filled * model(static_cast<double>(p.k)) * slow_correction(p, rows), 1e-9));
    }
  }
}

TEST_CASE("a product lies inside of a table between the least and the most of each size") {
  std::vector<MeasuredProduct> rows{{Layout::forward, 1, 1024, 4096, 2048, 0.5},
                                    {Layout::forward, 1, 2048, 1024, 4096, 0.5},
                                    {Layout::forward, 1, 4096, 2048, 1024, 0.5},
                                    {Layout::forward, 2, 256, 256, 256, 0.5},
                                    {Layout::forward, 8, 256, 256, 256, 0.5}};
  const auto before = [](const auto& a, const auto& b) {
    return std::pair(a.m, a.batch) < std::pair(b.m, b.batch);
  };
  std::ranges::sort(rows, before);
  do {
    auto device = device_of(100);
    device.efficiency.products = rows;
    const ProductRates rates(device);
    const auto of = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
      return rates.evidence(product(m, n, k, batch));
    };
    using enum Evidence;
    CHECK(of(1024, 4096, 2048) == measured);
    CHECK(of(1024, 1024, 1024) == interpolated);
    CHECK(of(4096, 4096, 4096) == interpolated);
    for (const std::int64_t off : {512, 8192}) {
      CHECK(of(off, 2048, 2048) == scaled);
      CHECK(of(2048, off, 2048) == scaled);
      CHECK(of(2048, 2048, off) == scaled);
    }
    // Products in batches are compared with each other alone.
    CHECK(of(256, 256, 256) == scaled);
    CHECK(of(256, 256, 256, 2) == measured);
    CHECK(of(256, 256, 256, 4) == interpolated);
    CHECK(of(256, 256, 256, 16) == scaled);
  } while (std::ranges::next_permutation(rows, before).found);
}

}  // namespace
}  // namespace product_shapes_spec
