// SPDX-License-Identifier: Apache-2.0
// The layers of every virtual stage.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "plans/partition.hpp"
#include "tests/catch.hpp"

namespace partition_spec {

using namespace strategies;
using Layers = std::vector<std::int64_t>;

TEST_CASE(
    "layers that are missing on equal stages are missing on the last, the first, and inwards") {
  struct Case {
    std::int64_t pipeline, chunks, layers;
    Layers each;
  };
  const std::vector<Case> cases{{1, 1, 5, {5}},
                                {4, 1, 8, {2, 2, 2, 2}},
                                {4, 1, 7, {2, 2, 2, 1}},         // beside the head
                                {4, 1, 6, {1, 2, 2, 1}},         // and the embedding
                                {4, 1, 5, {1, 2, 1, 1}},         // and the last but one
                                {2, 2, 10, {2, 3, 3, 2}},        // of virtual stages alike
                                {5, 1, 6, {1, 1, 2, 1, 1}},      // both ends twice
                                {4, 1, 2, {0, 1, 1, 0}},         // fewer layers than stages
                                {2, 3, 11, {2, 2, 2, 2, 2, 1}},  // of six stages
                                {8, 1, 61, {7, 8, 8, 8, 8, 8, 7, 7}}};
  for (const auto& [pipeline, chunks, layers, each] : cases) {
    const Plan plan{.pipeline = pipeline, .virtual_stages = chunks};
    INFO(layers << " layers on " << pipeline << " x " << chunks);
    CHECK(layers_per_virtual_stage(plan, layers) == each);
  }
}

TEST_CASE("stages of any number differ by at most one layer, the last has least, the first next") {
  std::mt19937 random(3);
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int i = 0; i < 500; ++i) {
    const Plan plan{.pipeline = from(1, 16), .virtual_stages = from(1, 4)};
    const auto layers = from(1, 200);
    const auto each = layers_per_virtual_stage(plan, layers);
    INFO(layers << " layers on " << plan.pipeline << " x " << plan.virtual_stages);
    CHECK(std::ssize(each) == plan.pipeline * plan.virtual_stages);
    CHECK(std::accumulate(each.begin(), each.end(), std::int64_t{0}) == layers);
    CHECK(std::ranges::max(each) - std::ranges::min(each) <= 1);
    CHECK(each.back() == std::ranges::min(each));
    // Where any other than the last stage has fewer, the first has.
    const auto most = std::ranges::max(each);
    if (std::ranges::count(each, most) + 1 < std::ssize(each)) CHECK(each.front() < most);
  }
}

TEST_CASE("layers that a plan gives are taken as they are, one entry a virtual stage") {
  const auto with = [](Layers given) {
    return Plan{.pipeline = 2, .virtual_stages = 2, .layers_per_stage = std::move(given)};
  };
  CHECK(layers_per_virtual_stage(with({5, 0, 2, 1}), 8) == Layers{5, 0, 2, 1});
  CHECK_THROWS_WITH(layers_per_virtual_stage(with({4, 4}), 8),
                    "layers_per_stage needs one entry per virtual stage");
  CHECK_THROWS_WITH(layers_per_virtual_stage(with({2, 2, 2, 1}), 8),
                    "layers_per_stage must sum to the model's layers");
}

}  // namespace partition_spec
