// SPDX-License-Identifier: Apache-2.0
// The text and the JSON about a purchase.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/purchase/purchase.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace purchase_spec {

using nlohmann::json;
using units::Money;
using units::Seconds;

namespace {

constexpr double day = 86400;

// A question about nodes of eight GPUs, whose step of 16,000 tokens takes ten seconds.
search::Question question(int nodes) {
  search::Question question{.scenario = examples::scenario()};
  auto& cluster = question.scenario.cluster;
  cluster.gpus = nodes * 8;
  cluster.fabric.measured.resize(1);  // so that no other fabric is tried
  return question;
}

search::Purchase purchase() {
  search::Purchase purchase{.name = "toy clusters"};
  purchase.workloads = {{.name = "toy-1b", .tokens = 1600 * 100 * day, .overhead = 0.25}};
  purchase.constraints = {.deadline = Seconds{200 * day}, .budget = Money{1e6}};
  purchase.economics.electricity = Money{0.1} / units::Joules{3.6e6};
  purchase.economics.pue = 1.25;
  purchase.reliability.gpu_mtbf = Seconds{320 * day};
  purchase.reliability.checkpoint_bandwidth = units::BytesPerSecond{1e9};
  search::PurchaseOption bought{.name = "bought", .questions = {question(2)}};
  bought.price =
      search::QuotedPrice{{300e3}, {20e3}, "catalog, toy-node: a spreadsheet, 2024", true};
  bought.power.nameplate = {10e3};
  bought.lead_time = {30 * day};
  bought.support_per_year = {{}, 0.05};
  auto rented = bought;
  rented.name = "rented";
  rented.price = {};
  rented.lead_time = {};
  rented.support_per_year = {};
  rented.rent = search::Rent{.per_gpu_hour = {1.25}};
  auto small = rented, spot = rented;
  small.name = "rented/1";
  small.questions = {question(1)};
  spot.name = "spot";
  spot.rent = search::Rent{{3}, search::Rent::Kind::spot, Seconds{2 * day}};
  purchase.options = {bought, rented, small, spot};
  return purchase;
}

search::Purchasing known_plans() {
  return {.solve = [](const search::Question& asked) {
    search::Answer answer;
    if (asked.scenario.cluster.gpus < 16) {
      answer.misfit = search::Misfit{{}, {100e9}, {80e9}};
      return answer;
    }
    auto forecast = examples::forecast();
    forecast.validated = {{}, 10, 2, {"no run on toy-gpu was measured"}};
    answer.plans.push_back({asked.scenario.plan, forecast, {}});
    answer.gap = 0.02;
    return answer;
  }};
}

search::Decision decision(const search::Purchase& asked) {
  auto decision = search::decide(asked, known_plans());
  auto faster = decision.options[1].assessment;
  faster.time = 0.95 * faster.time;
  faster.costs.rent = 0.95 * faster.costs.rent;
  decision.options[1].fabric = {{"oversubscription 1:1", faster}};
  decision.options[0].fabric = {{"oversubscription 1:1", faster}};
  return decision;
}

}  // namespace

TEST_CASE("prices that are likely slips, and GPUs that are bought and unused, are warned of") {
  const auto said = [](const search::Purchase& asked, const std::string& what) {
    const auto all = report::purchase_warnings(asked, search::decide(asked, known_plans()));
    return std::ranges::count_if(all, [&](const auto& one) { return one.find(what) != one.npos; });
  };
  auto asked = purchase();
  CHECK(said(asked, "are usual") == 0);
  CHECK(said(asked, "paid for whole") == 0);
  asked.options[0].price->node = {300};
  CHECK(said(asked, "bought: price.node of 300 USD is 37.5 USD for a GPU") == 1);
  asked.options[1].rent->per_gpu_hour = {98};
  CHECK(said(asked, "rented: rent.per_gpu_hour of 98 USD is for one GPU and one hour") == 1);
  asked.economics.currency = "JPY";
  CHECK(said(asked, "are usual") == 0);
  asked.options[0].questions[0].scenario.cluster.gpus = 12;
  CHECK(said(asked,
             "bought: 12 GPUs train and 16 are bought, as the last node is paid for whole") == 1);
}

TEST_CASE("a purchase is told in tables, the recommendation first") {
  const auto asked = purchase();
  golden::check("purchase.txt", report::purchase_text(asked, decision(asked)));
}

TEST_CASE("a purchase is written as JSON with the keys that scripts rely on") {
  const auto asked = purchase();
  const auto text = report::purchase_json(asked, decision(asked), "0.0.0", {1.5});
  golden::check("purchase.json", text);
  const auto document = json::parse(text);
  for (const auto* key : {"options", "pareto", "recommended", "sensitivity", "currency"})
    CHECK(document.contains(key));
  for (const auto& option : document["options"])
    for (const auto* key :
         {"name", "gpus", "feasible", "binding", "plan", "step_time_s", "mfu", "goodput", "days",
          "capital", "capital_full", "energy_cost", "rent_cost", "total_cost",
          "cost_per_trillion_tokens", "power_w", "energy_wh", "deadline_probability"}) {
      CAPTURE(option["name"], key);
      CHECK(option.contains(key));
    }
  for (const auto* key : {"name", "reason", "margin"}) CHECK(document["recommended"].contains(key));
  for (const auto* key : {"parameter", "change", "recommended"})
    CHECK(document["sensitivity"][0].contains(key));
}

TEST_CASE("figures in the JSON are days, watt-hours and money of the currency") {
  auto asked = purchase();
  asked.reliability = {};
  const auto document =
      json::parse(report::purchase_json(asked, search::decide(asked, known_plans()), "0", {0}));
  const auto& bought = document["options"][0];
  CHECK(bought["days"] == Approx(125));  // a quarter more for experiments
  CHECK(bought["days_until_done"] == Approx(155));
  CHECK(bought["power_w"] == 25e3);
  CHECK(bought["energy_wh"] == Approx(25e3 * 125 * 24));
  CHECK(bought["energy_cost"] == Approx(25 * 125 * 24 * 0.1));
  CHECK(bought["capital_full"] == 640e3);
  CHECK(bought["capital"] == Approx(640e3 * 125 / 1460));
  CHECK(bought["cost_per_trillion_tokens"] ==
        Approx(bought["total_cost"].get<double>() / (0.0016 * 100 * 0.0864)));
  const auto& small = document["options"][2];
  CHECK(small["feasible"] == false);
  CHECK(small["binding"] == "memory");
  CHECK(small["plan"] == nullptr);
  CHECK(small["total_cost"] == nullptr);
}

TEST_CASE("a lead inside the interval is called a tie") {
  auto asked = purchase();
  asked.reliability = {};
  asked.constraints = {};
  asked.options = {asked.options[1], asked.options[1]};
  asked.options[1].name = "other";
  asked.options[1].rent->per_gpu_hour = {1.275};
  const auto decision = search::decide(asked, known_plans());
  CHECK(
      report::recommendation_words(asked, decision) ==
      "a tie of rented (60,000 USD to pay, 125 days) and other (61,200 USD to pay, 125 days): 2.0 "
      "% of the cost lies between the first two, and forecasts of both may be off by 18.1 % (80 "
      "%). Decide by what is not in it.");
  const auto document = json::parse(report::purchase_json(asked, decision, "0", {0}));
  asked.constraints.deadline = Seconds{200 * day};
  CHECK_THAT(report::recommendation_words(asked, search::decide(asked, known_plans())),
             STEPCAST_HOLDS("not in it. The probability of meeting the deadline: rented over 99.9 "
                            "% and other over 99.9 %."));
  CHECK(document["recommended"]["tie"] == true);
  CHECK(document["recommended"]["ties"] == json::array({"other"}));
}

TEST_CASE("a change of the cost is told however small it is beside the unit of the table") {
  auto asked = purchase();
  auto decided = decision(asked);
  auto& fabric = decided.options[1].fabric[0].assessment;
  fabric = decided.options[1].assessment;
  fabric.costs.staff = Money{1.5};  // of a table in thousands
  CHECK_THAT(report::purchase_text(asked, decided), STEPCAST_HOLDS("+0.0015\n"));
  fabric.costs.staff = Money{0.001};
  CHECK_THAT(report::purchase_text(asked, decided), !STEPCAST_HOLDS("+0.0"));
}

TEST_CASE("rented machines draw no power of the buyer's site, and their energy is told") {
  auto asked = purchase();
  const auto document = json::parse(report::purchase_json(asked, decision(asked), "0", {0}));
  CHECK(document["options"][0]["power_w"] == 25e3);
  CHECK(document["options"][1]["power_w"] == 0);
  CHECK(document["options"][1]["racks"] == 0);
  CHECK(document["options"][1]["energy_wh"] > 1e6);
}

TEST_CASE("an option that nothing divides says which factor the batch lacks") {
  auto asked = purchase();
  asked.options.resize(1);
  auto& question = asked.options[0].questions[0];
  question.scenario.cluster.gpus = 72;
  question.space.pipeline.listed = {1};
  search::Purchasing none;
  none.solve = [](const search::Question&) { return search::Answer{}; };
  CHECK_THAT(report::recommendation_words(asked, search::decide(asked, none)),
             STEPCAST_HOLDS("no degrees divide GPUs, model and batch (a batch of ") &&
                 STEPCAST_HOLDS(" has the factor 9 that "));
}

TEST_CASE("an option on which a workload's plan cannot run is a row that says why") {
  auto asked = purchase();
  asked.options[0].no_plan = "workload.plan.tensor: tensor 7 does not divide 16 GPUs";
  int searches = 0;
  auto how = known_plans();
  how.solve = [&searches, solve = how.solve](const search::Question& question) {
    ++searches;
    return solve(question);
  };
  const auto decision = search::decide(asked, how);
  CHECK_FALSE(decision.options[0].assessment.feasible());
  REQUIRE(decision.recommended);
  CHECK(decision.recommended->option != 0);
  CHECK_THAT(report::purchase_text(asked, decision),
             STEPCAST_HOLDS("bought: has no plan: workload.plan.tensor: tensor 7 does not divide "
                            "16 GPUs"));
  const auto document = json::parse(report::purchase_json(asked, decision, "0", {0}));
  CHECK(document["options"][0]["no_plan"] == asked.options[0].no_plan);
  CHECK(document["options"][0]["binding"] == "plan");
  CHECK(document["options"][1]["no_plan"] == nullptr);
  const auto with = searches;
  asked.options.resize(1);
  CHECK_FALSE(search::decide(asked, how).recommended);
  CHECK(searches == with);  // nothing is searched for it
}

TEST_CASE("where nothing is feasible, the obstacles of each option are said") {
  auto asked = purchase();
  asked.options.erase(asked.options.begin() + 3);
  asked.reliability = {};
  asked.constraints.deadline = Seconds{100 * day};
  asked.constraints.budget = Money{10e3};
  const auto none = search::decide(asked, known_plans());
  CHECK(report::recommendation_words(asked, none) ==
        "no option is feasible: bought exceeds the budget by 632.5 %; rented exceeds the budget by "
        "500.0 %; rented/1 has no plan that fits: the closest needs 25.0 % more memory");
  const auto document = json::parse(report::purchase_json(asked, none, "0", {0}));
  CHECK(document["recommended"] == nullptr);
  CHECK(document["options"].size() == 3);
  asked.constraints.budget = Money{60};  // a thousandth of what the machine takes to rent
  CHECK_THAT(report::recommendation_words(asked, search::decide(asked, known_plans())),
             STEPCAST_HOLDS("rented needs 1,000 times the budget"));
}

TEST_CASE("a purchase without failures says so, and the effect that they would have") {
  auto asked = purchase();
  const auto said = [&] {
    return report::purchase_warnings(asked, search::decide(asked, known_plans()));
  };
  CHECK(said().empty());
  asked.reliability = {};
  REQUIRE(said().size() == 1);
  CHECK_THAT(said()[0], STEPCAST_HOLDS("failures are left out, so no time is lost to them") &&
                            STEPCAST_HOLDS("write reliability: {gpu_mtbf: 50677 hours}"));
}

TEST_CASE("machines that are cheap only if others use them later are bought with a warning") {
  auto asked = purchase();
  asked.options.erase(asked.options.begin() + 2, asked.options.end());
  asked.options[1].rent->per_gpu_hour = Money{10};  // more than the part of the price used up
  const auto decision = search::decide(asked, known_plans());
  REQUIRE(decision.recommended->option == 0);
  const auto& bought = decision.options[0].assessment;
  REQUIRE(bought.paid() > decision.options[1].assessment.paid());
  const auto said = report::purchase_warnings(asked, decision);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], STEPCAST_HOLDS("of the price of bought: its cost supposes that other work") &&
                          STEPCAST_HOLDS("if none does, rented costs less"));
}

TEST_CASE("machines that are bought again are told with the number of times") {
  auto asked = purchase();
  asked.options.resize(1);
  asked.constraints = {};
  asked.options[0].lifetime = Seconds{100 * day};
  const auto told = search::decide(asked, known_plans());
  CHECK_THAT(report::recommendation_words(asked, told),
             STEPCAST_HOLDS("for the machines, bought 2 times as the job outlasts their life)"));
}

TEST_CASE("where a number of nodes was found, the numbers that were tried are listed") {
  auto asked = purchase();
  asked.options.resize(1);
  asked.options[0].find = search::NodeCounts{2, 4};
  const auto decision = search::decide(asked, known_plans());
  const auto text = report::purchase_text(decision.purchase, decision);
  CHECK_THAT(text, STEPCAST_HOLDS("Numbers of nodes that were tried (money in ") &&
                       STEPCAST_HOLDS("taken\n"));
  const auto document = json::parse(report::purchase_json(decision.purchase, decision, "0", {0}));
  CHECK(document["options"][0]["tried"].size() == decision.options[0].tried.size());
  CHECK(document["budget_of"] == "total_cost");
}

}  // namespace purchase_spec
