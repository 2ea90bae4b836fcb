// SPDX-License-Identifier: Apache-2.0
// The words of the model's choices (units/words.hpp).
#pragma once
#include "model/kernels.hpp"
#include "model/module.hpp"
#include "model/transformer.hpp"
#include "units/words.hpp"

namespace model {

constexpr auto words_of(Activation) {
  using enum Activation;
  return units::words<Activation>({{"gelu", gelu},
                                   {"relu", relu},
                                   {"squared_relu", squared_relu},
                                   {"swiglu", swiglu},
                                   {"geglu", geglu}});
}

constexpr auto words_of(Norm) {
  return units::words<Norm>({{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}});
}

constexpr auto words_of(Position) {
  using enum Position;
  return units::words<Position>(
      {{"learned", learned}, {"rope", rope}, {"alibi", alibi}, {"none", none}});
}

constexpr auto words_of(AttentionKernel) {
  using enum AttentionKernel;
  return units::words<AttentionKernel>({{"unfused", unfused},
                                        {"fused", fused},
                                        {"flash", flash},
                                        {"flash1", flash_1},
                                        {"flash3", flash_3},
                                        {"memory-efficient", memory_efficient},
                                        {"fused-from-hopper", fused_from_hopper},
                                        {"fused-from-blackwell", fused_from_blackwell}});
}

constexpr auto words_of(ExpertProducts) {
  using enum ExpertProducts;
  return units::words<ExpertProducts>(
      {{"one-by-one", one_by_one}, {"grouped", grouped}, {"fused", fused}});
}

constexpr auto words_of(Scaling) {
  using enum Scaling;
  return units::words<Scaling>({{"delayed", delayed},
                                {"tensorwise", tensorwise},
                                {"rowwise", rowwise},
                                {"blockwise", blockwise}});
}

constexpr auto words_of(LinearPart) {
  using enum LinearPart;
  return units::words<LinearPart>({{"attention", attention},
                                   {"mlp", mlp},
                                   {"experts", experts},
                                   {"shared_experts", shared_experts}});
}

constexpr auto words_of(LinearGradient) {
  using enum LinearGradient;
  return units::words<LinearGradient>({{"inputs", inputs}, {"weights", weights}});
}

// `other` has no word: it stands for operators of no module.
constexpr auto words_of(Module) {
  using enum Module;
  return units::words<Module>({{"core_attn", core_attn},
                               {"layernorm", layernorm},
                               {"moe_act", moe_act},
                               {"mla_up_proj", mla_up_proj},
                               {"mlp", mlp},
                               {"moe", moe},
                               {"shared_experts", shared_experts}});
}

}  // namespace model
