// SPDX-License-Identifier: Apache-2.0
// The number of nodes that an option takes where nobody gives it.
#include <algorithm>

#include "search/purchase/decision_parts.hpp"
#include "search/purchase/dividing_counts.hpp"
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

std::vector<std::int64_t> tried(const Decision& decision) {
  std::vector<std::int64_t> all;
  for (const auto& one : decision.options[0].tried) all.push_back(one.nodes);
  return all;
}

void set_batch(Purchase& asked, std::int64_t sequences) {
  asked.options[0].questions[0].scenario.training.global_batch = sequences;
}

// Leaves plans of one stage: their GPUs are the data degree, a divisor of the batch, times the
// tensor degree, which is 1, 2, 4 or 8 as the small model has eight heads.
void take_one_stage(Purchase& asked) {
  auto& space = asked.options[0].questions[0].space;
  space.pipeline.listed = space.context.listed = {1};
}

}  // namespace

TEST_CASE("a budget of capital buys as many nodes as it pays for, or fewer that are faster") {
  Constraints constraints;
  constraints.budget = Money{1.35e6};
  constraints.budget_of = Constraints::BudgetOf::capital;
  auto asked = open({}, constraints);
  set_batch(asked, 312);  // 3 * 8 * 13
  const auto decision = decide(asked, shared_work(100));
  CHECK(nodes_of(decision) == 13);
  CHECK(decision.recommended);
  CHECK(decision.options[0].assessment.capital_full.value == 1.3e6);
  CHECK(tried(decision) == std::vector<std::int64_t>{8, 12, 13});

  // Neither the batch nor the model has a factor 13, so that 13 nodes have no plan.
  CHECK(tried(decide(open({}, constraints), shared_work(100))) == std::vector<std::int64_t>{8, 12});

  // There are degrees on 13 nodes, but no plan comes of them.
  auto how = shared_work(100);
  how.solve = [of = how.solve](const Question& asked) {
    auto answer = of(asked);
    if (asked.scenario.cluster.nodes() == 13) answer.plans.clear();
    return answer;
  };
  CHECK(nodes_of(decide(asked, how)) == 12);
}

TEST_CASE("counts have a plan where GPUs, model and batch are divided by some degrees") {
  auto asked = open({}, {});
  take_one_stage(asked);
  set_batch(asked, 96);
  std::vector<DividingCount> expected{{1, 1}, {2, 1}, {3, 1}, {4, 1}};
  for (const std::int64_t nodes : {6, 8, 12, 16, 24, 32, 48, 96})
    expected.push_back({nodes, nodes * 8 == 48  ? 1
                               : nodes % 3 == 0 ? 96.0 / (double(nodes) * 8)
                                                : 32.0 / (double(nodes) * 8)});
  CHECK(dividing_counts(asked, asked.options[0], 1, 100) == expected);
  CHECK(dividing_counts(asked, asked.options[0], 97, 10'000).empty());
}

TEST_CASE("counts that nothing divides say nothing about time, and are not tried") {
  Constraints constraints;
  constraints.deadline = Seconds{165 * day};
  auto asked = open({1, 4000}, constraints);
  take_one_stage(asked);
  set_batch(asked, 4096);
  // A step of 4,096 sequences takes 4,096 s of one node, and the training 1,000 days: 6.1 nodes
  // would be in time. Only powers of two divide.
  const auto decision = decide(asked, shared_work(4096));
  CHECK(nodes_of(decision) == 8);
  CHECK(decision.options[0].assessment.feasible());
  for (const auto nodes : tried(decision)) CHECK((nodes & (nodes - 1)) == 0);
  CHECK(tried(decision).size() <= 4);
}

TEST_CASE("counts that divide better are tried beside the fewest that are in time") {
  Constraints constraints;
  constraints.deadline = Seconds{165 * day};
  auto asked = open({1, 1000}, constraints);
  set_batch(asked, 512);
  // Steps take 1.3 times as long where a factor of the nodes is no power of two.
  const auto uneven = [](const Question& question) {
    const auto nodes = question.scenario.cluster.nodes();
    return shared_work((nodes & (nodes - 1)) == 0 ? 512 : 512 * 1.3).solve(question);
  };
  // The training takes 1,000 days of one node, 1,300 on uneven numbers: eight nodes end after 125
  // days, and nine, which take 144, cost more.
  const auto decision = decide(asked, {.solve = uneven});
  CHECK(nodes_of(decision) == 8);
  CHECK(decision.options[0].tried.size() <= most_tries);
}

TEST_CASE("of up to 16 nodes of a small model those are found that trying every number finds") {
  for (const std::int64_t batch : {36, 64, 100})
    for (const bool one_stage : {true, false}) {
      auto asked = open({1, 16}, {});
      set_batch(asked, batch);
      if (one_stage) take_one_stage(asked);
      asked.options[0].questions[0].gap = 0.05;
      std::vector<Assessment> all;
      for (std::int64_t nodes = 1; nodes <= 16; ++nodes) {
        auto one = asked;
        one.options[0] = with_nodes(asked.options[0], nodes);
        one.options[0].find.reset();
        all.push_back(decide(one, {}).options[0].assessment);
      }
      for (const double share : {0.5, 0.12}) {
        const auto deadline = Seconds{share * all[0].until_done.value};
        std::optional<double> least;
        for (const auto& a : all)
          if (a.planned && a.until_done <= deadline)
            least = std::min(least.value_or(1e30), a.costs.total().value);
        asked.constraints.deadline = deadline;
        const auto found = decide(asked, {});
        CAPTURE(batch, one_stage, share, tried(found), nodes_of(found));
        REQUIRE(found.recommended.has_value() == least.has_value());
        if (least) CHECK(found.options[0].assessment.costs.total().value <= *least * 1.02);
      }
    }
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
