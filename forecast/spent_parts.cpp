// SPDX-License-Identifier: Apache-2.0
#include "forecast/spent_parts.hpp"

#include <initializer_list>

#include "strategies/activity.hpp"

namespace forecast {

using strategies::Activity;
using units::Seconds;

namespace {

Seconds seconds_of_ticks(sim::Picoseconds ticks) { return {static_cast<double>(ticks) * 1e-12}; }

}  // namespace

TimeParts parts_of(const sim::Spent& spent) {
  const auto on = [&](std::initializer_list<Activity> list) {
    sim::Picoseconds sum = 0;
    for (auto activity : list) sum += spent.on[activity];
    return seconds_of_ticks(sum);
  };
  using enum StepPart;
  TimeParts parts;
  parts[compute] = on({strategies::forward_compute, strategies::input_gradient_compute,
                       strategies::weight_gradient_compute});
  parts[recompute] = on({strategies::recompute_compute});
  parts[tensor_comm] = on({strategies::forward_tensor_comm, strategies::backward_tensor_comm,
                           strategies::recompute_tensor_comm});
  parts[context_comm] = on({strategies::forward_context_comm, strategies::backward_context_comm,
                            strategies::recompute_context_comm});
  parts[expert_comm] = on({strategies::forward_expert_comm, strategies::backward_expert_comm,
                           strategies::recompute_expert_comm});
  parts[pipeline_comm] = on({strategies::pipeline_comm});
  parts[data_comm] = on({strategies::data_comm});
  parts[offload] = on({strategies::offloading});
  parts[optimizer] = on({strategies::optimizer_compute});
  parts[bubble] = seconds_of_ticks(spent.idle) + on({strategies::expert_waiting});
  parts[other] = seconds_of_ticks(spent.host) + on({strategies::data_loading});
  return parts;
}

}  // namespace forecast
