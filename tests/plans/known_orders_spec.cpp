// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <random>
#include <thread>
#include <vector>

#include "plans/schedules/known_orders.hpp"
#include "plans/schedules/schedule.hpp"
#include "tests/catch.hpp"

namespace known_orders_spec {

using namespace strategies;

namespace {

OrderInput random_input(std::mt19937& random) {
  const auto up_to = [&](int most) {
    return 1 + static_cast<int>(random() % static_cast<unsigned>(most));
  };
  constexpr std::array schedules{ScheduleKind::zb_h1, ScheduleKind::zb_h2, ScheduleKind::zb_v,
                                 ScheduleKind::v_half, ScheduleKind::v_min};
  OrderInput input{.schedule = schedules[random() % schedules.size()]};
  input.stages = 1 + up_to(5);
  input.microbatches = 2 * input.stages + up_to(6);
  const bool line = input.schedule == ScheduleKind::zb_h1 || input.schedule == ScheduleKind::zb_h2;
  input.chunks = line ? 1 : 2;
  for (int stage = 0; stage < input.stages; ++stage)
    input.times.push_back({up_to(3), up_to(3), up_to(3)});
  input.latency = up_to(2) - 1;
  return input;
}

}  // namespace

TEST_CASE("a known order is the order that is searched for, also when it is asked for again") {
  KnownOrders known;
  const auto seed = GENERATE(range(0u, 20u));
  std::mt19937 random(seed);
  const auto one = random_input(random), other = random_input(random);
  INFO("seed " << seed);
  for (int i = 0; i < 2; ++i) {
    CHECK(known.of(one) == order_of(one));
    CHECK(known.of(other) == order_of(other));
  }
  CHECK(known.remembered() == (one == other ? 1 : 2));
}

TEST_CASE("times, latency, limit, microbatches, stages and schedule tell orders apart") {
  OrderInput input{.schedule = ScheduleKind::zb_h1, .stages = 2, .microbatches = 4};
  input.times = {{2, 2, 2}, {2, 2, 2}};
  std::vector<OrderInput> all(7, input);
  all[1].times[1].weight = 3;
  all[2].latency = 1;
  all[3].limit = 4;
  all[4].microbatches = 5;
  all[5].schedule = ScheduleKind::zb_h2;
  all[6].stages = 3;
  all[6].times.push_back({2, 2, 2});
  KnownOrders known;
  for (const auto& each : all) CHECK(known.of(each) == order_of(each));
  CHECK(known.remembered() == all.size());
}

TEST_CASE("an order that follows from integers is made anew, not remembered") {
  KnownOrders known;
  const OrderInput input{.schedule = ScheduleKind::one_f_one_b, .stages = 4, .microbatches = 8};
  CHECK(known.of(input) == order_of(input));
  CHECK(known.remembered() == 0);
}

TEST_CASE("an order for which there is no room is right, and forgotten") {
  KnownOrders known(100);
  OrderInput input{.schedule = ScheduleKind::zb_h1, .stages = 2, .microbatches = 10};  // 60 slots
  for (int i = 0; i < 2; ++i, ++input.microbatches) CHECK(known.of(input) == order_of(input));
  CHECK(known.remembered() == 1);
}

TEST_CASE("threads may ask for the same orders at once") {
  KnownOrders known;
  const OrderInput input{
      .schedule = ScheduleKind::zb_v, .stages = 4, .chunks = 2, .microbatches = 12};
  const auto expected = order_of(input);
  std::array<Order, 4> found;
  {
    std::vector<std::jthread> threads;
    for (auto& order : found) threads.emplace_back([&] { order = known.of(input); });
  }
  for (const auto& order : found) CHECK(order == expected);
  CHECK(known.remembered() == 1);
}

}  // namespace known_orders_spec
