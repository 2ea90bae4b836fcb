// SPDX-License-Identifier: Apache-2.0
// A layer: norm, QKV, attention core, output projection, residual; norm, MLP, residual.
// Kept tensors (2-byte elements, s tokens, b sequences, hidden h, a heads, f = 4h; Korthikanti et
// al. 2022, section 4.1): attention 11sbh + 5as²b, MLP 19sbh, norms 4sbh; together sbh(34 + 5as/h).
#include "model/layer.hpp"

#include <algorithm>

#include "model/builder.hpp"

namespace model {

using units::Bytes;
using units::Kernel;
using Layout = Kernel::Layout;

namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// Query-key products, softmax, dropout and the sum over values.
class AttentionCore {
 public:
  AttentionCore(const Builder& builder, std::int64_t window) : make_(builder) {
    const auto& e = builder.extent;
    dim_ = builder.transformer.head_dim;
    reach_ = window > 0 ? std::min(window, e.sequence) : e.sequence;
    groups_ = e.batch * e.heads;
    queries_ = real(e.tokens()) * real(e.heads * dim_);
    keys_ = real(e.tokens()) * real(e.kv_heads * dim_);
    scores_ = real(groups_) * real(e.sequence) * real(e.sequence);
  }

  Operators operators() const {
    if (make_.kernels.attention == AttentionKernel::unfused)
      return {scores(), softmax(), dropout(), values()};
    return {flash()};
  }

 private:
  double element() const { return make_.element(); }
  std::int64_t sequence() const { return make_.extent.sequence; }
  Operator core(std::string_view name) const {
    Operator op{.name = name, .part = Part::attention, .core = true};
    op.largest = {element() * scores_};
    return op;
  }

  // Only the log-sum-exp (fp32) is kept besides queries, keys, values and output.
  // Forward two products, backward five; half of each when causal.
  Operator flash() const {
    Operator op{.name = "attention", .part = Part::attention, .core = true};
    const bool causal = make_.transformer.causal;
    // A causal window touches size·(s − size/2) pairs, the whole triangle s²/2.
    const double pairs = causal ? real(reach_) * (real(sequence()) - 0.5 * real(reach_))
                                : real(reach_) * real(sequence());
    const double product = 2 * real(groups_) * pairs * real(dim_);
    Kernel forward{.kind = Kernel::Kind::attention,
                   .precision = make_.precision,
                   .layout = Layout::forward,
                   .causal = causal,
                   .batch = groups_,
                   .m = sequence(),
                   .n = reach_,
                   .k = dim_,
                   .flops = {2 * product},
                   .traffic = {element() * (2 * queries_ + 2 * keys_)}};
    Kernel backward = forward;
    backward.layout = Layout::input_gradient;
    backward.flops = {5 * product};
    backward.traffic = {element() * (5 * queries_ + 4 * keys_)};
    op.forward = {forward};
    op.input_gradient = {backward};
    op.kept = {{.name = "log-sum-exp", .size = {4 * real(groups_ * sequence())}, .core = true}};
    op.largest = {4 * queries_};  // fp32 gradient of the queries
    return op;
  }

  Operator scores() const {
    auto op = core("query-key product");
    op.forward = {make_.product(Layout::forward, sequence(), sequence(), dim_, groups_)};
    const auto back = make_.product(Layout::input_gradient, sequence(), dim_, sequence(), groups_);
    op.input_gradient = {back, back};
    return op;
  }

  Operator softmax() const {
    auto op = core("softmax");
    // The causal kernel reads the lower triangle only and writes zeros above it.
    const double read = make_.transformer.causal ? 0.5 : 1.0;
    if (make_.kernels.fused_softmax) {
      op.forward = {Builder::stream((1 + read) * element() * scores_)};
      op.input_gradient = {Builder::stream(3 * element() * scores_)};
    } else {
      const auto pass = Builder::stream(2 * element() * scores_);
      op.forward = {pass, pass, pass};  // scale, mask, softmax
      op.input_gradient = {Builder::stream(3 * element() * scores_), pass, pass};
    }
    op.kept = {{.name = "softmax output", .size = {element() * scores_}, .core = true}};
    return op;
  }

  Operator dropout() const {
    auto op = core("attention dropout");
    if (make_.transformer.dropout <= 0) return op;
    op.forward = {Builder::stream((2 * element() + 1) * scores_)};
    op.input_gradient = op.forward;
    op.kept = {{.name = "attention dropout mask", .size = {scores_}, .core = true},
               {.name = "attention dropout output", .size = {element() * scores_}, .core = true}};
    return op;
  }

  Operator values() const {
    auto op = core("sum over values");
    op.forward = {make_.product(Layout::forward, sequence(), dim_, sequence(), groups_),
                  Builder::stream(2 * element() * queries_)};  // heads back beside each other
    op.input_gradient = {
        make_.product(Layout::input_gradient, sequence(), sequence(), dim_, groups_),
        make_.product(Layout::input_gradient, sequence(), dim_, sequence(), groups_),
        Builder::stream(2 * element() * (queries_ + 2 * keys_))};
    return op;
  }

  const Builder& make_;
  std::int64_t dim_ = 0, reach_ = 0, groups_ = 0;
  double queries_ = 0, keys_ = 0, scores_ = 0;
};

void append(Operators& to, Operators from) { std::ranges::move(from, std::back_inserter(to)); }

Operators attention(const Builder& make, std::int64_t window) {
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const double element = make.element();
  const auto queries = e.heads * t.head_dim, keys = e.kv_heads * t.head_dim;
  const double tokens = real(e.tokens()), rows = real(e.rows);

  Operators ops{make.norm("attention norm", Part::attention, true)};
  auto qkv = make.linear("QKV projection", Part::attention, Seam::enter, t.hidden,
                         queries + 2 * keys, t.qkv_biases);
  qkv.kept = {
      {.name = "QKV input", .size = {element * rows * real(t.hidden)}},
      {.name = "queries, keys, values", .size = {element * tokens * real(queries + 2 * keys)}}};
  ops.push_back(std::move(qkv));

  const double rotated = element * tokens * real(queries + keys);
  if (t.query_key_norm) {
    Operator op{.name = "query and key norm", .part = Part::attention};
    op.forward = {Builder::stream(2 * rotated)};
    op.input_gradient = {Builder::stream(3 * rotated)};
    op.kept = {{.name = "query and key norm input", .size = {rotated}}};
    op.parameters = 2 * real(t.head_dim);
    ops.push_back(std::move(op));
  }
  if (t.position == Position::rope) {
    // Unfused: slices, negation, two products and a sum.
    Operator op{.name = "rotary embedding", .part = Part::attention};
    const int passes = make.kernels.fused_rotary ? 1 : 4;
    for (int i = 0; i < passes; ++i) op.forward.push_back(Builder::stream(2 * rotated));
    op.input_gradient = op.forward;
    ops.push_back(std::move(op));
  }
  append(ops, AttentionCore(make, window).operators());

  auto out =
      make.linear("output projection", Part::attention, Seam::leave, queries, t.hidden, t.biases);
  out.kept = {{.name = "output projection input", .size = {element * tokens * real(queries)}}};
  ops.push_back(std::move(out));
  ops.push_back(make.residual("attention residual", Part::attention, t.biases));
  return ops;
}

Operators mlp(const Builder& make) {
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const double element = make.element();
  const double tokens = real(e.tokens());
  const std::int64_t halves = t.gated() ? 2 : 1;
  const double wide = tokens * real(e.ffn);

  Operators ops;
  if (!t.parallel_block || t.norms_per_layer > 1)
    ops.push_back(make.norm("MLP norm", Part::mlp, false));
  auto up =
      make.linear("MLP up projection", Part::mlp, Seam::enter, t.hidden, halves * e.ffn, t.biases);
  if (!ops.empty())
    up.kept.push_back({.name = "MLP input", .size = {element * real(e.rows) * real(t.hidden)}});
  ops.push_back(std::move(up));

  Operator act{.name = "activation", .part = Part::mlp};
  act.forward = {Builder::stream((real(halves) + 1) * element * wide)};
  act.input_gradient = {Builder::stream((2 * real(halves) + 1) * element * wide)};
  if (!make.kernels.fused_bias_activation) {
    act.forward.push_back(Builder::stream((real(halves) + 1) * element * wide));
    act.input_gradient.push_back(Builder::stream((real(halves) + 1) * element * wide));
  }
  act.kept = {{.name = "activation input", .size = {real(halves) * element * wide}}};
  act.largest = {real(halves) * element * wide};
  ops.push_back(std::move(act));

  auto down = make.linear("MLP down projection", Part::mlp, Seam::leave, e.ffn, t.hidden, t.biases);
  down.kept = {{.name = "MLP down projection input", .size = {element * wide}}};
  ops.push_back(std::move(down));
  ops.push_back(make.residual("MLP residual", Part::mlp, t.biases));
  // Further norms (Gemma 2 and 3 norm each block's output too).
  for (int extra = 2; extra < t.norms_per_layer; ++extra)
    ops.push_back(make.norm("output norm", Part::mlp, false));
  return ops;
}

}  // namespace

Operators layer(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
                units::Precision precision, std::int64_t window) {
  const Builder make{transformer, extent, kernels, precision};
  auto ops = attention(make, window);
  append(ops, mlp(make));
  return ops;
}

Operators embedding(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
                    units::Precision precision) {
  const Builder make{transformer, extent, kernels, precision};
  const double h = real(transformer.hidden), element = make.element();
  const double values = real(extent.tokens()) * h, here = real(extent.rows) * h;
  Operator look{.name = "embedding look-up", .part = Part::embedding, .seam = Seam::leave};
  look.forward = {Builder::random(2 * element * values)};
  look.weight_gradient = {Builder::random(3 * element * values)};
  look.parameters = real(extent.vocab) * h;
  look.largest = {element * values};
  Operators ops{std::move(look)};
  if (transformer.position == Position::learned) {
    Operator add{.name = "position embedding", .part = Part::embedding};
    add.forward = {Builder::stream(3 * element * values)};
    add.weight_gradient = {Builder::stream(2 * element * values)};
    add.parameters = real(transformer.max_sequence) * h;
    ops.push_back(std::move(add));
  }
  if (transformer.dropout > 0) {
    Operator drop{.name = "embedding dropout", .part = Part::embedding};
    drop.forward = {Builder::stream((2 * element + 1) * here)};
    drop.input_gradient = drop.forward;
    drop.kept = {{.name = "embedding dropout mask", .size = {here}}};
    ops.push_back(std::move(drop));
  }
  return ops;
}

// Cross entropy over a divided vocabulary, fp32: cast up, maximum, subtraction, exponential, sum
// and division each pass over the logits; the backward pass scales the kept probabilities and casts
// down. Fused: one pass each way in 16 bit.
Operators head(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
               units::Precision precision) {
  const Builder make{transformer, extent, kernels, precision};
  const double h = real(transformer.hidden), element = make.element();
  const double logits = real(extent.tokens()) * real(extent.vocab);
  auto product =
      make.linear("LM head", Part::head, Seam::enter, transformer.hidden, extent.vocab, false);
  product.kept = {{.name = "LM head input", .size = {element * real(extent.rows) * h}}};

  Operator loss{.name = "cross entropy", .part = Part::head};
  if (kernels.fused_cross_entropy) {
    loss.forward = {Builder::stream(2 * element * logits)};
    loss.input_gradient = {Builder::stream(2 * element * logits)};
    loss.kept = {{.name = "logits", .size = {element * logits}}};
    loss.largest = {element * logits};
  } else {
    loss.forward = {Builder::stream((element + 4) * logits),
                    Builder::stream(4 * logits),
                    Builder::stream(8 * logits),
                    Builder::stream(8 * logits),
                    Builder::stream(4 * logits),
                    Builder::stream(8 * logits)};
    loss.input_gradient = {Builder::stream(8 * logits), Builder::stream((element + 4) * logits)};
    loss.kept = {{.name = "logits", .size = {4 * logits}}};
    loss.largest = {(element + 4) * logits};
  }
  Operators ops{make.norm("final norm", Part::head, false), std::move(product), std::move(loss)};
  return ops;
}

}  // namespace model
