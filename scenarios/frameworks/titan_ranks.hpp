// SPDX-License-Identifier: Apache-2.0
// Private to the room: the data-parallel ranks of a torchtitan job.
#pragma once
#include <cstdint>
#include <optional>

#include "scenarios/frameworks/titan_start.hpp"
#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// Data-parallel ranks are shards times replicas.
struct TitanRanks {
  std::int64_t replicas = 1;
  std::optional<std::int64_t> shards{};  // nothing: what is left of GPUs that are not known
};

// The other degrees of the job.
struct TitanDegrees {
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1;
};

// Returns the data-parallel ranks on so many GPUs. Complains of degrees whose product is another
// number; where a scenario over the job changes it, the shards are what is left of its GPUs.
TitanRanks titan_ranks(const Given& given, Draft& draft, const TitanDegrees& degrees,
                       std::optional<std::int64_t> gpus);

TitanSpread spread_of(const TitanRanks& ranks, const TitanDegrees& degrees);

// Complains of replicas with which torchtitan does not start, unless other degrees lie over the
// job.
void refuse_replicas(const Given& given, const OverJob& over);

}  // namespace scenarios
