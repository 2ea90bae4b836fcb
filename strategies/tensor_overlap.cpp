// SPDX-License-Identifier: Apache-2.0
#include "strategies/tensor_overlap.hpp"

#include <algorithm>

#include "plans/duties.hpp"

namespace strategies {

using units::Kernel;

bool overlaps_tensor(const Share& share) { return overlaps_of(share.plan, share.software).tensor; }

bool pipelines_tensor(const Share& share) {
  return overlaps_tensor(share) && share.software.tensor_overlap == TensorOverlap::pipelined &&
         share.plan.sequence_parallel && share.plan.tensor > 1 && !share.outside;
}

Kernel part_of(const Kernel& whole, std::int64_t parts) {
  const auto share = 1 / static_cast<double>(parts);
  auto part = whole;
  part.flops = share * whole.flops;
  if (whole.kind != Kernel::Kind::product) {
    part.traffic = share * whole.traffic;
    return part;
  }
  part.m = (whole.m + parts - 1) / parts;
  const units::Bytes weights{units::element_bytes(whole.precision) *
                             static_cast<double>(whole.batch * whole.n * whole.k)};
  part.traffic = share * (whole.traffic - weights) + weights;
  return part;
}

bool can_be_cut(const model::Operator& op) {
  return (op.seam == model::Seam::enter || op.seam == model::Seam::leave) &&
         std::ranges::any_of(op.forward,
                             [](const auto& k) { return k.kind == Kernel::Kind::product; });
}

Kernel sum_of_parts(const Share& share, double bytes_of_all_rows) {
  const auto parts = static_cast<double>(share.plan.tensor);
  return {.kind = Kernel::Kind::stream, .traffic = {(parts + 1) / parts * bytes_of_all_rows}};
}

}  // namespace strategies
