// SPDX-License-Identifier: Apache-2.0
#include "allocator/addresses.hpp"

namespace allocator {

Address Addresses::take(Size size) {
  auto end = first;
  for (const auto& [address, taken] : taken_) {
    if (address - end >= size) break;
    end = address + taken;
  }
  taken_.emplace(end, size);
  return end;
}

}  // namespace allocator
