// SPDX-License-Identifier: Apache-2.0
// Tensor-parallel communication beside the products that need or make what is sent.
//
// async (Megatron-LM): what the backward pass reduces runs beside the weight gradient.
// pipelined (Transformer Engine's userbuffers, PyTorch's async tensor parallelism), with sequence
// parallelism over t ranks of one node: besides, the product is cut into t parts of M/t rows. A
// gather brings one rank's rows after the other, while those that are here are multiplied, the
// rank's own first; a reduce-scatter sends each rank its part when it is made, the own last, and
// then sums t parts. With a part of the product g and one of the t − 1 transfers a that is
//     max(t·g, g + (t − 1)·a)
// in place of t·g + (t − 1)·a, but M/t rows run at a lower rate. One call of the framework launches
// all parts. The backward pass of a column-parallel product stays async where it computes its
// weight gradient too ("bulk" in Transformer Engine): there are two products to hide under.
#pragma once
#include <cstdint>

#include "strategies/passes.hpp"
#include "units/kernel.hpp"

namespace strategies {

// Whether the plan's tensor-parallel communication is cut into parts that run beside computation.
bool overlaps_tensor(const Share& share);
bool pipelines_tensor(const Share& share);

// One of `parts` parts of a kernel, over `parts` times fewer rows; each part reads all weights.
units::Kernel part_of(const units::Kernel& whole, std::int64_t parts);
// Whether the operator has a product in the forward pass that sends or gathers at a seam.
bool can_be_cut(const model::Operator& op);
// The kernel that sums the rows sent by t ranks: t parts of the rank's rows are read and one is
// written.
units::Kernel sum_of_parts(const Share& share, double bytes_of_all_rows);

}  // namespace strategies
