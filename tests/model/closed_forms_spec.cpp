// SPDX-License-Identifier: Apache-2.0
// Closed forms of the literature that must come out exactly.
#include "model/layer.hpp"
#include "tests/catch.hpp"

namespace closed_forms_spec {

using namespace model;
using units::Precision;

namespace {

Transformer gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                std::int64_t vocab = 51200, std::int64_t sequence = 2048) {
  return {.name = "gpt",
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = hidden / heads,
          .ffn = 4 * hidden,
          .vocab = vocab,
          .max_sequence = sequence};
}

constexpr Kernels unfused{.attention = AttentionKernel::unfused};
constexpr Kernels flash{.attention = AttentionKernel::flash};

// The extent of a tensor-parallel rank: 1/t of every width, and of the rows with sequence
// parallelism.
Extent share(const Transformer& m, std::int64_t b, std::int64_t s, std::int64_t t, bool sp) {
  auto extent = whole(m, b, s);
  extent.heads /= t;
  extent.kv_heads /= t;
  extent.ffn /= t;
  if (sp) extent.rows /= t;
  return extent;
}

double kept(const Transformer& m, const Extent& extent, const Kernels& kernels, bool selective) {
  double sum = 0;
  for (const auto& op : layer(m, extent, kernels, Precision::bf16))
    for (const auto& tensor : op.kept)
      if (!(selective && tensor.core)) sum += tensor.size.value;
  return sum;
}

double layer_inputs(const Transformer& m, const Extent& extent) {
  double sum = 0;
  for (const auto& op : layer(m, extent, unfused, Precision::bf16))
    for (const auto& tensor : op.kept)
      if (tensor.layer_input) sum += tensor.size.value;
  return sum;
}

struct Sizes {
  double s, b, h, a, t;
};

}  // namespace

TEST_CASE("a GPT with biases and learned positions has L(12h²+13h) + h(V+s) + 2h parameters") {
  const auto [layers, hidden, heads] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t>(
      {{96, 12288, 96}, {24, 2304, 24}, {48, 1600, 25}, {1, 64, 4}}));
  const auto m = gpt(layers, hidden, heads);
  const auto L = layers, h = hidden, V = m.vocab, s = m.max_sequence;
  CHECK(parameters(m) == L * (12 * h * h + 13 * h) + h * (V + s) + 2 * h);
}

TEST_CASE("operators hold the parameters of the whole, the tied head counted once") {
  const auto m = gpt(3, 256, 8);
  const auto extent = whole(m, 1, 128);
  const auto precision = Precision::bf16;
  const double sum = 3 * parameters(layer(m, extent, unfused, precision)) +
                     parameters(embedding(m, extent, unfused, precision)) +
                     parameters(head(m, extent, unfused, precision)) -
                     static_cast<double>(m.vocab * m.hidden);
  CHECK(sum == static_cast<double>(parameters(m)));
}

TEST_CASE("Llama-3 8B has 8,030,261,248 parameters (Meta's checkpoint)") {
  const Transformer llama{.layers = 32,
                          .hidden = 4096,
                          .heads = 32,
                          .kv_heads = 8,
                          .head_dim = 128,
                          .ffn = 14336,
                          .vocab = 128256,
                          .max_sequence = 8192,
                          .activation = Activation::swiglu,
                          .norm = Norm::rmsnorm,
                          .position = Position::rope,
                          .tied_embeddings = false,
                          .biases = false,
                          .qkv_biases = false,
                          .dropout = 0};
  CHECK(parameters(llama) == 8'030'261'248);
}

// The table (Korthikanti et al. 2022, table 2) counts s tokens, b sequences, a heads and t-way
// tensor parallelism.
TEST_CASE("activation bytes per layer are those of Korthikanti et al. 2022, table 2") {
  const auto [hidden, heads, batch, ways] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(
          {{6144, 64, 4, 8}, {12288, 96, 1, 8}, {2048, 16, 3, 2}}));
  const std::int64_t tokens = 2048;
  const auto m = gpt(1, hidden, heads);
  const double s = 2048, b = static_cast<double>(batch), h = static_cast<double>(hidden);
  const double a = static_cast<double>(heads), t = static_cast<double>(ways);
  const auto one = share(m, batch, tokens, 1, false);
  const auto tensor = share(m, batch, tokens, ways, false);
  const auto sequence = share(m, batch, tokens, ways, true);

  CHECK(kept(m, one, unfused, false) == s * b * (34 * h + 5 * a * s));
  CHECK(kept(m, tensor, unfused, false) == s * b * h * (10 + 24 / t + 5 * a * s / (h * t)));
  CHECK(kept(m, sequence, unfused, false) == s * b * (34 * h + 5 * a * s) / t);
  CHECK(kept(m, tensor, unfused, true) == s * b * h * (10 + 24 / t));
  CHECK(kept(m, sequence, unfused, true) == 34 * s * b * h / t);
  CHECK(layer_inputs(m, tensor) == 2 * s * b * h);
  CHECK(layer_inputs(m, sequence) == 2 * s * b * h / t);
}

TEST_CASE("a copy of FlashAttention's output is 2sbh more; cuDNN's kernels need none") {
  const auto m = gpt(1, 4096, 32);
  const auto extent = share(m, 2, 2048, 8, true);
  const auto more = [&](AttentionKernel kernel) {
    const Kernels once{.attention = kernel};
    auto twice = once;
    twice.copies_attention_output = true;
    return kept(m, extent, twice, false) - kept(m, extent, once, false);
  };
  CHECK(more(AttentionKernel::flash) == 2.0 * 2048 * 2 * 4096 / 8);
  CHECK(more(AttentionKernel::fused) == 0);
}

// The gradients stand in place of the dropout's output, which is kept as 2abs² of the 5.
TEST_CASE("unfused attention's gradients take 2abs² beside the kept tensors") {
  const auto m = gpt(1, 4096, 32);
  int core = 0;
  for (const auto& op : layer(m, share(m, 2, 2048, 8, true), unfused, Precision::bf16))
    if (op.core) {
      CHECK(gradient_tensors(op).at(0).value == 2.0 * 32 / 8 * 2 * 2048 * 2048);
      ++core;
    }
  CHECK(core == 4);
}

TEST_CASE("flash attention keeps 4abs for the log-sum-exp instead of 5abs²") {
  const auto m = gpt(1, 4096, 32);
  const double s = 2048, b = 2, h = 4096, a = 32;
  CHECK(kept(m, whole(m, 2, 2048), flash, false) == 34 * s * b * h + 4 * a * b * s);
}

TEST_CASE("without dropout a layer keeps 2sbh less of masks and 2as²b of scores") {
  auto m = gpt(1, 4096, 32);
  m.dropout = 0;
  const double s = 2048, b = 2, h = 4096, a = 32;
  CHECK(kept(m, whole(m, 2, 2048), unfused, false) == s * b * h * (32 + 2 * a * s / h));
}

TEST_CASE("model flops of a GPT are 72BsLh²(1 + s/(6h) + V/(12hL))") {
  const auto m = gpt(96, 12288, 96);
  const double B = 1536, s = 2048, L = 96, h = 12288, V = 51200;
  const double closed = 72 * B * s * L * h * h * (1 + s / (6 * h) + V / (12 * h * L));
  CHECK(model_flops(m, B, 2048).value == Approx(closed).epsilon(1e-12));
}

TEST_CASE("a windowed layer counts sequence times window, not the whole square") {
  auto m = gpt(2, 64, 4, 0);
  m.window = Window{16, 2};  // layer 0 has a window, layer 1 has none
  const double products = 3 * 2 * 2.0 * 128 * 12 * 64 * 64;
  const double attention = 3 * (4 * 128 * 16 * 64.0 + 4 * 128 * 128 * 64.0);
  CHECK(model_flops(m, 1, 128).value == products + attention);
}

TEST_CASE("among layers with a window, the last of every so many may look back all the way") {
  auto m = gpt(7, 64, 4, 0);
  m.window = Window{16, 1, 3};
  std::vector<bool> windowed;
  for (int layer = 0; layer < 7; ++layer) windowed.push_back(is_windowed_layer(m, layer));
  CHECK(windowed == std::vector<bool>{true, true, false, true, true, false, true});
}

TEST_CASE("executed products of a layer are its model flops: forward once, backward twice") {
  const auto m = gpt(1, 512, 8, 0);
  double forward = 0, backward = 0;
  const auto products = [](const std::vector<units::Kernel>& kernels) {
    double sum = 0;
    for (const auto& kernel : kernels)
      if (kernel.kind == units::Kernel::Kind::product) sum += kernel.flops.value;
    return sum;
  };
  for (const auto& op : layer(m, whole(m, 2, 256), unfused, Precision::bf16)) {
    forward += products(op.forward);
    backward += products(op.input_gradient) + products(op.weight_gradient);
  }
  CHECK(3 * forward == model_flops(m, 2, 256).value);
  CHECK(backward == 2 * forward);
}

TEST_CASE(
    "causal flash attention executes half of the scores forward, and 2.5 times that backward") {
  const auto m = gpt(1, 512, 8, 0);
  for (const auto& op : layer(m, whole(m, 2, 256), flash, Precision::bf16)) {
    if (!op.core) continue;
    const double full = 4 * 2 * 256.0 * 256 * 512;
    CHECK(op.forward.front().flops.value == full / 2);
    CHECK(op.input_gradient.front().flops.value == 2.5 * full / 2);
  }
}

TEST_CASE(
    "a tensor-parallel share has 1/t of the parameters except norms and row-parallel biases") {
  const auto m = gpt(1, 1024, 16);
  const auto half = share(m, 1, 128, 2, false);
  const double whole_layer = parameters(layer(m, whole(m, 1, 128), unfused, Precision::bf16));
  const double here = parameters(layer(m, half, unfused, Precision::bf16));
  const double replicated = 4 * 1024 + 2 * 1024;  // two norms, two output biases
  CHECK(here == (whole_layer - replicated) / 2 + replicated);
}

}  // namespace closed_forms_spec
