// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/known_orders.hpp"

#include "plans/schedules/schedule.hpp"

namespace strategies {

Order KnownOrders::of(const OrderInput& input) {
  constexpr std::size_t most_slots = 4 << 20;
  if (!is_searched(input.schedule)) return order_of(input);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = orders_.find(input); found != orders_.end()) return found->second;
  }
  auto order = order_of(input);  // two threads that ask at once both search, and find the same
  std::size_t slots = 0;
  for (const auto& of_stage : order) slots += of_stage.size();
  const std::lock_guard lock(mutex_);
  if (slots_ + slots <= most_slots && orders_.try_emplace(input, order).second) slots_ += slots;
  return order;
}

std::size_t KnownOrders::remembered() const {
  const std::lock_guard lock(mutex_);
  return orders_.size();
}

Order order_of(const OrderInput& input, KnownOrders* known) {
  return known != nullptr ? known->of(input) : order_of(input);
}

}  // namespace strategies
