// SPDX-License-Identifier: Apache-2.0
// The number of nodes that an option takes where nobody gives it.
#include <algorithm>

#include "search/purchase/decision_parts.hpp"
#include "tests/catch.hpp"
#include "tests/search/purchases.hpp"

namespace find_nodes_spec {

using namespace tests;

namespace {

// A search whose step takes `work` / nodes seconds, and `per_node` seconds more for each node.
Purchasing shared_work(double work, double per_node = 0) {
  return {.solve = [=](const Question& asked) {
    Answer answer;
    const auto nodes = static_cast<double>(asked.scenario.cluster.nodes());
    const auto time = work / nodes + per_node * nodes;
    answer.plans.push_back({asked.scenario.plan, plan_of(asked, time).forecast, {}});
    return answer;
  }};
}

Purchase open(const NodeCounts& counts, const Constraints& constraints) {
  auto option = bought(2);
  option.find = counts;
  auto asked = purchase({option});
  asked.constraints = constraints;
  return asked;
}

std::int64_t nodes_of(const Decision& decision) {
  return decision.purchase.options[0].cluster().nodes();
}

}  // namespace

TEST_CASE("a budget of capital buys as many nodes as it pays for, or fewer that are faster") {
  Constraints constraints;
  constraints.budget = Money{1.35e6};
  constraints.budget_of = Constraints::BudgetOf::capital;
  const auto decision = decide(open({}, constraints), shared_work(100));
  CHECK(nodes_of(decision) == 13);
  CHECK(decision.recommended);
  CHECK(decision.options[0].assessment.capital_full.value == 1.3e6);
  std::vector<std::int64_t> tried;
  for (const auto& one : decision.options[0].tried) tried.push_back(one.nodes);
  CHECK(tried == std::vector<std::int64_t>{8, 12, 13});

  // No plan divides its work over 13 nodes.
  auto how = shared_work(100);
  how.solve = [of = how.solve](const Question& asked) {
    auto answer = of(asked);
    if (asked.scenario.cluster.nodes() == 13) answer.plans.clear();
    return answer;
  };
  CHECK(nodes_of(decide(open({}, constraints), how)) == 12);
}

TEST_CASE("the fewest nodes that meet a deadline are found, to a sixteenth") {
  for (const double limit : {13.0, 40.0, 100.0}) {
    Constraints constraints;
    constraints.deadline = Seconds{limit * day};
    // A step of 100 nodes takes 1 s, and the training 10 days.
    const auto decision = decide(open({1, 1000}, constraints), shared_work(100));
    const auto least = static_cast<double>(100 * 10) / limit;
    CAPTURE(limit, nodes_of(decision));
    CHECK(static_cast<double>(nodes_of(decision)) >= least);
    CHECK(static_cast<double>(nodes_of(decision)) <= std::max(least + 2, least * 1.13));
    CHECK(decision.options[0].assessment.feasible());
    CHECK(decision.options[0].tried.size() <= most_tries);
  }
}

TEST_CASE("a budget of the total cost stops growth where it makes training dearer") {
  Constraints constraints;
  constraints.budget = Money{400e3};
  const auto decision = decide(open({}, constraints), shared_work(100, 0.05));
  const auto& a = decision.options[0].assessment;
  CHECK(a.feasible());
  CHECK(a.costs.total() <= *constraints.budget);
  for (const auto& [nodes, other] : decision.options[0].tried)
    if (other.feasible()) CHECK(a.time <= other.time);
}

TEST_CASE("where not even one node can be paid, it is said by how much") {
  Constraints constraints;
  constraints.budget = Money{50e3};
  constraints.budget_of = Constraints::BudgetOf::capital;
  const auto decision = decide(open({}, constraints), shared_work(100));
  CHECK_FALSE(decision.recommended);
  CHECK(nodes_of(decision) == 1);
  const auto& shortfalls = decision.options[0].assessment.shortfalls;
  REQUIRE_FALSE(shortfalls.empty());
  CHECK(shortfalls[0].what == "budget");
  CHECK(shortfalls[0].excess == Approx(1));
}

TEST_CASE("power and racks bound the number of nodes") {
  Constraints constraints;
  constraints.power = units::Watts{65e3};  // a node draws 10 kW
  CHECK(nodes_of(decide(open({}, constraints), shared_work(100))) == 6);
  constraints.racks = 4;  // one node fills a rack
  CHECK(nodes_of(decide(open({}, constraints), shared_work(100))) == 4);
}

TEST_CASE("a purchase pays the whole price of machines, and for all else the part used") {
  const auto a = assessed(purchase());
  CHECK(a.paid().value == Approx(1e6 + 86'400));
  auto asked = purchase({rented(2)});
  CHECK(assessed(asked).paid() == assessed(asked).costs.total());
}

}  // namespace find_nodes_spec
