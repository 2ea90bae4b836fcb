// SPDX-License-Identifier: Apache-2.0
// The key training.routing: the experts that tokens choose.
#include <string>

#include "scenarios/documents/error.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/shown.hpp"
#include "tests/catch.hpp"

namespace routing_spec {

using strategies::ExpertPlacement;
using strategies::Locality;
using strategies::Routing;
using strategies::Skew;

namespace {

// A scenario with eight experts.
forecast::Scenario scenario(const std::string& routing, const std::string& model = "mixtral-8x7b") {
  return scenarios::read_scenario("model: " + model +
                                      "\ncluster: {node: dgx-h100, nodes: 1}\n"
                                      "training:\n  sequence_length: 4096\n  global_batch: 64\n"
                                      "  routing: " +
                                      routing + "\nplan: {expert: 8}\n",
                                  "s.yaml", {});
}

Routing read(const std::string& routing) { return scenario(routing).training.routing; }

std::string wrong(const std::string& routing, const std::string& model = "mixtral-8x7b") {
  try {
    scenario(routing, model);
  } catch (const scenarios::Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("routing says which experts tokens choose") {
  CHECK(read("{}") == Routing{});
  CHECK(read("{locality: random, skew: balanced}") == Routing{});
  CHECK(read("{locality: group_limited, groups: 4, top_groups: 2}") ==
        Routing{.locality = Locality::group_limited, .groups = 4, .top_groups = 2});
  CHECK(read("{locality: neighbours}").locality == Locality::neighbours);
  CHECK(read("{skew: power_law, exponent: 1, spread: 100, placement: greedy}") ==
        Routing{.skew = Skew::power_law,
                .exponent = 1,
                .spread = 100,
                .placement = ExpertPlacement::greedy});
  CHECK(read("{skew: histogram, shares: [8, 7, 6, 5, 4, 3, 2, 1]}").shares ==
        std::vector<double>{8, 7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("routing that says nothing is not shown") {
  CHECK(scenarios::shown(scenario("{locality: random}").training).find("routing") == nullptr);
  const auto shown = scenarios::shown(scenario("{skew: power_law}").training);
  const auto* routing = shown.find("routing");
  REQUIRE(routing != nullptr);
  CHECK(routing->find("exponent")->text == "1.2");
  CHECK(routing->find("groups") == nullptr);
}

TEST_CASE("impossible routing is refused where it stands, with what to write instead") {
  CHECK(wrong("{locality: group_limited}") ==
        "s.yaml:6:12: training.routing: missing key 'groups'; group_limited needs both, such as 8 "
        "and 4\n"
        "s.yaml:6:12: training.routing: missing key 'top_groups'; group_limited needs both, such "
        "as 8 and 4");
  CHECK(wrong("{groups: 4}") ==
        "s.yaml:6:21: training.routing.groups: is for locality: group_limited; leave it out, or "
        "write that");
  CHECK(wrong("{locality: group_limited, groups: 3, top_groups: 1}") ==
        "s.yaml:6:12: training.routing: groups 3 does not divide 8 experts: groups are equal; "
        "write a divisor");
  CHECK(wrong("{locality: group_limited, groups: 8, top_groups: 1}") ==
        "s.yaml:6:12: training.routing: 1 groups of 1 experts are fewer experts than top_k 2; "
        "write more top_groups");
  CHECK(wrong("{skew: histogram, shares: [1, 2]}") ==
        "s.yaml:6:12: training.routing: shares has 2 numbers for 8 experts; write one for each");
  CHECK_THAT(wrong("{skew: histogram, shares: [1, 2, 3, 4, 5, 6, 7, 0]}"),
             STEPCAST_HOLDS("every expert gets some tokens"));
  CHECK_THAT(wrong("{locality: neighbours, skew: power_law}"),
             STEPCAST_HOLDS("training.routing.skew: a gate of neighbours"));
  CHECK_THAT(wrong("{placement: greedy}"), STEPCAST_HOLDS("is for skew: power_law or histogram"));
  CHECK_THAT(wrong("{skew: power_law}", "{base: mixtral-8x7b, moe: {imbalance: 1.5}}"),
             STEPCAST_HOLDS("model.moe.imbalance says already"));
  CHECK_THAT(wrong("{skew: power_law}", "llama3-8b"), STEPCAST_HOLDS("the model has no experts"));
}

}  // namespace routing_spec
