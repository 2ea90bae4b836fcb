// SPDX-License-Identifier: Apache-2.0
// The attention half of a layer: norm, projections to queries, keys and values, the core, output
// projection, residual.
#include <algorithm>

#include "model/builder.hpp"

namespace model {

using units::Kernel;
using Layout = Kernel::Layout;

namespace {

units::FusedAttention fused(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::flash_1:
      return units::FusedAttention::flash_1;
    case AttentionKernel::flash_3:
      return units::FusedAttention::flash_3;
    case AttentionKernel::memory_efficient:
      return units::FusedAttention::memory_efficient;
    case AttentionKernel::fused:
      return units::FusedAttention::cudnn;
    case AttentionKernel::flash:
    case AttentionKernel::unfused:
    case AttentionKernel::fused_from_hopper:
    case AttentionKernel::fused_from_blackwell:
      break;
  }
  return units::FusedAttention::flash_2;
}

bool is_flash(AttentionKernel kernel) {
  using enum AttentionKernel;
  return kernel == flash || kernel == flash_1 || kernel == flash_3;
}

// Query-key products, softmax, dropout and the sum over values.
class AttentionCore {
 public:
  AttentionCore(const Builder& builder, std::int64_t window)
      : make_(builder.wide()), narrow_(builder.keeps_copies()) {
    const auto& e = builder.extent;
    dim_ = builder.transformer.head_dim;
    value_dim_ = builder.transformer.v_head_dim();
    reach_ = window > 0 ? std::min(window, e.sequence) : e.sequence;
    groups_ = e.batch * e.heads;
    queries_ = real(e.tokens()) * real(e.heads * dim_);
    outputs_ = real(e.tokens()) * real(e.heads * value_dim_);
    const auto kv_heads = core_kv_heads(e, builder.kernels);
    keys_ = real(e.tokens()) * real(kv_heads * dim_);
    values_ = real(e.tokens()) * real(kv_heads * value_dim_);
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
    return {.name = name,
            .part = Part::attention,
            .core = true,
            .module = Module::core_attn,
            .largest = {element() * scores_}};
  }
  // In the backward pass one matrix of scores is alive beside the kept ones: the softmax's gradient
  // overwrites that of its output, and the dropout's output is free when the dropout's gradient is
  // made.
  Operator unfused(std::string_view name) const {
    auto op = core(name);
    op.gradients = {op.largest};
    return op;
  }
  static Kept kept(std::string_view name, double bytes) {
    return {.name = name, .size = {bytes}, .core = true, .module = Module::core_attn};
  }
  // One learned score per head that the softmax counts in.
  double sinks() const { return make_.transformer.attention_sinks ? real(make_.extent.heads) : 0; }

  // Only the log-sum-exp (fp32) is kept besides queries, keys, values and output. The forward pass
  // runs two products, the backward pass five (three of queries' width), and half of each when
  // causal.
  Operator flash() const {
    auto op = core("attention");
    const bool causal = make_.transformer.causal;
    // A causal window touches size·(s − size/2) pairs, the whole triangle s²/2.
    const double pairs = causal ? real(reach_) * (real(sequence()) - 0.5 * real(reach_))
                                : real(reach_) * real(sequence());
    const double each = 2 * real(groups_) * pairs, q = real(dim_), v = real(value_dim_);
    Kernel forward{.kind = Kernel::Kind::attention,
                   .precision = make_.precision,
                   .layout = Layout::forward,
                   .causal = causal,
                   .fused = fused(make_.kernels.attention),
                   .batch = groups_,
                   .m = sequence(),
                   .n = reach_,
                   .k = dim_,
                   .flops = {each * (q + v)},
                   .traffic = {element() * (queries_ + outputs_ + keys_ + values_)}};
    Kernel backward = forward;
    backward.layout = Layout::input_gradient;
    backward.flops = {each * (3 * q + 2 * v)};
    backward.traffic = {element() * (3 * queries_ + 2 * outputs_ + 2 * keys_ + 2 * values_)};
    op.forward = {forward};
    op.input_gradient = {backward};
    op.kept = {kept("log-sum-exp", 4 * real(groups_ * sequence()))};
    // In 8 and 4 bit the projection keeps a narrow copy, and the core's own output is kept below.
    if (make_.kernels.copies_attention_output && is_flash(make_.kernels.attention) && !narrow_)
      op.kept.push_back(kept("attention output", element() * outputs_));
    op.parameters = sinks();
    op.largest = {4 * queries_};  // fp32 gradient of the queries
    return op;
  }

  Operator scores() const {
    auto op = unfused("query-key product");
    op.forward = {make_.product(Layout::forward, sequence(), sequence(), dim_, groups_)};
    const auto back = make_.product(Layout::input_gradient, sequence(), dim_, sequence(), groups_);
    op.input_gradient = {back, back};
    return op;
  }

  Operator softmax() const {
    auto op = unfused("softmax");
    // The causal kernel reads the lower triangle only and writes zeros above it.
    const double read = make_.transformer.causal ? 0.5 : 1.0;
    if (make_.kernels.fused_softmax) {
      op.forward = {Builder::stream((1 + read) * element() * scores_)};
      op.input_gradient = {Builder::stream(3 * element() * scores_)};
    } else if (computes_wide_softmax()) {
      constexpr double wide = 4;
      const auto pass = Builder::stream(2 * element() * scores_),
                 cast = Builder::stream((element() + wide) * scores_);
      // Scale, mask, to fp32, softmax, and back to 16 bit.
      op.forward = {pass, pass, cast, Builder::stream(2 * wide * scores_), cast};
      op.input_gradient = {cast, Builder::stream(3 * wide * scores_), cast, pass};
      op.kept = {kept("softmax output in fp32", wide * scores_)};
      op.gradients = {{wide * scores_}, op.largest};
    } else {
      const auto pass = Builder::stream(2 * element() * scores_);
      op.forward = {pass, pass, pass};  // scale, mask, softmax
      op.input_gradient = {Builder::stream(3 * element() * scores_), pass, pass};
    }
    op.kept.push_back(kept("softmax output", element() * scores_));
    op.parameters = sinks();
    return op;
  }

  bool computes_wide_softmax() const {
    const auto& kernels = make_.kernels;
    return (kernels.softmax_in_fp32 || kernels.autocast) && !kernels.fused_softmax && element() < 4;
  }

  Operator dropout() const {
    auto op = unfused("attention dropout");
    if (make_.transformer.dropout <= 0) return op;
    op.forward = {Builder::stream((2 * element() + 1) * scores_)};
    op.input_gradient = op.forward;
    op.kept = {kept("attention dropout mask", scores_),
               kept("attention dropout output", element() * scores_)};
    return op;
  }

  Operator values() const {
    auto op = unfused("sum over values");
    op.forward = {make_.product(Layout::forward, sequence(), value_dim_, sequence(), groups_),
                  Builder::stream(2 * element() * outputs_)};  // heads back beside each other
    op.input_gradient = {
        make_.product(Layout::input_gradient, sequence(), sequence(), value_dim_, groups_),
        make_.product(Layout::input_gradient, sequence(), value_dim_, sequence(), groups_),
        Builder::stream(2 * element() * (queries_ + keys_ + values_))};
    return op;
  }

  Builder make_;  // 16 bit
  bool narrow_;   // the linear layers around it
  std::int64_t dim_ = 0, value_dim_ = 0, reach_ = 0, groups_ = 0;
  double queries_ = 0, outputs_ = 0, keys_ = 0, values_ = 0, scores_ = 0;
};

Operators projections(const Builder& make) {
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const double element = make.element(), tokens = real(e.tokens()), rows = real(e.rows);
  const auto queries = e.heads * t.head_dim, keys = e.kv_heads * t.head_dim,
             read = core_kv_heads(e, make.kernels) * t.head_dim;

  auto qkv = make.joined("QKV projection", Part::attention, Seam::enter, t.hidden,
                         {queries, keys, keys}, t.qkv_biases);
  qkv.kept = {
      {.name = "QKV input",
       .size = {real(make.copies_for(3)) * make.kept_element() * rows * real(t.hidden)},
       .module = Module::layernorm,
       .value_bytes = make.kept_element()},
      {.name = "queries, keys, values", .size = {element * tokens * real(queries + 2 * read)}}};
  Operators ops{std::move(qkv)};

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
  if (read > keys) {
    Operator op{.name = "repeated keys and values", .part = Part::attention};
    const auto each = Builder::stream(element * tokens * real(keys + read));
    op.forward = op.input_gradient = {each, each};  // keys, values; gradients are summed up
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace

Operators attention(const Builder& given, std::int64_t window) {
  const auto make = given.of_attention();
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const auto outputs = e.heads * t.v_head_dim();
  const bool bias = t.biases || t.output_bias;

  Operators ops{make.norm("attention norm", Part::attention, true)};
  ops.front().module = Module::layernorm;
  append(ops, t.latent ? latent_projections(make) : projections(make));
  append(ops, AttentionCore(make, window).operators());
  auto out =
      make.linear("output projection", Part::attention, Seam::leave, outputs, t.hidden, bias);
  out.kept = {{.name = "output projection input",
               .size = {make.kept_element() * real(e.tokens()) * real(outputs)},
               .value_bytes = make.kept_element(),
               .attention = !make.keeps_copies()}};
  // The projection's narrow copy is not what the backward pass of flash attention reads.
  if (make.keeps_copies() && make.kernels.attention != AttentionKernel::unfused)
    out.kept.push_back({.name = "attention output",
                        .size = {make.element() * real(e.tokens()) * real(outputs)},
                        .core = true,
                        .module = Module::core_attn,
                        .value_bytes = make.element()});
  ops.push_back(std::move(out));
  ops.push_back(make.residual("attention residual", Part::attention, bias));
  return ops;
}

}  // namespace model
