// SPDX-License-Identifier: Apache-2.0
// The addresses at which the driver puts segments. PyTorch prefers the lower of two free blocks of
// one size, so that addresses decide something. The driver's choice is not published: it takes the
// highest gap that is wide enough, as far as recorded runs tell (tests/allocator/recorded).
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "allocator/settings.hpp"

namespace allocator {

using Address = std::int64_t;

class Addresses {
 public:
  // All segments lie below, where the driver is not told otherwise.
  static constexpr Address top = Address{0x7f} << 40;
  Addresses() = default;
  // A driver that puts its first segments where it is told, one after the other.
  explicit Addresses(std::vector<Address> told) : told_(std::move(told)) {}
  // O(gaps)
  Address take(Size size);
  void give_back(Address address) { taken_.erase(address); }

 private:
  std::vector<Address> told_;
  std::size_t next_told_ = 0;
  std::map<Address, Size> taken_;
};

}  // namespace allocator
