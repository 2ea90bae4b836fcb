// SPDX-License-Identifier: Apache-2.0
// The time, power and cost of an option, by pencil.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/search/purchases.hpp"

namespace purchase_spec {

using namespace tests;
using units::Watts;

TEST_CASE("without failures a purchase is tokens over throughput and simple arithmetic") {
  const auto a = assessed(purchase());
  CHECK(a.gpus == 80);
  CHECK(days(a.time) == Approx(100));
  CHECK(days(a.until_done) == Approx(100));
  CHECK(a.goodput == 1);
  CHECK(a.capital_full.value == 1e6);
  CHECK(a.costs.capital.value == Approx(1e6 * 100 / 1460));  // 100 days of four years
  CHECK(a.power.value == 100e3);                             // ten nodes of 10 kW
  CHECK(a.energy.value == Approx(100e3 * 100 * day));        // J
  CHECK(a.costs.energy.value == Approx(100 * day * 100e3 / 1e7));
  CHECK(a.costs.total().value == Approx(a.costs.capital.value + 86'400));
  CHECK(a.costs.rent.value == 0);
  CHECK(a.racks == 10);
  CHECK(a.feasible());
}

TEST_CASE("rent is paid by the GPU-hour, and at least for its term") {
  auto asked = purchase({rented(2)});
  const auto a = assessed(asked);
  CHECK(a.costs.total().value == Approx(80 * 2 * 24 * 100));
  CHECK(a.costs.energy.value == 0);  // the rent includes energy
  CHECK(a.energy.value == Approx(100e3 * 100 * day));
  asked.options[0].rent->minimum_term = {year};
  CHECK(assessed(asked).costs.rent.value == Approx(80 * 2 * 24 * 365));
}

TEST_CASE("the site draws PUE times the power of its machines, less where GPUs wait") {
  auto asked = purchase();
  asked.economics.pue = 1.5;
  asked.options[0].power.idle = Watts{4e3};
  const auto a = assessed(asked);
  CHECK(a.power.value == 150e3);                            // 1.5 · 10 nodes · 10 kW
  CHECK(a.energy.value == Approx(1.5 * 70e3 * 100 * day));  // a node draws 4 + (10 - 4) / 2 kW
}

TEST_CASE(
    "time before training counts for the deadline, and for money once the machines are there") {
  auto asked = purchase();
  asked.options[0].lead_time = {60 * day};
  asked.options[0].burn_in = {10 * day};
  const auto a = assessed(asked);
  CHECK(days(a.time) == Approx(100));
  CHECK(days(a.until_done) == Approx(170));
  CHECK(a.costs.capital.value == Approx(1e6 * 110 / 1460));
  CHECK(a.costs.energy.value == Approx(110 * 864));
}

TEST_CASE("capital is an annuity of the price less the price at which it is sold") {
  auto asked = purchase();
  asked.options[0].residual_value = {Money{50e3}, 0.15};  // 50,000 + 0.15 · 1,000,000
  CHECK(assessed(asked).costs.capital.value == Approx(800e3 * 100 / 1460));
  asked.options[0].lifetime = Seconds{2 * year};
  CHECK(assessed(asked).costs.capital.value == Approx(800e3 * 100 / 730));
  asked.options[0].lifetime = {};
  // Payments of 1 at the end of two years at 10 % are worth 1 / 1.1 + 1 / 1.21 = 1.735537 now.
  asked.economics.lifetime = {2 * year};
  asked.economics.discount_rate = 0.1;
  const double a_year = (1e6 - 200e3 / 1.21) / 1.7355372;
  CHECK(assessed(asked).costs.capital.value == Approx(a_year * 100 / 365));
  asked.economics.utilisation = 0.5;  // days without work are paid for too
  CHECK(assessed(asked).costs.capital.value == Approx(a_year * 200 / 365));
}

TEST_CASE("a job that outlasts its machines buys them again and sells the old ones") {
  auto asked = purchase();  // 100 days, energy of 86,400
  asked.constraints.budget_of = Constraints::BudgetOf::capital;
  asked.constraints.budget = Money{2e6};
  const auto with_life = [&](double of_days) {
    asked.options[0].lifetime = Seconds{of_days * day};
    return assessed(asked);
  };
  CHECK(with_life(365).lives == 1);
  CHECK(with_life(100).lives == 1);
  CHECK(with_life(100).paid().value == Approx(1e6 + 86'400));
  const auto twice = with_life(80);
  CHECK(twice.lives == 2);
  CHECK(twice.costs.capital.value == Approx(1.25e6));
  CHECK(twice.paid().value == Approx(2e6 + 86'400));
  CHECK(twice.feasible());
  CHECK(with_life(30).shortfalls.front().what == "budget");
  CHECK(with_life(30).shortfalls.front().excess == Approx(1));  // 4 million
  asked.options[0].residual_value = {Money{100e3}, 0};
  const auto sold = with_life(40);
  CHECK(sold.lives == 3);
  CHECK(sold.costs.capital.value == Approx(2.5 * 0.9e6));
  CHECK(sold.paid().value == Approx(3e6 - 200e3 + 86'400));
  // Machines that work half of the time are paid for twice as long, and live no shorter.
  asked.economics.utilisation = 0.5;
  CHECK(with_life(40).lives == 3);
  CHECK(with_life(40).costs.capital.value == Approx(5 * 0.9e6));
  CHECK(assess(asked, asked.options[0], {}).paid().value == 1e6);  // nothing is known of the time
}

TEST_CASE("support, staff and storage are paid for the time of the job") {
  auto asked = purchase();
  asked.options[0].support_per_year = {{}, 0.073};
  asked.economics.staff_per_year = {365e3};
  asked.economics.storage = {1460e3};
  const auto a = assessed(asked);
  CHECK(a.costs.support.value == Approx(73e3 * 100 / 365));
  CHECK(a.costs.staff.value == Approx(100e3));
  CHECK(a.costs.storage.value == Approx(100e3));
}

TEST_CASE("spare nodes are paid for and idle") {
  auto asked = purchase();
  asked.reliability.spares = 2;
  asked.options[0].power.idle = Watts{4e3};
  const auto a = assessed(asked);
  CHECK(a.gpus == 80);
  CHECK(a.capital_full.value == 1.2e6);
  CHECK(a.power.value == 108e3);
  CHECK(a.racks == 12);
  asked.options = {rented(2)};
  asked.reliability.spares = 1;
  CHECK(assessed(asked).costs.rent.value == Approx(88 * 2 * 24 * 100));
}

TEST_CASE("a failing cluster takes longer by its goodput") {
  auto asked = purchase();
  asked.reliability.gpu_mtbf = Seconds{80 * day};  // one of 80 GPUs fails a day
  asked.reliability.restart = {2400};
  asked.reliability.checkpoint_bandwidth = units::BytesPerSecond{1e9};
  const auto a = assessed(asked);
  CHECK(a.goodputs[0].failures.value * day == Approx(1));
  CHECK(a.goodput < 1 - 2300 / day);
  CHECK(days(a.time) == Approx(100 / a.goodput));
}

TEST_CASE("a cluster that fails all the time never ends, and is not feasible") {
  auto asked = purchase();
  asked.reliability = {.gpu_mtbf = Seconds{60}, .restart = {600}};
  const auto a = assessed(asked);
  CHECK_FALSE(a.feasible());
  CHECK(a.shortfalls[0].what == "failures");
  CHECK(a.costs.total().value == 0);
}

TEST_CASE("larger batches need more tokens, experiments too") {
  Workload workload{.tokens = 1e9, .overhead = 0.5, .critical_batch = 200};
  CHECK(tokens_needed(workload, 100) == Approx(1e9 * 1.5 * 1.5));
  auto asked = purchase();
  asked.workloads[0].critical_batch = 400;
  const auto a = assessed(asked);
  CHECK(days(a.time) == Approx(125));
  CHECK(a.tokens == asked.workloads[0].tokens);
}

TEST_CASE("padding is no token") {
  auto asked = purchase();
  asked.options[0].questions[0].scenario.training.padding = 0.2;
  CHECK(days(assessed(asked).time) == Approx(125));
}

TEST_CASE("several workloads share a cluster, one after the other, as often as they weigh") {
  auto asked = purchase();
  asked.workloads = {{.weight = 2, .tokens = 10'000 * 30 * day},
                     {.weight = 0.5, .tokens = 10'000 * 20 * day}};
  auto& option = asked.options[0];
  option.questions.push_back(option.questions[0]);
  const auto a =
      assess(asked, option, {plan_of(option.questions[0]), plan_of(option.questions[1], 20)});
  CHECK(days(a.times[0]) == Approx(30));
  CHECK(days(a.times[1]) == Approx(40));
  CHECK(days(a.time) == Approx(2 * 30 + 0.5 * 40));
  CHECK(a.tokens == Approx(10'000 * 70 * day));
}

TEST_CASE("each limit is checked, and its shortfall says by what share it is missed") {
  auto asked = purchase();
  const auto shortfall = [&] {
    const auto found = assessed(asked).shortfalls;
    REQUIRE(found.size() == 1);
    return std::pair(found[0].what, found[0].excess);
  };
  asked.constraints.deadline = Seconds{80 * day};
  CHECK(shortfall().first == "deadline");
  CHECK(shortfall().second == Approx(0.25));
  asked.constraints = {.budget = Money{100e3}};
  CHECK(shortfall().first == "budget");
  CHECK(shortfall().second == Approx((1e6 * 100 / 1460 + 86'400) / 100e3 - 1));
  asked.constraints = {.budget = Money{500e3},
                       .budget_of = Constraints::BudgetOf::capital};  // the nodes cost a million
  CHECK(shortfall().first == "budget");
  CHECK(shortfall().second == Approx(1));
  asked.constraints = {.power = Watts{80e3}};
  CHECK(shortfall().first == "power");
  CHECK(shortfall().second == Approx(0.25));
  asked.constraints = {.racks = 4};
  asked.options[0].nodes_per_rack = 2;
  CHECK(shortfall().first == "racks");
  CHECK(shortfall().second == Approx(0.25));
  asked.constraints = {.deadline = Seconds{100.001 * day},
                       .budget = Money{200e3},
                       .power = Watts{100e3},
                       .racks = 5};
  CHECK(assessed(asked).feasible());
  asked.constraints = {.deadline = Seconds{99 * day}, .racks = 1};
  const auto both = assessed(asked).shortfalls;  // the larger shortfall stands first
  CHECK(both[0].what == "racks");
  CHECK(both[1].what == "deadline");
}

TEST_CASE("the chance to be in time is that of a log-normal forecast") {
  auto asked = purchase();
  auto plan = plan_of(asked.options[0].questions[0]);
  plan.forecast.step.time_low = {9};
  plan.forecast.step.time_high = {12.5};
  const auto chance = [&](double deadline) {
    asked.constraints.deadline = Seconds{deadline * day};
    return *assess(asked, asked.options[0], {plan}).deadline_probability;
  };
  CHECK(chance(90) == Approx(0.1));
  CHECK(chance(100) == Approx(0.5));
  CHECK(chance(125) == Approx(0.9));
  CHECK(chance(100 * 1.25 * 1.25) == Approx(0.9948).epsilon(1e-4));  // 2.563 deviations
  asked.options[0].lead_time = {130 * day};
  CHECK(chance(125) == 0);
  CHECK(chance(230) == Approx(0.5));
  plan.forecast.step.time_low = plan.forecast.step.time_high = {10};
  CHECK(chance(229) == 0);
  CHECK(chance(231) == 1);
  // 100 failures come as a Poisson process, and each costs an hour and more.
  asked.reliability = {.gpu_mtbf = Seconds{80 * day}, .restart = {3600}};
  asked.reliability.checkpoint_bandwidth = units::BytesPerSecond{1e15};
  const auto a = assess(asked, asked.options[0], {plan});
  CHECK(a.spread_high == Approx(std::sqrt(100 * 3600. * 3600.) / (100 * day)).epsilon(0.1));
  CHECK(a.spread_low == a.spread_high);
}

}  // namespace purchase_spec
