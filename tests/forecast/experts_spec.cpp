// SPDX-License-Identifier: Apache-2.0
// Steps of models whose layers have experts, latent attention or prediction modules.
#include <algorithm>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"
#include "units/text.hpp"

namespace experts_spec {

using forecast::simulate;

namespace {

// A scenario of four layers, every `every`-th of which has 8 experts.
forecast::Scenario mixture(const strategies::Plan& plan, int every = 1) {
  auto s = tests::small_llama(plan);
  s.model.layers = 4;
  s.model.ffn = 2048;
  s.model.vocab = 1024;
  s.model.max_sequence = s.training.sequence_length = 2048;
  s.model.moe = model::Moe{.experts = 8, .top_k = 2, .expert_ffn = 1024, .every = every};
  return s;
}

}  // namespace

TEST_CASE("a step counts the flops of the experts that each token meets") {
  const auto s = mixture({.data = 2});
  // Each layer has four weights of attention, the router, and three of two experts; the LM head
  // comes once.
  const double h = 512, weights = 4 * (4 * h * h + 8 * h + 2 * 3 * h * 1024) + 1024 * h;
  const double attention = 4 * (2.0 * 2048 * 2048 * 2 * h);
  CHECK(simulate(s).step.model_flops.value == 3 * 8 * (2 * 2048 * weights + attention));
}

TEST_CASE("where some layers are dense, the layer shown has experts") {
  auto s = mixture({}, 2);
  const auto some = simulate(s).layer;
  s.model.moe->every = 1;
  const auto all = simulate(s).layer;
  CHECK(some.mlp_forward == all.mlp_forward);
  CHECK(some.mlp_backward == all.mlp_backward);
  CHECK(some.kept == all.kept);
  const auto layer = model::layer(s.model, model::whole(s.model, 1, 2048), s.software.kernels,
                                  s.training.precision, 0, model::Mlp::experts);
  CHECK(all.kept == model::kept_bytes(layer));
}

TEST_CASE("experts that are divided exchange tokens, in a place of their own") {
  for (const std::int64_t tensor : {1, 2}) {
    const auto f = simulate(mixture({.tensor = tensor, .sequence_parallel = tensor > 1}));
    CHECK((f.time[forecast::StepPart::expert_comm].value > 0) == (tensor > 1));
    CHECK(std::ranges::count(f.critical_path, forecast::StepPart::expert_comm,
                             &forecast::PartTime::part) == (tensor > 1 ? 1 : 0));
  }
}

TEST_CASE(
    "expert-parallel groups that lie across nodes are warned of, with nodes that keep them whole") {
  auto s = mixture({.data = 12, .expert = 4});
  s.training.global_batch = 12;
  s.cluster = tests::cluster_of(12, 6, 6);  // GPUs 4 and 5 share a group with 6 and 7
  CHECK(simulate(s).warnings ==
        std::vector<std::string>{
            "expert-parallel groups of 4 GPUs lie across nodes of 6, and send tokens over the "
            "fabric; use 4 of each: gpus: 4 in cluster.node"});
  s.cluster.node.tray = 2;
  CHECK(simulate(s).warnings ==
        std::vector<std::string>{
            "expert-parallel groups of 4 GPUs lie across racks of 6, and send tokens over the "
            "fabric; use 4 of each: cluster.trays: 6 and cluster.racks: 3, without "
            "cluster.gpus"});
  s.plan.expert = 2;  // three groups to a node
  CHECK(simulate(s).warnings.empty());
}

TEST_CASE(
    "expert-parallel groups larger than a rack are warned of, with what their exchanges cost") {
  auto s = mixture({.data = 8, .expert = 8});
  s.training.global_batch = 8;
  s.cluster = tests::cluster_of(8, 4, 4);
  CHECK(simulate(s).warnings.empty());  // nodes of a cluster without racks
  s.cluster.node.tray = 2;
  const auto f = simulate(s);
  REQUIRE(f.warnings.size() == 1);
  const auto waits = f.time[forecast::StepPart::expert_comm];
  REQUIRE(waits.value > 0);
  CHECK(f.warnings.front() ==
        "expert-parallel groups of 8 GPUs span at least 2 racks of 4, and send tokens over the "
        "fabric: " +
            units::short_text(waits) + " of a step of " + units::short_text(f.step.time) +
            " are exposed exchanges of experts; lower plan.expert, so that a group lies in a rack");
  s.plan.expert = 4;
  CHECK(simulate(s).warnings.empty());
}

TEST_CASE("a rank holds all experts, or its part of each") {
  const auto whole = simulate(mixture({})).memory.stages.front();
  const auto half = simulate(mixture({.tensor = 2, .sequence_parallel = true})).memory.stages[0];
  const auto s = mixture({});
  const double bytes = s.software.weight_bytes, h = 512;
  CHECK(whole.weights.value == bytes * static_cast<double>(model::parameters(s.model)));
  // Both ranks hold whole norms and routers.
  const double both = 4 * (2 * h + 8 * h) + h;
  CHECK(half.weights.value == (whole.weights.value + bytes * both) / 2);
}

TEST_CASE("a host that must know the counts of tokens falls behind the device") {
  auto s = mixture({});
  s.model.moe->capacity_factor = 1;
  const auto capped = simulate(s);
  s.model.moe->capacity_factor.reset();
  CHECK(simulate(s).step.time > capped.step.time);
}

TEST_CASE("the fullest rank holds up the step, unless its surplus is dropped") {
  auto s = mixture({.data = 2, .expert = 2});
  const auto even = simulate(s);
  s.model.moe->imbalance = 2;
  const auto uneven = simulate(s);
  CHECK(uneven.step.time > even.step.time);
  CHECK(uneven.layer.kept > even.layer.kept);
  CHECK(uneven.step.model_flops == even.step.model_flops);
  s.model.moe->capacity_factor = 1;
  CHECK(simulate(s).layer.kept == even.layer.kept);
}

TEST_CASE("copies of tokens that experts drop count in no flops, and many of them are warned of") {
  auto s = mixture({});
  const auto all = simulate(s);
  s.model.moe->capacity_factor = 0.25;
  s.plan.recompute.kind = strategies::Recompute::Kind::full;
  const auto f = simulate(s);
  CHECK(f.step.dropped == 0.75);
  const auto routed =
      model::routed_flops(s.model, static_cast<double>(s.training.global_batch), 2048);
  CHECK(f.step.model_flops.value ==
        Approx(all.step.model_flops.value - 0.75 * routed.value).epsilon(1e-12));
  // A step's forward pass is a third of the routed flops, and it runs again.
  s.model.moe->capacity_factor = 1;
  const auto kept = simulate(s);
  CHECK(kept.step.dropped == 0);
  const auto again = [](const forecast::Step& step) {
    return (step.hfu / step.mfu - 1) * step.model_flops.value;
  };
  CHECK(again(kept.step) - again(f.step) == Approx(0.75 * routed.value / 3).epsilon(1e-9));
  REQUIRE(std::ranges::count_if(f.warnings, [](const std::string& warning) {
            return warning.starts_with("experts have no room for 75 % of the copies of tokens");
          }) == 1);
  s.model.moe->capacity_factor = 0.96;
  CHECK(std::ranges::none_of(simulate(s).warnings, [](const std::string& warning) {
    return warning.starts_with("experts have no room");
  }));
}

TEST_CASE("full recomputation executes every layer once more, prediction modules too") {
  auto s = mixture({}, 2);
  s.model.multi_token_prediction = 2;
  s.plan.recompute.kind = strategies::Recompute::Kind::full;
  const auto f = simulate(s);
  units::Flops layers;
  for (const std::int64_t layer : {0, 1, 2, 3, 4, 4})
    layers += model::layer_flops(s.model, 2048, layer);
  CHECK(f.step.hfu / f.step.mfu == Approx(1 + 4 * layers.value / f.step.model_flops.value));
  s.plan.recompute.kind = strategies::Recompute::Kind::selective;
  const double cores = 6 * 2.0 * 2048 * 2048 * 2 * 512;
  const auto g = simulate(s);
  CHECK(g.step.hfu / g.step.mfu == Approx(1 + 4 * cores / g.step.model_flops.value));
}

TEST_CASE("a prediction module is work of the last stage") {
  auto s = mixture({.pipeline = 2});
  const auto without = simulate(s);
  s.model.multi_token_prediction = 1;
  const auto with = simulate(s);
  CHECK(with.pipeline.stages[0].forward == without.pipeline.stages[0].forward);
  CHECK(with.pipeline.stages[1].forward > without.pipeline.stages[1].forward);
  CHECK(with.memory.stages[0].weights == without.memory.stages[0].weights);
  const auto more = model::prediction_parameters(s.model) + 1024 * 512;  // and a copied embedding
  CHECK(with.memory.stages[1].weights.value ==
        without.memory.stages[1].weights.value +
            s.software.weight_bytes * static_cast<double>(more));
}

}  // namespace experts_spec
