// SPDX-License-Identifier: Apache-2.0
#include "topology/device.hpp"

#include <cmath>

namespace topology {

std::string_view family_of(std::string_view device) {
  const auto family = device.substr(0, device.find_first_of("-."));
  if (family == "a800") return "a100";
  if (family == "h800") return "h100";
  return family;
}

double Slowdown::of(const units::Kernel& kernel) const {
  using Kind = units::Kernel::Kind;
  if (kernel.kind == Kind::attention) return attention;
  if (kernel.kind != Kind::product) return others;
  return kernel.grouped ? experts : products;
}

bool Device::measured_itself(const KernelSource& kernels) const {
  return kernels.file.empty() || !kernels.digest.empty() ||
         family_of(kernels.file) == family_of(name);
}

double Device::clock() const {
  const auto measured = efficiency.measured_power;
  if (measured.value <= 0 || power.value <= 0 || power >= measured)
    return efficiency.sustained_clock;
  return efficiency.sustained_clock * std::sqrt(power / measured);
}

}  // namespace topology
