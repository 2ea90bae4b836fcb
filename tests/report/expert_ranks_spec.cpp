// SPDX-License-Identifier: Apache-2.0
// The ways to experts and their loads, in text and JSON, and the parts that launch files cannot
// say.
#include <nlohmann/json.hpp>
#include <string>

#include "report/json.hpp"
#include "report/launch/launch.hpp"
#include "report/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/launch_scenarios.hpp"

namespace expert_ranks_spec {

using forecast::IdleCause;

namespace {

forecast::Forecast skewed() {
  auto forecast = examples::forecast();
  forecast::ExpertRanks experts;
  experts.ranks_reached = 5.25;
  experts.nodes_reached = 1;
  experts.fullest_load = 1.3;
  experts.given_load = 1.8;
  experts.least_load = 1.25;
  experts.waiting = {0.5};
  for (const double quantile : {0.0, 0.1, 0.5, 0.9, 0.99})
    experts.layers.push_back({quantile, 1 + quantile, {0.01}, {0.02}, {2e6}});
  forecast.experts = experts;
  (*forecast.pipeline.stages[0]
        .bubble_by_cause)[static_cast<std::size_t>(IdleCause::expert_imbalance)] = 500'000'000'000;
  return forecast;
}

}  // namespace

TEST_CASE("the text says how far tokens go and how full the fullest rank is") {
  const auto text = report::simulate_text(examples::scenario(), skewed(), {.unicode = false});
  CHECK_THAT(text, STEPCAST_HOLDS("a token reaches 5.25 ranks on 1.00 nodes"));
  CHECK_THAT(text, STEPCAST_HOLDS("the fullest rank has 1.30 times the token copies"));
  CHECK_THAT(text, STEPCAST_HOLDS("fullest rank 1.30 instead of 1.80"));
  CHECK_THAT(text, STEPCAST_HOLDS("expert imbalance"));
  CHECK(report::simulate_text(examples::scenario(), examples::forecast(), {})
            .find("a token reaches") == std::string::npos);
}

TEST_CASE("the JSON report says so where the scenario has a routing") {
  const auto report =
      nlohmann::ordered_json::parse(report::simulate_json(examples::scenario(), skewed(), ""));
  const auto& experts = report["experts"];
  CHECK(experts["ranks_reached"] == 5.25);
  CHECK(experts["least_load"] == 1.25);
  CHECK(experts["layers"].size() == 5);
  CHECK(experts["layers"][4]["load"] == 1.99);
  CHECK(report["pipeline"]["stages"][0]["bubble_by_cause"]["expert_imbalance_s"] == 0.5);
}

TEST_CASE("groups of experts are Megatron's flags, and popularity is nobody's") {
  auto s = examples::dualpipe_deepseek();
  s.training.routing = {.locality = strategies::Locality::group_limited,
                        .groups = 8,
                        .top_groups = 4,
                        .skew = strategies::Skew::power_law};
  for (const auto& [word, framework] : report::framework_names) {
    INFO(word);
    const auto launch = report::launch(s, framework);
    std::string lost;
    for (const auto& one : launch.not_expressed) lost += one.sentence + '\n';
    CHECK_THAT(lost, STEPCAST_HOLDS("training.routing skew power_law: "));
    const bool flags = framework == report::Framework::megatron;
    CHECK((launch.text.find("--moe-router-num-groups 8") != std::string::npos) == flags);
    CHECK((lost.find("training.routing group_limited: ") == std::string::npos) == flags);
  }
}

}  // namespace expert_ranks_spec
