// SPDX-License-Identifier: Apache-2.0
#include "plans/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strategies {
namespace {

// C(all − held, k) / C(all, k): the chance that none of k among `all` is one of `held`.
double chance_of_none(double all, double held, std::int64_t k) {
  double chance = 1;
  for (std::int64_t i = 0; i < k; ++i)
    chance *= std::max(0.0, all - held - static_cast<double>(i)) / (all - static_cast<double>(i));
  return chance;
}

// C(n, k), in floating point; 0 where there is no such choice.
double ways_to_choose(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  double product = 1;
  for (std::int64_t i = 0; i < k; ++i)
    product *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return product;
}

// The experts from `begin` to `end` over groups of `size`: experts of a group that begins before
// them, the number of whole groups, and experts of a group that ends behind them.
struct GroupsOverlapped {
  double before = 0, behind = 0;
  std::int64_t whole = 0;
};
GroupsOverlapped overlap_of(double begin, double end, double size) {
  const double first = std::ceil(begin / size - 1e-9), last = std::floor(end / size + 1e-9);
  if (first > last) return {.before = end - begin};  // inside of one group
  return {std::max(0.0, first * size - begin), std::max(0.0, end - last * size),
          static_cast<std::int64_t>(last - first)};
}

double chance_of_missing(const model::Moe& moe, const Routing& routing,
                         const GroupsOverlapped& part) {
  const double size = static_cast<double>(moe.experts) / static_cast<double>(routing.groups);
  const double open = size * static_cast<double>(routing.top_groups);
  const bool before = part.before > 1e-9 * size, behind = part.behind > 1e-9 * size;
  const auto others = routing.groups - part.whole - std::int64_t{before} - std::int64_t{behind};
  double missed = 0;
  for (int b = 0; b <= int{before}; ++b)
    for (int h = 0; h <= int{behind}; ++h)
      for (std::int64_t w = 0; w <= std::min(part.whole, routing.top_groups); ++w) {
        const auto ways =
            ways_to_choose(part.whole, w) * ways_to_choose(others, routing.top_groups - w - b - h);
        if (ways == 0) continue;
        const double held = b * part.before + h * part.behind + static_cast<double>(w) * size;
        missed += ways * chance_of_none(open, held, moe.top_k);
      }
  return missed / ways_to_choose(routing.groups, routing.top_groups);
}

double parts_of_groups_hit(const model::Moe& moe, const Routing& routing, double parts) {
  const auto experts = static_cast<double>(moe.experts);
  const double size = experts / static_cast<double>(routing.groups), width = experts / parts;
  double hit = 0;
  for (double part = 0; part + 0.5 < parts; ++part)
    hit += 1 - chance_of_missing(moe, routing, overlap_of(part * width, (part + 1) * width, size));
  return hit;
}

// Counts in units of 1 / parts of an expert, so that borders of parts are whole.
double neighbouring_parts(const model::Moe& moe, std::int64_t parts) {
  const auto width = moe.experts, length = moe.top_k * parts, step = std::gcd(length, width);
  std::int64_t reached = 0;
  for (std::int64_t begin = 0; begin < width; begin += step)
    reached += std::min(parts, (begin + length + width - 1) / width);
  return static_cast<double>(reached * step) / static_cast<double>(width);
}

}  // namespace

double parts_hit(const model::Moe& moe, const Routing& routing, double parts) {
  switch (routing.locality) {
    case Locality::group_limited:
      return parts_of_groups_hit(moe, routing, parts);
    case Locality::neighbours:
      return neighbouring_parts(moe, static_cast<std::int64_t>(parts + 0.5));
    case Locality::random:
      break;
  }
  const auto experts = static_cast<double>(moe.experts);
  return parts * (1 - chance_of_none(experts, experts / parts, moe.top_k));
}

}  // namespace strategies
