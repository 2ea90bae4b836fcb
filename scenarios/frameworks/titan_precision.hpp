// SPDX-License-Identifier: Apache-2.0
// Private to the room: the precision of a torchtitan job's products.
#pragma once
#include <cstdint>

#include "scenarios/frameworks/titan_start.hpp"
#include "scenarios/jobs/draft.hpp"

namespace scenarios {

// The parts that the job's model has; a model that is not known may have all of them.
struct TitanModel {
  std::int64_t layers = 0;  // 0: not known
  bool dense_layers = true, experts = true, shared_experts = true;
};

// Sets the precision of products, and which linear layers the job keeps in bf16. One that does not
// start counts as one that casts: what mends it makes it so.
void read_titan_precision(const Given& given, Draft& draft, const TitanModel& model,
                          TitanCast cast);

}  // namespace scenarios
