// SPDX-License-Identifier: Apache-2.0
// Flows as fluid: every flow moves at its max-min fair rate over the links of its path, from its
// start until its bytes have left. Arrivals and departures re-solve only what they touch.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sim/flows/flow.hpp"

namespace sim {

// A network whose flows share its links, for an event engine. Time is a whole number of ticks, and
// bytes and rates are kept as integers, so sums have no order: the same calls give the same ticks
// on any machine.
//
// A flow leaves at the first tick by which its last byte has left: with picoseconds as ticks an
// engine rounds completions up. Up to a thousandth of a tick late is in time, because rates are
// rounded down: so a class of symmetric flows gives the same ticks as its members one by one,
// although their rates may differ in the last unit. Rates are exact to 2^-58 of the largest
// capacity; links whose levels differ by less than 1e-12 of themselves, or by 4 * 2^-59 of that
// capacity per flow on them, may share one.
//
// Equal paths are one path, and the flows of a path one class: they have one rate, so each costs a
// place in a heap and no more; so does a flow for as long as it meets no other. Where an event
// leaves the levels of links as they are, nothing is recomputed; where it does not, the cost is
// that of the links whose level changes, not of the flows on them.
class SharedNetwork {
 public:
  using Ticks = sim::Ticks;
  struct Completion {
    Ticks when;
    FlowId flow;
    friend auto operator<=>(const Completion&, const Completion&) = default;
  };

  // Whether one network can have links of these capacities: above zero, finite, and within a factor
  // of about 2^36 of one another.
  static bool can_join(std::span<const double> capacities);

  // Capacities are in bytes/s, and can_join() holds of them.
  explicit SharedNetwork(std::span<const double> capacities, double ticks_per_second = 1e12);
  SharedNetwork(SharedNetwork&&) noexcept;
  SharedNetwork& operator=(SharedNetwork&&) noexcept;
  ~SharedNetwork();

  // Saves copies while as many paths, with as many links in all, and flows are added.
  void reserve(std::size_t paths, std::size_t links, std::size_t flows);

  // A way through the network: at least one link, in any order; a link named twice is loaded twice.
  // No flow on it moves faster than `cap` bytes/s. The same links and cap give the same path.
  PathId path(std::span<const LinkUse> links, double cap = uncapped);
  PathId path(std::span<const std::uint32_t> links, double cap = uncapped);

  // Starts `count` flows of `bytes` each, now, under one id. bytes >= 0; none: it is done at once.
  FlowId start(PathId path, double bytes, std::int64_t count = 1);

  // The time of a flow that has its path to itself; nothing if it is too long to count.
  std::optional<Ticks> alone(PathId path, double bytes) const;

  Ticks now() const;
  // When the next flow leaves if none starts before; none without flows, or if it is too far away
  // to count.
  std::optional<Ticks> next_completion();
  // Moves on to the next completion, or to `latest` >= now() if nothing leaves by then, and returns
  // what left, by id. The result is valid until the next call.
  std::span<const Completion> advance_to_completion(Ticks latest);

  double rate(FlowId flow);         // bytes/s of each of its count; 0 after completion
  double load(std::uint32_t link);  // bytes/s that cross the link

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sim
