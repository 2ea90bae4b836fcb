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

// Bytes moved for a value of a token copy: permuted 2 + 2 and summed 2, or activated 4 + 2 in the
// width.
constexpr double own_bytes = 6;

units::Seconds microseconds(double us) { return {us * 1e-6}; }

// The time of `work`, in 10⁶ of the unit of the rate, with the times that stand beside the rate.
std::optional<MeasuredTime> timed(const RateSurface& surface, const std::optional<RateAt>& rate,
                                  double work, double bytes, double rows = 0) {
  if (!rate) return {};
  return MeasuredTime{microseconds(work / rate->value + surface.start_us +
                                   bytes * surface.us_per_byte + rows * surface.us_per_row),
                      rate->beyond};
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

std::optional<MeasuredTime> product_time(const RateSurface& surface, double m, double n, double k) {
  return timed(surface, value_at(surface, m, n, k), 2e-6 * m * n * k, 2 * m * k, m);
}

std::optional<MeasuredTime> attention_time(const RateSurface& surface, double head, double copies,
                                           double length, double key_value_bytes) {
  return timed(surface, value_at(surface, head, copies, length),
               2e-6 * copies * length * length * head, key_value_bytes);
}

std::optional<MeasuredTime> experts_time(const RateSurface& surface, const ExpertLayer& layer) {
  const double rows = layer.experts * layer.rows, values = layer.hidden + layer.width;
  const auto rate =
      value_at(surface, std::sqrt(layer.hidden * layer.width), layer.experts, layer.rows);
  auto time = timed(surface, rate, 2e-6 * layer.products * rows * layer.hidden * layer.width,
                    2 * layer.group * values);
  if (time) time->time += microseconds(own_bytes * rows * values * surface.us_per_own_byte);
  return time;
}

std::optional<MeasuredTime> exchange_time(const RateSurface& surface, double ranks, double size) {
  const auto time = value_at(surface, ranks, size);
  if (!time) return {};
  return MeasuredTime{microseconds(time->value), time->beyond};
}

std::optional<MeasuredTime> messages_time(const RateSurface& surface, double multiprocessors,
                                          double hidden, double messages) {
  return timed(surface, value_at(surface, multiprocessors, hidden, messages),
               2e-3 * messages * hidden, 0);
}

}  // namespace topology
