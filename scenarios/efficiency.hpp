// SPDX-License-Identifier: Apache-2.0
// The keys of a device's efficiency, and of powers.
#pragma once
#include <string_view>

#include "scenarios/keys.hpp"
#include "topology/device.hpp"

namespace scenarios {

constexpr double least_watts = 10, most_watts = 25e3;  // of one GPU with its share of a node
constexpr Range device_power{0, most_watts, "a bare number is in watts; write e.g. '700 W'"};

template <class Target, class Get>
Key<Target> watts(std::string_view name, Range range, std::string_view description, Get get) {
  return quantity<Target>(Type::power, units::parse_power, name, "not known", range, description,
                          get);
}

const Table<topology::Efficiency>& efficiency_table();

}  // namespace scenarios
