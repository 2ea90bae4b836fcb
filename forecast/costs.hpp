// SPDX-License-Identifier: Apache-2.0
// What kernels, collectives and messages cost on a cluster: topology's answers to strategies.
#pragma once
#include "strategies/costs.hpp"
#include "topology/cluster.hpp"

namespace forecast {

// The cluster must outlive it.
strategies::Costs costs_on(const topology::Cluster& cluster);

}  // namespace forecast
