// SPDX-License-Identifier: Apache-2.0
// Layers with experts. T is the number of rows, k that of experts per token, E that of experts, R
// that of the rank's token copies, h the hidden width, f the width of an expert.
#include <set>
#include <stdexcept>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace experts_spec {

using namespace model;
using namespace small_models;

TEST_CASE("a mixture's layer has a router of hE and E experts of 3hf; k of them are active") {
  const auto dense = llama(), sparse = mixture(8, 2, 32);
  const std::int64_t h = 64, router = h * 8, expert = 3 * h * 32;
  const auto rest = parameters(dense) - 3 * 3 * h * dense.ffn;  // all but the MLPs of three layers
  CHECK(parameters(sparse) == rest + 3 * (router + 8 * expert));
  CHECK(active_parameters(sparse) == rest + 3 * (router + 2 * expert));
  CHECK(active_parameters(dense) == parameters(dense));
}

TEST_CASE("shared experts, gates and biases are counted") {
  auto t = mixture(8, 2, 32);
  const auto plain = parameters(t);
  t.moe->shared_experts = 2;
  t.moe->shared_ffn = 10;
  CHECK(parameters(t) == plain + 3 * (3 * 64 * 20));
  t.moe->shared_gate = true;
  CHECK(parameters(t) == plain + 3 * (3 * 64 * 20 + 64));
  t.moe->router_bias = true;
  CHECK(parameters(t) == plain + 3 * (3 * 64 * 20 + 64 + 8));
  t.moe->expert_biases = true;
  CHECK(parameters(t) == plain + 3 * (3 * 64 * 20 + 64 + 8 + 8 * (2 * 32 + 64)));
}

TEST_CASE("the first layers are dense, and then the first of every so many has experts") {
  auto t = mixture(8, 2, 32);
  t.layers = 8;
  t.moe->first_dense_layers = 3;
  t.moe->every = 2;
  std::vector<std::int64_t> found;
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    if (is_moe_layer(t, layer)) found.push_back(layer);
  CHECK(found == std::vector<std::int64_t>{3, 5, 7});
  CHECK_FALSE(is_moe_layer(llama(), 0));
}

TEST_CASE("operators hold the parameters of the whole model and of its prediction modules") {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const auto t = random_model(random);
    const auto extent = whole(t, 1, 8);
    double sum =
        parameters(embedding(t, extent, flash, bf16)) + parameters(head(t, extent, flash, bf16));
    for (std::int64_t layer = 0; layer < t.layers; ++layer)
      sum += parameters(layer_of(t, extent, i % 2 == 0 ? flash : unfused, layer));
    CHECK(sum == static_cast<double>(parameters(t)));
    CHECK(t.multi_token_prediction * parameters(prediction(t, extent, flash, bf16)) ==
          static_cast<double>(prediction_parameters(t)));
  }
}

TEST_CASE("products that are executed once forward and twice backward are the model flops") {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    auto t = random_model(random);
    t.window.reset();  // unfused attention computes the whole square
    const auto extent = whole(t, 2, 8);
    Operators all = head(t, extent, unfused, bf16);
    for (std::int64_t layer = 0; layer < t.layers; ++layer)
      for (auto& op : layer_of(t, extent, unfused, layer)) all.push_back(op);
    for (int module = 0; module < t.multi_token_prediction; ++module)
      for (auto& op : prediction(t, extent, unfused, bf16)) all.push_back(op);
    double forward = 0, backward = 0;
    for (const auto& op : all) {
      forward += product_flops(op.forward);
      backward += product_flops(op.input_gradient) + product_flops(op.weight_gradient);
    }
    CHECK(3 * forward == model_flops(t, 2, 8).value);
    CHECK(backward == 2 * forward);
  }
}

TEST_CASE("model flops of a mixture count the router, top_k experts and all shared ones") {
  auto t = mixture(8, 2, 32);
  t.layers = 1;
  t.vocab = 0;
  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 16;
  const double s = 32, h = 64;
  const double projections = 2 * s * 4 * h * h, scores = 4 * s * s * h;
  const double router = 2 * s * h * 8, experts = 2 * s * 3 * h * (2 * 32 + 16);
  CHECK(layer_flops(t, 32, 0).value == projections + scores + router + experts);
  CHECK(model_flops(t, 5, 32).value == 15 * (projections + scores + router + experts));
  CHECK(routed_flops(t, 5, 32).value == 15 * (2 * s * 3 * h * 2 * 32));
}

TEST_CASE("a prediction module counts its projection of 2h to h, its layer and its head") {
  auto t = llama();
  const auto without = model_flops(t, 1, 32).value;
  t.multi_token_prediction = 1;
  const double s = 32, h = 64;
  const double module = 4 * s * h * h + layer_flops(t, 32, 0).value + 2 * s * h * 100;
  CHECK(model_flops(t, 1, 32).value == without + 3 * module);
}

TEST_CASE("one expert that every token sees computes as much as a dense layer of its width") {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    auto t = mixture(1, 1, 1 + static_cast<std::int64_t>(random() % 300));
    t.ffn = t.moe->expert_ffn;
    const auto extent = whole(t, 1, 24);
    const auto dense = model::layer(t, extent, flash, bf16), sparse = experts_of(t, extent);
    const std::pair<const char*, const char*> pairs[]{
        {"MLP up projection", "expert up projection"},
        {"MLP down projection", "expert down projection"}};
    for (const auto& [one, other] : pairs) {
      CHECK(named(dense, one).forward == named(sparse, other).forward);
      CHECK(named(dense, one).input_gradient == named(sparse, other).input_gradient);
      CHECK(named(dense, one).weight_gradient == named(sparse, other).weight_gradient);
      CHECK(named(dense, one).parameters == named(sparse, other).parameters);
    }
  }
}

TEST_CASE("2·T·k·h bytes are made to be dispatched, of the rows that a rank has") {
  const auto t = mixture(8, 2, 32);
  auto extent = whole(t, 2, 16);
  const auto check = [&](double rows) {
    const auto ops = experts_of(t, extent);
    CHECK(named(ops, "permute").seam == Seam::dispatch);
    CHECK(named(ops, "expert down projection").seam == Seam::combine);
    CHECK(named(ops, "permute").largest.value == 2 * rows * 2 * 64);
  };
  check(32);
  extent.rows = 8;  // sequence parallelism leaves a quarter of the rows
  check(8);
}

TEST_CASE("experts keep 2Rh of dispatched tokens and 6Rf of middles; the router keeps 5TE") {
  auto t = mixture(8, 2, 32);
  auto extent = whole(t, 1, 16);
  extent.routed = 40;  // 32 copies, and the imbalance of the worst rank
  const auto ops = experts_of(t, extent);
  const double T = 16, h = 64, E = 8, k = 2, R = 40, f = 32;
  const double attention = 2 * T * (6 * h) + 4 * T * 4;  // norm and QKV inputs, q, k, v, o; flash
  CHECK(kept(ops) == attention + 4 * T * h + 5 * T * E + 8 * T * k + 2 * R * h + 6 * R * f + 4 * R);
  CHECK(kept(ops) - kept(ops, Module::moe_act) == 2 * R * f);
  CHECK(kept(ops) - kept(ops, Module::moe) ==
        5 * T * E + 8 * T * k + 2 * R * h + 6 * R * f + 4 * R);
  CHECK(kept(ops) - kept(ops, Module::layernorm) == 4 * T * h);
  CHECK(kept(ops) - kept(ops, Module::core_attn) == 4 * T * 4);
  CHECK(kept(ops) - kept(ops, Module::shared_experts) == 0);

  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 24;
  auto shared = whole(t, 1, 16);
  shared.routed = 40;
  const auto more = experts_of(t, shared);
  CHECK(kept(more) - kept(ops) == 6 * T * 24);
  CHECK(kept(more) - kept(more, Module::shared_experts) == 6 * T * 24);
  CHECK(kept(more, Module::moe) == kept(ops, Module::moe));
}

TEST_CASE("recomputing the MLP drops its middles, and nothing else does") {
  const auto t = llama();
  const auto ops = model::layer(t, whole(t, 1, 16), flash, bf16);
  CHECK(kept(ops) - kept(ops, Module::mlp) == 6 * 16.0 * static_cast<double>(t.ffn));
  CHECK(kept(ops, Module::moe) == kept(ops));
  CHECK(kept(ops, Module::mla_up_proj) == kept(ops));
}

TEST_CASE("expert-parallel ranks divide the experts and each hold the router") {
  const auto t = mixture(8, 2, 32);
  const auto all = whole(t, 1, 16);
  auto quarter = all;
  quarter.experts /= 4;
  const auto ops = experts_of(t, quarter);
  const auto expert_parameters = [](const Operators& operators) {
    double sum = 0;
    for (const auto& op : operators) sum += op.expert ? op.parameters : 0;
    return sum;
  };
  CHECK(expert_parameters(experts_of(t, all)) == 8 * 3 * 64 * 32);
  CHECK(expert_parameters(ops) == 2 * 3 * 64 * 32);
  CHECK(parameters(ops) - expert_parameters(ops) ==
        parameters(experts_of(t, all)) - expert_parameters(experts_of(t, all)));
  CHECK(named(ops, "router").parameters == 64 * 8);
}

TEST_CASE("an expert product has each expert's share of rows and the flops of the rows there") {
  const auto t = mixture(8, 2, 32);
  auto extent = whole(t, 1, 16);
  extent.experts = 3;
  extent.routed = 32;
  const auto kernel = named(experts_of(t, extent), "expert down projection").forward.front();
  CHECK(kernel.batch == 3);
  CHECK(kernel.m == 11);  // 32 / 3, rounded up
  CHECK(kernel.n == 64);
  CHECK(kernel.k == 32);
  CHECK(kernel.flops.value == 2.0 * 32 * 64 * 32);
  CHECK(kernel.traffic.value == 2.0 * (32 * 32 + 3 * 32 * 64 + 32 * 64));
}

TEST_CASE("copies are sorted by expert where a rank holds some of several experts") {
  const auto t = mixture(8, 2, 32);
  auto extent = whole(t, 1, 16);
  const auto passes = [&](std::int64_t here) {
    extent.experts = here;
    return named(experts_of(t, extent), "expert up projection").forward.size();
  };
  CHECK(passes(8) == 1);  // copies are in order
  CHECK(passes(2) == 2);
  CHECK(passes(1) == 1);
}

TEST_CASE("the router's product stays in 16 bit under fp8, as its scores decide") {
  const auto t = mixture(8, 2, 32);
  const auto precision_under = [&](units::Precision precision) {
    const auto ops = model::layer(t, whole(t, 1, 16), flash, precision, 0, Mlp::experts);
    return named(ops, "router").forward.front().precision;
  };
  CHECK(precision_under(units::Precision::fp8) == units::Precision::bf16);
  CHECK(precision_under(units::Precision::fp16) == units::Precision::fp16);
}

TEST_CASE("each role is one operator's, in a layer with experts or in the head") {
  const auto t = mixture(8, 2, 32);
  const auto extent = whole(t, 1, 16);
  std::multiset<Role> roles;
  for (const auto& ops : {model::layer(t, extent, flash, units::Precision::bf16, 0, Mlp::experts),
                          model::head(t, extent, flash, units::Precision::bf16)})
    for (const auto& op : ops) roles.insert(op.role);
  for (const auto role :
       {Role::mlp_norm, Role::router, Role::permute, Role::lm_head, Role::cross_entropy})
    CHECK(roles.count(role) == 1);
}

TEST_CASE("where rows travel, the layer makes no copies of tokens and sums none") {
  const auto t = mixture(8, 2, 32);
  auto kernels = flash;
  const auto bytes = [&](bool copies, std::string_view name) {
    kernels.copies_tokens = copies;
    const auto ops =
        model::layer(t, whole(t, 1, 16), kernels, units::Precision::bf16, 0, Mlp::experts);
    double sum = 0;
    for (const auto* pass : {&named(ops, name).forward, &named(ops, name).input_gradient})
      for (const auto& kernel : *pass) sum += kernel.traffic.value;
    return sum;
  };
  const double row = 16 * 2 * 64, copies = 2 * row, map = 16 * 8;  // 16 tokens with 2 copies each
  const double counts = 10 * 8 * 8;  // ten kernels over counts of 8 experts
  CHECK(bytes(true, "permute") == 2 * map + 2 * copies + copies + row + counts);
  CHECK(bytes(false, "permute") == 2 * map);
  CHECK(bytes(true, "unpermute") == 2 * (copies + row));
  CHECK(bytes(false, "unpermute") == 0);
}

TEST_CASE("experts' copies by one-hot products take a row of the matrix for each token") {
  auto t = mixture(8, 2, 32);
  t.moe->capacity_factor = 1.5;
  auto kernels = flash;
  kernels.einsum_dispatch = true;
  const auto ops =
      model::layer(t, whole(t, 1, 16), kernels, units::Precision::bf16, 0, Mlp::experts);
  const auto flops = [&](std::string_view name) {
    double sum = 0;
    for (const auto* pass : {&named(ops, name).forward, &named(ops, name).input_gradient})
      for (const auto& kernel : *pass) sum += kernel.flops.value;
    return sum;
  };
  // 16 tokens by 2 · 16 · 1.5 rows of capacity, 64 wide: one product each way to dispatch, and one
  // forward and two backward to combine.
  const double product = 2. * 16 * 48 * 64;
  CHECK(flops("permute") == 2 * product);
  CHECK(flops("unpermute") == 3 * product);
  // Forward, in fp32 written, made a mask of bytes, and that a matrix in 16 bit: 4, 4 + 1, 1 + 2.
  // Two maps of 16 by 8 come before them, and the product reads and writes 2 bytes a value.
  double moved = 0;
  for (const auto& kernel : named(ops, "permute").forward) moved += kernel.traffic.value;
  CHECK(moved == 2 * 16 * 8 + (4 + 5 + 3) * 16. * 48 + 2. * (48 * 16 + 16 * 64 + 48 * 64));
}

TEST_CASE("sizes that no model has are counted without overflow") {
  constexpr std::int64_t wide = 16'777'216;
  auto t = mixture(65'536, 256, wide);
  t.hidden = wide;
  t.layers = 10'000;
  CHECK(parameters(t) == 9'000'000'000'000'000'000);
  CHECK(model_flops(t, 1, 1).value > 6 * 10'000.0 * 256 * 3 * wide * wide);
}

TEST_CASE("a dense model has no layer with experts") {
  CHECK_THROWS_AS(experts_of(llama(), whole(llama(), 1, 16)), std::invalid_argument);
}

}  // namespace experts_spec
