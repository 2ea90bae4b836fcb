// SPDX-License-Identifier: Apache-2.0
// The linear layers that stay in 16 bit where others compute in 8 or 4.
#include <vector>

#include "plans/precision.hpp"
#include "tests/catch.hpp"

namespace precision_spec {

using namespace strategies;
using units::Precision;

namespace {

std::vector<std::int64_t> wide_layers(const InBf16& in_bf16, std::int64_t layers) {
  std::vector<std::int64_t> wide;
  for (std::int64_t i = 0; i < layers; ++i)
    if (is_wide_layer(in_bf16, layers, i)) wide.push_back(i);
  return wide;
}

}  // namespace

TEST_CASE("so many layers from either end stay in 16 bit, and no layer between them") {
  using Layers = std::vector<std::int64_t>;
  CHECK(wide_layers({}, 8).empty());
  CHECK(wide_layers({.first_layers = 1}, 8) == Layers{0});
  CHECK(wide_layers({.last_layers = 2}, 8) == Layers{6, 7});
  CHECK(wide_layers({.first_layers = 3, .last_layers = 1}, 8) == Layers{0, 1, 2, 7});
  CHECK(wide_layers({.first_layers = 2, .last_layers = 3}, 4) == Layers{0, 1, 2, 3});  // they meet
}

TEST_CASE("products of wide layers are in 16 bit, those of others in the training's precision") {
  using enum Precision;
  struct Case {
    Precision training, wide;
  };
  for (const auto& [training, wide] : {Case{fp8, bf16}, Case{mxfp8, bf16}, Case{nvfp4, bf16},
                                       Case{bf16, bf16}, Case{fp16, fp16}, Case{fp32, fp32}}) {
    const Training of{.precision = training};
    INFO(static_cast<int>(training));
    CHECK(layer_precision(of, false) == training);
    CHECK(layer_precision(of, true) == wide);
  }
}

TEST_CASE("experts stay in 16 bit beside narrow layers where a training says so") {
  Training training{.precision = Precision::fp8};
  CHECK(expert_precision(training, false) == Precision::fp8);
  CHECK(expert_precision(training, true) == Precision::bf16);
  training.in_bf16.parts = {model::LinearPart::experts};
  CHECK(expert_precision(training, false) == Precision::bf16);
  CHECK(layer_precision(training, false) == Precision::fp8);
  training.in_bf16.parts = {model::LinearPart::shared_experts};  // other ones
  CHECK(expert_precision(training, false) == Precision::fp8);
}

TEST_CASE("each part and each gradient that stays in 16 bit is one kind of wide products") {
  using model::LinearGradient;
  using model::LinearPart;
  using model::WideProducts;
  struct Case {
    InBf16 in_bf16;
    WideProducts wide;
  };
  const std::vector<Case> cases{
      {{}, {}},
      {{.parts = {LinearPart::attention}}, {.attention = true}},
      {{.parts = {LinearPart::mlp}}, {.mlp = true}},
      {{.parts = {LinearPart::experts}}, {.experts = true}},
      {{.parts = {LinearPart::shared_experts}}, {.shared_experts = true}},
      {{.gradients = {LinearGradient::inputs}}, {.input_gradients = true}},
      {{.gradients = {LinearGradient::weights}}, {.weight_gradients = true}},
      {{.first_layers = 2, .last_layers = 2}, {}},  // whole layers are no parts
      {{.parts = {LinearPart::mlp, LinearPart::attention}}, {.attention = true, .mlp = true}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    CHECK(wide_products(cases[i].in_bf16) == cases[i].wide);
  }
}

// The forward pass reads rows of a weight, the gradient of the input columns.
TEST_CASE("a weight has no copy for a gradient of inputs that reads the 16-bit one") {
  CHECK(weight_copies({}).count() == 2);
  CHECK(weight_copies({.gradients = {model::LinearGradient::weights}}).count() == 2);
  CHECK(weight_copies({.gradients = {model::LinearGradient::inputs}}).count() == 1);
  CHECK_FALSE(weight_copies({.gradients = {model::LinearGradient::inputs}}).columns);
}

}  // namespace precision_spec
