// SPDX-License-Identifier: Apache-2.0
#include "plans/attention_choice.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace strategies {

namespace {

constexpr std::array<std::string_view, 4> hopper{"h100", "h200", "h20", "gh200"};
constexpr std::array<std::string_view, 4> blackwell{"b200", "b300", "gb200", "gb300"};

}  // namespace

model::AttentionKernel attention_on(const topology::Cluster& cluster,
                                    model::AttentionKernel kernel) {
  using enum model::AttentionKernel;
  if (kernel != fused_from_hopper && kernel != fused_from_blackwell) return kernel;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
    const auto family = topology::family_of(cluster.kind(kind).device.name);
    const auto is_of = [&](const auto& families) {
      return std::ranges::find(families, family) != families.end();
    };
    if (!is_of(blackwell) && (kernel == fused_from_blackwell || !is_of(hopper))) return flash;
  }
  return fused;
}

}  // namespace strategies
