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
  // As order_of(input) of schedule.hpp, whatever was asked before. An order that is found by search
  // is remembered while all together have at most 4 million slots (64 MiB). O(log known) if known.
  Order of(const OrderInput& input);
  std::size_t remembered() const;  // orders

 private:
  mutable std::mutex mutex_;
  std::map<OrderInput, Order> orders_;
  std::size_t slots_ = 0;
};

// The order that is known, or order_of(input); `known` may be null.
Order order_of(const OrderInput& input, KnownOrders* known);

}  // namespace strategies
