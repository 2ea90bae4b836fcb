// SPDX-License-Identifier: Apache-2.0
// Layers whose tensor degree is smaller than the plan's (per-layer strategies, Miao et al. 2022):
// of a tensor-parallel group of t ranks, groups of t' hold such a layer whole each, and take t'/t
// of the samples of every microbatch. On its way in a microbatch is dealt out again, and on its way
// out collected. With sequence parallelism every rank trades its part of the rows with t/t' others,
// an all-to-all each way; without, it has all rows and leaves out what is others', which the way
// back collects in an all-gather.
#pragma once
#include "strategies/passes.hpp"

namespace strategies {

// The plan as a rank sees it inside of such layers: plan.layer_tensor as its tensor degree, as much
// less micro-batch, as many more replicas.
Plan regrouped_plan(const Plan& plan);

// `sequence_parallel`: of the plan's groups. O(1)
Regrouping regrouping(const Share& share, const Costs& costs, bool sequence_parallel,
                      units::Bytes row_bytes);

struct PassWriter::Regrouped {
  Plan plan;
  Regrouping exchanges;
  std::optional<PassWriter> writer;  // it refers to the plan
};

}  // namespace strategies
