// SPDX-License-Identifier: Apache-2.0
// These tests fail if labels are updated in place, which takes items twice, or if a budget is off
// by one.
#include <random>

#include "tests/catch.hpp"
#include "tests/search/knapsack.hpp"
#include "tests/search/oracle.hpp"

namespace knapsack_spec {

using namespace search;

namespace {

void check_claims(const std::vector<Item>& items, ByteCount budget, const Saved& saved) {
  Saved sum;
  for (const auto i : saved.items) {
    sum.size += items[static_cast<std::size_t>(i)].size;
    sum.value += items[static_cast<std::size_t>(i)].value;
  }
  CHECK(sum.size == saved.size);
  CHECK(sum.value == saved.value);
  CHECK((saved.items.empty() || saved.size <= budget));
  CHECK(std::ranges::adjacent_find(saved.items, std::ranges::greater_equal{}) == saved.items.end());
}

// The most value of all subsets that the budget allows.
Picoseconds brute_force(const std::vector<Item>& items, ByteCount budget) {
  Picoseconds best = 0;
  for (std::uint32_t subset = 0; subset < 1u << items.size(); ++subset) {
    Item sum;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (subset >> i & 1) {
        sum.size += items[i].size;
        sum.value += items[i].value;
      }
    if (sum.size <= budget) best = std::max(best, sum.value);
  }
  return best;
}

}  // namespace

TEST_CASE("the items worth saving equal the known optima") {
  int rows = 0;
  for (const auto& cells : oracle::rows_of("knapsack_save_items.csv")) {
    std::vector<Item> items;
    for (const auto& item : oracle::split(cells[3], ';')) {
      const auto n = oracle::numbers(item);
      items.push_back({n[0], n[1]});
    }
    const auto budget = std::stoll(cells[1]);
    const auto saved = knapsack(items, budget);
    CHECK(saved.value == std::stoll(cells[2]));
    check_claims(items, budget, saved);
    ++rows;
  }
  CHECK(rows == 60);
}

TEST_CASE("a budget of two units saves two unit items of three, never three") {
  const std::vector<Item> items{{1, 5}, {1, 4}, {1, 6}};
  CHECK(knapsack(items, 2).items == std::vector<int>{0, 2});
  CHECK(knapsack(items, 1).items == std::vector<int>{2});
  CHECK(knapsack(items, 0).items.empty());
  CHECK(knapsack(items, -1).items.empty());
}

TEST_CASE("an item without size is saved once") {
  const std::vector<Item> items{{0, 3}, {4, 5}, {0, 0}};
  CHECK(knapsack(items, 0).value == 3);
  CHECK(knapsack(items, 3).value == 3);
  CHECK(knapsack(items, 4).value == 8);
}

TEST_CASE("saving equals trying all subsets, and a larger budget never saves less") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Item> items(static_cast<std::size_t>(1 + trial % 11));
    for (auto& item : items)
      item = {static_cast<ByteCount>(random() % 9), static_cast<Picoseconds>(random() % 9)};
    Picoseconds before = 0;
    for (ByteCount budget = 0; budget < 30; budget += 1 + trial % 3) {
      const auto saved = knapsack(items, budget);
      REQUIRE(saved.value == brute_force(items, budget));
      check_claims(items, budget, saved);
      CHECK(saved.value >= before);
      before = saved.value;
    }
  }
}

TEST_CASE("bytes and picoseconds of real size do not overflow") {
  constexpr std::int64_t gib = std::int64_t{1} << 30, second = 1'000'000'000'000;
  const std::vector<Item> items{
      {64 * gib, 100 * second}, {40 * gib, 70 * second}, {39 * gib, 69 * second}};
  CHECK(knapsack(items, 79 * gib).items == std::vector<int>{1, 2});
}

}  // namespace knapsack_spec
