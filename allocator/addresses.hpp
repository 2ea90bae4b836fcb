// SPDX-License-Identifier: Apache-2.0
// The addresses at which the driver puts segments: the lowest gap that is wide enough. PyTorch
// prefers the lower of two free blocks of one size, so that addresses decide something.
#pragma once
#include <cstdint>
#include <map>

#include "allocator/settings.hpp"

namespace allocator {

using Address = std::int64_t;

class Addresses {
 public:
  static constexpr Address first = Address{0x7f} << 40;
  // O(gaps)
  Address take(Size size);
  void give_back(Address address) { taken_.erase(address); }

 private:
  std::map<Address, Size> taken_;
};

}  // namespace allocator
