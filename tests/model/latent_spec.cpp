// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace latent_spec {

using namespace model;
using namespace small_models;

namespace {

// A model with 4 heads; queries of rank 20, keys and values of rank 12; heads of 10 + 6, values of
// 14.
Transformer small(std::int64_t q_rank = 20) {
  auto t = llama();
  make_latent(t, q_rank);
  return t;
}

Operators attention_of(const Transformer& t, const Extent& extent) {
  auto ops = layer(t, extent, flash, bf16);
  std::erase_if(ops, [](const Operator& op) { return op.part != Part::attention; });
  return ops;
}

}  // namespace

TEST_CASE("DeepSeek-V3's attention has 187,107,328 parameters in each layer") {
  Transformer t = llama(7168, 128);
  t.latent = LatentAttention{1536, 512, 128, 64, 128};
  t.head_dim = 192;
  const double down = 7168 * 1536 + 7168 * (512 + 64), norms = 1536 + 512;
  const double up = 1536.0 * 128 * 192 + 512.0 * 128 * (128 + 128), out = 128.0 * 128 * 7168;
  CHECK(down + norms + up + out == 187'107'328);
  CHECK(parameters(attention_of(t, whole(t, 1, 8))) == 187'107'328 + 7168);  // and the norm before
}

TEST_CASE("latent attention counts 2·s²·heads·(d_qk + d_v) forward beside its projections") {
  const auto t = small();
  const double s = 32, h = 64, mlp = 3 * h * 3 * h;
  const double weights = h * 20 + 20 * 4 * 16 + h * (12 + 6) + 12 * 4 * (10 + 14) + 4 * 14 * h;
  CHECK(layer_flops(t, 32, 0).value == 2 * s * (weights + mlp) + 2 * s * s * 4 * (16 + 14));
}

TEST_CASE("its flash kernel executes half of that, and (3·d_qk + 2·d_v) backward") {
  const auto t = small();
  const auto ops = layer(t, whole(t, 1, 32), flash, bf16);
  const auto& core = named(ops, "attention");
  CHECK(core.forward.front().flops.value == 32 * 32 * 4 * (16 + 14));
  CHECK(core.input_gradient.front().flops.value == 32 * 32 * 4 * (3 * 16 + 2 * 14));
  CHECK(core.forward.front().k == 16);
}

TEST_CASE("latent attention keeps compressed tensors twice and those projected up") {
  const double s = 32, h = 64, a = 4, d = 16, v = 14;
  const auto bytes = [&](double q_rank) {
    return s * (4 * h + 4 * q_rank + 4 * 12 + 2 * a * (2 * d + v) + 2 * a * v + 4 * a);
  };
  for (const std::int64_t q_rank : {20, 0}) {
    const auto t = small(q_rank);
    CHECK(kept(attention_of(t, whole(t, 1, 32))) == bytes(static_cast<double>(q_rank)));
  }
  // If the projections up run again, the compressed tensors before their norm are kept.
  const auto ops = attention_of(small(), whole(small(), 1, 32));
  CHECK(kept(ops) - kept(ops, Module::mla_up_proj) == s * (2 * 20 + 2 * 12 + 2 * a * (2 * d + v)));
}

TEST_CASE("down projections are whole on every rank, projections up are divided by heads") {
  const auto t = small();
  auto half = whole(t, 1, 32);
  half.heads /= 2;
  half.kv_heads /= 2;
  half.rows /= 2;
  const auto ops = layer(t, half, flash, bf16);
  CHECK(named(ops, "query down projection").parameters == 64 * 20);
  CHECK(named(ops, "query down projection").forward.front().m == 16);  // the rank's own rows
  CHECK(named(ops, "query up projection").parameters == 20 * 2 * 16);
  CHECK(named(ops, "query up projection").forward.front().m == 32);  // all rows, gathered
}

TEST_CASE("the seams of latent attention are as narrow as its ranks") {
  const auto t = small();
  const auto ops = layer(t, whole(t, 1, 32), flash, bf16);
  CHECK(named(ops, "query up projection").exchanged.value == 2 * 32 * 20);
  CHECK(named(ops, "key and value up projection").exchanged.value == 2 * 32 * (12 + 6));
  CHECK(named(ops, "output projection").exchanged.value == 2 * 32 * 64);
  CHECK(named(ops, "MLP up projection").exchanged.value == 2 * 32 * 64);
  CHECK(named(ops, "key and value down projection").seam == Seam::none);
  const auto direct = layer(small(0), whole(small(0), 1, 32), flash, bf16);
  CHECK(named(direct, "query projection").exchanged.value == 2 * 32 * 64);
}

}  // namespace latent_spec
