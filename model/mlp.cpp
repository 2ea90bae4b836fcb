// SPDX-License-Identifier: Apache-2.0
// The MLP half of a layer, dense or with experts.
// An expert layer of T rows, k experts per token and R token copies here, expert width f: the
// element-wise work passes some 8 times over T·k·h elements each way, in many small kernels.
// Kept, 2-byte elements, SwiGLU: norm and its output 4Th, gate logits and map 5TE, dispatched
// tokens 2Rh, expert middles 6Rf, order 8Tk and weights 4R of the copies.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "model/builder.hpp"

namespace model {

namespace {

using Layout = units::Kernel::Layout;

// The norm before the MLP; none if attention and MLP read the same one.
Operators mlp_norm(const Builder& make) {
  const auto& t = make.transformer;
  if (t.parallel_block && t.norms_per_layer < 2) return {};
  Operators ops{make.norm("MLP norm", Part::mlp, false)};
  ops.front().role = Role::mlp_norm;
  ops.front().module = Module::layernorm;
  return ops;
}

// `given` makes the layer, `make` the linear layers that read the input.
std::vector<Kept> mlp_input(const Builder& given, const Builder& make, const Operators& norm) {
  if (norm.empty() && given.of_attention().keeps_copies() == make.keeps_copies())
    return {};  // attention keeps it
  const auto copies = real(make.copies_for(make.transformer.gated() ? 2 : 1));
  const double bytes =
      copies * make.kept_element() * real(make.extent.rows) * real(make.transformer.hidden);
  return {{.name = "MLP input",
           .size = {bytes},
           .module = Module::layernorm,
           .value_bytes = make.kept_element()}};
}

// The names of an MLP's operators and kept tensors: projection up, activation, projection down.
struct Names {
  std::string_view up, activation, down, activation_input, down_input;
};
constexpr Names dense_names{"MLP up projection", "activation", "MLP down projection",
                            "activation input", "MLP down projection input"};
constexpr Names shared_names{"shared expert up projection", "shared expert activation",
                             "shared expert down projection", "shared expert activation input",
                             "shared expert down projection input"};

// 0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), operation by operation. Under autocast the
// power is in fp32, and all that follows from it.
void compute_gelu_in_steps(const Builder& make, Operator& op, double values) {
  const double e = make.element(), w = make.carried_element();
  const auto set = [&](std::vector<units::Kernel>& kernels, std::initializer_list<double> bytes) {
    kernels.clear();
    for (const double each : bytes) kernels.push_back(Builder::stream(each * values));
  };
  const auto cast = [&](std::vector<units::Kernel>& kernels, std::int64_t count) {
    for (const auto& kernel : make.casts_between(values, count)) kernels.push_back(kernel);
  };
  // Power, times 0.044715, plus x, times √(2/π), tanh, plus 1, half of x, product. Casts: of x and
  // of the result.
  set(op.forward, {2 * w, 2 * w, e + 2 * w, 2 * w, 2 * w, 2 * w, 2 * e, e + 2 * w});
  cast(op.forward, 2);
  // Both gradients of the product, half, tanh, twice a factor, the power's three, and two sums of
  // gradients of x. Casts: of the result's gradient, and of three of x.
  set(op.input_gradient,
      {e + 2 * w, 3 * w, 2 * e, 3 * w, 2 * w, 2 * w, 2 * w, 2 * w, 3 * w, 3 * e, 3 * e});
  cast(op.input_gradient, 4);
}

// Half of x, tanh and the other factor of the product; under autocast x in fp32, too.
Kept steps_of_gelu(const Builder& make, Module module, double values) {
  const double w = make.carried_element(), wide_input = make.autocasts() ? w : 0;
  return {.name = "steps of GELU",
          .size = {(make.element() + 2 * w + wide_input) * values},
          .module = module,
          .value_bytes = make.element()};
}

bool computes_gelu_in_steps(const Builder& make) {
  return make.kernels.gelu_in_steps && make.transformer.activation == Activation::gelu;
}

// Element-wise work between the projections, over `values` of the narrower one. If it is not fused,
// a kernel more adds the bias, if there is one, or multiplies a gated MLP's halves.
Operator activation(const Builder& make, std::string_view name, double values, bool biases) {
  const double halves = make.transformer.gated() ? 2 : 1, bytes = make.element() * values;
  Operator op{.name = name, .part = Part::mlp};
  op.forward = {Builder::stream((halves + 1) * bytes)};
  op.input_gradient = {Builder::stream((2 * halves + 1) * bytes)};
  if (computes_gelu_in_steps(make)) compute_gelu_in_steps(make, op, values);
  if (!make.kernels.fused_bias_activation && (biases || make.transformer.gated())) {
    op.forward.push_back(Builder::stream((halves + 1) * bytes));
    op.input_gradient.push_back(Builder::stream((halves + 1) * bytes));
  }
  op.largest = {halves * bytes};
  // In place, one half of the input's gradient is written over the output's.
  const units::Bytes of_input{halves * bytes}, of_output{bytes};
  if (make.kernels.gradients_in_place)
    op.gradients = {of_input};
  else
    op.gradients = {of_output, of_input};
  return op;
}

// Kernel by kernel, the product of a gated MLP's halves (silu(gate) * up) keeps the activated half
// besides the activation's input; one kernel makes it again from that input.
std::optional<Kept> activated_gate(const Builder& make, Module module, double values) {
  if (!make.transformer.gated() || make.kernels.fused_bias_activation) return {};
  return Kept{.name = "activated gate",
              .size = {make.element() * values},
              .module = module,
              .value_bytes = make.element()};
}

Operators two_projections(const Builder& make, const Names& names, Module module, std::int64_t ffn,
                          bool biases) {
  const auto& t = make.transformer;
  const std::int64_t halves = t.gated() ? 2 : 1;
  const double wide = real(make.extent.tokens()) * real(ffn);
  Operators ops{t.gated()
                    ? make.joined(names.up, Part::mlp, Seam::enter, t.hidden, {ffn, ffn}, biases)
                    : make.linear(names.up, Part::mlp, Seam::enter, t.hidden, ffn, biases),
                activation(make, names.activation, wide, biases),
                make.linear(names.down, Part::mlp, Seam::leave, ffn, t.hidden, biases)};
  for (auto& op : ops) op.module = module;
  ops[1].kept = {{.name = names.activation_input,
                  .size = {real(halves) * make.element() * wide},
                  .module = module,
                  .value_bytes = make.element()}};
  if (auto gate = activated_gate(make, module, wide)) ops[1].kept.push_back(*gate);
  if (computes_gelu_in_steps(make)) ops[1].kept.push_back(steps_of_gelu(make, module, wide));
  ops[2].kept = {{.name = names.down_input,
                  .size = {make.kept_element() * wide},
                  .module = module,
                  .value_bytes = make.kept_element()}};
  return ops;
}

// A layer with experts runs 20 to 40 kernels (mem) over so few values that each takes the start of
// a kernel. Some of them are no operators of their own here: those of the loss that balances
// experts, each way; and, where the host exchanges copies of tokens, those of their counts and
// offsets by expert and rank.
constexpr std::size_t balance_kernels = 5, offset_kernels = 10;

// A kernel of an operation that no module or function of the framework wraps.
units::Kernel operation(double bytes) {
  auto kernel = Builder::stream(bytes);
  kernel.issue = units::Issue::operation;
  return kernel;
}

void add_small(std::vector<units::Kernel>& kernels, std::size_t count, std::int64_t experts) {
  kernels.insert(kernels.end(), count, operation(8 * real(experts)));
}

// The product with the experts' vectors, scores, the choice, and the map from tokens to experts.
Operator router(const Builder& make) {
  const auto& moe = *make.transformer.moe;
  const double element = make.element();
  const double scores = real(make.extent.rows) * real(moe.experts);
  // The product stays in 16 bit where the others are narrower, because its scores decide.
  auto op = make.wide().replicated("router", Part::mlp, make.transformer.hidden, moe.experts);
  op.role = Role::router;
  op.module = Module::moe;
  // Cast to fp32, score, choice, weights and map written, tokens per expert and their mean score.
  for (const double bytes : {element + 4, 8.0, 4.0, 4.0, 1.0, 1.0, 4.0})
    op.forward.push_back(operation(bytes * scores));
  for (const double bytes : {4.0, 12.0, 4 + element})
    op.input_gradient.push_back(operation(bytes * scores));
  add_small(op.forward, balance_kernels, moe.experts);
  add_small(op.input_gradient, balance_kernels, moe.experts);
  op.kept = {{.name = "gate logits", .size = {4 * scores}, .module = Module::moe},
             {.name = "routing map", .size = {scores}, .module = Module::moe}};
  if (moe.router_bias) op.parameters += real(moe.experts);
  return op;
}

// Bytes of all token copies of this rank.
double copies(const Builder& make) {
  return make.element() * (real(make.extent.rows) * real(make.transformer.moe->top_k) *
                           real(make.transformer.hidden));
}

// The one-hot matrix of this rank's tokens by the rows of all experts' capacities.
struct OneHot {
  std::int64_t tokens, slots;
  double values() const { return real(tokens) * real(slots); }
};
OneHot one_hot(const Builder& make) {
  const auto& moe = *make.transformer.moe;
  const double copies = real(make.extent.rows) * real(moe.top_k);
  const auto slots = static_cast<std::int64_t>(copies * moe.capacity_factor.value_or(1));
  return {make.extent.rows, std::max<std::int64_t>(1, slots)};
}

// Weights of copies are written in fp32, made a mask of bytes, and that a matrix in 16 bit, which a
// product multiplies (deepspeed/moe/sharded_moe.py: `sec,sm->ecm`).
void dispatch_by_product(const Builder& given, Operator& op) {
  const auto make = given.wide();
  const auto matrix = one_hot(make);
  const auto h = make.transformer.hidden;
  for (const double bytes : {4., 4. + 1, 1 + make.element()})
    op.forward.push_back(Builder::stream(bytes * matrix.values()));
  op.forward.push_back(make.product(Layout::forward, matrix.slots, h, matrix.tokens));
  op.input_gradient.push_back(make.product(Layout::input_gradient, matrix.tokens, h, matrix.slots));
  op.kept.push_back({.name = "mask of token copies",
                     .size = {make.element() * matrix.values()},
                     .module = Module::moe});
}

// The weights are cast to 16 bit for the product; their gradient is a product, too, and cast back
// (`sec,ecm->sm`).
void combine_by_product(const Builder& given, Operator& op) {
  const auto make = given.wide();
  const auto matrix = one_hot(make);
  const auto h = make.transformer.hidden;
  const auto cast = Builder::stream((4 + make.element()) * matrix.values());
  op.forward = {cast, make.product(Layout::forward, matrix.tokens, h, matrix.slots)};
  op.input_gradient = {make.product(Layout::input_gradient, matrix.slots, h, matrix.tokens),
                       make.product(Layout::input_gradient, matrix.tokens, matrix.slots, h), cast,
                       Builder::stream(4 * matrix.values())};
  op.kept.push_back({.name = "combining weights",
                     .size = {make.element() * matrix.values()},
                     .module = Module::moe});
}

Operator permute(const Builder& make) {
  const auto& moe = *make.transformer.moe;
  const double map = real(make.extent.rows) * real(moe.experts);
  const double rows = make.element() * real(make.extent.rows) * real(make.transformer.hidden);
  Operator op{.name = "permute",
              .role = Role::permute,
              .part = Part::mlp,
              .seam = Seam::dispatch,
              .module = Module::moe};
  op.forward = {operation(map), operation(map)};
  if (make.kernels.copies_tokens && !make.kernels.einsum_dispatch) {
    add_small(op.forward, offset_kernels, moe.experts);
    op.forward.push_back(Builder::random(2 * copies(make)));
    op.input_gradient = {Builder::random(copies(make) + rows)};
  }
  op.kept = {{.name = "order of token copies",
              .size = {8 * real(make.extent.rows) * real(moe.top_k)},
              .module = Module::moe}};
  if (make.kernels.einsum_dispatch) dispatch_by_product(make, op);
  op.largest = {copies(make)};
  return op;
}

// Copies arrive by sender and are sorted by expert, where there is something to sort.
void sort_copies(const Builder& make, Operator& up, Operator& down) {
  const auto& e = make.extent;
  if (e.experts < 2 || e.experts == make.transformer.moe->experts) return;
  const auto pass =
      Builder::random(2 * make.element() * real(e.routed) * real(make.transformer.hidden));
  up.forward.insert(up.forward.begin(), pass);
  up.input_gradient.push_back(pass);
  down.forward.push_back(pass);
  down.input_gradient.insert(down.input_gradient.begin(), pass);
}

// The bias of the second projection counts by the weights of the copies, which are fp32:
// Megatron-Core adds it kernel by kernel, expert by expert. Bytes of a value by kernel, forward:
// weighting 4, addition 10, joining 8, cast 6. Backward: cast 6; gradient of the result 6, of the
// bias 12 and of the weight 12, each a product and a sum; joining 4.
void add_weighted_bias(const Builder& make, Operator& down) {
  const auto& e = make.extent;
  const double values = real(e.routed) * real(make.transformer.hidden);
  const auto pass = [&](double bytes, bool each = true) {
    auto kernel = Builder::stream(bytes * values);
    if (each) kernel.launches = std::max<std::int64_t>(1, e.experts);
    return kernel;
  };
  for (const auto& kernel : {pass(4), pass(10), pass(8, false), pass(6, false)})
    down.forward.push_back(kernel);
  const auto gradients = {pass(6, false), pass(6), pass(12), pass(12), pass(4, false)};
  down.input_gradient.insert(down.input_gradient.begin(), gradients);
}

// One kernel computes both projections' products with what follows them: the activation, its
// gradient, and the casts of what they hand on.
void fuse(const Builder& make, Operator& up, Operator& activation, Operator& down) {
  const auto drop = [](std::vector<units::Kernel>& kernels, const auto& casts) {
    kernels.erase(kernels.begin(), kernels.begin() + std::ssize(casts));
  };
  drop(up.input_gradient, make.casts_of_gradient(1));
  drop(down.forward, make.casts_of_input(1));
  activation.forward.clear();
  activation.input_gradient.clear();
}

Operators routed(const Builder& make) {
  const auto& t = make.transformer;
  const auto& e = make.extent;
  const std::int64_t halves = t.gated() ? 2 : 1;
  const double element = make.element(), rows = real(e.routed), wide = rows * real(e.expert_ffn);

  auto up =
      make.grouped("expert up projection", t.hidden, halves * e.expert_ffn, t.moe->expert_biases);
  up.kept = {{.name = "dispatched tokens",
              .size = {make.kept_element() * rows * real(t.hidden)},
              .module = Module::moe,
              .value_bytes = make.kept_element()}};
  auto act = activation(make, "expert activation", wide, t.moe->expert_biases);
  act.module = Module::moe_act;
  act.kept = {{.name = "expert activation input",
               .size = {real(halves) * element * wide},
               .module = Module::moe,
               .value_bytes = element},
              {.name = "weights of token copies", .size = {4 * rows}, .module = Module::moe}};
  if (auto gate = activated_gate(make, Module::moe, wide)) act.kept.push_back(*gate);
  if (computes_gelu_in_steps(make)) act.kept.push_back(steps_of_gelu(make, Module::moe, wide));
  auto down = make.grouped("expert down projection", e.expert_ffn, t.hidden, t.moe->expert_biases);
  down.seam = Seam::combine;
  down.kept = {{.name = "expert down projection input",
                .size = {make.kept_element() * wide},
                .module = Module::moe_act,
                .value_bytes = make.kept_element()}};
  if (fuses_experts(make.kernels, make.precision))
    fuse(make, up, act, down);
  else if (t.moe->expert_biases && make.kernels.expert_products != ExpertProducts::grouped)
    add_weighted_bias(make, down);
  sort_copies(make, up, down);
  return {std::move(up), std::move(act), std::move(down)};
}

// Sums each token's copies, where there are any (their weights are applied in the activation), and
// adds the shared experts' output.
Operator unpermute(const Builder& make, bool shared) {
  const double rows = make.element() * real(make.extent.rows) * real(make.transformer.hidden);
  Operator op{.name = "unpermute", .part = Part::mlp, .module = Module::moe};
  if (make.kernels.einsum_dispatch) {
    combine_by_product(make, op);
  } else if (make.kernels.copies_tokens) {
    op.forward = {Builder::random(copies(make) + rows)};
    op.input_gradient = {Builder::random(copies(make) + rows)};
  }
  if (shared) {
    op.forward.push_back(Builder::stream(3 * rows));
    op.input_gradient.push_back(Builder::stream(3 * rows));
  }
  op.largest = {copies(make)};
  return op;
}

Operators shared_experts(const Builder& make) {
  const auto& t = make.transformer;
  if (make.extent.shared_ffn == 0) return {};
  auto ops =
      two_projections(make, shared_names, Module::shared_experts, make.extent.shared_ffn, false);
  if (!t.moe->shared_gate) return ops;
  const double rows = make.element() * real(make.extent.rows) * real(t.hidden);
  auto gate = make.wide().replicated("shared expert gate", Part::mlp, t.hidden, 1);
  gate.module = Module::shared_experts;
  gate.forward.push_back(Builder::stream(2 * rows));
  gate.input_gradient.push_back(Builder::stream(3 * rows));
  gate.kept = {{.name = "shared expert output", .size = {rows}, .module = Module::shared_experts}};
  ops.push_back(std::move(gate));
  return ops;
}

}  // namespace

Operators dense_mlp(const Builder& given) {
  const auto make = given.of_mlp();
  const auto& t = make.transformer;
  auto ops = mlp_norm(make);
  auto block = two_projections(make, dense_names, Module::mlp, make.extent.ffn, t.biases);
  block.front().kept = mlp_input(given, make, ops);
  append(ops, std::move(block));
  ops.push_back(make.residual("MLP residual", Part::mlp, t.biases));
  return ops;
}

Operators expert_mlp(const Builder& make) {
  auto ops = mlp_norm(make);
  auto choice = router(make);
  for (auto& tensor : mlp_input(make, make.wide(), ops)) choice.kept.push_back(tensor);
  const auto& wide = make.kernels.wide;
  const auto of_shared = make.unless(wide.shared_experts);
  auto shared = shared_experts(of_shared);
  // In 8 and 4 bit the router keeps the input in 16 bit and the shared experts a copy of their own.
  if (of_shared.keeps_copies() && !shared.empty())
    for (auto& tensor : mlp_input(make, of_shared, ops)) {
      tensor.name = "shared expert input";
      shared.front().kept.push_back(tensor);
    }
  const bool any_shared = !shared.empty();
  append(ops, std::move(shared));
  ops.push_back(std::move(choice));
  ops.push_back(permute(make));
  append(ops, routed(make.unless(wide.experts)));
  ops.push_back(unpermute(make, any_shared));
  ops.push_back(make.residual("MLP residual", Part::mlp, false));
  return ops;
}

}  // namespace model
