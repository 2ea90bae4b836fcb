// SPDX-License-Identifier: Apache-2.0
// Orders that are searched for once.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>

#include "plans/schedules/order.hpp"

namespace strategies {

// The orders of one search or sweep: many of its plans ask for the same one, as neither replicas
// nor ZeRO change how long a pass takes. Safe to use from several threads.
class KnownOrders {
 public:
  // Remembers at most `most_slots` slots in all, of 16 bytes each.
  explicit KnownOrders(std::size_t most_slots = 4 << 20) : most_slots_(most_slots) {}
  // Returns the same order as order_of(input) of schedule.hpp. An order that is found by search
  // is remembered while there is room. O(stages · log orders + slots) if it is known.
  Order of(const OrderInput& input);
  std::size_t remembered() const;  // orders

 private:
  mutable std::mutex mutex_;
  std::map<OrderInput, Order> orders_;
  std::size_t most_slots_, slots_ = 0;
};

// orders->of(input), or order_of(input) where `orders` is null.
Order order_of(const OrderInput& input, KnownOrders* orders);

}  // namespace strategies
