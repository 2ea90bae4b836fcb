// SPDX-License-Identifier: Apache-2.0
// stepcast explain, from its arguments to its exit status.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace explain_command_spec {

using nlohmann::json;
using tests::stepcast;

namespace {

namespace fs = std::filesystem;
const fs::path folder = fs::path(STEPCAST_SOURCE_DIR) / "tests/scenarios/explain";
const std::string run = (folder / "run.yaml").string();

}  // namespace

TEST_CASE("a folder of traces names the rank that is slow, and the --set that tests it") {
  const auto told = stepcast({"explain", run, "--trace", folder.string(), "--json"});
  REQUIRE(told.status == app::success);
  const auto document = json::parse(told.out);
  CHECK(document["trace"]["ranks"] == json::array({0, 1}));
  const auto& first = document["suspects"].at(0);
  CHECK(first["cause"] == "straggler");
  CHECK(first["ranks"] == json::array({1}));
  CHECK(first["factor"].get<double>() == Approx(1.3).epsilon(0.02));
  // The forecast with the --set comes to the measured time.
  CHECK(first["forecast_with_set_s"].get<double>() ==
        Approx(document["measured_s"].get<double>()).epsilon(0.05));
}

TEST_CASE("one trace of two is explained alone") {
  const auto file = (folder / "rank-1.json").string();
  const auto told = stepcast({"explain", run, "--trace", file, "--json"});
  REQUIRE(told.status == app::success);
  CHECK(json::parse(told.out)["suspects"].at(0)["cause"] == "low_clock");
}

// Rank 1 alone looks as if all clocks were low, by 1.3. A forecast that is as long as the run for
// another reason would be far longer with that, too, so that it is no suspect.
TEST_CASE("a suspect whose own --set loses over four times what the run lost is dropped") {
  const auto file = (folder / "rank-1.json").string();
  const auto explained = [&](double overhead) {
    const auto told = stepcast({"explain", run, "--trace", file, "--json", "--set",
                                "software.step_overhead=" + std::to_string(overhead) + " s"});
    INFO(told.err);
    REQUIRE(told.status == app::success);
    return json::parse(told.out);
  };
  const auto plain = explained(0);
  const double lost = plain["excess_s"];
  REQUIRE(plain["suspects"].at(0)["cause"] == "low_clock");
  CHECK(plain["suspects"].at(0)["forecast_with_set_s"].get<double>() >
        plain["forecast"]["time_s"].get<double>() + 0.8 * lost);
  const auto half = explained(0.5 * lost);
  CHECK(half["suspects"].at(0)["cause"] == "low_clock");
  const auto near = explained(0.9 * lost);
  const double left = near["excess_s"];
  CHECK(left == Approx(0.1 * lost).epsilon(0.01));
  for (const auto& suspect : near["suspects"]) CHECK(suspect["cause"] != "low_clock");
  double explained_s = near["unexplained_s"];
  for (const auto& suspect : near["suspects"]) explained_s += suspect["seconds"].get<double>();
  CHECK(explained_s == Approx(left));
}

TEST_CASE("a trace of another run ends with exit status 1 and names the difference") {
  const auto told =
      stepcast({"explain", run, "--trace", folder.string(), "--set", "cluster.gpus=4"});
  CHECK(told.status == app::no_answer);
  CHECK(told.out.find("2 in the trace, 4 in the scenario") != std::string::npos);
  CHECK(told.err == "the trace is not of this scenario\n");
}

TEST_CASE("a time alone gives changes of one key that explain it, each tried") {
  const auto forecast = json::parse(stepcast({"simulate", run, "--json"}).out);
  const double step = forecast["step"]["time_s"].get<double>();
  const auto told =
      stepcast({"explain", run, "--measured", std::to_string(1.3 * step) + "s", "--json"});
  REQUIRE(told.status == app::success);
  const auto document = json::parse(told.out);
  CHECK(document["trace"].is_null());
  REQUIRE(document["changes"].size() >= 3);
  for (const auto& change : document["changes"]) {
    CHECK(change["explains"].get<double>() > 0.1);
    const auto again =
        stepcast({"simulate", run, "--json", "--set", change["set"].get<std::string>()});
    REQUIRE(again.status == app::success);
    CHECK(json::parse(again.out)["step"]["time_s"].get<double>() ==
          Approx(change["time_s"].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("no change that would slow the step more than twice as much as it was explains it") {
  const auto forecast = json::parse(stepcast({"simulate", run, "--json"}).out);
  const double step = forecast["step"]["time_s"].get<double>();
  const auto told =
      stepcast({"explain", run, "--measured", std::to_string(1.02 * step) + "s", "--json"});
  const auto document = json::parse(told.out);
  CHECK_FALSE(document["changes"].empty());
  for (const auto& change : document["changes"]) CHECK(change["explains"].get<double>() < 2);
}

TEST_CASE("an input that explain cannot do without is said") {
  CHECK(stepcast({"explain", run}).status == app::wrong_input);
  CHECK(stepcast({"explain", run, "--measured", "-1s"}).status == app::wrong_input);
  const auto empty = fs::temp_directory_path() / "stepcast_no_traces";
  fs::create_directories(empty);
  const auto told = stepcast({"explain", run, "--trace", empty.string()});
  CHECK(told.status == app::wrong_input);
  CHECK(told.err.starts_with(empty.string() + ":1:1: no trace in this folder"));
  fs::copy_file(folder / "rank-0.json", empty / "a.json", fs::copy_options::overwrite_existing);
  fs::copy_file(folder / "rank-0.json", empty / "b.json", fs::copy_options::overwrite_existing);
  const auto twice = stepcast({"explain", run, "--trace", empty.string()});
  CHECK(twice.status == app::wrong_input);
  CHECK(twice.err.find("rank 0 is that of") != std::string::npos);
  fs::remove_all(empty);
}

TEST_CASE("a trace whose step ran nothing is named by its file") {
  const auto traces = fs::temp_directory_path() / "stepcast_step_of_nothing";
  fs::create_directories(traces);
  fs::copy_file(folder / "rank-0.json", traces / "a.json", fs::copy_options::overwrite_existing);
  std::ifstream file(folder / "rank-1.json");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto length = text.find("\"dur\"", text.find("ProfilerStep"));
  text.replace(length, text.find_first_of(",}", length) - length, "\"dur\": 0");
  std::ofstream(traces / "b.json") << text;
  const auto told = stepcast({"explain", run, "--trace", traces.string()});
  CHECK(told.status == app::wrong_input);
  CHECK(told.err == (traces / "b.json").string() +
                        ":1:1: the step ProfilerStep#3 has no work of the GPU; record it again, or "
                        "give the traces of other ranks without this one\n");
  fs::remove_all(traces);
}

}  // namespace explain_command_spec
