// SPDX-License-Identifier: Apache-2.0
// Matrix products in 8 and 4 bit. Linear layers read copies of their operands that are narrower
// than the 16-bit tensors around them. Each operand serves two products, which sum over different
// dimensions, so a cast writes two copies, one for either direction: where transposed operands can
// be read (Blackwell's fp8) the second could be left out, which is not modelled.
//
// Bytes of one value in one copy, its share of the scales included:
//   fp8, delayed, tensorwise, rowwise   1 (a scale for a tensor or a row is below 0.1 %)
//   fp8, blockwise    1 + 4/128: an fp32 scale for 128 values; for 128 × 128 of weights
//                     (DeepSeek-V3, arXiv 2412.19437, section 3.3)
//   mxfp8             1 + 1/32: a byte for 32 values (OCP Microscaling Formats 1.0)
//   nvfp4             1/2 + 1/16: a byte for 16 values, and one scale for the tensor (arXiv
//                     2509.25149, section 2)
#pragma once
#include <vector>

#include "model/kernels.hpp"
#include "units/kernel.hpp"

namespace model {

constexpr bool is_narrow(units::Precision precision) { return units::element_bytes(precision) < 2; }

// The precision of everything that is not narrow: the tensors between linear layers, attention,
// router and head.
constexpr units::Precision wide_precision(units::Precision precision) {
  return is_narrow(precision) ? units::Precision::bf16 : precision;
}
constexpr double wide_bytes(units::Precision precision) {
  return units::element_bytes(wide_precision(precision));
}

// Weights are scaled in squares, the inputs of layers and the gradients of their outputs in rows.
enum class Operand { weights, values };

// Bytes of one value in one copy; zero where `precision` is not narrow and nothing is copied.
double copy_bytes(units::Precision precision, Scaling scaling, Operand operand);

// The copies of a tensor that narrow products read: one summed over its rows' dimension, one over
// its columns'. An input of a layer is read by rows forward and by columns for the gradient of the
// weights; the gradient of an output by rows for the input's and by columns for the weights'; a
// weight by rows forward and by columns for the input's gradient.
struct Copies {
  bool rows = true, columns = true;
  constexpr int count() const { return (rows ? 1 : 0) + (columns ? 1 : 0); }
};

// Bytes of these copies of a weight, which stay beside the 16-bit weight for the whole step.
double weight_copy_bytes(units::Precision precision, Scaling scaling, Copies copies = {});

// The kernels that make these copies of `values` 16-bit values: they read the values and write the
// copies. Scales of the whole tensor as it is (tensorwise; nvfp4) need its largest value first: a
// kernel that only reads. Rowwise, each copy has scales along the dimension that its product sums
// over: rows are searched and cast by one kernel, columns by two. Delayed scales are known from
// earlier steps. None where `precision` is not narrow or there is no copy.
std::vector<units::Kernel> casts(units::Precision precision, Scaling scaling, double values,
                                 Copies copies = {});

}  // namespace model
