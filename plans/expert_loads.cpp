// SPDX-License-Identifier: Apache-2.0
#include "plans/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace strategies {
namespace {

double sum_of(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

// The value below which a share `below` of a density x^-exponent between 1 and `most` lies.
double power_law_quantile(double exponent, double most, double below) {
  const double power = 1 - exponent;
  if (std::abs(power) < 1e-9) return std::pow(most, below);
  return std::pow(1 + below * (std::pow(most, power) - 1), 1 / power);
}

std::vector<double> popularities(const model::Moe& moe, const Routing& routing) {
  const auto experts = static_cast<std::size_t>(moe.experts);
  if (routing.skew == Skew::histogram) return routing.shares;
  std::vector<double> popular(experts, 1.0);
  if (routing.skew == Skew::power_law)
    for (std::size_t i = 0; i < experts; ++i)
      popular[experts - 1 - i] =
          power_law_quantile(routing.exponent, routing.spread,
                             (static_cast<double>(i) + 0.5) / static_cast<double>(experts));
  return popular;
}

// Returns the load of the fullest rank, where each rank's experts stand next to each other in
// `order`.
double fullest_of(std::span<const double> shares, std::span<const std::uint32_t> order,
                  std::size_t ranks) {
  const auto each = order.size() / ranks;
  double most = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double held = 0;
    for (std::size_t i = rank * each; i < (rank + 1) * each; ++i) held += shares[order[i]];
    most = std::max(most, held);
  }
  return most * static_cast<double>(ranks);
}

// SplitMix64 (Steele, Lea and Flood 2014).
class Shuffle {
 public:
  void operator()(std::vector<std::uint32_t>& order) {
    for (auto left = order.size(); left > 1; --left) std::swap(order[left - 1], order[below(left)]);
  }

 private:
  // Returns one of the numbers from 0 to count − 1, for fewer than 2^32, without a division (Lemire
  // 2019).
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(((next() >> 32) * count) >> 32);
  }
  std::uint64_t next() {
    auto z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 0;
};

// Rounds to nine digits, so that equal loads are equal however they were summed.
double in_nine_digits(double load) { return std::round(load * 1e9) / 1e9; }

// The loads of the fullest rank in layers, ascending; one load where all layers are alike.
std::vector<double> fullest_loads(std::span<const double> shares, const Routing& routing,
                                  std::size_t ranks) {
  if (routing.placement == ExpertPlacement::greedy)
    return {place_experts(shares, static_cast<std::int64_t>(ranks)).fullest};
  std::vector<std::uint32_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0u);
  if (routing.skew != Skew::power_law || ranks == 1) return {fullest_of(shares, order, ranks)};
  constexpr std::size_t layers = 200;
  std::vector<double> loads;
  Shuffle shuffle;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    shuffle(order);
    loads.push_back(fullest_of(shares, order, ranks));
  }
  std::ranges::sort(loads);
  return loads;
}

// The share of all token copies that finds room in each expert.
std::vector<double> shares_with_room(const model::Moe& moe, const Routing& routing) {
  auto shares = expert_shares(moe, routing);
  if (moe.capacity_factor)
    for (auto& share : shares)
      share = std::min(share, *moe.capacity_factor / static_cast<double>(moe.experts));
  return shares;
}

}  // namespace

std::vector<double> expert_shares(const model::Moe& moe, const Routing& routing) {
  auto shares = popularities(moe, routing);
  const double most = 1 / static_cast<double>(moe.top_k);
  std::vector<bool> full(shares.size(), false);
  double left = 1;  // share left for experts that are not full
  for (bool again = true; std::exchange(again, false);) {
    double rest = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) rest += full[i] ? 0 : shares[i];
    const double scale = rest > 0 ? left / rest : 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (full[i]) continue;
      shares[i] *= scale;
      if (shares[i] <= most * (1 + 1e-12)) continue;
      full[i] = again = true;
    }
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (full[i] && shares[i] != most) shares[i] = most, left -= most;
  }
  return shares;
}

ExpertLoads expert_loads(const model::Moe& moe, const Routing& routing, std::int64_t ranks) {
  ExpertLoads loads;
  if (moe.pad_to_capacity && moe.capacity_factor) {
    loads.fullest = loads.own = *moe.capacity_factor;
    loads.quantiles.fill(loads.fullest);
    loads.dropped = dropped_copies(moe, routing);
    return loads;
  }
  if (routing.skew == Skew::balanced) {
    const double fullest = ranks > 1 ? moe.imbalance : 1;
    loads.fullest = loads.own = std::min(fullest, moe.capacity_factor.value_or(fullest));
    loads.quantiles.fill(loads.fullest);
    loads.dropped = dropped_copies(moe, routing);
    return loads;
  }
  const auto shares = shares_with_room(moe, routing);
  const auto fullest = fullest_loads(shares, routing, static_cast<std::size_t>(ranks));
  loads.own = in_nine_digits(sum_of(shares));
  loads.dropped = dropped_copies(moe, routing);
  loads.fullest =
      std::max(loads.own, in_nine_digits(sum_of(fullest) / static_cast<double>(fullest.size())));
  for (std::size_t q = 0; q < load_quantiles.size(); ++q)
    loads.quantiles[q] = in_nine_digits(fullest[static_cast<std::size_t>(
        load_quantiles[q] * static_cast<double>(fullest.size() - 1) + 0.5)]);
  return loads;
}

double dropped_copies(const model::Moe& moe, const Routing& routing) {
  if (!moe.capacity_factor) return 0;
  if (routing.skew == Skew::balanced)
    return in_nine_digits(std::max(0.0, 1 - *moe.capacity_factor));
  return in_nine_digits(1 - sum_of(shares_with_room(moe, routing)));
}

double least_fullest_load(const model::Moe& moe, const Routing& routing, std::int64_t ranks) {
  return place_experts(shares_with_room(moe, routing), ranks).bound;
}

PlacedExperts place_experts(std::span<const double> shares, std::int64_t ranks) {
  const auto experts = shares.size(), count = static_cast<std::size_t>(ranks);
  const auto each = experts / count;
  std::vector<std::size_t> popular(experts);
  std::iota(popular.begin(), popular.end(), std::size_t{0});
  std::ranges::stable_sort(popular,
                           [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  PlacedExperts placed{.rank_of = std::vector<std::int64_t>(experts)};
  std::vector<double> held(count, 0);
  std::vector<std::size_t> holds(count, 0);
  for (const auto expert : popular) {
    auto least = count;
    for (std::size_t rank = 0; rank < count; ++rank)
      if (holds[rank] < each && (least == count || held[rank] < held[least])) least = rank;
    placed.rank_of[expert] = static_cast<std::int64_t>(least);
    held[least] += shares[expert];
    ++holds[least];
  }
  double bound = sum_of(shares) / static_cast<double>(ranks);
  for (std::size_t j = 0; j < each; ++j) {
    double least = 0;
    for (std::size_t i = j * count - j; i <= j * count; ++i) least += shares[popular[i]];
    for (std::size_t i = experts - (each - j - 1); i < experts; ++i) least += shares[popular[i]];
    bound = std::max(bound, least);
  }
  placed.fullest = std::ranges::max(held) * static_cast<double>(ranks);
  placed.bound = std::min(placed.fullest, bound * static_cast<double>(ranks));
  return placed;
}

}  // namespace strategies
