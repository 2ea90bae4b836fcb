// SPDX-License-Identifier: Apache-2.0
// Answers as pages: one file each, which a browser opens from the disk and which asks nobody for
// anything. What a page shows it takes from the documents of --json, which it carries whole.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/scenario.hpp"

namespace report {

// One simulated step; the forecast has its timeline.
struct PageRun {
  const forecast::Scenario& scenario;
  const forecast::Forecast& forecast;
};

// The page of one run, or of several on one time base, the first the one that others are held
// against. O(slices); throws as simulate_json does.
std::string simulate_page(const std::vector<PageRun>& runs, std::string_view version);

}  // namespace report
