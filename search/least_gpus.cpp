// SPDX-License-Identifier: Apache-2.0
#include "search/least_gpus.hpp"

#include <algorithm>
#include <cmath>

#include "plans/memory.hpp"

namespace search {

std::int64_t least_gpus(const Question& question, units::Bytes room) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i <= question.others.size(); ++i) {
    const auto& s = question.scenario_of(i);
    const strategies::Parameters all{.with_layer = static_cast<double>(model::parameters(s.model))};
    // Under Muon, as if all parameters were matrices.
    const auto states = strategies::static_memory({.parameters = all, .matrices = all}, {}, s.plan,
                                                  s.training, s.software);
    least = std::min(least, (states.weights + states.gradients + states.optimizer) / room);
  }
  return static_cast<std::int64_t>(std::ceil(least));
}

}  // namespace search
