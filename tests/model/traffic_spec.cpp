// SPDX-License-Identifier: Apache-2.0
// The bytes that element-wise kernels, look-ups and fused attention move, by pencil: 2 bytes a
// value, 3 sequences of 10 tokens (30 tokens), of which this rank's norms and residuals see 15
// rows; hidden 64; 4 heads of 16, 2 of them keys and values; MLP 192 wide. A stream reads its
// operands once and writes its result once.
#include <vector>

#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace traffic_spec {

using namespace model;
using namespace small_models;
using units::Precision;
using Bytes = std::vector<double>;
using Kind = units::Kernel::Kind;

namespace {

Transformer grouped_queries() {
  auto t = llama();
  t.kv_heads = 2;
  return t;
}

Extent half_rows(const Transformer& t) {
  auto extent = whole(t, 3, 10);
  extent.rows = 15;
  return extent;
}

Operators made(const Transformer& t, const Kernels& kernels = {}, std::int64_t window = 0,
               Precision precision = bf16) {
  return layer(t, half_rows(t), kernels, precision, window, t.moe ? Mlp::experts : Mlp::dense);
}

// The traffic of all kernels but products, in the order of launches.
Bytes moved(const std::vector<units::Kernel>& kernels) {
  Bytes all;
  for (const auto& kernel : kernels)
    if (kernel.kind != Kind::product) all.push_back(kernel.traffic.value);
  return all;
}

double size_of(const Operator& op, std::string_view name) {
  for (const auto& kept : op.kept)
    if (kept.name == name) return kept.size.value;
  throw std::out_of_range("no tensor " + std::string(name));
}

int count(const Operators& operators, std::string_view name) {
  int n = 0;
  for (const auto& op : operators) n += op.name == name ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("fused attention moves Q, K, V and O forward, and 3 Q, 2 O, 2 K and 2 V backward") {
  // Queries and output have 30 · 64 values, keys and values 30 · 32.
  const auto core = named(made(grouped_queries()), "attention");
  CHECK(moved(core.forward) == Bytes{2 * (1920 + 1920 + 960 + 960)});
  CHECK(moved(core.input_gradient) == Bytes{2 * (3 * 1920 + 2 * 1920 + 2 * 960 + 2 * 960)});
  CHECK(core.largest.value == 4 * 1920);  // the gradient of the queries in fp32
  auto latent = llama();
  make_latent(latent, 20);  // heads of 16, values of 14
  const auto other = named(made(latent), "attention");
  CHECK(moved(other.forward) == Bytes{2 * 30 * 4 * (16 + 14 + 16 + 14)});
  CHECK(moved(other.input_gradient) == Bytes{2 * 30 * 4 * (3 * 16 + 2 * 14 + 2 * 16 + 2 * 14)});
}

TEST_CASE("a window limits how many keys a query meets, but never beyond the sequence") {
  const auto reach = [](std::int64_t window) {
    return named(made(llama(), {}, window), "attention").forward.front().n;
  };
  CHECK(reach(0) == 10);
  CHECK(reach(1) == 1);
  CHECK(reach(4) == 4);
  CHECK(reach(100) == 10);
}

TEST_CASE("attention that is not causal computes the whole square of scores") {
  auto t = llama();
  t.causal = false;
  // 3 sequences of 4 heads have 10 · 10 pairs with 16 values each for the score and for the sum.
  CHECK(named(made(t), "attention").forward.front().flops.value == 2 * 12 * 100 * (16 + 16));
}

TEST_CASE(
    "unfused attention moves scores from kernel to kernel, and heads back beside each other") {
  auto t = grouped_queries();
  t.causal = false;
  t.dropout = 0.1;
  const auto ops = made(t, unfused);
  const double scores = 12 * 100;
  CHECK(moved(named(ops, "softmax").forward) == Bytes{(1 + 1) * 2 * scores});
  const auto& dropout = named(ops, "attention dropout");  // its mask takes a byte a score
  CHECK(moved(dropout.forward) == Bytes{(2 + 2 + 1) * scores});
  CHECK(moved(dropout.input_gradient) == Bytes{(2 + 2 + 1) * scores});
  const auto& values = named(ops, "sum over values");
  CHECK(moved(values.forward) == Bytes{2 * 2 * 1920});
  CHECK(moved(values.input_gradient) == Bytes{2 * 2 * (1920 + 960 + 960)});
}

TEST_CASE("queries and keys are normed and rotated, in one pass or in four") {
  auto t = grouped_queries();
  t.query_key_norm = true;
  const double rotated = 2 * 30 * (64 + 32);
  const auto ops = made(t);
  CHECK(moved(named(ops, "query and key norm").forward) == Bytes{2 * rotated});
  CHECK(moved(named(ops, "query and key norm").input_gradient) == Bytes{3 * rotated});
  const auto passes = [&](bool fused, std::size_t times) {
    const auto op = named(made(t, {.fused_rotary = fused}), "rotary embedding");
    CHECK(moved(op.forward) == Bytes(times, 2 * rotated));
    CHECK(moved(op.input_gradient) == Bytes(times, 2 * rotated));
  };
  passes(true, 1);
  passes(false, 4);
}

TEST_CASE("a norm reads and writes its rows, and backward adds the gradient of the residual") {
  const double rows = 2 * 15 * 64;
  const auto ops = made(llama());
  for (const auto& [name, input] :
       {std::pair{"attention norm", "layer input"}, {"MLP norm", "norm input"}}) {
    const auto& op = named(ops, name);
    CHECK(moved(op.forward) == Bytes{2 * rows});
    CHECK(moved(op.input_gradient) == Bytes{3 * rows, 3 * rows});
    CHECK(moved(op.weight_gradient) == Bytes{2 * rows});
    CHECK(size_of(op, input) == rows);
    CHECK(op.largest.value == rows);
  }
}

TEST_CASE("an RMS norm in steps casts values narrower than fp32, and none in fp32") {
  const auto forward = [](Precision precision) {
    return moved(
        named(made(llama(), {.fused_norm = false}, 0, precision), "attention norm").forward);
  };
  const double values = 15 * 64;
  CHECK(forward(Precision::fp32) == Bytes{8 * values, 4 * values, 8 * values, 8 * values});
  CHECK(forward(bf16) ==
        Bytes{8 * values, 4 * values, 8 * values, 4 * values, 6 * values, 6 * values});
}

TEST_CASE("bias, dropout and residual are one pass over the rows, or one each") {
  const double values = 15 * 64;
  const auto sum = [](bool drops, bool bias, bool fused) {
    auto t = llama();
    t.dropout = drops ? 0.1 : 0;
    t.output_bias = bias;
    return named(made(t, {.fused_bias_dropout_add = fused}), "attention residual");
  };
  CHECK(moved(sum(true, true, true).forward) == Bytes{(3 * 2 + 1) * values});
  CHECK(moved(sum(true, true, true).input_gradient) == Bytes{(2 * 2 + 1) * values});
  CHECK(size_of(sum(true, true, true), "dropout mask") == values);
  CHECK(sum(true, true, true).largest.value == 2 * values);
  CHECK(moved(sum(false, false, true).forward) == Bytes{3 * 2 * values});
  CHECK(sum(false, false, true).input_gradient.empty());
  CHECK(moved(sum(false, false, false).forward) == Bytes{3 * 2 * values});
  CHECK(moved(sum(false, true, false).forward) == Bytes{2 * 2 * values, 3 * 2 * values});
  CHECK(moved(sum(true, false, false).forward) == Bytes{(2 * 2 + 1) * values, 3 * 2 * values});
  CHECK(moved(sum(true, true, false).forward) ==
        Bytes{2 * 2 * values, (2 * 2 + 1) * values, 3 * 2 * values});
}

TEST_CASE("projections say which share of their output each of the joined ones makes") {
  const auto ops = made(grouped_queries());
  CHECK(named(ops, "QKV projection").products == Bytes{0.5, 0.25, 0.25});
  CHECK(named(ops, "MLP up projection").products == Bytes{0.5, 0.5});
  CHECK(named(ops, "MLP up projection").largest.value == 2 * 30 * 2 * 192);
}

TEST_CASE("latent attention has norms of its compressed tensors, and rotates part of every head") {
  auto t = llama();
  make_latent(t, 20);  // keys and values of rank 12; heads of 10 + 6, values of 14
  const auto ops = made(t);
  for (const auto& [name, width] :
       {std::pair{"compressed query norm", 20.0}, {"compressed key and value norm", 12.0}}) {
    const double bytes = 2 * 15 * width;
    CHECK(moved(named(ops, name).forward) == Bytes{2 * bytes});
    CHECK(moved(named(ops, name).input_gradient) == Bytes{3 * bytes});
    CHECK(moved(named(ops, name).weight_gradient) == Bytes{2 * bytes});
  }
  // Each head has 6 values that are read and written, and 10 + 6 that are read or made of the keys.
  const double rotated = 2 * 30 * 4 * (2 * 6 + 10 + 16);
  CHECK(moved(named(ops, "rotary embedding").forward) == Bytes{rotated});
  CHECK(moved(named(made(t, {.fused_rotary = false}), "rotary embedding").input_gradient) ==
        Bytes(4, rotated));
  for (const auto& kept : named(ops, "query up projection").kept)
    CHECK(kept.value_bytes == (kept.name == "queries" ? 0 : 2));
}

TEST_CASE("queries of rank 1 are projected down, those of rank 0 are not") {
  for (const std::int64_t rank : {0, 1}) {
    auto t = llama();
    make_latent(t, rank);
    CHECK(count(made(t), "query down projection") == (rank == 0 ? 0 : 1));
    CHECK(count(made(t), "query up projection") == (rank == 0 ? 0 : 1));
    // The projection is down and up with its norm, 64 → 1 → 64 and 1, or at once, 64 → 64.
    auto other = t;
    other.latent->q_lora_rank = 2;
    CHECK(parameters(other) - parameters(t) ==
          3 * (2 * (64 + 64 + 1) - (rank == 0 ? 64 * 64 : 64 + 64 + 1)));
  }
}

TEST_CASE("in 8 bit a projection of this rank's rows casts these, and the gradient of its output") {
  auto t = llama();
  make_latent(t, 20);
  const auto op = named(made(t, {}, 0, Precision::fp8), "query down projection");
  CHECK(op.forward.front().traffic.value == (2 + 2 * 1) * 15 * 64);  // reads 2 bytes, writes 1 + 1
  CHECK(op.input_gradient.front().traffic.value == (2 + 2 * 1) * 15 * 20);
  CHECK(op.largest.value == 2 * 15 * 20);
}

TEST_CASE("every further norm of a layer stands behind its MLP") {
  auto t = llama();
  for (const int norms : {2, 3, 4}) {
    t.norms_per_layer = norms;
    CHECK(count(made(t), "output norm") == norms - 2);
  }
}

TEST_CASE("where attention and MLP share one norm, the MLP has none of its own") {
  auto t = llama();
  const auto norms = [&](bool parallel, int per_layer) {
    t.parallel_block = parallel;
    t.norms_per_layer = per_layer;
    return count(made(t), "MLP norm");
  };
  CHECK(norms(true, 1) == 0);
  CHECK(norms(true, 2) == 1);
  CHECK(norms(false, 1) == 1);
}

TEST_CASE(
    "embeddings are looked up by index, added to positions, and dropped on this rank's rows") {
  auto t = llama();
  t.position = Position::learned;
  t.dropout = 0.1;
  const auto extent = half_rows(t);
  const auto ops = embedding(t, extent, {}, bf16);
  const double values = 30 * 64;
  const auto& look = named(ops, "embedding look-up");
  CHECK(moved(look.forward) == Bytes{2 * 2 * values});
  CHECK(moved(look.weight_gradient) == Bytes{3 * 2 * values});
  CHECK(look.largest.value == 2 * values);
  CHECK(moved(named(ops, "position embedding").forward) == Bytes{3 * 2 * values});
  CHECK(moved(named(ops, "position embedding").weight_gradient) == Bytes{2 * 2 * values});
  const auto& dropout = named(ops, "embedding dropout");
  CHECK(moved(dropout.forward) == Bytes{(2 * 2 + 1) * 15 * 64});
  CHECK(moved(dropout.input_gradient) == Bytes{(2 * 2 + 1) * 15 * 64});
  t.dropout = 0;
  CHECK(count(embedding(t, extent, {}, bf16), "embedding dropout") == 0);
}

TEST_CASE("the head keeps this rank's rows, and the fused loss holds one copy of the logits") {
  const auto t = llama();
  const auto ops = head(t, half_rows(t), {.fused_cross_entropy = true}, bf16);
  CHECK(size_of(named(ops, "LM head"), "LM head input") == 2 * 15 * 64);
  CHECK(named(ops, "cross entropy").largest.value == 2 * 30 * 100);
}

TEST_CASE("a prediction module's layer has a window where the next layer of the model would") {
  auto t = llama();  // has layers 0, 1, 2; the module's is 3
  const auto reach = [&](int every) {
    t.window = Window{4, every};
    return named(prediction(t, half_rows(t), {}, bf16), "attention").forward.front().n;
  };
  CHECK(reach(1) == 4);
  CHECK(reach(2) == 10);
}

TEST_CASE(
    "an activation reads its input and writes its output; backward it reads the gradient too") {
  const double wide = 2 * 30 * 192;
  auto t = llama();
  const auto gated = named(made(t), "activation");
  CHECK(moved(gated.forward) == Bytes{(2 + 1) * wide});
  CHECK(moved(gated.input_gradient) == Bytes{(2 + 2 + 1) * wide});
  CHECK(gated.largest.value == 2 * wide);
  t.activation = Activation::gelu;
  const auto plain = named(made(t), "activation");
  CHECK(moved(plain.forward) == Bytes{(1 + 1) * wide});
  CHECK(moved(plain.input_gradient) == Bytes{(1 + 1 + 1) * wide});
  CHECK(plain.largest.value == wide);
}

TEST_CASE(
    "a router's scores pass through seven kernels forward and three backward, and five small "
    "ones") {
  const auto op = named(made(mixture(8, 2, 32)), "router");
  const double scores = 15 * 8, small = 8 * 8;
  CHECK(moved(op.forward) == Bytes{6 * scores, 8 * scores, 4 * scores, 4 * scores, scores, scores,
                                   4 * scores, small, small, small, small, small});
  CHECK(moved(op.input_gradient) ==
        Bytes{4 * scores, 12 * scores, 6 * scores, small, small, small, small, small});
}

TEST_CASE("copies of tokens are sorted by expert where a rank holds several experts, but not all") {
  const auto t = mixture(8, 2, 32);
  const auto sorts = [&](std::int64_t experts) {
    auto extent = half_rows(t);
    extent.experts = experts;
    extent.routed = 7;
    const auto ops = experts_of(t, extent);
    const double pass = 2 * 2 * 7 * 64;
    const auto is_sort = [&](const units::Kernel& kernel) {
      return kernel.kind == Kind::random && kernel.traffic.value == pass;
    };
    const auto &up = named(ops, "expert up projection"),
               &down = named(ops, "expert down projection");
    return std::vector<bool>{is_sort(up.forward.front()), is_sort(up.input_gradient.back()),
                             is_sort(down.forward.back()), is_sort(down.input_gradient.front())};
  };
  CHECK(sorts(1) == std::vector<bool>(4, false));
  CHECK(sorts(2) == std::vector<bool>(4, true));
  CHECK(sorts(8) == std::vector<bool>(4, false));
}

TEST_CASE("products of experts are grouped from two experts on, with one row each at least") {
  const auto t = mixture(8, 2, 32);
  const auto product = [&](std::int64_t experts) {
    auto extent = half_rows(t);
    extent.experts = experts;
    extent.routed = 3;
    return named(experts_of(t, extent), "expert up projection").forward.back();
  };
  CHECK_FALSE(product(1).grouped);
  CHECK(product(1).m == 3);
  CHECK(product(8).grouped);
  CHECK(product(8).m == 1);
  auto extent = half_rows(t);
  extent.experts = 2;
  const auto pair = named(experts_of(t, extent), "expert up projection");
  for (const auto& kernel : pair.forward)
    if (kernel.kind == Kind::product) CHECK(kernel.grouped);
}

TEST_CASE("biases of experts are added by a pass over their outputs, and summed up by another") {
  auto t = mixture(8, 2, 32);
  t.moe->expert_biases = true;
  const auto op = named(made(t), "expert up projection");  // 60 copies, two halves of 32
  CHECK(moved(op.forward) == Bytes{2 * 2 * 60 * 64});
  CHECK(moved(op.weight_gradient) == Bytes{2 * 60 * 64});
}

TEST_CASE("weighted biases are launched for each expert, joined and cast once") {
  auto t = mixture(8, 2, 32);
  t.moe->expert_biases = true;
  const auto launches = [&](std::int64_t experts) {
    auto extent = half_rows(t);
    extent.experts = experts;
    const auto ops =
        layer(t, extent, {.expert_products = ExpertProducts::one_by_one}, bf16, 0, Mlp::experts);
    std::vector<std::int64_t> all;
    for (const auto& kernel : named(ops, "expert down projection").forward)
      if (kernel.kind == Kind::stream) all.push_back(kernel.launches);
    return all;
  };
  CHECK(launches(1) == std::vector<std::int64_t>{1, 1, 1, 1});
  CHECK(launches(8) == std::vector<std::int64_t>{8, 8, 1, 1});
}

TEST_CASE("experts without a gate keep one middle of their width") {
  auto t = mixture(8, 2, 32);
  t.activation = Activation::gelu;
  const auto ops = made(t);
  CHECK(size_of(named(ops, "expert activation"), "expert activation input") == 2 * 60 * 32);
  CHECK(named(ops, "expert up projection").forward.back().n == 32);
}

TEST_CASE("the shared experts' output is gated and added in passes over this rank's rows") {
  auto t = mixture(8, 2, 32);
  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 24;
  t.moe->shared_gate = true;
  const auto ops = made(t);
  const double rows = 2 * 15 * 64, copies = 2 * 15 * 2 * 64;
  CHECK(moved(named(ops, "unpermute").forward) == Bytes{copies + rows, 3 * rows});
  CHECK(moved(named(ops, "unpermute").input_gradient) == Bytes{copies + rows, 3 * rows});
  const auto& gate = named(ops, "shared expert gate");
  CHECK(gate.forward.back().traffic.value == 2 * rows);
  CHECK(gate.input_gradient.back().traffic.value == 3 * rows);
  CHECK(size_of(gate, "shared expert output") == rows);
}

TEST_CASE("experts are in the first of every so many layers behind the dense ones") {
  auto t = mixture(8, 2, 32);
  t.moe->first_dense_layers = 1;
  t.moe->every = 3;
  std::vector<std::int64_t> found;
  for (std::int64_t layer = 0; layer < 8; ++layer)
    if (is_moe_layer(t, layer)) found.push_back(layer);
  CHECK(found == std::vector<std::int64_t>{1, 4, 7});
}

TEST_CASE(
    "an operator's gradients are those of its input and its output unless it says otherwise") {
  Operator op{.name = "any", .largest = {100}};
  CHECK(gradient_tensors(op) == std::vector<units::Bytes>{{100}, {100}});
  op.gradients = {{70}};
  CHECK(gradient_tensors(op) == std::vector<units::Bytes>{{70}});
}

}  // namespace traffic_spec
