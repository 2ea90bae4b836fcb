// SPDX-License-Identifier: Apache-2.0
// The conditions that a plan must meet. Tests of reading files check the sentences.
#include <functional>
#include <vector>

#include "plans/admissible.hpp"
#include "tests/catch.hpp"
#include "tests/plans/small_case.hpp"

namespace admissible_spec {

using namespace strategies;
using tests::SmallCase;

namespace {

// The places of conditions that do not hold.
std::vector<std::size_t> broken(std::span<const Condition> conditions,
                                const std::function<void(SmallCase&)>& change) {
  SmallCase small;
  change(small);
  const auto of = small.asked();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i].holds(of)) continue;
    places.push_back(i);
    CHECK_FALSE(conditions[i].why(of).empty());
  }
  CHECK(all_hold(conditions, of) == places.empty());
  return places;
}

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("every condition says which keys it looks at and where to complain") {
  for (const auto& list :
       {on_tensor(), on_context(), on_sequence_parts(), on_ulysses(), on_experts(),
        on_expert_rows(), on_expert_ranks(), on_shards(), on_states(), on_batch(), on_layers(),
        on_stages(), on_microbatches(), on_chunks(), on_regrouping()})
    for (const auto& one : list) {
      CHECK_FALSE(one.asks.empty());
      REQUIRE_FALSE(one.keys.empty());
      for (const auto key : one.keys) CHECK(key.find('.') != key.npos);
    }
}

TEST_CASE("tensor parallelism divides heads, keys and MLPs") {
  const auto with = [](std::int64_t tensor) {
    return broken(on_tensor(), [=](SmallCase& w) { w.plan.tensor = tensor; });
  };
  CHECK(with(4).empty());
  CHECK(with(3) == Places{0, 2});
  CHECK(broken(on_tensor(), [](SmallCase& w) { w.plan.tensor = 4, w.model.kv_heads = 6; }) ==
        Places{1});
  CHECK(broken(on_tensor(), [](SmallCase& w) { w.plan.tensor = 4, w.model.ffn = 66; }) ==
        Places{2});
}

TEST_CASE("every virtual stage has a layer, or as many as layers_per_stage gives it") {
  const auto with = [](std::int64_t layers, std::int64_t pipeline, std::int64_t chunks,
                       const std::vector<std::int64_t>& given) {
    return broken(on_layers(), [&](SmallCase& w) {
      w.model.layers = layers;
      w.plan.pipeline = pipeline, w.plan.virtual_stages = chunks;
      w.plan.layers_per_stage = given;
    });
  };
  CHECK(with(8, 4, 2, {}).empty());
  CHECK(with(9, 4, 2, {}).empty());  // nine layers on eight stages
  CHECK(with(7, 4, 2, {}) == Places{0});
  CHECK(with(7, 4, 1, {0, 3, 4, 0}).empty());
  CHECK(with(7, 4, 1, {3, 4}) == Places{1});
  CHECK(with(7, 4, 1, {1, 2, 2, 1}) == Places{2});
  CHECK(with(2, 4, 1, {1, 1}) == Places{1});  // a wrong sum would be reported twice
}

TEST_CASE("schedules that feed both ends take even pipelines and enough microbatches") {
  const auto with = [](ScheduleKind schedule, std::int64_t pipeline, std::int64_t batch) {
    const auto change = [=](SmallCase& w) {
      w.plan.schedule = schedule, w.plan.pipeline = pipeline, w.training.global_batch = batch;
    };
    return broken(on_stages(), change).empty() && broken(on_microbatches(), change).empty();
  };
  using enum ScheduleKind;
  CHECK(with(dualpipe, 4, 8));
  CHECK_FALSE(with(dualpipe, 3, 8));
  CHECK_FALSE(with(dualpipe, 4, 9));
  CHECK_FALSE(with(dualpipe, 4, 6));
  CHECK(with(dualpipe_v, 3, 7));
  CHECK_FALSE(with(dualpipe_v, 3, 5));
  CHECK(with(one_f_one_b, 3, 1));
}

TEST_CASE("experts are spread over the ranks of a stage, and take rows of their own") {
  const auto with = [](const Plan& plan) {
    const auto change = [&](SmallCase& w) { w.add_experts(), w.plan = plan; };
    return broken(on_experts(), change).size() + broken(on_expert_rows(), change).size() +
           broken(on_expert_ranks(), change).size();
  };
  CHECK(with({.tensor = 2, .data = 8, .expert = 8, .sequence_parallel = true}) == 0);
  CHECK(with({.tensor = 2, .data = 8, .expert = 8}) == 1);                            // rows
  CHECK(with({.data = 9, .expert = 3}) == 1);                                         // experts
  CHECK(with({.data = 4, .expert = 8}) == 1);                                         // ranks
  CHECK(with({.data = 20, .expert_tensor = 5}) == 1);                                 // parts
  CHECK(broken(on_experts(), [](SmallCase& w) { w.plan.expert = 2; }) == Places{0});  // dense
  CHECK(broken(on_experts(), [](SmallCase& w) { w.plan.expert_tensor = 2; }) ==
        Places{1});  // dense
}

TEST_CASE("a smaller tensor degree divides the plan's inside of nodes, and its microbatch") {
  const auto with = [](const Plan& plan) {
    return broken(on_regrouping(), [&](SmallCase& w) { w.plan = plan; });
  };
  CHECK(with({.tensor = 8, .micro_batch = 2, .layer_tensor = 4}).empty());
  CHECK(with({.tensor = 8, .micro_batch = 2, .layer_tensor = 8}) == Places{1});
  CHECK(with({.tensor = 8, .micro_batch = 2, .layer_tensor = 3}) == Places{1});
  CHECK(with({.tensor = 8, .micro_batch = 3, .layer_tensor = 4}) == Places{2});
  CHECK(with({.tensor = 16, .micro_batch = 2, .layer_tensor = 8}) == Places{4});
}

}  // namespace admissible_spec
