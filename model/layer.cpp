// SPDX-License-Identifier: Apache-2.0
// A layer: norm, QKV, attention core, output projection, residual; norm, MLP, residual.
// Kept tensors (2-byte elements, s tokens, b sequences, hidden h, a heads, f = 4h; Korthikanti et
// al. 2022, section 4.1): attention 11sbh + 5as²b, MLP 19sbh, norms 4sbh; together sbh(34 + 5as/h).
#include "model/layer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/builder.hpp"

namespace model {

using units::Kernel;

Operators layer(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
                units::Precision precision, std::int64_t window, Mlp mlp) {
  if (mlp == Mlp::experts && !transformer.moe)
    throw std::invalid_argument("a layer with experts of a model that has none");
  const Builder make{transformer, extent, kernels, precision};
  auto ops = attention(make, window);
  append(ops, mlp == Mlp::experts ? expert_mlp(make) : dense_mlp(make));
  // Further norms (Gemma 2 and 3 norm each block's output too).
  for (int extra = 2; extra < transformer.norms_per_layer; ++extra)
    ops.push_back(make.norm("output norm", Part::mlp, false));
  return ops;
}

Operators embedding(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
                    units::Precision precision) {
  const Builder make{transformer, extent, kernels, precision};
  const double h = real(transformer.hidden), element = make.carried_element();
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
// down. In place, these all work on the kept logits, and 6 bytes a logit are alive in each pass:
// fp32 and the 16-bit logits or their gradient (Megatron-Core, tensor_parallel/cross_entropy.py).
// Otherwise they work on a copy beside them: 10 bytes forward with the copy, 12 backward with the
// gradients of log-probabilities and of logits (torch.nn.functional.cross_entropy). Compiled,
// nothing between the 16-bit logits and their gradient is ever in memory (torch.compile of the
// loss, torchtitan/components/loss.py). With Kernels::gradients_in_place the gradients are written
// over the logits (XLA, whose fusions may share the buffer of an operand that nothing reads later).
// Fused, there is one pass each way in 16 bit.
namespace {

void keep_logits(Operator& loss, double logits, double element, const Kernels& kernels) {
  const bool in_place = kernels.cross_entropy_in_place;
  const bool compiled = kernels.compiled_cross_entropy;
  loss.kept = {{.name = "logits", .size = {(compiled ? element : 4) * logits}}};
  if (compiled) {
    loss.gradients = {{kernels.gradients_in_place ? 0 : element * logits}};
    return;
  }
  loss.read = {element * logits};
  if (in_place) {
    loss.gradients = {{element * logits}};
  } else {
    loss.largest = {4 * logits};
    loss.gradients = {{4 * logits}, {4 * logits}};
  }
}

}  // namespace

LossParts loss_parts(const Transformer& transformer, const Extent& extent, const Kernels& kernels) {
  const auto over = [](std::int64_t all, std::int64_t part) { return (all + part - 1) / part; };
  const auto tokens = std::max<std::int64_t>(1, extent.tokens());
  const auto wanted = kernels.loss_chunks == Kernels::by_width
                          ? over(extent.vocab, std::max<std::int64_t>(1, transformer.hidden))
                          : kernels.loss_chunks;
  const auto parts = std::clamp<std::int64_t>(wanted, 1, Kernels::most_loss_chunks);
  const auto each = over(tokens, std::min(parts, tokens));
  return {each, over(tokens, each)};
}

namespace {

Operator cross_entropy(double logits, double element, const Kernels& kernels) {
  Operator loss{.name = "cross entropy", .role = Role::cross_entropy, .part = Part::head};
  if (kernels.fused_cross_entropy) {
    loss.forward = {Builder::stream(2 * element * logits)};
    loss.input_gradient = {Builder::stream(2 * element * logits)};
    loss.kept = {{.name = "logits", .size = {element * logits}}};
    loss.largest = {element * logits};
    loss.gradients = {loss.largest};
  } else {
    loss.forward = {Builder::stream((element + 4) * logits),
                    Builder::stream(4 * logits),
                    Builder::stream(8 * logits),
                    Builder::stream(8 * logits),
                    Builder::stream(4 * logits),
                    Builder::stream(8 * logits)};
    loss.input_gradient = {Builder::stream(8 * logits), Builder::stream((element + 4) * logits)};
    keep_logits(loss, logits, element, kernels);
  }
  return loss;
}

// Makes a loss that runs part by part keep no logits: those of a part are there only while it runs.
void keep_no_logits(Operator& loss) {
  units::Bytes logits;
  for (const auto& tensor : loss.kept) logits += tensor.size;
  loss.kept.clear();
  loss.read += logits;
  loss.gradients.push_back(logits);
}

void append_kernels(Operator& to, const Operator& from) {
  const auto add = [](std::vector<Kernel>& kernels, const std::vector<Kernel>& more) {
    kernels.insert(kernels.end(), more.begin(), more.end());
  };
  add(to.forward, from.forward);
  add(to.input_gradient, from.input_gradient);
  add(to.weight_gradient, from.weight_gradient);
}

}  // namespace

Operators head(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
               units::Precision precision) {
  const auto make = Builder{transformer, extent, kernels, precision}.wide();
  const double h = real(transformer.hidden), element = make.element();
  const auto parts = loss_parts(transformer, extent, kernels);
  Operator product, loss;
  for (std::int64_t part = 0; part < parts.count; ++part) {
    auto here = extent;
    if (parts.count > 1) {
      here.batch = 1;
      here.sequence = std::min(parts.tokens, extent.tokens() - part * parts.tokens);
    }
    const auto of_part = Builder{transformer, here, kernels, precision}.wide();
    auto next =
        of_part.linear("LM head", Part::head, Seam::enter, transformer.hidden, extent.vocab, false);
    auto next_loss = cross_entropy(real(here.tokens()) * real(extent.vocab), element, kernels);
    if (part == 0) {
      product = std::move(next);
      loss = std::move(next_loss);
    } else {
      append_kernels(product, next);
      append_kernels(loss, next_loss);
    }
  }
  product.exchanged = {element * real(extent.tokens()) * h};
  product.role = Role::lm_head;
  product.kept = {
      {.name = "LM head input", .size = {element * real(extent.rows) * h}, .value_bytes = element}};
  // The gradients of the logits are then the only tensor as large as the logits.
  if (parts.count > 1 || kernels.gradients_in_place)
    product.gradients = {product.exchanged, product.largest};
  if (parts.count > 1) keep_no_logits(loss);
  Operators ops{make.norm("final norm", Part::head, false), std::move(product), std::move(loss)};
  return ops;
}

// The projection lies whole on every rank, which computes its own rows of it.
Operators prediction(const Transformer& transformer, const Extent& extent, const Kernels& kernels,
                     units::Precision precision) {
  const Builder make{transformer, extent, kernels, precision};
  const auto h = transformer.hidden, next = transformer.layers;
  Operators ops{embedding(transformer, extent, kernels, precision).front(),
                make.norm("embedding norm", Part::head, false),
                make.norm("hidden norm", Part::head, true),
                make.replicated("prediction projection", Part::head, 2 * h, h)};
  ops.front().parameters = 0;
  ops.back().kept = {{.name = "prediction projection input",
                      .size = {make.kept_element() * real(extent.rows) * real(2 * h)},
                      .value_bytes = make.kept_element()}};
  const auto window = is_windowed_layer(transformer, next) ? transformer.window->size : 0;
  const auto mlp = is_moe_layer(transformer, next) ? Mlp::experts : Mlp::dense;
  append(ops, layer(transformer, extent, kernels, precision, window, mlp));
  auto last = head(transformer, extent, kernels, precision);
  for (auto& op : last)
    if (op.role == Role::lm_head) op.parameters = 0;
  append(ops, std::move(last));
  return ops;
}

}  // namespace model
