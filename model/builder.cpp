// SPDX-License-Identifier: Apache-2.0
#include "model/builder.hpp"

#include <algorithm>

namespace model {

using units::Bytes;
using units::Kernel;
using units::Precision;
using Layout = Kernel::Layout;

double Builder::element() const { return wide_bytes(precision); }

double Builder::operand_element() const {
  if (!is_narrow(precision)) return element();
  return copy_bytes(precision, kernels.scaling, Operand::values);
}

Builder Builder::wide() const { return {transformer, extent, kernels, wide_precision(precision)}; }

std::vector<Kernel> Builder::casts_of_input(double values) const {
  return casts(precision, kernels.scaling, values, {.columns = !kernels.wide.weight_gradients});
}

std::vector<Kernel> Builder::casts_of_gradient(double values) const {
  return casts(precision, kernels.scaling, values,
               {.rows = !kernels.wide.input_gradients, .columns = !kernels.wide.weight_gradients});
}

std::vector<Kernel> Builder::casts_between(double values, std::int64_t copies) const {
  if (!autocasts()) return {};
  return {static_cast<std::size_t>(copies), stream((element() + 4) * values)};
}

void Builder::cast_carried(Operator& op, double inputs, std::int64_t products) const {
  if (kernels.joins_casts) return;
  const auto each = casts_between(inputs, products);
  op.forward.insert(op.forward.begin(), each.begin(), each.end());
  op.input_gradient.insert(op.input_gradient.end(), each.begin(), each.end());
}

Kernel Builder::product(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                        std::int64_t batch) const {
  const double M = real(m), N = real(n), K = real(k), B = real(batch);
  const double operands = operand_element() * (M * K + K * N), results = element() * (M * N);
  return {.kind = Kernel::Kind::product,
          .precision = precision,
          .layout = layout,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .flops = {2 * B * M * N * K},
          .traffic = {B * (operands + results)}};
}

Kernel Builder::stream(double bytes) { return {.kind = Kernel::Kind::stream, .traffic = {bytes}}; }
Kernel Builder::random(double bytes) { return {.kind = Kernel::Kind::random, .traffic = {bytes}}; }

Builder::Products Builder::products(std::int64_t rows, std::int64_t in, std::int64_t out,
                                    std::int64_t batch) const {
  return {product(Layout::forward, rows, out, in, batch),
          gradient_of_inputs().product(Layout::input_gradient, rows, in, out, batch),
          gradient_of_weights().product(Layout::weight_gradient, out, in, rows, batch)};
}

Operator Builder::weighted(const Products& products, double weights, double inputs,
                           double outputs) const {
  Operator op;
  op.forward = casts_of_input(inputs);
  for (const auto& cast : casts_between(weights)) op.forward.push_back(cast);
  op.forward.push_back(products.forward);
  op.input_gradient = casts_of_gradient(outputs);  // for both gradients
  op.input_gradient.push_back(products.input_gradient);
  auto gradient = products.weight_gradient;
  const double sums = 2 * kernels.gradient_bytes;  // read and written
  if (autocasts()) {
    op.weight_gradient = {gradient, casts_between(weights).front(), stream((4 + sums) * weights)};
  } else if (kernels.fused_gradient_accumulation) {
    // The product adds to them in place instead of writing an element.
    gradient.traffic += Bytes{(sums - element()) * weights};
    op.weight_gradient = {gradient};
  } else if (kernels.staged_gradient_accumulation) {
    const double wide = kernels.gradient_bytes;
    op.weight_gradient = {gradient};
    for (const double bytes : {3 * element(), element() + wide, wide + sums, element()})
      op.weight_gradient.push_back(stream(bytes * weights));
  } else {
    op.weight_gradient = {gradient, stream((element() + sums) * weights)};
  }
  op.parameters = weights;
  op.largest = {element() * outputs};
  return op;
}

Operator Builder::linear(std::string_view name, Part part, Seam seam, std::int64_t in,
                         std::int64_t out, bool bias) const {
  const auto tokens = extent.tokens();
  const double outputs = real(tokens) * real(out);
  auto op =
      weighted(products(tokens, in, out), real(in) * real(out), real(tokens) * real(in), outputs);
  op.name = name;
  op.part = part;
  op.seam = seam;
  if (seam == Seam::enter) {
    op.exchanged = {element() * real(tokens) * real(in)};
    cast_carried(op, real(tokens) * real(in), 1);
  }
  if (seam == Seam::leave) op.exchanged = {element() * outputs};
  if (bias) {
    op.parameters += real(out);
    op.weight_gradient.push_back(stream(element() * outputs));  // sum of the gradient over tokens
  }
  return op;
}

namespace {

// Replaces the product of all outputs by one product for each. Each takes its share, by flops, of
// the traffic beyond operands and results, which is a sum of gradients.
void take_apart(std::vector<Kernel>& kernels, const Kernel& whole,
                const std::vector<Kernel>& parts) {
  const auto place = std::ranges::find(kernels, Kernel::Kind::product, &Kernel::kind);
  const auto beyond = place->traffic - whole.traffic;
  const auto first = kernels.erase(place);
  const auto made = kernels.insert(first, parts.begin(), parts.end());
  for (auto kernel = made; kernel != made + static_cast<std::ptrdiff_t>(parts.size()); ++kernel)
    kernel->traffic += (kernel->flops / whole.flops) * beyond;
}

}  // namespace

Operator Builder::joined(std::string_view name, Part part, Seam seam, std::int64_t in,
                         std::initializer_list<std::int64_t> outs, bool bias) const {
  const auto tokens = extent.tokens();
  std::int64_t all = 0;
  for (const auto out : outs) all += out;
  auto op = linear(name, part, seam, in, all, bias);
  for (const auto out : outs) op.products.push_back(real(out) / real(all));
  if (kernels.joined_projections) return op;
  const auto whole = products(tokens, in, all);
  std::vector<Kernel> forward, input_gradient, weight_gradient;
  for (const auto out : outs) {
    const auto one = products(tokens, in, out);
    forward.push_back(one.forward);
    input_gradient.push_back(one.input_gradient);
    weight_gradient.push_back(one.weight_gradient);
  }
  take_apart(op.forward, whole.forward, forward);
  take_apart(op.input_gradient, whole.input_gradient, input_gradient);
  take_apart(op.weight_gradient, whole.weight_gradient, weight_gradient);
  const double inputs = real(tokens) * real(in);
  if (seam == Seam::enter) cast_carried(op, inputs, std::ssize(outs) - 1);
  const auto sum = stream(3 * carried_element() * inputs);
  op.input_gradient.insert(op.input_gradient.end(), outs.size() - 1, sum);
  return op;
}

Operator Builder::replicated(std::string_view name, Part part, std::int64_t in,
                             std::int64_t out) const {
  auto op = weighted(products(extent.rows, in, out), real(in) * real(out),
                     real(extent.rows) * real(in), real(extent.rows) * real(out));
  op.name = name;
  op.part = part;
  cast_carried(op, real(extent.rows) * real(in), 1);
  return op;
}

namespace {

// One call issues the products of all experts in a loop. In 8 and 4 bit each has casts of its own,
// and in mxfp8 the scales of both operands are laid out for cuBLAS before every product. A bias's
// sum over tokens is part of the product.
std::int64_t launches_of_expert(const Kernel& kernel) {
  const bool product = kernel.kind == Kernel::Kind::product;
  return product && kernel.precision == Precision::mxfp8 ? 3 : 1;
}

}  // namespace

Operator Builder::grouped(std::string_view name, std::int64_t in, std::int64_t out,
                          bool bias) const {
  const auto count = std::max<std::int64_t>(1, extent.experts);
  const auto rows = std::max<std::int64_t>(1, (extent.routed + count - 1) / count);
  const double weights = real(count) * real(in) * real(out);
  const double inputs = real(extent.routed) * real(in), outputs = real(extent.routed) * real(out);
  auto all = products(rows, in, out, count);
  // Flops count the rows that there are; `rows` is rounded up.
  for (auto* kernel : {&all.forward, &all.input_gradient, &all.weight_gradient})
    kernel->flops = {2 * inputs * real(out)}, kernel->grouped = count > 1;
  const auto traffic = [&](const Builder& by, double operands, double results) {
    return Bytes{by.operand_element() * operands + element() * results};
  };
  all.forward.traffic = traffic(*this, inputs + weights, outputs);
  all.input_gradient.traffic = traffic(gradient_of_inputs(), outputs + weights, inputs);
  all.weight_gradient.traffic = traffic(gradient_of_weights(), inputs + outputs, weights);
  auto op = weighted(all, weights, inputs, outputs);
  op.name = name;
  op.part = Part::mlp;
  op.module = Module::moe;
  op.expert = true;
  if (bias) {
    op.parameters += real(count) * real(out);
    if (kernels.expert_products == ExpertProducts::grouped) {
      op.forward.push_back(stream(2 * element() * outputs));
      op.weight_gradient.push_back(stream(element() * outputs));
    }
  }
  const bool alone = kernels.expert_products != ExpertProducts::grouped;
  if (!alone || fuses_experts(kernels, precision)) return op;
  for (auto* pass : {&op.forward, &op.input_gradient, &op.weight_gradient})
    for (auto& kernel : *pass)
      if (is_narrow(precision) || kernel.kind == Kernel::Kind::product)
        kernel.launches = count * launches_of_expert(kernel);
  return op;
}

namespace {

// The bytes that each kernel of a norm moves per value.
struct NormTraffic {
  std::vector<double> forward, input_gradient, weight_gradient;
};

// Layer norm in steps: cast up, square, mean, scale, cast down each pass over the tensor.
NormTraffic in_passes(double e, int passes) {
  const auto times = static_cast<std::size_t>(passes);
  return {std::vector<double>(times, 2 * e), std::vector<double>(times, 3 * e), {2 * e}};
}

// RMS norm as autograd runs it where nothing fuses it: in fp32, kernel by kernel.
NormTraffic rms_in_steps(double e) {
  constexpr double w = 4;
  NormTraffic all{{2 * w, w, 2 * w, 2 * e},  // square, mean, times its root, times the weight
                  {2 * e, 2 * w, 3 * w, 2 * w, 3 * w},  // of these in turn; both ways summed up
                  {3 * e, e}};                          // product, and its sum over tokens
  if (e < w) {                                          // casts
    all.forward.insert(all.forward.end(), {e + w, w + e});
    all.input_gradient.insert(all.input_gradient.end(), {e + w, w + e});
  }
  return all;
}

}  // namespace

Operator Builder::norm(std::string_view name, Part part, bool keeps_layer_input) const {
  const double values = real(extent.rows) * real(transformer.hidden);
  const bool rms = transformer.norm == Norm::rmsnorm;
  const double carried = carried_element();
  auto traffic = kernels.fused_norm ? in_passes(carried, 1)
                 : rms              ? rms_in_steps(carried)
                                    : in_passes(carried, 4);
  // With the cast of its output joined, and of the gradient that it reads.
  if (autocasts() && kernels.joins_casts)
    for (auto* pass : {&traffic.forward, &traffic.input_gradient, &traffic.weight_gradient})
      pass->back() += element() - carried;
  const auto streams = [&](const std::vector<double>& bytes) {
    std::vector<units::Kernel> all;
    for (const double each : bytes) all.push_back(stream(each * values));
    return all;
  };
  Operator op{.name = name, .part = part};
  op.forward = streams(traffic.forward);
  op.input_gradient = streams(traffic.input_gradient);
  op.input_gradient.push_back(stream(3 * carried * values));  // plus the residual's gradient
  op.weight_gradient = streams(traffic.weight_gradient);
  op.kept = {{.name = keeps_layer_input ? "layer input" : "norm input",
              .size = {carried * values},
              .layer_input = keeps_layer_input}};
  op.parameters = real(transformer.hidden) * (transformer.norm == Norm::layernorm ? 2 : 1);
  op.largest = {carried * values};
  return op;
}

Operator Builder::residual(std::string_view name, Part part, bool bias) const {
  const double values = real(extent.rows) * real(transformer.hidden);
  const bool drops = transformer.dropout > 0;
  const double mask = drops ? 1 : 0;
  const double sum = element() + 2 * carried_element();
  Operator op{.name = name, .part = part};
  if (kernels.fused_bias_dropout_add || (!drops && !bias)) {
    op.forward = {stream((sum + mask) * values)};
  } else {
    if (bias) op.forward.push_back(stream(2 * element() * values));
    if (drops) op.forward.push_back(stream((2 * element() + mask) * values));
    op.forward.push_back(stream(sum * values));
  }
  if (!kernels.joins_casts) op.input_gradient = casts_between(values);
  if (drops) {
    op.input_gradient.push_back(stream((2 * element() + mask) * values));
    op.kept = {{.name = "dropout mask", .size = {values}}};
  }
  op.largest = {carried_element() * values};
  return op;
}

}  // namespace model
