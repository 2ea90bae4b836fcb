// SPDX-License-Identifier: Apache-2.0
#include "plans/recompute.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace strategies {

using model::Module;
using model::Operator;
using model::Operators;
using model::Seam;
using units::Kernel;

ModuleSet ModuleSet::of(std::span<const Module> modules) {
  ModuleSet set;
  for (const auto module : modules)
    set.bits = static_cast<std::uint8_t>(set.bits | (1u << static_cast<int>(module)));
  return set;
}

bool ModuleSet::covers(Module module) const {
  if (*this == all()) return true;
  for (int i = 0; i < model::modules; ++i)
    if (const auto one = static_cast<Module>(i); has(one) && model::includes(one, module))
      return true;
  return false;
}

bool drops(const Drop& drop, const Operator& op, const model::Kept& tensor) {
  if (!in_layer(op)) return false;
  switch (drop.kind) {
    case Drop::nothing:
      return false;
    case Drop::modules:
      return drop.of.covers(tensor.module);
    case Drop::per_op:
      return !tensor.layer_input && !tensor.core && !tensor.attention;
    case Drop::everything:
      return !tensor.layer_input;
  }
  return false;
}

namespace {

const Kernel* product_of(const Operator& op) {
  const auto found = std::ranges::find(op.forward, Kernel::Kind::product, &Kernel::kind);
  return found == op.forward.end() ? nullptr : &*found;
}

// Shares of each operator's output that per-op recomputation keeps.
std::vector<double> kept_shares(const Operators& layer) {
  std::vector<double> shares(layer.size(), 0);
  std::size_t products = 0;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const auto& op = layer[i];
    if (op.core) shares[i] = 1;
    if (op.core || op.expert || product_of(op) == nullptr) continue;
    const std::vector<double> whole{1};
    for (const double share : op.products.empty() ? whole : op.products)
      if (products++ % 2 == 0) shares[i] += share;
  }
  return shares;
}

// Returns the first operator from which on none makes a tensor that the layer's backward pass
// needs. A product at the end is not needed again, because its operand is there before it runs.
std::size_t needed_again(const Operators& layer) {
  auto end = layer.size();
  while (end > 0 && layer[end - 1].kept.empty()) --end;
  if (end > 0 && product_of(layer[end - 1]) != nullptr) --end;
  return end;
}

Replay per_op_replay(const Operators& layer, PerOp per_op) {
  Replay replay{layer.size() - 1, {}};
  const auto shares = kept_shares(layer);
  for (std::size_t i = 0; i < needed_again(layer); ++i) {
    const bool summed = layer[i].seam == Seam::leave && per_op.scattered > 0;
    if (shares[i] < 1 && !(summed && per_op.compiled))
      replay.runs.push_back({i, 1 - shares[i], !summed});
  }
  return replay;
}

bool makes_output_only(Module module) {
  return module == Module::layernorm || module == Module::moe_act || module == Module::mla_up_proj;
}

// Returns the last operator of the attention core that operator `op` belongs to, or `op`: the
// core's gradients are computed together, from there.
std::size_t last_of_core(const Operators& layer, std::size_t op) {
  while (layer[op].core && op + 1 < layer.size() && layer[op + 1].core) ++op;
  return op;
}

// The replay of a module's operators in one half of a layer; nothing if it has none there.
std::optional<Replay> module_replay(const Operators& layer, Module module, model::Part part) {
  Replay replay{};
  std::size_t last_product = 0;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    if (layer[i].part != part) continue;
    if (product_of(layer[i]) != nullptr) last_product = i;
    if (model::includes(module, layer[i].module)) replay.runs.push_back({i});
  }
  if (replay.runs.empty()) return std::nullopt;
  replay.before = replay.runs.back().op;
  if (makes_output_only(module)) ++replay.before;
  if (module == Module::layernorm) replay.before = std::max(replay.before, last_product);
  replay.before = last_of_core(layer, std::min(replay.before, layer.size() - 1));
  return replay;
}

std::vector<Replay> module_replays(const Operators& layer, const ModuleSet& of) {
  std::vector<Replay> replays;
  for (const auto part : {model::Part::attention, model::Part::mlp})
    for (int i = 0; i < model::modules; ++i) {
      const auto module = static_cast<Module>(i);
      const bool inside =
          module != Module::moe && of.has(Module::moe) && model::includes(Module::moe, module);
      if (!of.has(module) || inside) continue;
      if (auto replay = module_replay(layer, module, part)) replays.push_back(std::move(*replay));
    }
  std::ranges::stable_sort(replays, std::ranges::greater{}, &Replay::before);
  return replays;
}

}  // namespace

std::vector<Replay> replays_of(const Operators& layer, const Drop& drop, PerOp per_op) {
  switch (drop.kind) {
    case Drop::nothing:
      return {};
    case Drop::modules:
      return module_replays(layer, drop.of);
    case Drop::per_op:
      return {per_op_replay(layer, per_op)};
    case Drop::everything:
      break;
  }
  Replay all{};
  for (std::size_t i = 0; i < layer.size(); ++i)
    if (in_layer(layer[i])) all.runs.push_back({i});
  if (all.runs.empty()) return {};
  all.before = all.runs.back().op;
  return {std::move(all)};
}

KeptOutputs kept_outputs(const Operators& layer, PerOp per_op) {
  KeptOutputs outputs;
  const auto shares = kept_shares(layer);
  const auto last = needed_again(layer);
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const auto* product = product_of(layer[i]);
    if (product == nullptr || layer[i].core) continue;
    const double bytes = shares[i] * layer[i].largest.value;
    if (layer[i].seam != Seam::leave) {
      outputs.kept += bytes;
      outputs.replaced += bytes;
      continue;
    }
    // Sums enter the residual stream, of which a later norm's input is made.
    const bool read = i < last;
    if (!per_op.compiled || (read && per_op.scattered == 0)) outputs.kept += bytes;
    if (!per_op.compiled || read) outputs.kept += per_op.scattered * layer[i].exchanged.value;
  }
  return outputs;
}

}  // namespace strategies
