// SPDX-License-Identifier: Apache-2.0
// Traces of several ranks of one run, as PyTorch's profiler leaves them in a folder.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "forecast/profile.hpp"

namespace scenarios {

struct TracedRanks {
  std::vector<std::string> files;           // sorted by name
  std::vector<forecast::Profile> profiles;  // the same
};

// A trace alone, or those in a folder: its files whose names end in .json or .json.gz, at most
// 1,024. Throws Error with all mistakes of all of them, and where two are of one rank or of runs
// of different size.
TracedRanks load_profiler_traces(const std::filesystem::path& file_or_folder);

}  // namespace scenarios
