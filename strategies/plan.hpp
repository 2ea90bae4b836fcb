// SPDX-License-Identifier: Apache-2.0
// A plan: who does what. A dozen small integers and enums.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace strategies {

enum class ScheduleKind { gpipe, one_f_one_b, interleaved };
enum class ShardGroup { all, node };
enum class Optimizer { adamw, adam, lamb, adafactor, sophia, muon, sgd, onebit_adam };

// What is dropped after the forward pass and computed again before the backward pass.
struct Recompute {
  enum class Kind { none, selective, full, full_layers };
  Kind kind = Kind::none;
  std::int64_t layers = 0;  // full_layers: how many layers of each pipeline rank
  friend bool operator==(const Recompute&, const Recompute&) = default;
};

// Which communication runs beside computation. Absent: as the software profile does.
struct Overlap {
  std::optional<bool> data, tensor, pipeline, parameters;
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

// Placement order, innermost degree first.
enum class Degree { tensor, context, expert, data, pipeline };

struct Plan {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  bool sequence_parallel = false;
  std::int64_t micro_batch = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  std::int64_t virtual_stages = 1;
  std::vector<std::int64_t> layers_per_stage;  // empty: even; entry i is virtual stage i
  int zero = 0;
  bool reshard_after_forward = true;
  ShardGroup shard_group = ShardGroup::all;
  Recompute recompute;
  Overlap overlap;
  std::optional<units::Precision> gradient_precision;  // fp32 or bf16
  std::optional<units::Bytes> bucket;
  std::vector<Degree> rank_order{Degree::tensor, Degree::context, Degree::expert, Degree::data,
                                 Degree::pipeline};
  friend bool operator==(const Plan&, const Plan&) = default;
};

struct Training {
  std::int64_t sequence_length = 0;
  std::int64_t global_batch = 0;
  units::Precision precision = units::Precision::bf16;
  Optimizer optimizer = Optimizer::adamw;
  double padding = 0.0;
  friend bool operator==(const Training&, const Training&) = default;
};

}  // namespace strategies
