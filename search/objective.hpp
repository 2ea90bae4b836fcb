// SPDX-License-Identifier: Apache-2.0
// The objective of a search, if it is not the fastest step of the given cluster and training.
#pragma once
#include <optional>

#include "search/space.hpp"

namespace search {

// The figure that is minimised or maximised. All but `step_time` vary a size (objectives.hpp says
// which) and search for the fastest plan at each size that is tried.
struct Objective {
  enum class Kind { step_time, smallest_cluster, cost, largest_batch, largest_sequence };
  Kind kind = Kind::step_time;
  std::optional<double> rate;  // tokens per second that are wanted at least
  Values nodes;                // of a cluster that may be tried; none: 1 to what the cluster has
  friend bool operator==(const Objective&, const Objective&) = default;
};

}  // namespace search
