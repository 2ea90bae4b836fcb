// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/stage_groups.hpp"

#include <algorithm>
#include <stdexcept>

#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/schedule.hpp"

namespace search {

std::vector<StageGroup> stage_groups(const PipelineProblem& problem) {
  const auto& layout = problem.layout;
  if (problem.capacity.size() != problem.order.size())
    throw std::invalid_argument("every device of a pipeline needs a capacity");
  std::vector<StageGroup> groups;
  for (int device = 0; device < layout.stages; ++device) {
    std::vector<int> stages;  // by chunk
    for (int chunk = 0; chunk < layout.chunks; ++chunk)
      stages.push_back(strategies::virtual_stage_of(device, chunk, layout));
    auto members = stages;
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    auto group = std::ranges::find(groups, members, &StageGroup::members);
    if (group == groups.end()) group = groups.insert(groups.end(), {members, {}});
    const auto d = static_cast<std::size_t>(device);
    for (const auto& vector :
         strategies::least_in_flight_vectors(problem.order[d], layout.chunks)) {
      Load load{problem.capacity[d], std::vector<int>(members.size(), 0)};
      for (std::size_t chunk = 0; chunk < stages.size(); ++chunk)
        load.in_flight[static_cast<std::size_t>(std::ranges::find(members, stages[chunk]) -
                                                members.begin())] += vector[chunk];
      group->loads.push_back(std::move(load));
    }
  }
  return groups;
}

}  // namespace search
