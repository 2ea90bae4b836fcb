// SPDX-License-Identifier: Apache-2.0
#include "allocator/addresses.hpp"

namespace allocator {

Address Addresses::take(Size size) {
  auto end = top;
  if (next_told_ < told_.size()) {
    end = told_[next_told_++] + size;
  } else {
    for (auto below = taken_.rbegin(); below != taken_.rend(); ++below) {
      if (end - (below->first + below->second) >= size) break;
      end = below->first;
    }
  }
  taken_.emplace(end - size, size);
  return end - size;
}

}  // namespace allocator
