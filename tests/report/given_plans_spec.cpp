// SPDX-License-Identifier: Apache-2.0
// Plans that people chose beside those that searches find.
#include <nlohmann/json.hpp>

#include "report/search/given_plans.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"

namespace given_plans_spec {

using namespace units::literals;

namespace {

search::Comparison comparison(units::Seconds given, units::Seconds found) {
  search::Comparison one;
  one.given = given;
  one.given_fits = true;
  one.answer.plans.push_back({{}, examples::forecast(), found, 0});
  one.answer.plans.front().forecast.step.time = found;
  one.answer.lower_bound = found;
  return one;
}

std::vector<report::GivenPlans> some() {
  auto outside = comparison(2.0_s, 2.5_s);
  outside.outside = {"recompute", "layers_per_stage"};
  auto large = comparison(1.0_s, 1.5_s);
  large.given_fits = false;
  return {{"paper",
           {{"a", "", comparison(2.0_s, 1.5_s), 0.25_s},
            {"b", "", outside, 3.0_s},
            {"c", "", large, 3.0_s},
            {"d", "no such device", {}, 0.0_s}}}};
}

}  // namespace

TEST_CASE("plans that people chose are shown beside plans found, and plans outside of the space") {
  CHECK(report::given_plans_text(some(), {.unicode = false}) ==
        "paper\n"
        "  row      theirs      found     less      gap      took\n"
        "  a        2.00 s     1.50 s   -25.0 %    0.0 %    250 ms\n"
        "  b        2.00 s     2.50 s   +25.0 %    0.0 %    3.00 s  SLOWER  outside: recompute, "
        "layers_per_stage\n"
        "  c        1.00 s     1.50 s   +50.0 %    0.0 %    3.00 s  theirs does not fit\n"
        "\n"
        "Of 3 plans 2 are inside of the space; what is found is no slower than 2; the widest gap "
        "is 0.0 %.\n"
        "1 not compared: no such device\n");
}

TEST_CASE("the JSON of plans beside those found has every row") {
  const auto all = nlohmann::json::parse(report::given_plans_json(some()));
  CHECK(all["rows"] == 4);
  CHECK(all["unsupported"] == 1);
  CHECK(all["inside"] == 2);
  CHECK(all["no_slower"] == 2);
  const auto& rows = all["datasets"][0]["rows"];
  CHECK(rows[0]["given_s"] == 2.0);
  CHECK(rows[0]["found_s"] == 1.5);
  CHECK(rows[0]["no_slower"] == true);
  CHECK(rows[1]["outside"] == nlohmann::json{"recompute", "layers_per_stage"});
  CHECK(rows[1]["no_slower"] == false);
  CHECK(rows[2]["given_fits"] == false);
  CHECK(rows[3]["status"] == "unsupported");
  CHECK(rows[3]["reason"] == "no such device");
}

}  // namespace given_plans_spec
