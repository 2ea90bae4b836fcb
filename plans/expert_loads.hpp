// SPDX-License-Identifier: Apache-2.0
// How unequally the ranks of an expert-parallel group are loaded, and which experts they hold.
// Loads are token copies of a rank's experts over those of the mean rank, nothing dropped.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plans/routing.hpp"

namespace strategies {

// The share of a layer's token copies that goes to each expert, the most popular first unless
// shares are a histogram. Shares sum to 1. A token meets an expert at most once, so no share
// exceeds 1 / top_k: the excess of a law or a histogram goes to the other experts in proportion.
// O(experts · top_k)
std::vector<double> expert_shares(const model::Moe& moe, const Routing& routing);

// The quantiles over layers of the fullest rank's load.
inline constexpr std::array load_quantiles{0.1, 0.5, 0.9, 0.99};

struct ExpertLoads {
  double fullest = 1;  // mean over layers of the load of the fullest rank
  double own = 1;      // of the mean rank: less than 1 by what is dropped
  std::array<double, load_quantiles.size()> quantiles{1, 1, 1, 1};  // of the fullest rank
  double dropped = 0;  // share of all copies that find no room in their expert
};

// The loads of `ranks` ranks that hold equally many experts. Each expert has room for
// capacity_factor times the fair share of copies; padded to its capacity it has exactly that load.
// A rank holds other experts of a power law in each layer: the loads of the fullest rank are those
// of 200 random orders of the experts, always the same. With Skew::balanced the fullest rank has
// Moe::imbalance, and all ranks count as it: own is fullest. O(experts) but for a power law that is
// not placed: 200 times that.
ExpertLoads expert_loads(const model::Moe& moe, const Routing& routing, std::int64_t ranks);

// The share of all token copies that find no room in their expert. O(experts · top_k)
double dropped_copies(const model::Moe& moe, const Routing& routing);

// Experts on ranks that hold equally many each.
struct PlacedExperts {
  std::vector<std::int64_t> rank_of;  // by expert
  double fullest = 1;                 // load of the fullest rank
  double bound = 1;                   // no placement has a fullest rank with less
};

// Places the experts, most popular first, each on the rank that has least so far and room for one
// more, the first of equal ones (longest processing time first, Graham 1969). The bound: some rank
// holds j + 1 of the j · ranks + 1 most popular experts, which have at least what the last j + 1 of
// these have; its other experts have at least what the least popular ones of all have; and the
// fullest rank has at least the mean. The shares sum to 1. O(experts · (log experts + ranks))
PlacedExperts place_experts(std::span<const double> shares, std::int64_t ranks);

// A lower bound on the fullest rank's load in the mean of layers, however the experts of each layer
// are placed. Assumes what expert_loads assumes; needs experts of unequal popularity.
double least_fullest_load(const model::Moe& moe, const Routing& routing, std::int64_t ranks);

}  // namespace strategies
