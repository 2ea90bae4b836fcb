// SPDX-License-Identifier: Apache-2.0
// Parameters are counted in doubles: exact below 2^53, and no size that a file may give overflows.
#include <algorithm>

#include "model/builder.hpp"

namespace model {

namespace {

double norm_size(const Transformer& t) {
  return real(t.hidden) * (t.norm == Norm::layernorm ? 2 : 1);
}

// Projections that an MLP makes of its input.
double halves(const Transformer& t) { return t.gated() ? 2 : 1; }

// Weights of the linear layers around attention.
double attention_weights(const Transformer& t) {
  const double h = real(t.hidden), heads = real(t.heads), output = heads * real(t.v_head_dim()) * h;
  if (!t.latent) return h * (heads + 2 * real(t.kv_heads)) * real(t.head_dim) + output;
  const auto& l = *t.latent;
  const double q_rank = real(l.q_lora_rank), kv_rank = real(l.kv_lora_rank);
  const double queries = heads * real(l.qk_head_dim());
  return (q_rank > 0 ? q_rank * (h + queries) : h * queries) +
         h * (kv_rank + real(l.qk_rope_head_dim)) +
         kv_rank * heads * real(l.qk_nope_head_dim + l.v_head_dim) + output;
}

double attention_parameters(const Transformer& t) {
  auto count = attention_weights(t);
  if (t.latent) count += real(t.latent->q_lora_rank + t.latent->kv_lora_rank);  // their norms
  if (t.qkv_biases && !t.latent) count += (real(t.heads) + 2 * real(t.kv_heads)) * real(t.head_dim);
  if (t.biases || t.output_bias) count += real(t.hidden);
  if (t.query_key_norm) count += 2 * real(t.head_dim);
  if (t.attention_sinks) count += real(t.heads);
  return count;
}

double mlp_parameters(const Transformer& t, double ffn, bool biases) {
  const double weights = (halves(t) + 1) * real(t.hidden) * ffn;
  return biases ? weights + halves(t) * ffn + real(t.hidden) : weights;
}

double shared_width(const Moe& moe) { return real(moe.shared_experts) * real(moe.shared_ffn); }

// Weights of the matrix products that each token meets in the experts and their router.
double expert_weights(const Transformer& t) {
  const auto& moe = *t.moe;
  const double wide = real(moe.top_k) * real(moe.expert_ffn) + shared_width(moe);
  return mlp_parameters(t, wide, false) +
         real(t.hidden) * (real(moe.experts) + (moe.shared_gate ? 1 : 0));
}

// Parameters of a layer's router, shared experts and `experts` of its routed experts.
double moe_parameters(const Transformer& t, std::int64_t experts) {
  const auto& moe = *t.moe;
  auto count = real(experts) * mlp_parameters(t, real(moe.expert_ffn), moe.expert_biases);
  count += mlp_parameters(t, shared_width(moe), false);
  count += real(t.hidden) * real(moe.experts);
  if (moe.router_bias) count += real(moe.experts);
  if (moe.shared_gate) count += real(t.hidden);
  return count;
}

double layer_parameters(const Transformer& t, std::int64_t layer, bool active) {
  const auto count = t.norms_per_layer * norm_size(t) + attention_parameters(t);
  if (!is_moe_layer(t, layer)) return count + mlp_parameters(t, real(t.ffn), t.biases);
  return count + moe_parameters(t, active ? t.moe->top_k : t.moe->experts);
}

double count_parameters(const Transformer& t, bool active) {
  const double words = real(t.vocab) * real(t.hidden);
  auto count = norm_size(t) + words;
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    count += layer_parameters(t, layer, active);
  if (!t.tied_embeddings) count += words;
  if (t.position == Position::learned) count += real(t.max_sequence) * real(t.hidden);
  return count;
}

std::int64_t whole_number(double count) {
  constexpr double most = 9e18;  // nearly what 64 bits hold
  return static_cast<std::int64_t>(std::min(count, most));
}

}  // namespace

bool is_moe_layer(const Transformer& t, std::int64_t layer) {
  return t.moe && layer >= t.moe->first_dense_layers &&
         (layer - t.moe->first_dense_layers) % t.moe->every == 0;
}

bool is_windowed_layer(const Transformer& t, std::int64_t layer) {
  return t.window && layer % t.window->every == 0 &&
         (t.window->full_every == 0 || (layer + 1) % t.window->full_every != 0);
}

bool has_part(const Transformer& t, LinearPart part) {
  switch (part) {
    case LinearPart::attention:
      break;
    case LinearPart::mlp:
      return !t.moe || t.moe->first_dense_layers > 0 || t.moe->every > 1;
    case LinearPart::experts:
      return t.moe.has_value();
    case LinearPart::shared_experts:
      return t.moe && t.moe->shared_experts > 0;
  }
  return true;
}

std::int64_t parameters(const Transformer& t) { return whole_number(count_parameters(t, false)); }

std::int64_t active_parameters(const Transformer& t) {
  return whole_number(count_parameters(t, true));
}

std::int64_t prediction_parameters(const Transformer& t) {
  const double projection = 2 * real(t.hidden) * real(t.hidden);
  return whole_number(t.multi_token_prediction *
                      (3 * norm_size(t) + projection + layer_parameters(t, t.layers, false)));
}

Extent whole(const Transformer& t, std::int64_t batch, std::int64_t sequence) {
  Extent extent{.batch = batch,
                .sequence = sequence,
                .heads = t.heads,
                .kv_heads = t.kv_heads,
                .ffn = t.ffn,
                .vocab = t.vocab,
                .rows = batch * sequence};
  if (t.moe) {
    extent.experts = t.moe->experts;
    extent.expert_ffn = t.moe->expert_ffn;
    extent.shared_ffn = t.moe->shared_experts * t.moe->shared_ffn;
    extent.routed = extent.rows * t.moe->top_k;
  }
  return extent;
}

units::Flops layer_flops(const Transformer& t, std::int64_t sequence, std::int64_t layer) {
  const double s = real(sequence);
  const double mlp =
      is_moe_layer(t, layer) ? expert_weights(t) : mlp_parameters(t, real(t.ffn), false);
  const bool windowed = is_windowed_layer(t, layer) && t.window->size < sequence;
  const double reach = windowed ? real(t.window->size) : s;
  const double dims = real(t.heads) * real(t.head_dim + t.v_head_dim());
  return {2 * s * (attention_weights(t) + mlp) + 2 * s * reach * dims};
}

units::Flops model_flops(const Transformer& t, double sequences, std::int64_t sequence) {
  const double s = real(sequence), h = real(t.hidden);
  double forward = 0;
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    forward += layer_flops(t, sequence, layer).value;
  const double head = 2 * s * h * real(t.vocab);
  const double module = 2 * s * 2 * h * h + layer_flops(t, sequence, t.layers).value + head;
  return {3 * sequences * (forward + head + t.multi_token_prediction * module)};
}

units::Flops routed_flops(const Transformer& t, double sequences, std::int64_t sequence) {
  if (!t.moe) return {};
  double layers = 0;
  for (std::int64_t layer = 0; layer < t.layers; ++layer) layers += is_moe_layer(t, layer) ? 1 : 0;
  if (is_moe_layer(t, t.layers)) layers += static_cast<double>(t.multi_token_prediction);
  const double expert = mlp_parameters(t, real(t.moe->expert_ffn), false);
  return {3 * sequences * layers * 2 * real(sequence) * real(t.moe->top_k) * expert};
}

std::vector<units::Bytes> gradient_tensors(const Operator& op) {
  if (op.gradients.empty()) return {op.largest, op.largest};
  return op.gradients;
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

double narrow_weights(const Operator& op) {
  double sum = 0;
  for (const auto& kernel : op.forward)
    if (kernel.kind == units::Kernel::Kind::product && is_narrow(kernel.precision))
      sum += real(kernel.batch) * real(kernel.n) * real(kernel.k);
  return sum;
}

}  // namespace model
