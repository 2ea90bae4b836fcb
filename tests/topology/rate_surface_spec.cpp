// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "tests/catch.hpp"
#include "topology/rate_surface.hpp"

namespace rate_surface_spec {
namespace {

using namespace topology;
using Kind = RateSurface::Kind;
using Numbers = RateSurface::Numbers;
using Unit = RateSurface::Unit;

constexpr std::array<double, 2> tens{10, 1000};
constexpr std::array<double, 2> pairs{2, 8};
constexpr std::array<double, 3> depths{1, 4, 16};
// The values are in the order [first][second][third]; the last node was not measured.
constexpr std::array<float, 12> rates{1, 2, 4, 1, 2, 4, 100, 200, 400, 100, 200, 0};

RateSurface surface(Kind kind = Kind::product) {
  return {kind, "kernel", Numbers::bf16, Unit::teraflops, {tens, pairs, depths}, rates};
}

RateSurface plane_of_two() {
  static constexpr std::array<float, 4> times{10, 20, 30, 60};
  return {Kind::collective, "ring", Numbers::bf16, Unit::microseconds, {pairs, tens, {}}, times};
}

TEST_CASE("a surface has the measured value at a node") {
  const auto at = value_at(surface(), 10, 8, 16);
  REQUIRE(at);
  CHECK(at->value == Approx(4));
  CHECK(!at->beyond);
}

TEST_CASE("between nodes the logarithm of a value is a straight line in that of each size") {
  // The size 100 lies half way from 10 to 1000, and 8 half way from 4 to 16: √(√(2 · 4 · 200 ·
  // 400)) is the fourth root.
  CHECK(value_at(surface(), 100, 2, 8)->value ==
        Approx(std::pow(2.0 * 4 * 200 * 400, 0.25)).epsilon(1e-12));
  // The second size makes no difference here.
  CHECK(value_at(surface(), 10, 4, 2)->value == Approx(std::sqrt(1.0 * 2)).epsilon(1e-12));
  CHECK(!value_at(surface(), 10, 4, 2)->beyond);
}

TEST_CASE("outside of its grid a surface has the value of the nearest edge, and says so") {
  CHECK(value_at(surface(), 1, 2, 1)->value == Approx(1));
  CHECK(value_at(surface(), 1, 2, 1)->beyond);
  CHECK(value_at(surface(), 1e6, 2, 4)->value == Approx(200));
  CHECK(value_at(surface(), 1e6, 2, 4)->beyond);
  CHECK(value_at(surface(), 10, 2, 64)->beyond);
}

TEST_CASE("a node that nobody measured takes no part, and a place beside it says so") {
  // Half way to the missing node the measured one alone counts.
  const auto beside = value_at(surface(), 1000, 8, 8);
  REQUIRE(beside);
  CHECK(beside->value == Approx(200));
  CHECK(beside->beyond);
  CHECK(!value_at(surface(), 1000, 8, 16));
}

TEST_CASE("a surface over two sizes ignores the third") {
  CHECK(value_at(plane_of_two(), 2, 100)->value == Approx(std::sqrt(10.0 * 20)));
  CHECK(value_at(plane_of_two(), 8, 1000, 7)->value == Approx(60));
  CHECK(!value_at(plane_of_two(), 8, 1000, 7)->beyond);
}

TEST_CASE("an exchange measured in microseconds takes the measured time") {
  CHECK(exchange_time(plane_of_two(), 8, 10)->time.value == Approx(30e-6));
}

TEST_CASE("the program carries every device's surfaces, with source, date and licence") {
  std::set<std::string> files, names;
  for (const auto& file :
       std::filesystem::directory_iterator(STEPCAST_SOURCE_DIR "/scenarios/catalog/rates"))
    files.insert(file.path().stem().string());
  for (const auto& device : measured_rates()) {
    names.emplace(device.name);
    CHECK(!device.source.empty());
    CHECK(!device.date.empty());
    CHECK(!device.licence.empty());
    CHECK(measured_rates(device.name) == &device);
  }
  CHECK(names == files);
  CHECK(measured_rates("abacus") == nullptr);
}

TEST_CASE("every carried surface has a value for each node of rising axes") {
  for (const auto& device : measured_rates())
    for (const auto& each : device.surfaces) {
      INFO(device.name << ' ' << each.kernel);
      std::size_t nodes = 1;
      for (const auto& axis : each.axes) {
        if (!axis.empty()) nodes *= axis.size();
        for (std::size_t i = 1; i < axis.size(); ++i) CHECK(axis[i] > axis[i - 1]);
      }
      CHECK(each.values.size() == nodes);
      CHECK(device.find(each.kind, each.kernel, each.numbers) == &each);
    }
}

TEST_CASE("no carried rate of products exceeds a device's dense peak") {
  const auto* b200 = measured_rates("b200");
  REQUIRE(b200 != nullptr);
  const auto* bf16 = b200->find(Kind::product, "cublas", Numbers::bf16);
  REQUIRE(bf16 != nullptr);
  for (const float rate : bf16->values) CHECK(rate < 2250);
}

}  // namespace
}  // namespace rate_surface_spec
