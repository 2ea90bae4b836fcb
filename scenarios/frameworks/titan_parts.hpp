// SPDX-License-Identifier: Apache-2.0
// Private to the room: the stages of a torchtitan job by the names of their modules.
#pragma once
#include <cstdint>
#include <vector>

#include "scenarios/jobs/given.hpp"

namespace scenarios {

inline constexpr const char* titan_parts_name = "parallelism.module_fqns_per_model_part";

inline constexpr const char* titan_points_name = "parallelism.pipeline_parallel_split_points";

// Returns the layers of each virtual stage, of which every one but the first begins at a layer that
// the job names ("layers.8"), or complains as titan_parts does.
std::vector<std::int64_t> titan_points(const Given& given, std::int64_t layers,
                                       std::int64_t pipeline, std::int64_t chunks);

// Returns the layers of each virtual stage of a model of `layers` layers (0: not known), or
// complains of parts that a pipeline of so many ranks and `chunks` stages each (0: any number) does
// not have.
std::vector<std::int64_t> titan_parts(const Given& given, std::int64_t layers,
                                      std::int64_t pipeline, std::int64_t chunks);

}  // namespace scenarios
