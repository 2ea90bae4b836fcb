// SPDX-License-Identifier: Apache-2.0
// The figures of a purchase's document follow from each other, whatever machines cost.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "report/purchase/purchase.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"

namespace purchase_sums_spec {

using nlohmann::json;
using units::Money;
using units::Seconds;

namespace {

constexpr double day = 86400;

class DrawnPurchase {
 public:
  explicit DrawnPurchase(unsigned seed) : random_(seed) {}
  double between(double least, double most) {
    return std::exp(std::uniform_real_distribution(std::log(least), std::log(most))(random_));
  }
  bool coin() { return random_() % 2 == 0; }

  search::Purchase purchase() {
    search::Purchase made{.name = "drawn"};
    made.workloads = {{.name = "one", .weight = between(0.5, 3), .tokens = between(1e10, 1e12)}};
    made.economics.electricity = Money{between(0.02, 0.5)} / units::Joules{3.6e6};
    made.economics.pue = between(1, 2);
    made.economics.staff_per_year = {coin() ? between(1e4, 1e6) : 0};
    made.economics.storage = {coin() ? between(1e3, 1e6) : 0};
    made.economics.utilisation = between(0.5, 1);
    if (coin()) {
      made.reliability.gpu_mtbf = Seconds{between(50, 1000) * day};
      made.reliability.checkpoint_bandwidth = units::BytesPerSecond{1e10};
    }
    if (coin()) made.constraints.deadline = Seconds{between(10, 1000) * day};
    if (coin()) made.constraints.budget = Money{between(1e4, 1e7)};
    for (const auto* name : {"bought", "rented", "other"}) {
      search::Question question{.scenario = examples::scenario()};
      question.scenario.cluster.fabric.measured.resize(1);  // no other fabric is tried
      search::PurchaseOption option{.name = name, .questions = {question}};
      option.power.nameplate = {between(1e3, 1e4)};
      option.support_per_year = {{}, coin() ? 0.05 : 0};
      if (name == std::string("rented"))
        option.rent = search::Rent{.per_gpu_hour = {between(0.5, 10)}};
      else
        option.price = search::QuotedPrice{{between(1e5, 1e6)}, {between(1e3, 1e5)}, "", false};
      option.lead_time = {coin() ? 30 * day : 0};
      made.options.push_back(option);
    }
    return made;
  }

 private:
  std::mt19937 random_;
};

search::Purchasing known_plan() {
  return {.solve = [](const search::Question& asked) {
    search::Answer answer;
    answer.plans.push_back({asked.scenario.plan, examples::forecast(), {}});
    return answer;
  }};
}

double sum_of(const json& of, const std::vector<const char*>& keys) {
  double sum = 0;
  for (const auto* key : keys) sum += of.at(key).get<double>();
  return sum;
}

}  // namespace

TEST_CASE("what an option costs is the sum of its parts, and its times bound each other") {
  DrawnPurchase drawn(61);
  int recommended = 0, none = 0, again = 0;
  for (int i = 0; i < 40; ++i) {
    const auto asked = drawn.purchase();
    const auto document =
        json::parse(report::purchase_json(asked, search::decide(asked, known_plan()), "1", {0}));
    for (const auto& option : document["options"]) {
      INFO(option.dump(2));
      const double total = option["total_cost"], capital = option["capital"];
      CHECK(total == Approx(sum_of(option, {"capital", "energy_cost", "rent_cost", "support_cost",
                                            "staff_cost", "storage_cost"})));
      // Machines live four years, and are paid for while they work, a share of that.
      const double life = 4 * 365 * asked.economics.utilisation;
      const double lives = option["lives"], used = option["days"].get<double>() / (4 * 365);
      CHECK(option["paid"].get<double>() ==
            Approx(lives * option["capital_full"].get<double>() + total - capital));
      CHECK(lives == (option["name"] == "rented" ? 1 : std::max(1.0, std::ceil(used))));
      if (capital <= lives * option["capital_full"].get<double>())
        CHECK(option["paid"].get<double>() >= total - 1e-6);
      again += lives > 1;
      CHECK(capital ==
            Approx(option["capital_full"].get<double>() * option["days"].get<double>() / life));
      CHECK(option["total_cost_low"] <= total);
      CHECK(option["total_cost_high"] >= total);
      CHECK(option["days_low"] <= option["days"]);
      CHECK(option["days"] <= option["days_high"]);
      CHECK(option["days_until_done"] >= option["days"]);
      const auto& workload = option["workloads"][0];
      CHECK(option["days"].get<double>() ==
            Approx(workload["weight"].get<double>() * workload["days"].get<double>()));
      const double tokens = workload["weight"].get<double>() * workload["tokens"].get<double>();
      CHECK(option["cost_per_trillion_tokens"].get<double>() ==
            Approx(total / tokens * 1e12).epsilon(1e-6));
      // No figure of a rented machine is of a bought one.
      const bool rented = option["name"] == "rented";
      CHECK((option["rent_cost"] > 0) == rented);
      CHECK((option["capital_full"] > 0) == !rented);
      CHECK((option["power_w"] > 0) == !rented);
      const auto& goodput = workload["goodput"];
      CHECK(sum_of(goodput, {"share", "stalls", "lost_work", "restarts", "waits", "stragglers"}) ==
            Approx(1));
    }
    const auto& chosen = document["recommended"];
    (chosen.is_null() ? none : recommended) += 1;
    for (const auto& option : document["options"]) {
      CHECK(option["feasible"] == option["shortfalls"].empty());
      if (!chosen.is_null() && option["feasible"] == true) {
        const auto is_chosen = [&](const json& one) { return one["name"] == chosen["name"]; };
        const auto best = std::ranges::find_if(document["options"], is_chosen);
        CHECK(best->at("total_cost") <= option["total_cost"]);
      }
    }
  }
  CHECK(again >= 5);
  CHECK(recommended >= 5);
  CHECK(none >= 5);
}

TEST_CASE("training everything twice as often takes twice the days, rent and energy") {
  DrawnPurchase drawn(62);
  for (int i = 0; i < 10; ++i) {
    auto asked = drawn.purchase();
    asked.constraints = {};
    const auto options = [&] {
      return json::parse(
          report::purchase_json(asked, search::decide(asked, known_plan()), "1", {0}))["options"];
    };
    const auto once = options();
    asked.workloads[0].weight *= 2;
    const auto twice = options();
    for (std::size_t o = 0; o < once.size(); ++o)
      for (const auto* key : {"days", "rent_cost", "energy_cost", "support_cost", "staff_cost",
                              "capital", "energy_wh"}) {
        INFO(once[o]["name"] << " " << key);
        CHECK(twice[o][key].get<double>() == Approx(2 * once[o][key].get<double>()));
      }
  }
}

}  // namespace purchase_sums_spec
