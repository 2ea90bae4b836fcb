// SPDX-License-Identifier: Apache-2.0
// The keys of a search that leave out values, and those of them that leave no plan.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "search/space.hpp"

namespace search {

// The keys that do not allow all values, by their names in a plan, a shard group of some ranks
// first.
std::vector<std::string_view> limits_of(const forecast::Scenario& scenario, const Space& space);

// The limiting keys of which each alone, if it allowed all values, would leave plans.
std::vector<std::string_view> reliefs(const forecast::Scenario& scenario, const Space& space);

// A factor that the batch lacks for the number of GPUs, and a batch that has it.
struct BatchRelief {
  std::int64_t factor = 1, batch = 1;
  friend bool operator==(const BatchRelief&, const BatchRelief&) = default;
};

// The least factor by which the batch must be multiplied so that there are plans, and the next
// larger batch that has it and divides well; nothing where the batch does not help, has plans as it
// is, or would have to grow beyond its square.
std::optional<BatchRelief> batch_relief(const forecast::Scenario& scenario, const Space& space);

}  // namespace search
