// SPDX-License-Identifier: Apache-2.0
#include "strategies/job.hpp"

#include <stdexcept>

namespace strategies {

std::int64_t microbatches_of(const Plan& plan, const Training& training) {
  const auto per_round = plan.micro_batch * plan.data;
  if (per_round < 1 || training.global_batch % per_round != 0)
    throw std::invalid_argument("global_batch must be a multiple of micro_batch x data");
  return training.global_batch / per_round;
}

}  // namespace strategies
