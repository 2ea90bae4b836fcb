// SPDX-License-Identifier: Apache-2.0
// A plan: who does what. A dozen small integers and enums.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/kernels.hpp"
#include "model/module.hpp"
#include "plans/routing.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "plans/software.hpp"
#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace strategies {

// Ranks of a data-parallel group that share one copy of what ZeRO divides: all of it, those on a
// node, or `ranks` that follow each other.
struct ShardGroup {
  enum class Extent { all, node, ranks };
  Extent extent = Extent::all;
  std::int64_t ranks = 0;  // with Extent::ranks
  static const ShardGroup all, node;
  static constexpr ShardGroup of(std::int64_t ranks) { return {Extent::ranks, ranks}; }
  friend bool operator==(const ShardGroup&, const ShardGroup&) = default;
};
inline constexpr ShardGroup ShardGroup::all{}, ShardGroup::node{Extent::node};

enum class ContextMethod { ring, ulysses, all_gather };
enum class Optimizer { adamw, adam, lamb, adafactor, sophia, muon, sgd, onebit_adam };

using model::Module;  // parts of a layer that can be dropped or offloaded alone

// The choice of activations that are dropped after the forward pass and computed again before the
// backward pass.
struct Recompute {
  enum class Kind {
    none,
    selective,    // the attention core
    full,         // all but the input of the layer
    full_layers,  // the same, of so many layers of each pipeline rank
    per_op,       // every second matrix product and attention is kept (torchtitan)
    modules       // these
  };
  Kind kind = Kind::none;
  std::int64_t layers = 0;      // full_layers
  std::vector<Module> modules;  // modules
  // full, full_layers: the number of layers in a row of which only the input of the first is kept;
  // more numbers are those of shorter rows inside, while the longer one runs again
  // (checkpoints.hpp). Each divides the one before; none: every layer's input is kept.
  std::vector<std::int64_t> every = {};
  friend bool operator==(const Recompute&, const Recompute&) = default;
};

// A strategy for the layers `from` to `to`, both included, counted from 0. An absent value is the
// plan's.
struct LayerStrategy {
  std::int64_t from = 0, to = 0;
  std::optional<Recompute> recompute = {};  // not full_layers
  std::optional<std::int64_t> tensor = {};  // Plan::layer_tensor: these layers are regrouped
  // The number of replicas that this makes, if given; and the plan's ZeRO stage, the same for all
  // layers.
  std::optional<std::int64_t> data = {};
  std::optional<int> zero = {};
  friend bool operator==(const LayerStrategy&, const LayerStrategy&) = default;
};

// The communication that runs beside computation. An absent value is the software profile's.
struct Overlap {
  std::optional<bool> data, tensor, pipeline, parameters, expert;
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

// The states and activations that are kept outside the device.
struct Offload {
  enum class Tier { none, cpu, nvme };
  Tier optimizer = Tier::none, parameters = Tier::none;
  bool gradients = false;                         // to host memory
  bool activations = false;                       // to host memory; all, or of
  std::optional<std::int64_t> activation_layers;  // so many layers of each pipeline rank
  std::vector<Module> activation_modules;         // these modules
  friend bool operator==(const Offload&, const Offload&) = default;
};

enum class GradientCompression { none, onebit, fp8 };
enum class ActivationCompression { none, fp8, int8 };

// The number of layers that ZeRO-3 gathers at once; 0 means the whole model.
struct Wrap {
  std::int64_t layers = 1;
  friend bool operator==(const Wrap&, const Wrap&) = default;
};

// Placement order, innermost degree first.
enum class Degree { tensor, context, expert, data, pipeline };

struct Plan {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::optional<std::int64_t> expert_tensor;  // absent: tensor
  ContextMethod context_method = ContextMethod::ring;
  bool sequence_parallel = false;
  std::int64_t micro_batch = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  std::int64_t virtual_stages = 1;
  std::vector<std::int64_t> layers_per_stage;  // empty: even; entry i is virtual stage i
  int zero = 0;
  bool reshard_after_forward = true;
  std::optional<GradientSync> gradient_sync;  // absent: the software's
  ShardGroup shard_group = ShardGroup::all;
  Recompute recompute;
  std::vector<Recompute> recompute_of_stage;  // by virtual stage, instead of `recompute`
  std::vector<LayerStrategy> layers;          // instead of either for these layers; disjoint
  // Tensor degree of layers that are regrouped: a proper divisor of `tensor`. Each tensor-parallel
  // group falls into tensor / layer_tensor smaller groups there. Each of these holds the layers
  // whole and takes its share of a microbatch's samples, so that these layers have as many times
  // more replicas. Only for a model without experts: layers with experts have such degrees of their
  // own.
  std::optional<std::int64_t> layer_tensor;
  Offload offload;
  Overlap overlap;
  std::optional<units::Precision> gradient_precision;        // fp32 or bf16
  units::Precision master_weights = units::Precision::fp32;  // or fp16, bf16: the optimizer's copy
  std::optional<units::Bytes> bucket;                        // of gradients
  std::optional<units::Bytes> gather_bucket;  // of parameters; absent: as of gradients
  GradientCompression gradient_compression = GradientCompression::none;
  ActivationCompression activation_compression = ActivationCompression::none;
  Wrap wrap;
  std::vector<Degree> rank_order{Degree::tensor, Degree::context, Degree::expert, Degree::data,
                                 Degree::pipeline};
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Ranks that divide each expert as tensor parallelism divides a layer.
inline std::int64_t expert_tensor(const Plan& plan) {
  return plan.expert_tensor.value_or(plan.tensor);
}

// Copies of the model in the plan's pipeline: in DualPipe two.
inline std::int64_t copies_of(const Plan& plan) {
  return plan.schedule == ScheduleKind::dualpipe ? 2 : 1;
}

// The places of the plan's virtual stages.
inline Layout layout_of(const Plan& plan) {
  return layout_of(plan.schedule, static_cast<int>(plan.pipeline),
                   static_cast<int>(plan.virtual_stages));
}

// The method that finds the scales of 8-bit products.
using Fp8Recipe = model::Scaling;

// Linear layers that stay in 16 bit where Training::precision is 8 or 4 bit: those of the model's
// first and last layers, those of some parts of every layer, and the products of some gradients of
// all others.
struct InBf16 {
  std::int64_t first_layers = 0, last_layers = 0;
  std::vector<model::LinearPart> parts;
  std::vector<model::LinearGradient> gradients;
  friend bool operator==(const InBf16&, const InBf16&) = default;
};

struct Training {
  std::int64_t sequence_length = 0;
  std::int64_t global_batch = 0;
  units::Precision precision = units::Precision::bf16;
  Fp8Recipe fp8_recipe = Fp8Recipe::delayed;
  InBf16 in_bf16;
  Optimizer optimizer = Optimizer::adamw;
  double padding = 0.0;          // share of all tokens
  std::optional<double> tokens;  // of the whole training, of which a step is a part; no padding
  Routing routing;               // of models with experts

  // Tokens of a step: all, and those that are no padding.
  double step_tokens() const {
    return static_cast<double>(global_batch) * static_cast<double>(sequence_length);
  }
  double useful_tokens() const { return step_tokens() * (1 - padding); }
  friend bool operator==(const Training&, const Training&) = default;
};

}  // namespace strategies
