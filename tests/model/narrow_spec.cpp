// SPDX-License-Identifier: Apache-2.0
// Linear layers in 8 and 4 bit: the tensors that are cast, that stay wide, and that are kept.
#include <algorithm>

#include "model/narrow.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace narrow_spec {

using namespace model;
using namespace small_models;
using units::Kernel;
using units::Precision;

namespace {

using Traffic = std::vector<double>;

Traffic traffic(const std::vector<Kernel>& kernels) {
  Traffic bytes;
  for (const auto& kernel : kernels) bytes.push_back(kernel.traffic.value);
  return bytes;
}

Kernels scaled(Scaling scaling) { return {.scaling = scaling}; }

// A layer of 16 tokens that is 64 wide with an MLP of width 2 · 192.
Operators narrow_layer(Precision precision, const Kernels& kernels = {}) {
  return layer(llama(), whole(llama(), 1, 16), kernels, precision);
}

double kept_tensor(const Operators& operators, std::string_view name) {
  double sum = 0;
  for (const auto& op : operators)
    for (const auto& tensor : op.kept)
      if (tensor.name == name) sum += tensor.size.value;
  return sum;
}

}  // namespace

TEST_CASE("in 8 bit attention's output is kept once in 16 bit, whether or not it is copied") {
  const auto with = narrow_layer(Precision::fp8, {.copies_attention_output = true});
  CHECK(kept_tensor(with, "attention output") ==
        kept_tensor(narrow_layer(Precision::fp8), "attention output"));
  CHECK(kept_tensor(with, "attention output") == 2 * 16 * 64);
}

TEST_CASE("a cast reads 16 bit once and writes two copies; scales found first read more often") {
  const double n = 1024;
  const auto fp8 = [&](Scaling scaling) { return traffic(casts(Precision::fp8, scaling, n)); };
  CHECK(fp8(Scaling::delayed) == Traffic{4 * n});
  CHECK(fp8(Scaling::tensorwise) == Traffic{2 * n, 4 * n});
  CHECK(fp8(Scaling::rowwise) == Traffic{3 * n, 2 * n, 3 * n});
  CHECK(fp8(Scaling::blockwise) == Traffic{(4 + 2 * 4.0 / 128) * n});
  CHECK(traffic(casts(Precision::mxfp8, {}, n)) == Traffic{(4 + 2.0 / 32) * n});
  CHECK(traffic(casts(Precision::nvfp4, {}, n)) == Traffic{2 * n, (3 + 2.0 / 16) * n});
}

TEST_CASE("a cast for one product writes one copy, and none is cast that no product reads") {
  const double n = 1024;
  const auto rows = [&](Precision precision, Scaling scaling) {
    return traffic(casts(precision, scaling, n, {.columns = false}));
  };
  CHECK(rows(Precision::fp8, Scaling::delayed) == Traffic{3 * n});
  CHECK(rows(Precision::fp8, Scaling::tensorwise) == Traffic{2 * n, 3 * n});
  CHECK(rows(Precision::fp8, Scaling::rowwise) == Traffic{3 * n});
  CHECK(traffic(casts(Precision::fp8, Scaling::rowwise, n, {.rows = false})) ==
        Traffic{2 * n, 3 * n});
  CHECK(casts(Precision::mxfp8, {}, n, {.rows = false, .columns = false}).empty());
  CHECK(weight_copy_bytes(Precision::mxfp8, {}, {.columns = false}) == 1 + 1.0 / 32);
}

// The layer keeps 15 sh + 5 sf + 4 sa in fp8, with inputs of linear layers in one byte: 3 of h and
// one of f.
TEST_CASE("weight gradients in 16 bit read the 16-bit inputs, which are kept as in bf16") {
  const double s = 16, h = 64, f = 192, a = 4;
  const auto wide = narrow_layer(Precision::fp8, {.wide = {.weight_gradients = true}});
  CHECK(kept(wide) == kept(narrow_layer(bf16)));
  CHECK(kept(wide) == s * (16 * h + 6 * f + 4 * a));
  const auto& down = named(wide, "MLP down projection");
  CHECK(down.forward.back().precision == Precision::fp8);
  CHECK(down.input_gradient.back().precision == Precision::fp8);
  CHECK(down.weight_gradient.front().precision == bf16);
  // Input and gradient of the output are cast for one product each, not for two.
  CHECK(traffic(down.forward).front() == 3 * s * f);
  CHECK(traffic(down.input_gradient).front() == 3 * s * h);
  const auto back = narrow_layer(Precision::fp8, {.wide = {.input_gradients = true}});
  CHECK(kept(back) == kept(narrow_layer(Precision::fp8)));
  CHECK(named(back, "MLP down projection").input_gradient.back().precision == bf16);
  CHECK(traffic(named(back, "MLP down projection").input_gradient).front() == 3 * s * h);
}

TEST_CASE("modules in 16 bit have products and kept inputs as in bf16, the others as in fp8") {
  const double s = 16, h = 64, f = 192;
  const auto all = kept(narrow_layer(bf16)), fp8 = kept(narrow_layer(Precision::fp8));
  // Attention's two inputs take s h more, its output s 2h less; the MLP's s h and s f more.
  CHECK(kept(narrow_layer(Precision::fp8, {.wide = {.attention = true}})) == fp8);
  CHECK(kept(narrow_layer(Precision::fp8, {.wide = {.mlp = true}})) == fp8 + s * (h + f));
  CHECK(kept(narrow_layer(Precision::fp8, {.wide = {.attention = true, .mlp = true}})) == all);
  // Attention and MLP that read one norm keep its output once, or in both forms.
  auto parallel = llama();
  parallel.parallel_block = true;
  parallel.norms_per_layer = 1;
  const auto beside = [&](Precision precision, WideProducts wide) {
    return kept(layer(parallel, whole(parallel, 1, 16), {.wide = wide}, precision));
  };
  const auto both = beside(Precision::fp8, {});
  CHECK(beside(Precision::fp8, {.attention = true}) == both + s * h);
  CHECK(beside(Precision::fp8, {.mlp = true}) == both + s * (2 * h + f));
  CHECK(beside(Precision::fp8, {.attention = true, .mlp = true}) == beside(bf16, {}));
  auto t = mixture(8, 2, 32);
  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 32;
  const auto of = [&](WideProducts wide) {
    return layer(t, whole(t, 1, 16), {.wide = wide}, Precision::fp8, 0, Mlp::experts);
  };
  const auto dense = of({.experts = true});
  CHECK(kept_tensor(dense, "dispatched tokens") == 2 * 32 * 64);
  CHECK(named(dense, "expert up projection").forward.back().precision == bf16);
  CHECK(named(dense, "shared expert up projection").forward.back().precision == Precision::fp8);
  const auto shared = of({.shared_experts = true});
  CHECK(kept_tensor(shared, "shared expert input") == 0);
  CHECK(named(shared, "expert up projection").forward.back().precision == Precision::fp8);
}

TEST_CASE("the two copies of a weight take 2 bytes in fp8, 2 1/16 in mxfp8 and 1 1/8 in nvfp4") {
  CHECK(weight_copy_bytes(Precision::fp8, Scaling::delayed) == 2);
  CHECK(weight_copy_bytes(Precision::fp8, Scaling::blockwise) == 2 + 2 * 4.0 / (128 * 128));
  CHECK(weight_copy_bytes(Precision::mxfp8, Scaling::blockwise) == 2.0625);
  CHECK(weight_copy_bytes(Precision::nvfp4, Scaling::blockwise) == 1.125);
}

TEST_CASE("in 16 bit and wider nothing is cast or copied, whatever the recipe") {
  const auto precision = GENERATE(Precision::fp32, Precision::tf32, Precision::fp16, bf16);
  CHECK(casts(precision, Scaling::tensorwise, 1024).empty());
  CHECK(weight_copy_bytes(precision, Scaling::blockwise) == 0);
  const auto delayed = narrow_layer(precision, scaled(Scaling::delayed));
  const auto blockwise = narrow_layer(precision, scaled(Scaling::blockwise));
  CHECK(kept(delayed) == kept(blockwise));
  for (std::size_t i = 0; i < delayed.size(); ++i) {
    CHECK(delayed[i].forward == blockwise[i].forward);
    CHECK(delayed[i].input_gradient == blockwise[i].input_gradient);
    CHECK(delayed[i].weight_gradient == blockwise[i].weight_gradient);
  }
}

// 16 tokens of 64 values become 384: 1024 inputs, 24576 weights, 6144 outputs.
TEST_CASE("an fp8 linear layer casts its input forward and its output's gradient backward, once") {
  const auto ops = narrow_layer(Precision::fp8);
  const auto& up = named(ops, "MLP up projection");
  CHECK(traffic(up.forward) == Traffic{4 * 1024, 1024 + 24576 + 2 * 6144});
  CHECK(traffic(up.input_gradient) == Traffic{4 * 6144, 6144 + 24576 + 2 * 1024});
  CHECK(traffic(up.weight_gradient) == Traffic{6144 + 1024 + 8 * 24576});
  CHECK(up.forward.front().kind == Kernel::Kind::stream);
  for (const auto* kernels : {&up.forward, &up.input_gradient, &up.weight_gradient})
    CHECK(kernels->back().precision == Precision::fp8);

  const auto tensorwise = narrow_layer(Precision::fp8, scaled(Scaling::tensorwise));
  CHECK(named(tensorwise, "MLP up projection").forward.size() == 3);
  CHECK(named(tensorwise, "MLP up projection").input_gradient.size() == 3);
}

TEST_CASE("scales travel with every operand of a product") {
  const auto ops = narrow_layer(Precision::nvfp4);
  const auto& up = named(ops, "MLP up projection");
  // A value takes half a byte and a 16th of its block's scale of one byte, an output two bytes.
  CHECK(up.forward.back().traffic.value == 0.5625 * (1024 + 24576) + 2 * 6144);
}

TEST_CASE("attention's core, norms, router and head stay in 16 bit under narrow products") {
  const auto precision = GENERATE(Precision::fp8, Precision::mxfp8, Precision::nvfp4);
  const auto kernels = GENERATE(unfused, flash);
  const auto same = [](const Operator& a, const Operator& b) {
    CAPTURE(a.name);
    CHECK(a.forward == b.forward);
    CHECK(a.input_gradient == b.input_gradient);
    CHECK(a.weight_gradient == b.weight_gradient);
  };
  auto t = mixture(8, 2, 32);
  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 32;
  t.moe->shared_gate = true;
  const auto extent = whole(t, 1, 16);
  const auto wide = layer(t, extent, kernels, bf16, 0, Mlp::experts);
  const auto narrow = layer(t, extent, kernels, precision, 0, Mlp::experts);
  REQUIRE(wide.size() == narrow.size());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i].name.find("projection") == std::string_view::npos) same(narrow[i], wide[i]);
  const auto wide_head = head(t, extent, kernels, bf16);
  const auto narrow_head = head(t, extent, kernels, precision);
  for (std::size_t i = 0; i < wide_head.size(); ++i) same(narrow_head[i], wide_head[i]);
  CHECK(kept(narrow_head) == kept(wide_head));
}

TEST_CASE("every linear layer has the same flops in the narrow precision as in 16 bit") {
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const auto t = random_model(random);
    const auto extent = whole(t, 2, 16);
    const auto mlp = t.moe ? Mlp::experts : Mlp::dense;
    const auto wide = layer(t, extent, flash, bf16, 0, mlp);
    const auto narrow = layer(t, extent, flash, Precision::mxfp8, 0, mlp);
    REQUIRE(wide.size() == narrow.size());
    for (std::size_t k = 0; k < wide.size(); ++k) {
      CAPTURE(i, wide[k].name);
      CHECK(product_flops(narrow[k].forward) == product_flops(wide[k].forward));
      CHECK(product_flops(narrow[k].weight_gradient) == product_flops(wide[k].weight_gradient));
      CHECK(narrow[k].parameters == wide[k].parameters);
      CHECK(narrow[k].exchanged == wide[k].exchanged);
    }
  }
}

// Llama's layer of s tokens keeps, in bf16 of 2 bytes, 2h norms twice, 2h QKV input, 6h queries,
// keys and values, 2h output projection input, 2h MLP input, 4f activation input, 2f down
// projection input, and 4a log-sum-exp.
TEST_CASE("linear inputs are kept in one byte; attention keeps its output in 16 bit beside it") {
  const double s = 16, h = 64, f = 192, a = 4;
  CHECK(kept(narrow_layer(bf16)) == s * (16 * h + 6 * f + 4 * a));
  // The inputs of QKV, output projection and MLP take h each instead of 2h; attention's output
  // takes 2h more.
  CHECK(kept(narrow_layer(Precision::fp8)) == s * (15 * h + 5 * f + 4 * a));
  CHECK(kept(narrow_layer(Precision::fp8, unfused)) ==
        kept(narrow_layer(bf16, unfused)) - s * (3 * h + f));
  const auto copy = 1 + 1.0 / 32;
  CHECK(kept(narrow_layer(Precision::mxfp8)) ==
        s * (12 * h + 4 * f + 4 * a) + copy * s * (3 * h + f));
  CHECK(kept_tensor(narrow_layer(Precision::nvfp4), "QKV input") == 0.5625 * s * h);
}

// 16 tokens with 2 experts each are 32 copies; hidden is 64, an expert's width 32.
TEST_CASE("experts keep narrow tokens; router and shared experts each keep their own input") {
  auto t = mixture(8, 2, 32);
  t.moe->shared_experts = 1;
  t.moe->shared_ffn = 32;
  const auto extent = whole(t, 1, 16);
  const auto fp8 = layer(t, extent, flash, Precision::fp8, 0, Mlp::experts);
  const auto wide = layer(t, extent, flash, bf16, 0, Mlp::experts);
  CHECK(kept_tensor(fp8, "dispatched tokens") == 32 * 64);
  CHECK(kept_tensor(fp8, "expert down projection input") == 32 * 32);
  CHECK(kept_tensor(fp8, "MLP input") == 2 * 16 * 64);
  CHECK(kept_tensor(fp8, "shared expert input") == 16 * 64);
  CHECK(kept_tensor(wide, "shared expert input") == 0);
  CHECK(named(fp8, "expert up projection").forward.back().traffic.value ==
        (32 * 64 + 8 * 64 * 64) + 2 * 32 * 64);
}

// Llama's layer has weights of 3h² in QKV, h² in the output projection and 3hf in the MLP; each
// expert has 3hf.
TEST_CASE("weights of linear layers are read as copies, weights of router and head are not") {
  const auto copied = [](const Operators& operators) {
    double sum = 0;
    for (const auto& op : operators) sum += narrow_weights(op);
    return sum;
  };
  const auto t = mixture(8, 2, 32);
  const auto extent = whole(t, 1, 16);
  CHECK(copied(narrow_layer(Precision::fp8)) == 4 * 64 * 64 + 3 * 64 * 192);
  CHECK(copied(narrow_layer(bf16)) == 0);
  CHECK(copied(layer(t, extent, flash, Precision::fp8, 0, Mlp::experts)) ==
        4 * 64 * 64 + 8 * 3 * 64 * 32);
  CHECK(copied(head(t, extent, flash, Precision::fp8)) == 0);
}

TEST_CASE("latent attention keeps the inputs of its projections narrow, keys and values wide") {
  auto t = llama();
  make_latent(t, 10);
  const auto extent = whole(t, 1, 16);
  const auto fp8 = layer(t, extent, flash, Precision::fp8);
  CHECK(kept_tensor(fp8, "query up projection input") == 16 * 10);
  CHECK(kept_tensor(fp8, "key and value up projection input") == 16 * 12);
  CHECK(kept_tensor(fp8, "compressed queries") == 2 * 16 * 10);
  CHECK(kept_tensor(fp8, "keys") == 2 * 16 * 4 * 16);
}

TEST_CASE("a prediction module's projection is narrow, its head is not") {
  auto t = llama();
  t.multi_token_prediction = 1;
  const auto ops = prediction(t, whole(t, 1, 16), flash, Precision::fp8);
  CHECK(named(ops, "prediction projection").forward.back().precision == Precision::fp8);
  CHECK(kept_tensor(ops, "prediction projection input") == 16 * 128);
  CHECK(named(ops, "LM head").forward.back().precision == bf16);
}

}  // namespace narrow_spec
