// SPDX-License-Identifier: Apache-2.0
// Money, energy, times and numbers of nodes of a purchase, in the spellings that people use.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"
#include "tests/scenarios/purchases.hpp"

namespace purchase_values_spec {

namespace {

constexpr double hour = 3600, day = 24 * hour, year = 365 * day;

// A purchase of one option, with these lines before it and keys in it.
std::string text(const std::string& lines, const std::string& option = {}) {
  return "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, "
         "tokens: 1e12}\n" +
         lines + "\noptions:\n  - {name: a, " +
         (option.empty() ? "cluster: {node: dgx-h100, nodes: 4}" : option) + "}\n";
}
const std::string cluster = "cluster: {node: dgx-h100, nodes: 4}, ";

search::Purchase read(const std::string& lines, const std::string& option = {}) {
  return tests::read_purchase(text(lines, option), "p.yaml");
}
std::string complaint(const std::string& lines, const std::string& option = {}) {
  return tests::complaints_of([&] { read(lines, option); });
}

struct Spelled {
  std::string text;
  double value;
};

struct Wrong {
  std::string text, complaint;
};

// The numbers of nodes of the options that a purchase makes.
std::string nodes_of(const std::string& nodes) {
  std::string all;
  for (const auto& option : read("", "cluster: {node: dgx-h100, nodes: " + nodes + "}").options)
    all += (all.empty() ? "" : " ") + std::to_string(option.cluster().nodes());
  return all;
}

}  // namespace

TEST_CASE("energy has a price for each kilowatt-hour or megawatt-hour") {
  for (const auto& one : std::vector<Spelled>{{"0.08 USD/kWh", 0.08},
                                              {"80 USD/MWh", 0.08},
                                              {"80 USD / MWh", 0.08},
                                              {"0 USD/kWh", 0}}) {
    INFO(one.text);
    const auto price = read("economics: {electricity: " + one.text + "}").economics.electricity;
    CHECK((price * units::Joules{3.6e6}).value == Approx(one.value));
  }
  const std::string unknown = "; write e.g. '0.08 USD/kWh'";
  for (const auto& one : std::vector<Wrong>{
           {"0.08", "economics.electricity: unknown price of energy '0.08'" + unknown},
           {"0.08 USD", "economics.electricity: unknown price of energy '0.08 USD'" + unknown},
           {"0.08/kWh", "economics.electricity: unknown price of energy '0.08/kWh'" + unknown},
           {"8 ct/kWh", "economics.electricity: unknown price of energy '8 ct/kWh'" + unknown},
           {"0.08 USD/GWh",
            "economics.electricity: unknown price of energy '0.08 USD/GWh'" + unknown},
           {"-1 USD/kWh",
            "economics.electricity: -1 USD is out of range; expected 0 to 1,000,000: of "
            "one unit of energy"}}) {
    INFO(one.text);
    CHECK(complaint("economics: {electricity: " + one.text + "}") == one.complaint);
  }
}

TEST_CASE("times of a purchase are in their units, years of 365 days") {
  const auto lifetime = [](const std::string& word) {
    return read("economics: {lifetime: " + word + "}").economics.lifetime.value;
  };
  for (const auto& one : std::vector<Spelled>{{"4 years", 4 * year},
                                              {"540 days", 540 * day},
                                              {"1000 days", 1000 * day},
                                              {"1 day", day},
                                              {"24 hours", day}}) {
    INFO(one.text);
    CHECK(lifetime(one.text) == Approx(one.value));
  }
  const auto reliability = [](const std::string& key) {
    return read("reliability: {" + key + "}").reliability;
  };
  CHECK(reliability("gpu_mtbf: 50000 hours").gpu_mtbf->value == Approx(5e4 * hour));
  CHECK(reliability("node_mtbf: 2 years").node_mtbf->value == Approx(2 * year));
  CHECK(reliability("restart: 15 minutes").restart.value == Approx(900));
  CHECK(reliability("detection: 90 s").detection.value == Approx(90));
  CHECK(reliability("repair: 2 days").repair.value == Approx(2 * day));
  CHECK(reliability("stragglers: {mtbf: 1 year, slowdown: 1.2}").stragglers.slowdown == 1.2);
}

TEST_CASE("amounts are money or a share, a share of what is bought") {
  const auto value = [](const std::string& word) {
    return read("", cluster + "residual_value: " + word).options[0].residual_value;
  };
  CHECK(value("15 %").share == Approx(0.15));
  CHECK(value("15%").share == Approx(0.15));
  CHECK(value("0 %").share == 0);
  CHECK(value("2e6 USD").fixed.value == 2e6);
  CHECK(value("2e6").fixed.value == 2e6);
  CHECK(value("15 %").of(units::Money{2e6}).value == Approx(3e5));
  CHECK(value("1e5 USD").of(units::Money{2e6}).value == Approx(1e5));
  for (const auto& one : std::vector<Wrong>{
           {"15 %%", "options.0.residual_value: "},
           {"-1 %", "options.0.residual_value: -1 is out of range; expected 0 to 100"},
           {"1", "options.0.residual_value: '1' is a share without '%'; write 100 %"},
           {"many", "options.0.residual_value: "}}) {
    INFO(one.text);
    CHECK_THAT(complaint("", cluster + "residual_value: " + one.text),
               STEPCAST_HOLDS(one.complaint));
  }
}

// Each number is the one before times the factor, to the nearest, and one more at least.
TEST_CASE("numbers of nodes step or multiply, their end included") {
  struct Case {
    const char *nodes, *numbers;
  };
  for (const auto& one : std::vector<Case>{{"[3, 7]", "3 7"},
                                           {"{from: 2, to: 8, step: 2}", "2 4 6 8"},
                                           {"{from: 2, to: 9, step: 3}", "2 5 8"},
                                           {"{from: 5, to: 5, step: 1}", "5"},
                                           {"{from: 1, to: 16, factor: 2}", "1 2 4 8 16"},
                                           {"{from: 1, to: 20, factor: 1.5}", "1 2 3 5 8 12 18"},
                                           {"{from: 4, to: 6, factor: 1.01}", "4 5 6"},
                                           {"{from: 4, to: 6, factor: 9}", "4"}}) {
    INFO(one.nodes);
    CHECK(nodes_of(one.nodes) == one.numbers);
  }
  const auto told = [](const std::string& nodes) {
    return complaint("", "cluster: {node: dgx-h100, nodes: " + nodes + "}");
  };
  CHECK(told("{from: 1, to: 1001, step: 1}") ==
        "options.0.cluster.nodes: more than 1000 numbers of nodes; take a larger step");
  CHECK_THAT(told("{to: 8, step: 1}"), STEPCAST_HOLDS("missing key 'from'"));
  CHECK_THAT(told("{from: 1, to: 8, factor: 1}"),
             STEPCAST_HOLDS("1 is out of range; expected 1.01"));
  CHECK_THAT(told("{from: 0, to: 8, step: 1}"), STEPCAST_HOLDS("0 is out of range; expected 1 to"));
}

TEST_CASE("fabrics of a list are options of their own, beside each number of nodes") {
  const auto purchase = read(
      "", "cluster: {node: dgx-h100, nodes: [2, 4], fabric: [ndr-rail-fat-tree, ethernet-100g]}");
  std::string names;
  for (const auto& option : purchase.options) names += option.name + " ";
  CHECK(names ==
        "a/2/ndr-rail-fat-tree a/2/ethernet-100g a/4/ndr-rail-fat-tree a/4/ethernet-100g ");
  CHECK(purchase.options[3].cluster().fabric.name == "ethernet-100g");
  CHECK(complaint("", "cluster: {node: dgx-h100, nodes: 2, fabric: []}") ==
        "options.0.cluster.fabric: an empty list; write fabrics");
}

TEST_CASE("what is rented has neither a lifetime nor shares of a price") {
  const std::string rent = cluster + "rent: {per_gpu_hour: 2 USD}, ";
  CHECK(complaint("", rent + "lifetime: 3 years") ==
        "options.0.lifetime: is of what is bought; leave it out");
  CHECK(complaint("", rent + "residual_value: 10 %") ==
        "options.0.residual_value: is of what is bought; leave it out");
  CHECK(complaint("", rent + "support_per_year: 5 %") ==
        "options.0.support_per_year: nothing is bought of which it could be a share; write an "
        "amount");
  CHECK(complaint("", rent + "support_per_year: 5e4 USD") == "no complaint");
}

TEST_CASE("kinds of rent, checkpoints and budgets are words of their own") {
  using search::Rent;
  const auto rent = [](const std::string& kind) {
    return read("", cluster + "rent: {per_gpu_hour: 2, " + kind + "}").options[0].rent->kind;
  };
  CHECK(rent("kind: reserved") == Rent::Kind::reserved);
  CHECK(rent("kind: on-demand") == Rent::Kind::on_demand);
  CHECK(rent("kind: spot, preemption_mtbf: 30 days") == Rent::Kind::spot);
  using enum search::Reliability::Checkpoint;
  CHECK(read("reliability: {checkpoint: async}").reliability.checkpoint == async);
  CHECK(read("reliability: {checkpoint: sync}").reliability.checkpoint == sync);
  CHECK_THAT(complaint("constraints: {budget_of: capital}"),
             STEPCAST_HOLDS("says what a budget bounds, and there is none"));
  CHECK(complaint("constraints: {budget: 6e6 USD, budget_of: capital}") == "no complaint");
  for (const std::string word : {"usd", "US", "EURO", "$"})
    CHECK(complaint("economics: {currency: " + word + "}") ==
          "economics.currency: unknown currency '" + word +
              "'; write its three capitals, such as USD");
}

}  // namespace purchase_values_spec
