// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/known_orders.hpp"

#include <utility>

#include "plans/schedules/schedule.hpp"

namespace strategies {

Order KnownOrders::of(const OrderInput& input) {
  if (!is_searched(input.schedule)) return order_of(input);
  const Order* known = nullptr;  // which stays where it is, and as it is
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = orders_.find(input); found != orders_.end()) known = &found->second;
  }
  if (known != nullptr) return *known;
  auto order = order_of(input);  // two threads that ask at once both search, and find the same
  std::size_t slots = 0;
  for (const auto& of_stage : order) slots += of_stage.size();
  auto copy = order;
  const std::lock_guard lock(mutex_);
  if (slots_ + slots <= most_slots_ && orders_.try_emplace(input, std::move(copy)).second)
    slots_ += slots;
  return order;
}

std::size_t KnownOrders::remembered() const {
  const std::lock_guard lock(mutex_);
  return orders_.size();
}

Order order_of(const OrderInput& input, KnownOrders* orders) {
  return orders != nullptr ? orders->of(input) : order_of(input);
}

}  // namespace strategies
