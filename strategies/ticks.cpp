// SPDX-License-Identifier: Apache-2.0
#include "strategies/ticks.hpp"

#include "plans/schedules/refusal.hpp"

namespace strategies {

sim::Picoseconds to_ticks(units::Seconds time) {
  constexpr double longest = 1e6;
  if (!(time.value <= longest))
    throw Refusal(
        {"cluster"},
        "one kernel, collective or message would take more than 10^6 seconds; are the sizes and "
        "bandwidths of the scenario meant?");
  return static_cast<sim::Picoseconds>(time.value * 1e12 + 0.5);
}

void check_ticks(double ticks) {
  if (ticks >= static_cast<double>(sim::unreached))
    throw Refusal({"training.global_batch"},
                  "the step would take longer than 26 days, which is not simulated; lower "
                  "global_batch or sequence_length");
}

}  // namespace strategies
