// SPDX-License-Identifier: Apache-2.0
#include "plans/partition.hpp"

#include <numeric>
#include <stdexcept>

namespace strategies {

std::vector<std::int64_t> layers_per_virtual_stage(const Plan& plan, std::int64_t layers) {
  const auto stages = plan.pipeline * plan.virtual_stages;
  if (!plan.layers_per_stage.empty()) {
    const auto& given = plan.layers_per_stage;
    if (static_cast<std::int64_t>(given.size()) != stages)
      throw std::invalid_argument("layers_per_stage needs one entry per virtual stage");
    if (std::accumulate(given.begin(), given.end(), std::int64_t{0}) != layers)
      throw std::invalid_argument("layers_per_stage must sum to the model's layers");
    return given;
  }
  const auto most = (layers + stages - 1) / stages;
  std::vector<std::int64_t> even(static_cast<std::size_t>(stages), most);
  auto missing = most * stages - layers;
  for (std::size_t turn = 0; missing > 0; ++turn, --missing) {
    const auto inwards = turn / 2 % even.size();
    --even[turn % 2 == 0 ? even.size() - 1 - inwards : inwards];
  }
  return even;
}

}  // namespace strategies
