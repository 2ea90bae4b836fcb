// SPDX-License-Identifier: Apache-2.0
// A scenario as people write it, read whole or not at all.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/placed.hpp"
#include "units/quantity.hpp"

namespace scenarios {

// Reads a scenario from YAML text. `sets` are "path.to.key=value", applied to the document first;
// a value of `null` removes the key. `base` is the folder that paths in the file start from.
// Throws Error with every mistake, in file order. Derived values are filled in: data-parallel
// degree, head size, fabric.
forecast::Scenario read_scenario(std::string_view text, const std::string& file_name,
                                 std::span<const std::string> sets = {},
                                 const std::filesystem::path& base = {});

// Reads a scenario from a file; its paths start from the file's folder.
forecast::Scenario load_scenario(const std::filesystem::path& file,
                                 std::span<const std::string> sets = {});

// Reads a file or a text in the same way, with the places of its keys, for refusals of the
// simulation, and the files that were read. A job of a training framework is read as its scenario
// (docs/jobs.md).
Placed<forecast::Scenario> load_placed_scenario(const Source& source,
                                                std::span<const std::string> sets = {},
                                                const JobHints& hints = {});

// The measured step time of a run of the scenario, if the file gives one.
struct Published {
  units::Seconds step_time;
  std::string source, note;
};
std::optional<Published> published_in(const Origin& origin);

// JSON Schema (draft 2020-12) of a scenario file, from the tables that the reader uses.
std::string scenario_schema();

}  // namespace scenarios
