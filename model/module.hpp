// SPDX-License-Identifier: Apache-2.0
// The parts of a layer that can be recomputed or offloaded alone.
#pragma once
#include <cstdint>

namespace model {

// The parts of a layer that Megatron-Core recomputes together (its --recompute-modules). An
// expert's activation and the shared experts are inside of `moe`.
enum class Module : std::uint8_t {
  other,
  core_attn,
  layernorm,
  moe_act,
  mla_up_proj,
  mlp,
  moe,
  shared_experts
};
inline constexpr int modules = 8;

// Whether recomputing `selected` runs the operators of `module` again.
constexpr bool includes(Module selected, Module module) {
  if (selected == Module::other) return false;
  return selected == module || (selected == Module::moe &&
                                (module == Module::moe_act || module == Module::shared_experts));
}

}  // namespace model
