// SPDX-License-Identifier: Apache-2.0
// The number of GPUs on which a job's launcher starts processes, and the effect of its options.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

struct LaunchedGpus {
  std::int64_t gpus = 0;
  std::string text;  // "--nproc_per_node 8, --nnodes 2"
  Place at;
  std::vector<const JobArgument*> from;  // the options that say it
};

struct LaunchedTrouble {
  std::string text;
  Place at;
};

// Returns the GPUs of the job: processes of a node times nodes, from the options of torchrun,
// deepspeed, srun, sbatch, mpirun and accelerate, the innermost launcher first; nothing if one of
// the two numbers is missing.
std::optional<LaunchedGpus> launched_gpus(std::span<const JobArgument> launcher);

// Returns the number of an option, 8 for "gpu:8" and "1:8"; nothing if its value is no number.
std::optional<std::int64_t> launched_number(const JobArgument& option);

// Returns the first option about the number of GPUs whose value only a shell could compute, with
// the variable to give, or else the first of torchrun's that is no number; no text: there is none.
LaunchedTrouble launcher_trouble(std::span<const JobArgument> launcher);

// Puts options of the launcher before the job's arguments; `unused`: the reason why none counts, or
// empty.
void account_launcher(JobAccount& account, std::span<const JobArgument> launcher,
                      const std::string& unused);

// Returns the number of GPUs that the scenario over the job says, or else the last WORLD_SIZE of
// the hints; nothing if that is missing, no number, or a number of nodes to the script.
std::optional<std::int64_t> world_size_of(const JobHints& hints);

// Returns who says WORLD_SIZE: "--env WORLD_SIZE says how many GPUs there are".
std::string_view world_words(const JobHints& hints);

// Returns the option that gives a number of nodes, of which all GPUs are used; null: none does.
const JobArgument* launched_nodes(std::span<const JobArgument> launcher);

// Returns the number of GPUs: WORLD_SIZE of the hints, or the launcher's, whose nodes may have the
// GPUs of the scenario's; nothing: neither says it.
std::optional<std::int64_t> gpus_of(std::span<const JobArgument> launcher, const JobHints& hints);

// Returns the product of degrees, each at least 1; above 10^12 that number.
std::int64_t product_of(std::initializer_list<std::int64_t> degrees);

// Returns the sequences of a step, a product of numbers of which the argument `name` has the first;
// complains of that argument where the product is 10^12 or more.
std::int64_t sequences_of(const Given& given, std::string_view name,
                          std::initializer_list<std::int64_t> factors);

// Returns the sentence on degrees that make another number of ranks than there are GPUs. `divide`:
// a degree that is not given could be the rest, and the others do not divide the GPUs.
std::string contradiction_of(const std::string& which, std::int64_t ranks, std::int64_t gpus,
                             bool divide);

}  // namespace scenarios
