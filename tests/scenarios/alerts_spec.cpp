// SPDX-License-Identifier: Apache-2.0
// Rules of operators as people write them.
#include "forecast/alerts.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/search_file.hpp"
#include "scenarios/shown.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace alerts_spec {

using forecast::AlertFigure;
using forecast::AlertRule;
using forecast::AlertUnit;
using tests::complaint;
using tests::llama;
using tests::read;
using Raised = AlertRule::Raised;

namespace {

AlertRule only(const std::string& figure, const std::string& written) {
  const auto rules = read(llama, {"alerts." + figure + "=" + written}).alerts;
  REQUIRE(rules.size() == 1);
  CHECK(forecast::facts_of(rules.front().figure).name == figure);
  return rules.front();
}

double threshold(const std::string& figure, const std::string& written) {
  return only(figure, '"' + written + '"').threshold;
}

std::string complaint_of(const std::string& figure, const std::string& written) {
  return complaint({"alerts." + figure + "=" + written});
}

}  // namespace

TEST_CASE("a scenario without alerts has none") {
  CHECK(read(llama).alerts.empty());
  CHECK(read(std::string(llama) + "alerts: {}\n").alerts.empty());
}

TEST_CASE("rules are read in the order of the file, several of a figure as a list") {
  const auto rules = read(std::string(llama) + R"(
alerts:
  memory: [above 80 %, "> 72 GiB"]
  gpu_utilisation: "< 80 %"
  loss: ">= 10"
)")
                         .alerts;
  REQUIRE(rules.size() == 4);
  CHECK(rules[0] == AlertRule{.figure = AlertFigure::memory,
                              .raised = Raised::above,
                              .unit = AlertUnit::share,
                              .threshold = 0.8,
                              .condition = "> 80 %"});
  CHECK(rules[1] == AlertRule{.figure = AlertFigure::memory,
                              .raised = Raised::above,
                              .unit = AlertUnit::bytes,
                              .threshold = 72.0 * (1 << 30),
                              .condition = "> 72 GiB"});
  CHECK(rules[2].figure == AlertFigure::gpu_utilisation);
  CHECK(rules[2].raised == Raised::below);
  CHECK(rules[3].figure == AlertFigure::loss);
  CHECK(rules[3].raised == Raised::at_least);
}

TEST_CASE("a comparison is a sign, or a word that needs no quotes") {
  CHECK(only("mfu", "below 35 %") == only("mfu", "\"< 35 %\""));
  CHECK(only("mfu", "above 35 %") == only("mfu", "\"> 35 %\""));
  CHECK(only("mfu", "\"  <35 %\"").condition == "< 35 %");
  CHECK(only("mfu", "\"<= 35 %\"").raised == Raised::at_most);
}

TEST_CASE("thresholds have units, and are kept in base units") {
  CHECK(threshold("gpu_utilisation", "< 80 %") == 0.8);
  CHECK(threshold("gpu_utilisation", "< 0.8") == 0.8);
  CHECK(threshold("memory", "> 100 %") == 1);
  CHECK(threshold("memory", "> 1 GB") == 1e9);
  CHECK(threshold("synchronisation", "> 5 s") == 5);
  CHECK(threshold("step_time", "> 2 min") == 120);
  CHECK(threshold("step_time", "> 30") == 30);
  CHECK(threshold("throughput", "< 400e3 tokens/s") == 400e3);
  CHECK(threshold("throughput", "< 400") == 400);
  CHECK(threshold("throughput", "< 864e9 tokens/day") == 1e7);
  CHECK(threshold("node_failure_rate", "> 0.5 / day") == 0.5 / 86400);
  CHECK(threshold("node_failure_rate", "> 0.5 per day") == 0.5 / 86400);
  CHECK(threshold("node_failure_rate", "> 1 / 2 hours") == 1.0 / 7200);
  CHECK(threshold("loss", "> 10") == 10);
  CHECK(threshold("gpu_temperature", "> 85 C") == 85);
}

TEST_CASE("a rate of failures takes the mean time between them with it") {
  const auto rule =
      only("node_failure_rate", "{when: \"> 0.5 / day\", node_mtbf: 200 days, gpu_mtbf: 5 years}");
  CHECK(rule.threshold == 0.5 / 86400);
  CHECK(rule.node_mtbf->value == 200 * 86400.0);
  CHECK(rule.gpu_mtbf->value == 5 * 365 * 86400.0);
  CHECK(complaint_of("node_failure_rate", "{when: \"> 0.5 / day\"}") ==
        "alerts.node_failure_rate: missing key 'node_mtbf'; a rate of failures follows from a mean "
        "time between them: write node_mtbf or gpu_mtbf, such as 200 days");
  CHECK(complaint_of("node_failure_rate", "{node_mtbf: 200 days}") ==
        "alerts.node_failure_rate: missing key 'when'; a rule has a condition, such as when: '> "
        "0.5 / day'");
  CHECK(
      complaint_of("node_failure_rate", "{when: [1], node_mtbf: 0 s, node: 1}") ==
      "alerts.node_failure_rate.when: a list where text belongs\n"
      "alerts.node_failure_rate.node_mtbf: 0 s is out of range; expected 60.0 s to 100000 "
      "years: a part works a minute at least between two failures\n"
      "alerts.node_failure_rate.node: unknown key; expected one of when, node_mtbf, gpu_mtbf; did "
      "you mean 'node_mtbf'?");
}

TEST_CASE("a mistake in a condition is said with what to write instead") {
  const std::pair<const char*, const char*> wrong[] = {
      {"gpu_utilisation=80 %",
       "alerts.gpu_utilisation: '80 %' compares with nothing: an alert is raised below (<) or "
       "above (>) a threshold; write e.g. '< 80 %'"},
      {"gpu_utilisation=\"<\"",
       "alerts.gpu_utilisation: '<' has no threshold; write e.g. '< 80 %'"},
      {"gpu_utilisation=\"< 80\"",
       "alerts.gpu_utilisation: 80 is out of range; expected 0 to 1: without a percent sign it is "
       "a share of one; 80 % is 0.8"},
      {"gpu_utilisation=\"< 80 GiB\"",
       "alerts.gpu_utilisation: '80 GiB' is no share; write e.g. '< 80 %'"},
      {"gpu_utilisation=\"< many\"",
       "alerts.gpu_utilisation: 'many' is no share; write e.g. '< 80 %'"},
      {"gpu_utilisation=\"< -5 %\"",
       "alerts.gpu_utilisation: -5 is out of range; expected 0 to 1,000: a share in percent"},
      {"gpu_utilisation={below: 80 %}",
       "alerts.gpu_utilisation: expected a condition; write e.g. '< 80 %'"},
      {"gpu_utilisation=[[1]]",
       "alerts.gpu_utilisation.0: expected a condition; write e.g. '< 80 %'"},
      {"memory=\"> 0.9\"",
       "alerts.memory: '0.9' is no share in percent, and no size with its unit; write e.g. '> 90 "
       "%'"},
      {"memory=\"> 5 s\"", "alerts.memory: '5 s' is a duration, not a size; write e.g. '80 GiB'"},
      {"synchronisation=\"> 30 %\"",
       "alerts.synchronisation: unknown duration '30 %'; write e.g. '5 us'"},
      {"step_time=\"> 30 sek\"", "alerts.step_time: unknown duration '30 sek'; write e.g. '30 s'"},
      {"throughput=\"< 400 GB/s\"",
       "alerts.throughput: '400 GB/s' is no rate of tokens; write e.g. '< 400e3 tokens/s'"},
      {"throughput=\"< 400 tokens/fortnight\"",
       "alerts.throughput: '400 tokens/fortnight' is no rate of tokens; write e.g. '< 400e3 "
       "tokens/s'"},
      {"node_failure_rate=\"> 0.5\"",
       "alerts.node_failure_rate: '0.5' is no rate of failures; write e.g. '> 0.5 / day'"},
      {"node_failure_rate=\"> 0.5 /\"",
       "alerts.node_failure_rate: '0.5 /' is no rate of failures; write e.g. '> 0.5 / day'"},
      {"node_failure_rate=\"> 0.5 / 0 s\"",
       "alerts.node_failure_rate: '0.5 / 0 s' is no rate of failures; write e.g. '> 0.5 / day'"},
      {"loss=\"> ten\"", "alerts.loss: 'ten' is no number; write e.g. '> 10'"},
      {"loss=\"> inf\"", "alerts.loss: 'inf' is no number; write e.g. '> 10'"}};
  for (const auto& [set, text] : wrong) CHECK(complaint({std::string("alerts.") + set}) == text);
}

TEST_CASE("all mistakes of the rules are named at once, each at its place") {
  std::string all;
  try {
    scenarios::read_scenario(std::string(llama).substr(1) +
                                 "alerts:\n"
                                 "  gpu_utilization: \"< 80 %\"\n"
                                 "  memory: [above 90 %, 95 %]\n"
                                 "  memory: above 80 %\n"
                                 "  bubble: {}\n",
                             "f.yaml");
  } catch (const scenarios::Error& wrong) {
    all = wrong.what();
  }
  CHECK(all ==
        "f.yaml:6:3: alerts.gpu_utilization: unknown key; expected one of gpu_utilisation, memory, "
        "communication_overhead, synchronisation, throughput, throughput_per_gpu, mfu, step_time, "
        "bubble, node_failure_rate, loss, gradient_norm, gpu_temperature, ecc_errors; did you mean "
        "'gpu_utilisation'?\n"
        "f.yaml:7:24: alerts.memory.1: '95 %' compares with nothing: an alert is raised below (<) "
        "or above (>) a threshold; write e.g. '> 90 %'\n"
        "f.yaml:8:3: alerts.memory: given twice, first on line 7; keep one of them\n"
        "f.yaml:9:11: alerts.bubble: expected a condition; write e.g. '> 15 %'");
}

TEST_CASE("a condition without its quotes is no YAML, and the complaint says so") {
  const std::string said =
      "alerts.mfu: this is not YAML: unexpected character in block scalar; text that begins with "
      "> or | needs quotes, as in \"> 90 %\"";
  CHECK(complaint_of("mfu", "> 90 %") == said);
  CHECK_THROWS_WITH(read(std::string(llama) + "alerts:\n  mfu: > 40 %\n"),
                    STEPCAST_HOLDS("f.yaml:7:10: " + said.substr(said.find("this"))));
}

TEST_CASE("alerts that are no mapping are refused") {
  CHECK(complaint({"alerts=above 80 %"}) ==
        "alerts: a single value where a map belongs; its keys are gpu_utilisation, memory, "
        "communication_overhead, synchronisation, throughput, throughput_per_gpu, mfu, step_time, "
        "bubble, node_failure_rate, loss, gradient_norm, gpu_temperature, ecc_errors");
}

TEST_CASE("a question has the same rules, in every alternative") {
  const auto question =
      scenarios::read_question(llama, "f.yaml",
                               std::vector<std::string>{"alerts.mfu=below 40 %", "plan=null",
                                                        "search.precision=[bf16, fp8]"});
  REQUIRE(question.others.size() == 1);
  CHECK(question.scenario.alerts.size() == 1);
  CHECK(question.others.front().scenario.alerts == question.scenario.alerts);
}

TEST_CASE("rules are shown as a file says them, and read again are the same") {
  const auto rules = read(std::string(llama) + R"(
alerts:
  memory: [above 80 %, "> 72 GiB"]
  node_failure_rate: {when: "> 0.5 / day", node_mtbf: 200 days}
)")
                         .alerts;
  const auto text = scenarios::json_of(scenarios::shown(rules));
  CHECK(text == R"({"memory":["> 80 %","> 72 GiB"],)"
                R"("node_failure_rate":{"when":"> 0.5 / day","node_mtbf":17280000.0}})");
  CHECK(read(std::string(llama) + "alerts: " + text + "\n").alerts == rules);
}

}  // namespace alerts_spec
