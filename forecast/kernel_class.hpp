// SPDX-License-Identifier: Apache-2.0
// Classes of kernels by their computation, which forecasts and profiles of real runs share.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forecast {

enum class KernelClass : std::uint8_t { products, attention, experts, others };
inline constexpr std::size_t kernel_classes = 4;
inline constexpr std::array all_kernel_classes{KernelClass::products, KernelClass::attention,
                                               KernelClass::experts, KernelClass::others};
constexpr std::string_view to_text(KernelClass of) {
  constexpr std::array<std::string_view, kernel_classes> texts{"matrix products", "attention",
                                                               "experts", "other kernels"};
  return texts[static_cast<std::size_t>(of)];
}

}  // namespace forecast
