// SPDX-License-Identifier: Apache-2.0
#include "search/limits.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace limits_spec {

using namespace search;
using Names = std::vector<std::string_view>;

TEST_CASE("limits of a space are the keys that do not allow all") {
  Space space;
  CHECK(limits_of(space).empty());
  space.pipeline.most = 8;
  space.schedules = {strategies::ScheduleKind::gpipe};
  space.partition = false;  // this limit leaves no plan out
  CHECK(limits_of(space) == Names{"pipeline", "schedule"});
}

TEST_CASE("a limit is to blame if there are plans without it") {
  strategies::Plan plan;
  plan.data = 16;
  const auto scenario = tests::scenario_under(plan, 16);  // with 8 heads
  Space space;
  space.tensor.listed = {5};
  space.zero.listed = {0};
  CHECK(reliefs(scenario, space) == Names{"tensor"});
  space.pipeline.listed = {7};
  CHECK(reliefs(scenario, space).empty());
}

}  // namespace limits_spec
