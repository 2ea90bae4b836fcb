// SPDX-License-Identifier: Apache-2.0
// What a search is for, where it is not the fastest step of the cluster and the training as given.
#pragma once
#include <optional>

#include "search/space.hpp"

namespace search {

// What is minimised, or maximised. All but `step_time` vary the size of something and search for
// the fastest plan at each size that is tried; objectives.hpp says which.
struct Objective {
  enum class Kind { step_time, smallest_cluster, cost, largest_batch, largest_sequence };
  Kind kind = Kind::step_time;
  std::optional<double> rate;  // tokens per second that are wanted at least
  Values nodes;                // of a cluster that may be tried; none: 1 to what the cluster has
  friend bool operator==(const Objective&, const Objective&) = default;
};

}  // namespace search
