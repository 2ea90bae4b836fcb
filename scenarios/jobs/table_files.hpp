// SPDX-License-Identifier: Apache-2.0
// The files of scenarios/jobs/tables as they were when the program was built.
#pragma once
#include <span>
#include <string_view>

namespace scenarios {

struct JobTableFile {
  std::string_view table;  // the name of the file without its ending: "megatron"
  std::string_view text;
};

// Returns the files sorted by name. The texts live as long as the program.
std::span<const JobTableFile> job_table_files();

}  // namespace scenarios
