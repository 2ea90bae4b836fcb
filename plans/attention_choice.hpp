// SPDX-License-Identifier: Apache-2.0
// The kernel of attention that a framework takes on a machine.
#pragma once
#include "model/kernels.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// Returns `kernel`, or the choice that it stands for: cuDNN's kernels where all devices are
// NVIDIA's of its generation or a later one, else FlashAttention-2. A device counts by the family
// of its name.
model::AttentionKernel attention_on(const topology::Cluster& cluster,
                                    model::AttentionKernel kernel);

}  // namespace strategies
