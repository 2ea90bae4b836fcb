// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts that all launch configurations share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plans/duties.hpp"
#include "plans/recompute.hpp"
#include "report/launch/launch.hpp"

namespace report {

using Sentences = std::vector<std::string>;
using LostKeys = std::vector<Lost>;

Launch launch_megatron(const forecast::Scenario& scenario);
Launch launch_deepspeed(const forecast::Scenario& scenario);
Launch launch_torchtitan(const forecast::Scenario& scenario);
Launch launch_nanotron(const forecast::Scenario& scenario);

// Transformer layers of virtual stages in model order, and the tensors that each drops.
struct Stages {
  std::vector<std::vector<strategies::Drop>> drops;
  std::optional<strategies::Drop> predictions;  // drop of prediction modules, if there are any

  std::vector<std::int64_t> layers() const;
  std::size_t most_layers() const;
  bool alike() const;      // all have equally many layers
  bool recompute() const;  // anything at all
  // Whether every layer and prediction module drops these tensors.
  bool all(const strategies::Drop& drop) const;
};
Stages stages_of(const forecast::Scenario& scenario);

// Returns one stage per pipeline rank, made by joining neighbours, for schedules that have one
// stage per rank instead of several.
Stages one_per_rank(const Stages& stages, std::int64_t ranks);

// Adds a sentence for a framework that keeps the input of every recomputed layer: rows of layers
// are lost.
void lose_rows(const strategies::Plan& plan, const char* framework, LostKeys& lost);

// "stage 0: core_attn of all layers; stages 1-3: 2 of 6 layers whole; prediction modules: nothing".
std::string recompute_words(const Stages& stages);
std::string names_of(const strategies::ModuleSet& modules, std::string_view separator);

// Communication that runs beside computation; the software's choice where the plan has none.
strategies::Overlaps overlaps_of(const forecast::Scenario& scenario);

// Whether products read 32 bit.
inline bool is_wide(units::Precision precision) {
  return precision == units::Precision::fp32 || precision == units::Precision::tf32;
}

units::Precision gradient_precision_of(const forecast::Scenario& scenario);

// Elements of a gradient bucket, the software's where the plan has none; 0: no bound.
std::int64_t bucket_elements(const forecast::Scenario& scenario);

// Whether ranks are placed in this order, as far as degrees above one can tell; by default
// tp-cp-ep-dp-pp.
bool placed_as(const strategies::Plan& plan,
               const std::vector<strategies::Degree>& order = strategies::Plan{}.rank_order);

// Ranks that hold the same parameters where a framework runs the plan, and those of them that
// divide states: all, or those of a shard group. No framework keeps DualPipe's second copy.
std::int64_t emitted_sharers(const strategies::Plan& plan);
std::int64_t shards_of(const forecast::Scenario& scenario);
// Ranks that hold the same routed experts.
std::int64_t expert_replicas_of(const strategies::Plan& plan);

// Adds a sentence for a framework that places ranks as tp-cp-ep-dp-pp only.
void lose_rank_order(const strategies::Plan& plan, std::string_view framework, LostKeys& lost);

struct Machines {
  std::int64_t nodes, per_node, on_last;
};
Machines machines_of(const topology::Cluster& cluster);

// "NAME, 1024 GPUs", on one line whatever the name holds.
std::string headline(const forecast::Scenario& scenario);

// A key, "offload.optimizer", and the same with its value: "offload.optimizer cpu".
struct Offloading {
  const char* key;
  std::string words;
};
// One for each key that is not none; the last is that of activations, if these are offloaded.
std::vector<Offloading> offloads(const strategies::Offload& offload);

// "wrap model", "wrap {layers: 2}".
std::string wrap_words(const strategies::Wrap& wrap);

// Adds sentences for a framework that does not shard parameters: the plan's way to gather them is
// lost.
void lose_gathering(const strategies::Plan& plan, std::string_view framework, LostKeys& lost);

// Adds a sentence for a framework whose router takes no groups of experts.
void lose_groups(const strategies::Routing& routing, std::string_view framework, LostKeys& lost);
// Adds a sentence for a framework that keeps 16-bit weights beside those of 8 bit.
void lose_narrow_weights(const forecast::Scenario& scenario, std::string_view framework,
                         LostKeys& lost);
// Adds a sentence for a framework that divides key heads whole over tensor ranks, and copies none.
void lose_key_heads(const forecast::Scenario& scenario, std::string_view framework, LostKeys& lost);
// Adds sentences that hold for all frameworks: layers that are divided otherwise than others, kept
// activations in 8 bit, padding, popularity of experts, a last node that is not full; and
// compression of gradients, where the framework has none.
void lose_common(const forecast::Scenario& scenario, std::string_view framework, LostKeys& lost);
// Adds a sentence if gradients of ZeRO 2 and 3 are reduced otherwise than the framework does:
// `once` a step, or after every microbatch.
void lose_gradient_sync(const forecast::Scenario& scenario, bool once, std::string_view framework,
                        LostKeys& lost);
void lose_gradient_compression(const strategies::Plan& plan, std::string_view framework,
                               LostKeys& lost);

}  // namespace report
