// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/fair_share.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace oracle {
namespace {

constexpr double unsettled = -1;

void check(std::span<const double> capacity, std::span<const std::vector<std::size_t>> routes,
           std::span<const double> caps, std::span<const std::int64_t> weights) {
  const auto positive = [](auto value) { return value > 0; };
  if (!std::ranges::all_of(capacity, positive))
    throw std::invalid_argument("a link must have a capacity above zero");
  if ((!caps.empty() && caps.size() != routes.size()) || !std::ranges::all_of(caps, positive))
    throw std::invalid_argument("every flow needs a cap above zero, or none has one");
  if ((!weights.empty() && weights.size() != routes.size()) ||
      !std::ranges::all_of(weights, positive))
    throw std::invalid_argument("every flow needs a weight above zero, or none has one");
  for (const auto& route : routes) {
    if (route.empty()) throw std::invalid_argument("a flow must cross at least one link");
    for (const auto link : route)
      if (link >= capacity.size()) throw std::invalid_argument("a flow crosses an unknown link");
  }
}

}  // namespace

std::vector<double> fair_share(std::span<const double> capacity,
                               std::span<const std::vector<std::size_t>> routes,
                               std::span<const double> caps,
                               std::span<const std::int64_t> weights) {
  check(capacity, routes, caps, weights);
  const auto weight = [&](std::size_t f) {
    return weights.empty() ? 1.0 : static_cast<double>(weights[f]);
  };
  const auto cap = [&](std::size_t f) {
    return caps.empty() ? std::numeric_limits<double>::infinity() : caps[f];
  };
  std::vector<double> left(capacity.begin(), capacity.end()), users(capacity.size(), 0.0);
  for (std::size_t f = 0; f < routes.size(); ++f)
    for (const auto link : routes[f]) users[link] += weight(f);

  std::vector<double> rate(routes.size(), unsettled);
  const auto settle = [&](std::size_t f, double level) {
    rate[f] = level;
    for (const auto link : routes[f]) {
      left[link] = std::max(0.0, left[link] - weight(f) * level);
      users[link] -= weight(f);
    }
  };
  for (;;) {
    // The tightest link, or the smallest cap, decides the next water level.
    double level = std::numeric_limits<double>::infinity();
    std::size_t tightest = capacity.size();
    for (std::size_t link = 0; link < left.size(); ++link)
      if (users[link] > 0 && left[link] / users[link] < level) {
        level = left[link] / users[link];
        tightest = link;
      }
    if (tightest == capacity.size()) return rate;
    bool capped = false;
    for (std::size_t f = 0; f < routes.size(); ++f)
      if (rate[f] == unsettled && cap(f) <= level) {
        level = cap(f);
        capped = true;
      }
    for (std::size_t f = 0; f < routes.size(); ++f)
      if (rate[f] == unsettled &&
          (capped ? cap(f) <= level : std::ranges::find(routes[f], tightest) != routes[f].end()))
        settle(f, level);
  }
}

}  // namespace oracle
