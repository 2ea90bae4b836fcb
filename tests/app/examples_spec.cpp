// SPDX-License-Identifier: Apache-2.0
// The forecasts of the examples: a change of any model shows here first.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/report/golden.hpp"
#include "units/text.hpp"

namespace examples_spec {

TEST_CASE("the first line of every example names its schema") {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator("scenarios/examples")) {
    const auto folder = entry.path().parent_path().filename();
    if (entry.path().extension() != ".yaml" || (folder != "examples" && folder != "sweeps"))
      continue;
    std::ifstream in(entry.path());
    std::string first;
    std::getline(in, first);
    CAPTURE(entry.path().string());
    CHECK(first.starts_with("# yaml-language-server: $schema="));
  }
}

TEST_CASE("every example forecasts the times that it did before") {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("scenarios/examples"))
    if (entry.path().extension() == ".yaml" &&
        entry.path().string().find("-search-") == std::string::npos &&  // a search has no plan
        !entry.path().filename().string().starts_with("purchase-"))
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::string all;
  for (const auto& file : files) {
    const auto forecast = forecast::simulate(scenarios::load_scenario(file));
    all += file.filename().string() + ": " + units::short_text(forecast.step.time) + ", peak " +
           units::short_text(forecast.memory.peak) + " of " +
           units::short_text(forecast.memory.capacity) + "\n";
    for (const auto& warning : forecast.warnings) all += "  ! " + warning + "\n";
  }
  golden::check("examples.txt", all);
}

}  // namespace examples_spec
