// SPDX-License-Identifier: Apache-2.0
// Where torchtitan casts products to 16 bit, and which degrees it does not start with.
#pragma once
#include <cstdint>
#include <optional>

namespace scenarios {

// The degrees of a torchtitan job. Data-parallel ranks are shards times replicas.
struct TitanSpread {
  std::int64_t replicas = 1;
  std::optional<std::int64_t> shards = 1;  // nothing: all GPUs that are left, not known how many
  std::int64_t tensor = 1, pipeline = 1, context = 1, expert = 1;
};

// Whether FSDP divides states, over shards or over the ranks of a sequence. Where the number of
// shards is not known, it does.
bool fsdp_divides(const TitanSpread& spread);

enum class TitanCast {
  mixed,    // FSDP or autocast casts products to mixed_precision_param
  weights,  // products have the type of the weights
  refused   // torchtitan does not start
};

// FSDP mixes precisions, also where it divides experts alone; without FSDP autocast does, but not
// on tensor and pipeline ranks (maybe_enable_amp of torchtitan/distributed/utils.py). Replicas
// without FSDP run on neither (from memory: parallelize_llama).
TitanCast titan_cast(const TitanSpread& spread);

}  // namespace scenarios
