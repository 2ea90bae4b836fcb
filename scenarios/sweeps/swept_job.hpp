// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: a job as the base of a sweep.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "scenarios/documents/file.hpp"
#include "scenarios/sweeps/grid.hpp"

namespace scenarios {

// Fits a grid to its base if that is a job in `file`: its number of GPUs is removed where an axis
// says how many nodes, trays or racks there are. Notes the keys that the job gives otherwise along
// an axis and that no axis varies, of which points keep what the base has; of an axis, 32 values
// are tried. O(axes · reading the job).
void fit_to_job(Grid& grid, const std::filesystem::path& file, std::span<const std::string> sets,
                Texts& texts);

}  // namespace scenarios
