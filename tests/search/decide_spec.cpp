// SPDX-License-Identifier: Apache-2.0
// The option that is taken, and the changes that would make it another.
#include "search/purchase/decision_parts.hpp"
#include "tests/catch.hpp"
#include "tests/search/purchases.hpp"

namespace decide_spec {

using namespace tests;

namespace {

// A search that only knows how long a step takes: `seconds` of (nodes, batch).
template <class Time>
Purchasing knowing(Time seconds) {
  return {.solve = [seconds](const Question& asked) {
    Answer answer;
    const auto& scenario = asked.scenario;
    const double time = seconds(scenario.cluster.nodes(), scenario.training.global_batch);
    if (!(time > 0)) {
      answer.misfit = Misfit{{}, {150e9}, {100e9}};
      return answer;
    }
    answer.plans.push_back({scenario.plan, plan_of(asked, time).forecast, {}});
    answer.optimal = true;
    return answer;
  }};
}

}  // namespace

TEST_CASE(
    "the option that costs least is recommended, and its margin is the further cost of the next") {
  const auto decision = decide(purchase({rented(2), bought(), rented(1.9)}),
                               knowing([](auto, auto) { return 10.0; }));
  const auto& chosen = *decision.recommended;
  CHECK(chosen.option == 1);  // costs 154,893; the others 384,000 and 364,800
  CHECK(chosen.second == 2u);
  CHECK(chosen.margin == Approx(364'800 / (1e8 / 1460 + 86'400) - 1));
  CHECK(chosen.ties.empty());
  CHECK(decision.pareto == std::vector<std::size_t>{1});
}

TEST_CASE("a lead within the uncertainty of forecasts is a tie") {
  Assessment a, b, c;
  for (auto* one : {&a, &b, &c}) one->planned = true;
  a.costs.rent = {100};
  a.total_low = {95}, a.total_high = {103};
  b.costs.rent = {104};
  b.total_low = {100}, b.total_high = {110};
  c.costs.rent = {110};
  c.total_low = {106}, c.total_high = {115};
  const auto chosen = recommend({c, b, a});
  CHECK(chosen->option == 2);
  CHECK(chosen->second == 1u);
  CHECK(chosen->margin == Approx(0.04));
  CHECK(chosen->uncertainty == Approx(0.05));          // hypot(103 - 100, 104 - 100) / 100
  CHECK(chosen->ties == std::vector<std::size_t>{1});  // c lags by 10, beyond 5
}

TEST_CASE("an option that costs nothing is recommended, and shares of its cost are 0") {
  Assessment owned, rented;
  owned.planned = rented.planned = true;
  rented.costs.rent = {100};
  rented.total_low = {95}, rented.total_high = {105};
  const auto chosen = recommend({rented, owned});
  CHECK(chosen->option == 1);
  CHECK(chosen->margin == 0);
  CHECK(chosen->uncertainty == 0);
  CHECK(chosen->ties.empty());  // 100 apart, off by 5
}

TEST_CASE("nothing is recommended where nothing is feasible") {
  auto asked = purchase({bought(10), bought(20)});
  asked.constraints.deadline = Seconds{40 * day};
  const auto decision =
      decide(asked, knowing([](auto nodes, auto) { return nodes == 10 ? 0.0 : 5.0; }));
  CHECK_FALSE(decision.recommended);
  CHECK(decision.pareto.empty());
  const auto& none = decision.options[0].assessment;
  CHECK_FALSE(none.planned);
  CHECK(none.shortfalls[0].what == "memory");
  CHECK(none.shortfalls[0].excess == Approx(0.5));
  CHECK(decision.options[1].assessment.shortfalls[0].what == "deadline");
  for (const auto& row : decision.sensitivity) CHECK_FALSE(row.recommended);
}

TEST_CASE("the Pareto front keeps options that are better in time, money or energy") {
  const auto option = [](double time, double money, double energy) {
    Assessment one;
    one.planned = true;
    one.until_done = {time};
    one.costs.rent = {money};
    one.energy = {energy};
    return one;
  };
  auto beyond = option(0, 0, 0);
  beyond.shortfalls.push_back({"power", 1});
  CHECK(pareto_of({option(1, 5, 5), option(5, 1, 5), option(5, 5, 1), option(5, 5, 5),
                   option(1, 5, 5), beyond}) == std::vector<std::size_t>{0, 1, 2, 4});
}

TEST_CASE("the choice flips where a fifth more or less makes another cheaper") {
  // The bought option costs 154,893 (68,493 for nodes, 86,400 for energy), the rented one 165,000.
  const auto decision = decide(purchase({bought(), rented(165e3 / (80 * 24 * 100))}),
                               knowing([](auto, auto) { return 10.0; }));
  REQUIRE(decision.recommended->option == 0);
  std::vector<std::string> flips;
  for (const auto& [parameter, change, recommended, total_cost] : decision.sensitivity)
    if (recommended != 0u) flips.push_back(parameter + (change > 0 ? " up" : " down"));
  CHECK(flips == std::vector<std::string>{"price up", "rent down", "energy_price up",
                                          "price of bought up", "efficiency of bought down"});
  CHECK(decision.sensitivity.size() == 12);
}

TEST_CASE("sensitivity says the cost of the recommended option under each change") {
  // The bought option costs 68,493 for nodes and 86,400 for energy.
  const auto decision = decide(purchase({bought(), rented(165e3 / (80 * 24 * 100))}),
                               knowing([](auto, auto) { return 10.0; }));
  const double nodes = decision.options[0].assessment.costs.capital.value;
  const double energy = decision.options[0].assessment.costs.energy.value;
  const auto cost_under = [&](const std::string& parameter, double change) {
    const auto found = std::ranges::find_if(decision.sensitivity, [&](const auto& row) {
      return row.parameter == parameter && row.change == change;
    });
    return found->total_cost->value;
  };
  CHECK(cost_under("price", 0.2) == Approx(1.2 * nodes + energy));
  CHECK(cost_under("energy_price", -0.2) == Approx(nodes + 0.8 * energy));
  CHECK(cost_under("rent", 0.2) == Approx(nodes + energy));
  CHECK(cost_under("price of bought", 0.2) == Approx(1.2 * nodes + energy));
}

TEST_CASE("options are decided by corrected step times, and keep the correction") {
  const auto asked = purchase({rented(2)});
  auto how = knowing([](auto, auto) { return 10.0; });
  how.intervals.regimes = {{.regime = {}, .rows = 9, .datasets = 3, .low = -0.2, .high = 0.2}};
  const auto& question = asked.options[0].questions[0];
  const auto run = forecast::circumstances_of(question.scenario, plan_of(question).forecast);
  how.intervals.devices = {{run.regime[0], run.gpus, run.sequence, run.traits}};
  const auto before = decide(asked, how);
  CHECK_FALSE(before.options[0].found.workloads[0].correction);

  // A run of the option's own scenario took 12 s a step, so the corrected forecast is close to
  // that.
  const auto& plan = before.options[0].found.workloads[0];
  how.corrections.steps = {forecast::measured_step("measured", {12}, forecast::usual_noise,
                                                   plan.scenario, plan.forecast)};
  const auto after = decide(asked, how);
  const auto& corrected = after.options[0].found.workloads[0];
  REQUIRE(corrected.correction);
  CHECK(corrected.forecast.step.time.value == Approx(12).epsilon(0.01));
  CHECK(corrected.forecast.step.time == corrected.correction->factor * plan.forecast.step.time);
  CHECK(after.options[0].assessment.time / before.options[0].assessment.time ==
        Approx(corrected.correction->factor));
  CHECK(after.options[0].assessment.spread_high < before.options[0].assessment.spread_high);
}

TEST_CASE("each option is planned with the allowed batch that trains in the least time") {
  auto asked = purchase();
  asked.workloads[0].max_global_batch = 1000;
  asked.workloads[0].critical_batch = 400;
  // A step takes 10 s with up to 200 sequences, and time in proportion beyond. Larger batches need
  // more tokens, so the largest that still takes 10 s is best.
  const auto decision = decide(asked, knowing([](auto, auto batch) {
                                 return batch <= 200 ? 10.0 : static_cast<double>(batch) / 20;
                               }));
  const auto& plan = decision.options[0].found.workloads[0];
  CHECK(plan.scenario.training.global_batch == 200);
  CHECK(days(decision.options[0].assessment.time) == Approx(50 * 1.5));
}

TEST_CASE("the same cluster is searched once, however it is paid for") {
  int searches = 0;
  auto how = knowing([&](auto, auto) {
    ++searches;
    return 10.0;
  });
  decide(purchase({bought(10), rented(2), rented(2, 20)}), how);
  CHECK(searches == 2);
}

TEST_CASE("another fabric is played with the same plan, at the same price") {
  auto option = bought(4);
  auto& scenario = option.questions[0].scenario;
  scenario.training = {.sequence_length = 512, .global_batch = 64};
  scenario.cluster.fabric.kind = topology::Fabric::Kind::rail_fat_tree;
  scenario.plan.data = 32;
  const auto forecast = forecast::simulate(scenario);
  const Planned plan{scenario, forecast};
  const auto asked = purchase({option});
  const auto effects = fabric_effects(asked, option, {plan}, {});
  std::vector<std::string> names;
  for (const auto& effect : effects) names.push_back(effect.what.substr(0, 4));
  CHECK(names == std::vector<std::string>{"over", "over", "no r", "NICs", "NICs"});
  const auto now = assess(asked, option, {plan});
  CHECK(effects[3].assessment.time > now.time);
  CHECK(effects[4].assessment.time < now.time);
  CHECK(effects[4].assessment.capital_full == now.capital_full);
  scenario.cluster = tests::cluster_of(8, 8, 8);
  CHECK(fabric_effects(asked, option, {plan}, {}).empty());  // one node has no fabric
}

}  // namespace decide_spec
