// SPDX-License-Identifier: Apache-2.0
// Layers whose tensor degree is smaller than the plan's (per-layer strategies, Miao et al. 2022): a
// tensor-parallel group of t ranks falls into groups of t', each of which holds such a layer whole
// and takes t'/t of the samples of every microbatch. A microbatch is dealt out again on its way in,
// and collected on its way out. With sequence parallelism every rank trades its part of the rows
// with t/t' others, an all-to-all each way; without, it has all rows and leaves out those of
// others, which an all-gather collects on the way back.
#pragma once
#include "strategies/passes.hpp"

namespace strategies {

// The plan as a rank sees it inside of such layers: plan.layer_tensor is its tensor degree, the
// micro-batch is smaller and the number of replicas larger by the same factor.
Plan regrouped_plan(const Plan& plan);

// The exchanges before and after such layers. `sequence_parallel`: of the plan's groups. O(1)
Regrouping regrouping(const Share& share, const Costs& costs, bool sequence_parallel,
                      units::Bytes row_bytes);

struct PassWriter::Regrouped {
  Plan plan;
  Regrouping exchanges;
  std::optional<PassWriter> writer;  // it refers to the plan
};

}  // namespace strategies
