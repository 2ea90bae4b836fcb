// SPDX-License-Identifier: Apache-2.0
#include "topology/device.hpp"

#include <cmath>

namespace topology {

double Device::clock() const {
  const auto measured = efficiency.measured_power;
  if (measured.value <= 0 || power.value <= 0 || power >= measured)
    return efficiency.sustained_clock;
  return efficiency.sustained_clock * std::sqrt(power / measured);
}

}  // namespace topology
