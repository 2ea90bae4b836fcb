// SPDX-License-Identifier: Apache-2.0
// Where durations come from: strategies ask, whoever calls answers.
#pragma once
#include <cstdint>
#include <functional>

#include "topology/collective.hpp"
#include "units/kernel.hpp"

namespace strategies {

struct Costs {
  std::function<units::Seconds(const units::Kernel&)> kernel;
  std::function<units::Seconds(topology::Collective, units::Bytes, const topology::GroupShape&)>
      collective;
  // One message between GPUs; `sharing` leave the sender's NIC at once.
  std::function<units::Seconds(units::Bytes, std::int64_t from, std::int64_t to, int sharing)>
      transfer;
};

}  // namespace strategies
