// SPDX-License-Identifier: Apache-2.0
// The time that computation loses to communication beside it: a collective's kernel holds
// processors of the device until it ends. Sources: docs/model/parallelism.md.
#pragma once
#include <algorithm>
#include <optional>

#include "plans/software.hpp"
#include "sim/program.hpp"
#include "strategies/ticks.hpp"
#include "topology/collective.hpp"

namespace strategies {

// Collectives that run beside the same computation. Their times are those on an idle network.
class Interference {
 public:
  explicit Interference(const Software& software) : stated_(software.interference) {}

  void add(const topology::Sending& sending) {
    add(static_cast<double>(to_ticks(sending.time())), sending.processors);
  }
  // `processors`: the share of the device's processors that it holds for `ticks`.
  void add(double ticks, double processors) {
    if (ticks <= 0) return;
    const double share = stated_.value_or(processors);
    held_ += share * ticks;
    most_ = std::max(most_, share);
  }

  // The share of its own time by which computation of `ticks` takes longer: what they hold while
  // they run, and never more than the one that holds most. It grows with every collective.
  double slowed_share(double ticks) const {
    return ticks <= 0 ? 0.0 : std::min(most_, held_ / ticks);
  }
  double slowdown(sim::Picoseconds computing) const {
    return 1.0 + slowed_share(static_cast<double>(computing));
  }
  bool any() const { return held_ > 0; }

 private:
  std::optional<double> stated_;
  double held_ = 0, most_ = 0;
};

}  // namespace strategies
