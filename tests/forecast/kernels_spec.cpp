// SPDX-License-Identifier: Apache-2.0
// Steps of an 8-billion-parameter model on 64 GPUs: very long sequences, graphs, loaders.
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace kernels_spec {

using forecast::simulate;
using strategies::ContextMethod;

namespace {

forecast::Scenario llama(std::int64_t sequence, std::int64_t context, ContextMethod method) {
  auto s = tests::small_llama({.data = 64 / context, .context = context, .context_method = method});
  s.model = small_models::llama(4096, 32);
  s.model.layers = 32;
  s.model.kv_heads = 8;
  s.model.ffn = 14336;
  s.model.vocab = 128256;
  s.model.max_sequence = 8192;
  s.plan.recompute.kind = strategies::Recompute::Kind::full;
  s.training = {.sequence_length = sequence, .global_batch = 64 / context};
  return s;
}

constexpr std::int64_t million = 1 << 20;

}  // namespace

TEST_CASE("a million tokens on 32 or 64 ranks: attention is nearly all of the step") {
  const auto method =
      GENERATE(ContextMethod::ring, ContextMethod::ulysses, ContextMethod::all_gather);
  const std::int64_t context = GENERATE(32, 64);
  if (method == ContextMethod::ulysses && context == 64) return;  // has 32 heads only
  const auto f = simulate(llama(million, context, method));
  CHECK(f.step.time.value > 1);
  CHECK(f.step.mfu > 0.1);
  CHECK(f.step.mfu < 1);
}

TEST_CASE("round a ring communication hides where every rank has many tokens, else it does not") {
  const auto exposed = [](std::int64_t sequence) {
    auto s = llama(sequence, 32, ContextMethod::ring);
    s.model.kv_heads = s.model.heads;
    s.software.launch_forward = s.software.launch_backward = {};
    const auto f = simulate(s);
    return f.time[forecast::StepPart::context_comm] / f.step.time;
  };
  CHECK(exposed(million) < 0.001);
  CHECK(exposed(million / 64) > 0.03);
}

TEST_CASE("a window of attention is respected at any length") {
  auto s = llama(million, 32, ContextMethod::ulysses);
  const auto all = simulate(s);
  s.model.window = model::Window{4096, 1};
  const auto window = simulate(s);
  CHECK(window.step.model_flops < 0.1 * all.step.model_flops);
  CHECK(window.step.time < 0.2 * all.step.time);
}

TEST_CASE("a loader that is too slow shows in `other`, and nowhere else") {
  auto s = llama(8192, 1, ContextMethod::ring);
  s.plan.data = 64;
  s.training.global_batch = 4 * 64;
  const auto without = simulate(s);
  s.software.data_loader = {.samples_per_second = 4 / (2 * without.step.time.value)};
  const auto with = simulate(s);
  CHECK(with.step.time.value == Approx(2 * without.step.time.value).epsilon(0.02));
  CHECK(with.time[forecast::StepPart::compute] == without.time[forecast::StepPart::compute]);
  CHECK((with.time[forecast::StepPart::other] - without.time[forecast::StepPart::other]).value ==
        Approx((with.step.time - without.step.time).value).epsilon(0.02));
  s.software.data_loader->samples_per_second = 1e6;
  CHECK(simulate(s).step.time.value == Approx(without.step.time.value).epsilon(1e-3));
}

TEST_CASE("graphs free a step from a slow host") {
  auto s = llama(128, 1, ContextMethod::ring);
  s.plan.data = 1;
  s.cluster = tests::cluster_of(1, 1, 1);
  s.training.global_batch = 64;
  s.software.launch_forward = s.software.launch_backward = units::Seconds{1e-3};
  const auto slow = simulate(s);
  s.software.cuda_graphs = true;
  CHECK(simulate(s).step.time < 0.5 * slow.step.time);
}

}  // namespace kernels_spec
