// SPDX-License-Identifier: Apache-2.0
// The time that whole steps lose because communication holds processors.
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace forecast_interference_spec {

using forecast::simulate;
using strategies::ContextMethod;
using strategies::Plan;
using strategies::ScheduleKind;

namespace {

// A wider Llama on one node of eight GPUs with 100 processors each.
forecast::Scenario on_one_node(const Plan& plan) {
  auto s = tests::small_llama(plan);
  s.model = small_models::llama(2048, 16);
  s.model.layers = 8;
  s.model.max_sequence = 4096;
  s.training = {.sequence_length = 4096, .global_batch = 16 * plan.data};
  s.cluster.node.device.sms = 100;
  s.software.launch_forward = s.software.launch_backward = {};
  s.software.overlap_parameters = true;
  return s;
}

double time_with(forecast::Scenario s, std::optional<double> interference) {
  s.software.interference = interference;
  return simulate(s).step.time.value;
}

Plan parts_of_sequences(ContextMethod method) { return {.context = 8, .context_method = method}; }

Plan tensor_parallel() { return {.tensor = 8, .sequence_parallel = true}; }

}  // namespace

TEST_CASE("inside a node every collective holds 24 processors, whatever it carries") {
  auto s =
      on_one_node(GENERATE(Plan{.data = 8, .zero = 1}, Plan{.data = 8, .zero = 3},
                           Plan{.data = 8, .zero = 3, .shard_group = strategies::ShardGroup::of(4)},
                           parts_of_sequences(ContextMethod::ring),
                           parts_of_sequences(ContextMethod::all_gather), tensor_parallel()));
  s.software.blockwise_context = GENERATE(false, true);
  s.software.overlap_tensor = true;
  const double derived = time_with(s, std::nullopt);
  CHECK(derived == time_with(s, 0.24));
  if (s.plan.data > 1 || s.plan.tensor > 1 || s.software.blockwise_context ||
      s.plan.context_method == ContextMethod::ring)
    CHECK(derived > time_with(s, 0));
  s.cluster.node.device.sms = 0;  // not known
  CHECK(time_with(s, std::nullopt) == time_with(s, 0));
}

TEST_CASE("copy engines gather the rows of products in parts, and hold no processor") {
  auto s = on_one_node(tensor_parallel());
  s.software.overlap_tensor = true;
  s.software.tensor_overlap = strategies::TensorOverlap::pipelined;
  const double derived = time_with(s, std::nullopt);
  CHECK(derived < time_with(s, 0.24));  // as if all were collectives
  CHECK(derived > time_with(s, 0));     // sums are scattered by processors
}

TEST_CASE("the dispatcher of DeepEP holds 20 processors under the other pass") {
  auto s = on_one_node({.pipeline = 2, .data = 4, .expert = 4, .schedule = ScheduleKind::dualpipe});
  s.plan.overlap.data = false;
  s.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 2048};
  s.software.moe_dispatcher = strategies::MoeDispatcher::deepep;
  const double derived = time_with(s, std::nullopt);
  CHECK(derived == time_with(s, 0.20));
  s.software.moe_dispatcher = strategies::MoeDispatcher::all_to_all;
  CHECK(time_with(s, std::nullopt) == time_with(s, 0.24));
  CHECK(time_with(s, std::nullopt) > time_with(s, 0));
}

TEST_CASE("a group with one rank on each node holds two processors for its NIC") {
  auto s = on_one_node({.tensor = 8, .data = 4, .zero = 1});
  s.cluster.gpus = 32;
  const double derived = time_with(s, std::nullopt);
  CHECK(derived == time_with(s, 0.02));
  CHECK(derived > time_with(s, 0));
}

TEST_CASE("a stage is slowed by the time of its own device") {
  // Seven of eight layers lie on the faster node, be it the first or the second.
  const auto lost = [](bool first) {
    auto s = on_one_node({.pipeline = 2, .data = 8, .schedule = ScheduleKind::gpipe, .zero = 3});
    s.plan.gradient_sync = strategies::GradientSync::microbatch;
    s.plan.layers_per_stage =
        first ? std::vector<std::int64_t>{7, 1} : std::vector<std::int64_t>{1, 7};
    s.cluster.gpus = 16;
    auto slow = s.cluster.node;
    for (auto& peak : slow.device.peak) peak = 0.2 * peak;
    s.cluster.others = {{.node = first ? slow : s.cluster.node, .nodes = 1}};
    if (!first) s.cluster.node = slow;
    return time_with(s, 1.0) - time_with(s, 0);
  };
  CHECK(lost(false) == Approx(lost(true)).epsilon(0.1));
}

TEST_CASE("nodes of two kinds take the same step whichever kind is named first") {
  const auto time = [](bool slow_first, int zero) {
    auto s = on_one_node({.tensor = 2, .data = 8, .zero = zero});
    s.cluster.gpus = 16;
    auto slow = s.cluster.node;
    for (auto& peak : slow.device.peak) peak = 0.3 * peak;
    s.cluster.others = {{.node = slow_first ? s.cluster.node : slow, .nodes = 1}};
    if (slow_first) s.cluster.node = slow;
    return time_with(s, 1.0);
  };
  for (const int zero : {1, 3}) CHECK(time(true, zero) == time(false, zero));
}

}  // namespace forecast_interference_spec
