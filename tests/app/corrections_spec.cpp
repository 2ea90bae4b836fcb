// SPDX-License-Identifier: Apache-2.0
// Measured steps as users bring them: beside a forecast, and as corrections of other forecasts.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace corrections_spec {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using tests::stepcast;

class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              ("corrections_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
    write("run.yaml", scenario);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }

  static constexpr auto scenario =
      "model: llama3-8b\n"
      "cluster: {node: dgx-h100, nodes: 2}\n"
      "training: {sequence_length: 4096, global_batch: 64}\n"
      "plan: {tensor: 2, zero: 1}\n";

 private:
  fs::path path_;
};

json answer(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const auto run = stepcast(arguments);
  INFO(run.err);
  REQUIRE(run.status == app::success);
  return json::parse(run.out);
}

double step_time(const json& document) { return document["step"]["time_s"]; }

// Writes a file that says that the scenario was measured to take `factor` of its forecast time.
void measure(const Folder& folder, double factor) {
  const double time = step_time(answer({"simulate", folder / "run.yaml"}));
  std::ostringstream text;
  text.precision(17);
  text << "- {scenario: run.yaml, measured: " << factor * time << " s}\n";
  folder.write("measured.yaml", text.str());
}

}  // namespace

TEST_CASE("--measured stands beside the forecast with its error, its factor and what to write") {
  const Folder folder;
  const auto plain = answer({"simulate", folder / "run.yaml"});
  CHECK(!plain.contains("measured"));
  CHECK(!plain.contains("correction"));
  const double time = step_time(plain);
  const auto measured = std::to_string(1.25 * time) + "s";
  const auto document = answer({"simulate", folder / "run.yaml", "--measured", measured});
  CHECK(step_time(document) == time);  // it corrects nothing by itself
  CHECK(document["measured"]["factor"].get<double>() == Approx(1.25).epsilon(1e-5));
  CHECK(document["measured"]["error"].get<double>() == Approx(-0.2).epsilon(1e-5));
  CHECK(document["measured"]["inside_interval"] ==
        (1.25 * time <= document["step"]["time_high_s"].get<double>()));
  const auto text = stepcast({"simulate", folder / "run.yaml", "--measured", measured}).out;
  CHECK(text.find("-20.0 %") != text.npos);
  CHECK(text.find("- scenario: ") != text.npos);
}

TEST_CASE("the file that --measured tells to write can be written, and corrects") {
  const Folder folder;
  const std::vector<std::string> asked{"simulate",      folder / "run.yaml", "--set",
                                       "plan.tensor=4", "--measured",        "2 s"};
  folder.write("c.yaml", answer(asked)["measured"]["entry"]);
  const auto corrected = answer({"simulate", folder / "run.yaml", "--set", "plan.tensor=4",
                                 "--corrections", folder / "c.yaml"});
  CHECK(corrected["correction"]["from"][0]["correlation"] == 1);
  CHECK(corrected["correction"]["from"][0]["measured_s"] == 2);
}

TEST_CASE("a scenario with a measured step is forecast to take that time") {
  const Folder folder;
  measure(folder, 1.2);
  const auto plain = answer({"simulate", folder / "run.yaml"});
  const auto corrected =
      answer({"simulate", folder / "run.yaml", "--corrections", folder / "measured.yaml"});
  CHECK(step_time(corrected) / step_time(plain) == Approx(1.2).epsilon(0.01));
  const auto& correction = corrected["correction"];
  CHECK(correction["factor"].get<double>() == Approx(step_time(corrected) / step_time(plain)));
  CHECK(correction["simulated_step_time_s"] == plain["step"]["time_s"]);
  CHECK(correction["low"].get<double>() * step_time(plain) ==
        Approx(corrected["step"]["time_low_s"].get<double>()));
  CHECK(correction["width"] < correction["width_without"]);
  CHECK(correction["width"].get<double>() ==
        Approx(correction["high"].get<double>() / correction["low"].get<double>() - 1));
  const auto& step = plain["step"];
  CHECK(correction["width_without"].get<double>() ==
        Approx(step["time_high_s"].get<double>() / step["time_low_s"].get<double>() - 1));
  double sum = 0;
  for (const auto& [name, time] : corrected["time"].items()) sum += time.get<double>();
  CHECK(sum == Approx(step_time(corrected)).epsilon(1e-9));
}

TEST_CASE("a measured step that its own forecast misses by far is warned of") {
  const Folder folder;
  measure(folder, 1.01);
  const auto run = [&] {
    return stepcast({"simulate", folder / "run.yaml", "--corrections", folder / "measured.yaml"})
        .err;
  };
  CHECK(run().find("standard deviations") == std::string::npos);
  folder.write("measured.yaml", "- {scenario: run.yaml, measured: 360000 s}\n");
  const auto said = run();
  CHECK(said.find("measured.yaml:1:3: measured 4.17 days") != std::string::npos);
  CHECK(said.find("see whether the time has the right unit") != std::string::npos);
}

TEST_CASE("in a corrected report the evidence is of the corrected step") {
  const Folder folder;
  measure(folder, 1.2);
  const auto corrected =
      answer({"simulate", folder / "run.yaml", "--corrections", folder / "measured.yaml"});
  double sum = 0;
  for (const char* key : {"measured_s", "interpolated_s", "scaled_s", "physics_s"})
    sum += corrected["evidence"].at(key).get<double>();
  CHECK(sum == Approx(step_time(corrected)).epsilon(1e-9));
}

TEST_CASE("the further away a measured step, the less alike it is, and the less it says") {
  const Folder folder;
  measure(folder, 1.3);
  double alike = 1.1, left = 0;
  for (const std::string set :
       {"plan.zero=1", "plan.zero=2", "cluster={node: dgx-a100-80gb, nodes: 2}",
        "cluster={node: dgx-a100-80gb, nodes: 8}"}) {
    INFO(set);
    const auto document = answer(
        {"simulate", folder / "run.yaml", "--set", set, "--corrections", folder / "measured.yaml"});
    const auto& correction = document["correction"];
    CHECK(correction["from"][0]["correlation"] < alike);
    alike = correction["from"][0]["correlation"];
    const double width = correction["width"], without = correction["width_without"];
    CHECK(width / without > left);
    CHECK(width <= without);
    left = width / without;
    CHECK(correction["factor"] > 1);
  }
}

TEST_CASE("a search is corrected by one factor, which changes neither order nor gap") {
  const Folder folder;
  measure(folder, 1.2);
  const std::vector<std::string> asked{"search", folder / "run.yaml",
                                       "--set",  "plan=null",
                                       "--set",  "search={tensor: [1, 2, 4], zero: [1, 3]}"};
  auto with = asked;
  with.insert(with.end(), {"--corrections", folder / "measured.yaml"});
  const auto plain = answer(asked), corrected = answer(with);
  const double factor = corrected["correction"]["factor"];
  CHECK(factor > 1.05);
  REQUIRE(corrected["plans"].size() == plain["plans"].size());
  for (std::size_t i = 0; i < plain["plans"].size(); ++i) {
    const auto &was = plain["plans"][i], &is = corrected["plans"][i];
    CHECK(is["plan"] == was["plan"]);
    CHECK(is["simulated_step_time_s"] == was["step_time_s"]);
    CHECK(is["step_time_s"].get<double>() ==
          Approx(factor * was["step_time_s"].get<double>()).epsilon(1e-12));
  }
  CHECK(corrected["proof"]["gap"] == plain["proof"]["gap"]);
  CHECK(corrected["proof"]["lower_bound_s"].get<double>() ==
        Approx(factor * plain["proof"]["lower_bound_s"].get<double>()));
}

TEST_CASE("an objective that simulated times decide is not corrected") {
  const Folder folder;
  measure(folder, 1.2);
  const auto run = stepcast({"search", folder / "run.yaml", "--set", "search.objective=cost",
                             "--set", "plan=null", "--corrections", folder / "measured.yaml"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err ==
        "stepcast: --corrections: this search.objective is decided by simulated times; leave the "
        "objective out, or search without --corrections and simulate the plan that is found with "
        "them\n");
}

TEST_CASE("a store never holds corrected points beside others") {
  const Folder folder;
  measure(folder, 1.2);
  folder.write("s.yaml", "base: run.yaml\nvary: {plan.tensor: [1, 2]}\n");
  const auto sweep = [&](const std::string& store, bool corrected) {
    std::vector<std::string> asked{"sweep", folder / "s.yaml", "--store", folder / store};
    if (corrected) asked.insert(asked.end(), {"--corrections", folder / "measured.yaml"});
    return stepcast(asked);
  };
  REQUIRE(sweep("plain.sqlite", false).status == app::success);
  const auto corrected = sweep("corrected.sqlite", true);
  REQUIRE(corrected.status == app::success);
  CHECK(corrected.out.find("corrected by measured steps") != std::string::npos);

  const auto mixed = sweep("plain.sqlite", true);
  CHECK(mixed.status == app::wrong_input);
  CHECK(mixed.err.find("is of another sweep (simulate over plan.tensor; this one: simulate over "
                       "plan.tensor; corrected by measured steps); name another file") !=
        std::string::npos);
  CHECK(sweep("corrected.sqlite", false).status == app::wrong_input);

  const auto points = [&](const std::string& store) {
    return answer({"sweep", "export", folder / store})["points"];
  };
  const auto was = points("plain.sqlite"), is = points("corrected.sqlite");
  REQUIRE(is.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(is[i]["id"] != was[i]["id"]);
    const double factor = is[i]["correction"]["factor"];
    CHECK(factor > 1.05);
    CHECK(is[i]["step_time_s"].get<double>() ==
          Approx(factor * was[i]["step_time_s"].get<double>()));
    CHECK(!was[i].contains("correction"));
  }
  const auto csv = stepcast({"sweep", "export", folder / "corrected.sqlite"}).out;
  CHECK(csv.substr(0, csv.find('\n')).ends_with(",correction_factor"));

  // The measured time changes, and the points are computed anew.
  measure(folder, 1.1);
  REQUIRE(sweep("corrected.sqlite", true).status == app::success);
  CHECK(points("corrected.sqlite")[0]["correction"]["factor"] < is[0]["correction"]["factor"]);
}

TEST_CASE("a job array is given the corrections") {
  const Folder folder;
  measure(folder, 1.2);
  folder.write("s.yaml", "base: run.yaml\nvary: {plan.tensor: [1, 2]}\n");
  const auto run = stepcast({"sweep", folder / "s.yaml", "--emit", "slurm", "--shards", "2",
                             "--corrections", folder / "measured.yaml"});
  CHECK(run.out.find("--corrections '" + folder / "measured.yaml" + "'") != std::string::npos);
}

TEST_CASE("an entry that cannot be a measured step is refused with what to write") {
  const Folder folder;
  const auto refused = [&](const std::string& time) {
    const auto run = stepcast({"simulate", folder / "run.yaml", "--measured", time});
    CHECK(run.status == app::wrong_input);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK(refused("-3s") ==
        "stepcast: --measured -3s: out of range; a step takes a while, and ends within days: "
        "expected a time such as 12.3s\n");
  CHECK(refused("soon").starts_with("stepcast: --measured soon: "));
  CHECK(refused("3 GB").find("such as 12.3s") != std::string::npos);
  const auto run =
      stepcast({"simulate", folder / "run.yaml", "--corrections", folder / "none.yaml"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err == folder / "none.yaml" + ": no such file\n");
}

TEST_CASE("the example of measured steps brings a forecast nearer to the measured time") {
  const auto file = "scenarios/examples/gpt3-175b-1024-a100.yaml";
  const auto plain = answer({"simulate", file});
  const auto corrected = answer({"simulate", file, "--corrections",
                                 "scenarios/examples/corrections/megatron-sc21-selene.yaml"});
  const double published = 30.8;  // Narayanan et al. 2021, section 5.1: none of the three steps
  CHECK(std::abs(step_time(corrected) - published) < std::abs(step_time(plain) - published));
  CHECK(corrected["correction"]["width"] < corrected["correction"]["width_without"]);
}

}  // namespace corrections_spec
