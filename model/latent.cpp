// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1) before its core.
// c = norm(down x) for queries (rank q) and for keys with values (rank c); both small, so their
// weights lie whole on every tensor-parallel rank, which computes its own rows of them; the
// projections up to the heads are divided by heads, and gather c before them.
// Kept, 2-byte elements, s tokens, b sequences, hidden h, a heads, d = nope + rope:
// sb(2(2h + 2q + 2c) + 2a(2d + 2v)), the norm's input and the output projection's included.
#include "model/builder.hpp"

namespace model {

namespace {

// A projection of each row to `width` values, which are normed, and `beside` others; and the norm.
Operators down(const Builder& make, std::string_view name, std::string_view norm_name,
               std::string_view compressed, std::int64_t width, std::int64_t beside) {
  const double bytes = make.element() * real(make.extent.rows) * real(width);
  auto projection = make.replicated(name, Part::attention, make.transformer.hidden, width + beside);
  Operator norm{.name = norm_name, .part = Part::attention, .module = Module::mla_up_proj};
  norm.forward = {Builder::stream(2 * bytes)};
  norm.input_gradient = {Builder::stream(3 * bytes)};
  norm.weight_gradient = {Builder::stream(2 * bytes)};
  norm.kept = {{.name = compressed, .size = {bytes}}};
  norm.parameters = real(width);
  norm.largest = {bytes};
  return {std::move(projection), std::move(norm)};
}

Operator up(const Builder& make, std::string_view name, std::int64_t in, std::int64_t out) {
  auto op = make.linear(name, Part::attention, Seam::enter, in, out, false);
  op.module = Module::mla_up_proj;
  return op;
}

// Rotates the queries in place; makes keys of each head's own part and the one rotated part.
Operator rotary(const Builder& make) {
  const auto& l = *make.transformer.latent;
  const double heads = make.element() * real(make.extent.tokens()) * real(make.extent.heads);
  const double bytes = heads * real(2 * l.qk_rope_head_dim + l.qk_nope_head_dim + l.qk_head_dim());
  Operator op{.name = "rotary embedding", .part = Part::attention, .module = Module::mla_up_proj};
  const int passes = make.kernels.fused_rotary ? 1 : 4;
  for (int i = 0; i < passes; ++i) op.forward.push_back(Builder::stream(bytes));
  op.input_gradient = op.forward;
  return op;
}

}  // namespace

Operators latent_projections(const Builder& make) {
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const auto& l = *t.latent;
  const double operand = make.kept_element(), rows = operand * real(e.rows),
               tokens = make.element() * real(e.tokens());
  const auto remade = [](std::string_view name, double bytes, double value_bytes = 0) {
    return Kept{
        .name = name, .size = {bytes}, .module = Module::mla_up_proj, .value_bytes = value_bytes};
  };

  Operators ops;
  if (l.q_lora_rank > 0)
    append(ops, down(make, "query down projection", "compressed query norm", "compressed queries",
                     l.q_lora_rank, 0));
  append(ops, down(make, "key and value down projection", "compressed key and value norm",
                   "compressed keys and values", l.kv_lora_rank, l.qk_rope_head_dim));
  ops.front().kept = {{.name = "QKV input",
                       .size = {rows * real(t.hidden)},
                       .module = Module::layernorm,
                       .value_bytes = operand}};

  const auto queries = e.heads * l.qk_head_dim();
  if (l.q_lora_rank > 0) {
    ops.push_back(up(make, "query up projection", l.q_lora_rank, queries));
    ops.back().kept = {remade("query up projection input", rows * real(l.q_lora_rank), operand)};
  } else {
    ops.push_back(up(make, "query projection", t.hidden, queries));
  }
  ops.back().kept.push_back(remade("queries", tokens * real(queries)));

  ops.push_back(up(make, "key and value up projection", l.kv_lora_rank,
                   e.heads * (l.qk_nope_head_dim + l.v_head_dim)));
  ops.back().exchanged = {tokens * real(l.kv_lora_rank + l.qk_rope_head_dim)};
  ops.back().kept = {
      remade("key and value up projection input", rows * real(l.kv_lora_rank), operand),
      remade("keys", tokens * real(e.heads * l.qk_head_dim())),
      remade("values", tokens * real(e.heads * l.v_head_dim))};
  ops.push_back(rotary(make));
  return ops;
}

}  // namespace model
