// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "forecast/accuracy/fit_scale.hpp"
#include "forecast/accuracy/observations.hpp"
#include "tests/catch.hpp"

namespace observations_spec {

using forecast::Membership;

TEST_CASE("a residual is the logarithm of predicted over measured, and absent without a forecast") {
  CHECK(*forecast::residual_of(1.0) == Approx(std::log(2)));    // twice as slow
  CHECK(*forecast::residual_of(-0.5) == Approx(-std::log(2)));  // half as slow
  CHECK_FALSE(forecast::residual_of({}));
  CHECK_FALSE(forecast::residual_of(-1.0));
  CHECK(forecast::hopeless_residual() == *forecast::residual_of(99.0));
}

TEST_CASE("a data set weighs the root of its runs, and all together as much as there are groups") {
  // Four runs of set 0 are in two groups, one run of set 1 is in a third; so set 0 has 2 of 3
  // groups.
  const std::vector<Membership> members{{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 2}};
  const auto observations = forecast::weighed(members, 2, 3);
  REQUIRE(observations.size() == 5);
  for (const std::size_t i : {0u, 1u, 2u, 3u}) CHECK(observations[i].weight == Approx(0.5));
  CHECK(observations[4].weight == Approx(1));
  CHECK(observations[3].group == 1);
  CHECK(observations[4].group == 2);
}

TEST_CASE("errors are means of a data set, and then of the data sets") {
  forecast::CalibrationSummary summary;
  summary.sets = {{.name = "two", .observations = 2}, {.name = "one", .observations = 1}};
  const double twice = std::log(2), half = -std::log(2);  // errors of 100 % and of 50 %
  forecast::add_errors(summary, {{0, 0}, {0, 1}, {1, 2}}, {twice, half, twice},
                       {.residuals = {half, half, 0}, .left_out = {twice, twice, half}});
  CHECK(summary.sets[0].before == Approx(0.75));
  CHECK(summary.sets[1].before == Approx(1));
  CHECK(summary.before == Approx(0.875));
  CHECK(summary.after == Approx(0.25));
  CHECK(summary.left_out == Approx(0.75));
}

TEST_CASE("a fit moves a parameter on its scale, and never leaves the bounds on the way back") {
  const forecast::FitScale plain{.start = 4, .low = 2, .high = 7, .width = 5, .logarithmic = false};
  CHECK(plain.coordinate(4) == 4);
  CHECK(plain.value(8) == 7);
  CHECK(plain.value(1) == 2);
  CHECK(plain.standard_error(4, 0.5) == 0.5);
  CHECK(plain.unknown().start == 4);
  CHECK(plain.unknown().step == 1);  // a fifth of the width

  const forecast::FitScale bent{.start = 4, .low = 2, .high = 7, .width = 0.2};
  CHECK(bent.coordinate(4) == Approx(std::log(4)));
  CHECK(bent.value(std::log(4)) == Approx(4));
  CHECK(bent.value(std::nextafter(std::log(7), 9)) <= 7);
  CHECK(bent.standard_error(4, 0.1) == Approx(0.4));  // a tenth of the value
  CHECK(bent.unknown().high == Approx(std::log(7)));
  CHECK(bent.unknown().width == 0.2);
  CHECK(bent.unknown().step == 0.03);
}

}  // namespace observations_spec
