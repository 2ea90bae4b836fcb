// SPDX-License-Identifier: Apache-2.0
// Purchases that are read from a text.
#pragma once
#include <span>
#include <string>

#include "scenarios/purchase/purchase_file.hpp"

namespace tests {

inline search::Purchase read_purchase(const std::string& text, const std::string& name,
                                      std::span<const std::string> sets = {}) {
  return scenarios::load_placed_purchase(scenarios::Source(name, text), sets).value;
}

}  // namespace tests
