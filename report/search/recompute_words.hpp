// SPDX-License-Identifier: Apache-2.0
// Private to the room: the recomputation of each pipeline rank, counted and in words.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/transformer.hpp"
#include "plans/plan.hpp"

namespace report {

// Layers that recompute the same: "full", "per-op", or modules such as "core_attn+mlp". The largest
// number of layers comes first, then by name; layers that recompute nothing are not listed.
struct Recomputed {
  std::int64_t layers = 0;  // in all
  std::vector<std::pair<std::string, std::int64_t>> choices;
  friend bool operator==(const Recomputed&, const Recomputed&) = default;
};

// Returns the recomputation of each pipeline rank, with its chunks taken together.
std::vector<Recomputed> recomputed_by_stage(const model::Transformer& model,
                                            const strategies::Plan& plan);

// "stages 0-3: full in 4 of 6 layers, core_attn in 2; stages 4-15: nothing"; equal stages are one.
std::string words_of(const std::vector<Recomputed>& stages);

// The whole model, in a few characters: "none", "full", "full 16, core_attn 8".
std::string short_words(const model::Transformer& model, const strategies::Plan& plan);

}  // namespace report
