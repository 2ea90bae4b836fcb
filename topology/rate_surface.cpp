// SPDX-License-Identifier: Apache-2.0
#include "topology/rate_surface.hpp"

#include <algorithm>
#include <cmath>

namespace topology {
namespace {

using Axis = std::span<const double>;

// Two neighbouring nodes of an axis and the share of the upper one.
struct Bracket {
  std::size_t low;
  double share;
  bool outside;
};

Bracket bracket_of(Axis axis, double size) {
  if (axis.size() < 2) return {0, 0, !axis.empty() && size != axis.front()};
  if (size <= axis.front()) return {0, 0, size < axis.front()};
  if (size >= axis.back()) return {axis.size() - 2, 1, size > axis.back()};
  const auto above = std::ranges::upper_bound(axis, size);
  const auto low = static_cast<std::size_t>(above - axis.begin()) - 1;
  return {low, std::log(size / axis[low]) / std::log(axis[low + 1] / axis[low]), false};
}

}  // namespace

const RateSurface* DeviceRates::find(RateSurface::Kind kind, std::string_view kernel,
                                     RateSurface::Numbers numbers) const {
  const auto found = std::ranges::find_if(surfaces, [&](const RateSurface& surface) {
    return surface.kind == kind && surface.kernel == kernel && surface.numbers == numbers;
  });
  return found == surfaces.end() ? nullptr : &*found;
}

const DeviceRates* measured_rates(std::string_view name) {
  const auto all = measured_rates();
  const auto found = std::ranges::find(all, name, &DeviceRates::name);
  return found == all.end() ? nullptr : &*found;
}

std::optional<RateAt> value_at(const RateSurface& surface, double first, double second,
                               double third) {
  const std::array<double, 3> sizes{first, second, third};
  std::array<Bracket, 3> at{};
  bool beyond = false;
  for (std::size_t i = 0; i < at.size(); ++i) {
    at[i] = bracket_of(surface.axes[i], sizes[i]);
    beyond = beyond || at[i].outside;
  }
  const auto depth = std::max<std::size_t>(1, surface.axes[2].size());
  double weights = 0, sum = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<std::size_t, 3> node{};
    for (std::size_t i = 0; i < at.size(); ++i) {
      const bool upper = (corner >> i & 1U) != 0;
      weight *= upper ? at[i].share : 1 - at[i].share;
      node[i] = at[i].low + (upper ? 1 : 0);
    }
    if (weight <= 0) continue;
    const auto place = (node[0] * surface.axes[1].size() + node[1]) * depth + node[2];
    const double value = static_cast<double>(surface.values[place]);
    if (value <= 0) {
      beyond = true;
      continue;
    }
    weights += weight;
    sum += weight * std::log(value);
  }
  if (weights <= 0) return {};
  return RateAt{std::exp(sum / weights), beyond};
}

std::optional<MeasuredTime> exchange_time(const RateSurface& surface, double ranks, double size) {
  const auto time = value_at(surface, ranks, size);
  if (!time) return {};
  return MeasuredTime{{time->value * 1e-6}, time->beyond};
}

}  // namespace topology
