// SPDX-License-Identifier: Apache-2.0
#include "strategies/interference.hpp"
#include "tests/catch.hpp"

namespace interference_spec {

using namespace strategies;
namespace {

// A collective of `ticks` picoseconds that holds a share of the processors.
topology::Sending sending_of(double ticks, double processors) {
  return {.fixed = {ticks * 1e-12}, .rate = {1.0}, .processors = processors};
}

TEST_CASE("a collective takes its share of the processors for as long as it runs") {
  Interference beside{Software{}};
  CHECK(beside.slowed_share(100) == 0);
  beside.add(sending_of(50, 0.2));
  CHECK(beside.slowed_share(100) == Approx(0.2 * 50 / 100));
  CHECK(beside.slowdown(100) == Approx(1.1));
  CHECK(beside.slowed_share(50) == Approx(0.2));
}

TEST_CASE("collectives slow what they cover, and never by more than the one that holds most") {
  Interference beside{Software{}};
  beside.add(sending_of(100, 0.02));
  beside.add(sending_of(100, 0.2));
  CHECK(beside.slowed_share(400) == Approx((2 + 20) / 400.0));
  CHECK(beside.slowed_share(100) == Approx(0.2));  // not the 0.22 of both at once
  CHECK(beside.slowed_share(0) == 0);
}

TEST_CASE("interference that software states stands for the shares of all collectives") {
  Software software;
  software.interference = 0.5;
  Interference beside(software);
  beside.add(sending_of(50, 0.02));
  CHECK(beside.slowed_share(100) == Approx(0.25));
  software.interference = 0;
  Interference none(software);
  none.add(sending_of(50, 0.02));
  CHECK_FALSE(none.any());
}

TEST_CASE("two collectives in one take the time of both and hold what the larger one holds") {
  auto both = sending_of(50, 0.02);
  both.join(sending_of(30, 0.2));
  CHECK(both.time().value == Approx(80e-12));
  CHECK(both.processors == 0.2);
}

}  // namespace
}  // namespace interference_spec
