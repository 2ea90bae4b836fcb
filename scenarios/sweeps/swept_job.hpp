// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: a job as the base of a sweep.
#pragma once
#include <span>
#include <string>

#include "scenarios/job_document.hpp"
#include "scenarios/sweeps/grid.hpp"

namespace scenarios {

// How the base of a sweep is opened: a file, or a scenario that stands there itself; `loosen` as
// for open_document. The value and the reading must outlive it.
Opening opening_of(const Value& base, Reading& reading, void (*loosen)(Value&));

// Fits a grid to its base if that is a job, or a scenario that names one: every point is what
// simulating the base with `--set` of its values is. Keys that the job gives otherwise along axes
// follow these; a search opens the keys of the job's plan that it chooses. Axes with more than
// 2,000 combinations that decide such keys are left alone and noted. Complains at `base` of what
// the job lacks. O(reading the job · (axes + such combinations)).
void fit_to_job(Grid& grid, const Cursor& base, std::span<const std::string> sets);

}  // namespace scenarios
