// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "forecast/accuracy/kernel_fit.hpp"
#include "tests/catch.hpp"
#include "topology/kernel_time.hpp"

namespace kernel_fit_spec {

namespace {

using units::Kernel;

topology::Device device(double plateau, double half_depth, double memory, double gap_us) {
  topology::Device made{.name = "one", .memory_bandwidth = units::BytesPerSecond{2e12}, .sms = 100};
  made.peak[static_cast<std::size_t>(units::Precision::bf16)] = units::FlopsPerSecond{300e12};
  made.efficiency.product_plateau = plateau;
  made.efficiency.product_half_depth = half_depth;
  made.efficiency.memory = memory;
  made.efficiency.kernel_gap = units::Seconds{gap_us * 1e-6};
  return made;
}

// The table that a benchmark of that device would write.
topology::Measured table_of(const topology::Device& on) {
  topology::Measured table;
  for (const std::int64_t m : {512, 2048, 8192})
    for (const std::int64_t k : {256, 1024, 4096}) {
      const Kernel kernel{.kind = Kernel::Kind::product,
                          .batch = 1,
                          .m = m,
                          .n = 4096,
                          .k = k,
                          .flops = units::Flops{2.0 * 4096 * static_cast<double>(m * k)}};
      const auto seconds = topology::kernel_time(kernel, on).value;
      table.products.push_back(
          {Kernel::Layout::forward, 1, m, 4096, k, kernel.flops.value / seconds / 300e12});
    }
  for (const double bytes : {1e5, 1e6, 1e7, 1e8, 1e9}) {
    const Kernel kernel{.traffic = units::Bytes{bytes}};
    const auto seconds = topology::kernel_time(kernel, on).value;
    table.streams.push_back({"copy", units::Bytes{bytes}, bytes / seconds / 2e12});
  }
  return table;
}

double value(const forecast::CalibrationSummary& summary, const std::string& key) {
  for (const auto& one : summary.parameters)
    if (one.key == "efficiency." + key) return one.value;
  return 0;
}

}  // namespace

TEST_CASE("a table made from known numbers gives them back") {
  const auto table = table_of(device(0.8, 200, 0.7, 5));
  const auto found = forecast::fit_kernels(table, device(0.6, 100, 0.9, 2));
  CHECK(value(found, "product_plateau") == Approx(0.8).epsilon(0.01));
  CHECK(value(found, "product_half_depth") == Approx(200).epsilon(0.03));
  CHECK(value(found, "memory") == Approx(0.7).epsilon(0.01));
  CHECK(value(found, "kernel_gap") == Approx(5).epsilon(0.02));
  CHECK(found.after < 0.005);
  CHECK(found.before > 0.1);
}

TEST_CASE("a figure that no row depends on is not fitted") {
  auto table = table_of(device(0.8, 200, 0.7, 5));
  table.products.clear();
  const auto found = forecast::fit_kernels(table, device(0.6, 100, 0.9, 2));
  REQUIRE(found.parameters.size() == 2);
  CHECK(found.parameters[0].key == "efficiency.memory");
  CHECK(found.parameters[1].key == "efficiency.kernel_gap");
  REQUIRE(found.sets.size() == 1);
  CHECK(found.sets[0].name == "streams");
}

TEST_CASE("a copy of two terabytes a second at 0.7 takes 1 / 1.4 seconds for a terabyte") {
  topology::Measured table;
  // A copy of 1e9 bytes takes 1e9 / 1.4e12 s and 5 us, a share of 1e9 / (714.3 us + 5 us) / 2e12 =
  // 0.6951.
  table.streams = {{"copy", units::Bytes{1e9}, 1e9 / (1e9 / 1.4e12 + 5e-6) / 2e12},
                   {"copy", units::Bytes{1e6}, 1e6 / (1e6 / 1.4e12 + 5e-6) / 2e12}};
  const auto found = forecast::fit_kernels(table, device(0.6, 100, 0.9, 2));
  CHECK(value(found, "memory") == Approx(0.7).epsilon(0.02));
  CHECK(value(found, "kernel_gap") == Approx(5).epsilon(0.05));
}

TEST_CASE("an empty table, or a device without a peak, cannot be fitted") {
  CHECK_THROWS_AS(forecast::fit_kernels({}, device(0.6, 100, 0.9, 2)), std::invalid_argument);
  auto powerless = device(0.6, 100, 0.9, 2);
  const auto table = table_of(powerless);
  powerless.peak = {};
  CHECK_THROWS_WITH(forecast::fit_kernels(table, powerless),
                    "one has no peak in bf16 or fp16, of which efficiencies are a share; give one");
}

}  // namespace kernel_fit_spec
