// SPDX-License-Identifier: Apache-2.0
// How many GPUs a job's launcher starts processes on.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "scenarios/jobs/draft.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

struct LaunchedGpus {
  std::int64_t gpus = 0;
  std::string text;  // "--nproc_per_node 8, --nnodes 2"
  Place at;
};

// Of torchrun, deepspeed, srun, sbatch and accelerate: processes of a node times nodes. Nothing
// where one of the two is not said.
std::optional<LaunchedGpus> launched_gpus(std::span<const JobArgument> launcher);

// WORLD_SIZE among NAME=VALUE; nothing where it is not there or no number.
std::optional<std::int64_t> world_size_of(std::span<const std::string> env);

}  // namespace scenarios
