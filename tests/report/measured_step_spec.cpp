// SPDX-License-Identifier: Apache-2.0
// A measured step beside its forecast, whose step takes 10 s and whose interval is 9 to 11.5 s.
#include <nlohmann/json.hpp>
#include <string>

#include "report/correction.hpp"
#include "report/json.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"

namespace measured_step_spec {

using nlohmann::json;

namespace {

// Forecasts like it are off by a tenth.
report::MeasuredHere measured_in(double seconds) {
  return {.step = {.name = "here",
                   .measured = {seconds},
                   .forecast = {10},
                   .deviation = 0.1,
                   .deviation_low = 0.1,
                   .deviation_high = 0.1},
          .file = "mine.yaml",
          .sets = {}};
}

// Lines from the heading of the measured step to the memory.
std::string told(const report::MeasuredHere& measured) {
  report::Beside beside;
  beside.measured = measured;
  const auto text = report::simulate_text(examples::scenario(), examples::forecast(),
                                          {.width = 100, .unicode = false}, beside);
  const auto from = text.find("\nYour measured step"), to = text.find("\nMemory per GPU");
  REQUIRE(from != text.npos);
  return text.substr(from, to - from);
}

json document(const report::MeasuredHere& measured) {
  report::Beside beside;
  beside.measured = measured;
  return json::parse(
      report::simulate_json(examples::scenario(), examples::forecast(), "1", beside))["measured"];
}

}  // namespace

TEST_CASE(
    "a measured step inside the interval is told with its factor and an entry to correct by") {
  CHECK(told(measured_in(11)) ==
        "\nYour measured step\n"
        "  measured    11.0 s: the forecast is -9.1 % off, and it lies inside the 80 % interval\n"
        "  factor      1.100 (measured / simulated)\n"
        "\nTo correct forecasts like this one: --corrections FILE, which has\n"
        "  - scenario: \"mine.yaml\"\n"
        "    measured: 11 s\n"
        "  (its folder is where the path starts)\n");
}

TEST_CASE("a measured step that is slower than the interval is to be explained, a faster one not") {
  const auto slow = told(measured_in(12.5)), fast = told(measured_in(8));
  CHECK_THAT(slow, STEPCAST_HOLDS("12.5 s: the forecast is -20.0 % off, and it lies outside the "));
  CHECK_THAT(slow, STEPCAST_HOLDS("why         stepcast explain mine.yaml --measured 12.5s"));
  CHECK_THAT(fast, STEPCAST_HOLDS("8.00 s: the forecast is +25.0 % off, and it lies outside the "));
  CHECK_THAT(fast, !STEPCAST_HOLDS("stepcast explain"));
  CHECK_THAT(slow, !STEPCAST_HOLDS("standard deviations"));  // ln(1.25) / 0.1 is 2.2
}

TEST_CASE("a step three standard deviations off is doubted before anybody corrects by it") {
  CHECK_THAT(
      told(measured_in(20)),  // ln(2) / 0.1
      STEPCAST_HOLDS("!           that is 6.9 standard deviations of what such forecasts are "
                     "off by"));
  CHECK_THAT(told(measured_in(7)), STEPCAST_HOLDS("that is 3.6 standard deviations"));
}

TEST_CASE("the JSON of a measured step has the figures of the text, exactly") {
  const auto slow = document(measured_in(12.5));
  CHECK(slow["time_s"] == 12.5);
  CHECK(slow["error"] == Approx(-0.2));
  CHECK(slow["inside_interval"] == false);
  CHECK(slow["factor"] == 1.25);
  CHECK(slow["deviations"].get<double>() == Approx(std::log(1.25) / 0.1).epsilon(0.02));
  CHECK(document(measured_in(11.5))["inside_interval"] == true);  // its ends are inside
  CHECK(document(measured_in(9))["inside_interval"] == true);
  CHECK(document(measured_in(8.99))["inside_interval"] == false);
}

TEST_CASE(
    "an entry has the values that were set, and a scenario without a file stands in it whole") {
  auto measured = measured_in(1.0 / 3);
  measured.file = "a \"name\".yaml";
  measured.sets = {"plan.tensor=4", "model=llama3-8b", "name="};
  CHECK(document(measured)["entry"] ==
        "- scenario: \"a \\\"name\\\".yaml\"\n"
        "  set:\n"
        "    plan.tensor: 4\n"
        "    model: llama3-8b\n"
        "    name: \n"
        "  measured: 0.333333 s\n");
  measured.sets = {};
  measured.text = "model: llama3-8b\nplan:\n  tensor: 4\n";
  CHECK(document(measured)["entry"] ==
        "- scenario:\n"
        "    model: llama3-8b\n"
        "    plan:\n"
        "      tensor: 4\n"
        "  measured: 0.333333 s\n");
}

TEST_CASE("a plan that a search found is told with what is proved of it") {
  const auto told_of = [](const report::PlanSearched& how) {
    report::Beside beside;
    beside.searched = how;
    return json::parse(report::simulate_json(examples::scenario(), examples::forecast(), "1",
                                             beside))["searched"]["words"]
        .get<std::string>();
  };
  const std::string end = "; stepcast search shows others, and why";
  CHECK(told_of({.enumerated = 1234, .gap = 0}) ==
        "found by a search among 1,234 choices of degrees: none is faster" + end);
  CHECK(told_of({.enumerated = 12, .gap = 0.0101}) ==  // a bound is rounded up
        "found by a search among 12 choices of degrees: none is faster by more than 1.1 %" + end);
  CHECK(told_of({.enumerated = 12, .gap = 1, .interrupted = true}) ==
        "found by a search among 12 choices of degrees, which was stopped early: nothing is "
        "proved of it" +
            end);
}

TEST_CASE("a correction is one sentence where there is no room for a table") {
  const forecast::Correction two{
      .factor = 1.06,
      .simulated = {10},
      .from = {{"a", {12.6}, {11.8}, 0.9, 0.8}, {"b", {14.1}, {14.3}, 0.5, 0.1}}};
  CHECK(report::correction_sentence(two) ==
        "times are corrected by 1.060, from 10.0 s as simulated, by 2 measured steps");
}

}  // namespace measured_step_spec
