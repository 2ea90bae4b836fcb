// SPDX-License-Identifier: Apache-2.0
// Private to the room: the number of nodes that a job's script starts on.
#pragma once
#include <cstdint>
#include <string>

#include "report/launch/job_reading.hpp"

namespace report {

// Changes the number of nodes where a script says it plainly, for Slurm, for torchrun or in a
// variable of such a name, so that it starts `gpus` processes. Returns a sentence if the script
// starts another number and says it otherwise; empty: none. A script whose number of processes the
// hints give, or nobody, stays as it is.
std::string change_nodes(std::string& text, const JobFile& file, const scenarios::JobHints& hints,
                         std::int64_t gpus);

}  // namespace report
