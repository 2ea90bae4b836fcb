// SPDX-License-Identifier: Apache-2.0
// Private to the room: constants of trained models that change neither time nor memory of a step.
// No scenario has them; they are known for published models.
#pragma once
#include <cstdint>
#include <string_view>

#include "model/transformer.hpp"

namespace report {

struct ModelConstants {
  enum class Scaling { none, llama3, yarn };  // rotary positions beyond the trained length

  std::string_view model;  // as the catalog names it, and sizes that tell it from a namesake
  std::int64_t layers, hidden, vocab;
  std::int64_t rotary_base;  // 0: positions do not rotate
  double norm_epsilon;
  Scaling scaling = Scaling::none;
  double scaling_factor = 1;
  std::int64_t original_length = 0;  // length from which the scaling starts
  double mscale = 1;                 // YaRN's factor of attention, where positions are latent
  double rotary_share = 1;           // share of each head that rotates
  std::int64_t groups = 1, chosen_groups = 1;  // of experts; those that a token may use
  double routed_scale = 1;                     // factor of the routed experts' sum
  bool scores_all = false;  // the scores of chosen experts are not made to sum up to 1
};

// Returns the constants of the model; null if it is not a known one.
const ModelConstants* constants_of(const model::Transformer& model);

}  // namespace report
