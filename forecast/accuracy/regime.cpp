// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/regime.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace forecast {

std::string regime_of(std::string_view device, std::string_view model) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> generations{
      {{"V100", "Volta"},
       {"A100", "Ampere"},
       {"A800", "Ampere"},
       {"H", "Hopper"},
       {"GB", "Blackwell"},
       {"B", "Blackwell"},
       {"MI25", "CDNA 2"},
       {"MI30", "CDNA 3"},
       {"MI35", "CDNA 4"}}};
  if (device.empty() || model.empty()) return {};
  const auto known = std::ranges::find_if(
      generations, [&](const auto& generation) { return device.starts_with(generation.first); });
  return std::string(known == generations.end() ? device : known->second) + ' ' +
         std::string(model);
}

}  // namespace forecast
