// SPDX-License-Identifier: Apache-2.0
// Measured steps as people write them down, with the scenarios of the runs.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/form.hpp"
#include "scenarios/documents/yaml.hpp"
#include "units/quantity.hpp"

namespace scenarios {

struct MeasuredEntry {
  std::string name;  // left out: the file or the scenario's name, and what was set
  forecast::Scenario scenario;
  units::Seconds measured;
  double noise = 0;         // standard deviation of the logarithm when it is measured again
  std::string place, path;  // of the entry: "FILE:LINE:COLUMN" and its number in the list
};

inline constexpr std::size_t most_measured = 200;  // steps of one file

// Reads a list of {scenario, set, measured, noise, name, source} from YAML text; scenarios that are
// named are read from `folder`. Throws Error with every mistake: those inside of a scenario file
// with their place in it. `read` receives the files that the list and its scenarios name.
std::vector<MeasuredEntry> read_corrections(std::string_view text, const std::string& file_name,
                                            const std::filesystem::path& folder = {},
                                            Files* read = nullptr);

// Reads the list from a file; its paths start from the file's folder. `read` receives the file,
// too.
std::vector<MeasuredEntry> load_corrections(const std::filesystem::path& file,
                                            Files* read = nullptr);

// JSON Schema (draft 2020-12) of a corrections file.
std::string corrections_schema();

}  // namespace scenarios
