// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace units {

// The least whole number that is not below a / b. 0 <= a, 0 < b, and a + b fits.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace units
