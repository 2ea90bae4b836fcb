// SPDX-License-Identifier: Apache-2.0
// The first bounds of choices of degrees: of millions, most are not even written down.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "search/evaluator.hpp"

namespace search {

// Choices of degrees that may be faster than a threshold, with their bounds, and what became of
// the others.
struct BoundedDegrees {
  std::vector<std::pair<Degrees, Picoseconds>> open;
  std::int64_t enumerated = 0, too_large = 0, too_long = 0;
  Picoseconds left = sim::unreached;  // the least bound of those left out
};

// Adds the choices of degrees of one division, which is priced; forgets its prices if none of them
// is open.
void bound_division(const Question& question, PriceCache& cache, std::size_t division,
                    Picoseconds threshold, BoundedDegrees& result);

}  // namespace search
