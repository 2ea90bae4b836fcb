// SPDX-License-Identifier: Apache-2.0
#include "forecast/gpu_times.hpp"

#include <algorithm>
#include <numeric>

#include "strategies/activity.hpp"

namespace forecast {

GpuTimes gpu_times_of(const std::vector<strategies::ActorFacts>& actors,
                      const sim::Measures& measures) {
  sim::Picoseconds longest = 0;
  double computing = 0, ranks = 0;
  for (std::size_t actor = 0; actor < actors.size(); ++actor) {
    const auto& spent = measures.of_actor[actor];
    const auto on = [&](strategies::Activity first, strategies::Activity last) {
      return std::accumulate(spent.on.begin() + first, spent.on.begin() + last + 1,
                             sim::Picoseconds{0});
    };
    const auto compute = on(strategies::forward_compute, strategies::recompute_compute) +
                         spent.on[strategies::optimizer_compute];
    const auto communication = on(strategies::forward_tensor_comm, strategies::data_comm);
    const auto alike = static_cast<double>(actors[actor].multiplicity);
    longest = std::max(longest, spent.idle + communication + spent.on[strategies::expert_waiting]);
    computing += alike * static_cast<double>(compute);
    ranks += alike;
  }
  const double all = ranks * static_cast<double>(measures.length);
  return {.computing = all > 0 ? computing / all : 0.0,
          .longest_wait = {static_cast<double>(longest) * 1e-12}};
}

}  // namespace forecast
