// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/finish_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tests/sim/advance.hpp"

namespace tests {

using sim::SharedNetwork;

namespace {

// The number of ticks per second, so fine that the time in which all flows would pass one after the
// other has 61 bits.
double steps_for(std::span<const double> capacities, std::span<const NetworkFlow> flows) {
  if (capacities.empty()) return 1;
  const double narrowest = *std::ranges::min_element(capacities);
  double last = 0, busy = 0;
  for (const auto& flow : flows) {
    if (!(flow.start >= 0)) throw std::invalid_argument("a flow must not start before time zero");
    last = std::max(last, flow.start);
    busy += flow.bytes * static_cast<double>(flow.count) * static_cast<double>(flow.links.size()) /
            std::min(narrowest, flow.cap);
  }
  const double bound = last + busy;
  if (!std::isfinite(bound)) throw std::invalid_argument("flows must start and end some time");
  return bound > 0 ? std::exp2(60 - std::ilogb(bound)) : 1;
}

}  // namespace

std::vector<double> finish_times(std::span<const double> capacities,
                                 std::span<const NetworkFlow> flows) {
  const double ticks_per_second = steps_for(capacities, flows);
  SharedNetwork network(capacities, ticks_per_second);
  std::size_t hops = 0;
  for (const auto& flow : flows) hops += flow.links.size() + 1;
  network.reserve(flows.size(), hops, flows.size());
  std::vector<std::size_t> order(flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t f) { return flows[f].start; });

  std::vector<double> finish(flows.size());
  const auto advance = [&](SharedNetwork::Ticks to) {
    for (const auto& [when, flow] : tests::advance(network, to))
      finish[order[static_cast<std::size_t>(flow)]] = static_cast<double>(when) / ticks_per_second;
  };
  for (const auto f : order) {
    const auto& flow = flows[f];
    const auto start = static_cast<SharedNetwork::Ticks>(flow.start * ticks_per_second);
    if (start > network.now()) advance(start);
    network.start(network.path(flow.links, flow.cap), flow.bytes, flow.count);
  }
  while (const auto next = network.next_completion()) advance(*next);
  return finish;
}

}  // namespace tests
