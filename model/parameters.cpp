// SPDX-License-Identifier: Apache-2.0
#include "model/layer.hpp"
#include "model/transformer.hpp"

namespace model {

namespace {

std::int64_t norm_size(const Transformer& t) {
  return t.norm == Norm::layernorm ? 2 * t.hidden : t.hidden;
}

std::int64_t layer_parameters(const Transformer& t) {
  const auto queries = t.heads * t.head_dim;
  const auto keys_values = 2 * t.kv_heads * t.head_dim;
  const auto up = (t.gated() ? 2 : 1) * t.ffn;
  auto count = t.norms_per_layer * norm_size(t);
  count += t.hidden * (queries + keys_values) + queries * t.hidden;
  count += t.hidden * up + t.ffn * t.hidden;
  if (t.qkv_biases) count += queries + keys_values;
  if (t.biases) count += t.hidden + up + t.hidden;
  if (t.query_key_norm) count += 2 * t.head_dim;
  return count;
}

}  // namespace

std::int64_t parameters(const Transformer& t) {
  auto count = t.layers * layer_parameters(t) + norm_size(t) + t.vocab * t.hidden;
  if (!t.tied_embeddings) count += t.vocab * t.hidden;
  if (t.position == Position::learned) count += t.max_sequence * t.hidden;
  return count;
}

Extent whole(const Transformer& t, std::int64_t batch, std::int64_t sequence) {
  return {.batch = batch,
          .sequence = sequence,
          .heads = t.heads,
          .kv_heads = t.kv_heads,
          .ffn = t.ffn,
          .vocab = t.vocab,
          .rows = batch * sequence};
}

units::Flops model_flops(const Transformer& t, double sequences, std::int64_t sequence) {
  const auto s = static_cast<double>(sequence), h = static_cast<double>(t.hidden);
  const auto queries = static_cast<double>(t.heads * t.head_dim);
  const auto keys_values = static_cast<double>(2 * t.kv_heads * t.head_dim);
  const auto ffn = static_cast<double>(t.ffn) * (t.gated() ? 3 : 2);
  const double products = 2 * s * h * (queries + keys_values + queries + ffn);
  double forward = 0;
  for (std::int64_t layer = 0; layer < t.layers; ++layer) {
    const bool windowed = t.window && layer % t.window->every == 0 && t.window->size < sequence;
    const double reach = windowed ? static_cast<double>(t.window->size) : s;
    forward += products + 4 * s * reach * queries;
  }
  forward += 2 * s * h * static_cast<double>(t.vocab);
  return {3 * sequences * forward};
}

units::Bytes kept_bytes(const Operators& operators) {
  units::Bytes sum;
  for (const auto& op : operators)
    for (const auto& tensor : op.kept) sum += tensor.size;
  return sum;
}

double parameters(const Operators& operators) {
  double sum = 0;
  for (const auto& op : operators) sum += op.parameters;
  return sum;
}

}  // namespace model
