// SPDX-License-Identifier: Apache-2.0
// Where durations come from: strategies ask, whoever calls answers.
#pragma once
#include <cstdint>
#include <functional>

#include "topology/collective.hpp"
#include "topology/offload_time.hpp"
#include "units/kernel.hpp"

namespace strategies {

// A GPU as kernels see it: of which kind of node, and how much slower than its kind.
struct Gpu {
  std::size_t kind = 0;
  double slowdown = 1;
  friend auto operator<=>(const Gpu&, const Gpu&) = default;
};

struct Costs {
  std::function<units::Seconds(const units::Kernel&, const Gpu&)> kernel;
  std::function<topology::Sending(topology::Collective, units::Bytes, const topology::GroupShape&)>
      collective;
  // One message between GPUs.
  std::function<topology::Sending(units::Bytes, std::int64_t from, std::int64_t to)> transfer;
  // What a GPU asks of its host, all GPUs of the node at once; asked only where the plan offloads.
  std::function<units::Seconds(const topology::OffloadWork&, const Gpu&)> host = {};
};

}  // namespace strategies
