// SPDX-License-Identifier: Apache-2.0
// Published runs and their forecasts, for the commands that compare them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "forecast/accuracy/intervals.hpp"
#include "forecast/accuracy/validation.hpp"
#include "forecast/scenario.hpp"
#include "scenarios/calibration.hpp"
#include "scenarios/published.hpp"

namespace app {

// Returns the file or folder of that name in the first folder `scenarios` that has it: of the
// current folder, of the source, of the installation.
std::filesystem::path checkout(const std::string& name);

// Returns the folder asked for, or else the folder `name` of the checkout. Throws Mistake, which
// calls it `what`, if there is none.
std::filesystem::path data_folder(const std::string& asked, const std::string& name,
                                  const std::string& what);
std::filesystem::path published_folder(const std::string& asked);

// The calibration of the checkout; empty if it has no file of it.
scenarios::Calibration checkout_calibration();

// The data sets of those names, or all, their rows marked by the checkout's calibration
// (scenarios/fitted_devices.hpp); without a calibration all rows count as fitted. `read` as of
// load_datasets.
std::vector<scenarios::Dataset> load_published(const std::filesystem::path& folder,
                                               const std::vector<std::string>& names,
                                               scenarios::Files& read);

// Throws Mistake for a name that is not known.
void check_names(const std::vector<std::string>& datasets, const std::vector<std::string>& known);

// The row beside the forecast of this scenario, with the interval of that table; without a scenario
// it is unsupported.
forecast::ValidationRow row_of(const scenarios::PublishedRow& published,
                               const std::optional<forecast::Scenario>& scenario,
                               const forecast::Intervals& intervals = {});

}  // namespace app
