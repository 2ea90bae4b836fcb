// SPDX-License-Identifier: Apache-2.0
#include "strategies/ring.hpp"

#include <algorithm>

namespace strategies {
namespace {

constexpr double merged_bytes = 10;  // of one value: fp32 sum and 16-bit part read, sum written

units::Kernel merge(const units::Kernel& block, bool forward, const Share& share) {
  const auto extent = extent_of(share);
  const auto tokens = static_cast<double>(extent.tokens());
  const auto width = [&](std::int64_t heads, std::int64_t dim) {
    return tokens * static_cast<double>(heads * dim);
  };
  const auto dim = share.model.head_dim, value_dim = share.model.v_head_dim();
  const double seen = static_cast<double>(block.n) / static_cast<double>(block.m);  // of the keys
  const double values =
      forward ? width(extent.heads, value_dim)
              : width(extent.heads, dim) + seen * width(extent.kv_heads, dim + value_dim);
  return {.kind = units::Kernel::Kind::stream, .traffic = {merged_bytes * values}};
}

}  // namespace

std::optional<Rounds> rounds_of(const units::Kernel& kernel, bool forward, const Share& share) {
  const auto parts = share.plan.context;
  if (kernel.kind != units::Kernel::Kind::attention || kernel.m != kernel.n) return std::nullopt;
  const auto share_of_all = 1 / static_cast<double>(parts);
  auto own = kernel;
  own.m = own.n = kernel.m / parts;
  own.flops = share_of_all * share_of_all * kernel.flops;
  own.traffic = share_of_all * kernel.traffic;
  auto block = own;
  if (kernel.causal) {
    block.causal = false;
    block.n = std::max<std::int64_t>(1, own.n / 2);
  }
  return Rounds{own, {block, merge(block, forward, share)}, parts - 1};
}

}  // namespace strategies
