// SPDX-License-Identifier: Apache-2.0
#include "strategies/ring.hpp"

#include <algorithm>

#include "strategies/context.hpp"

namespace strategies {
namespace {

units::Kernel stream(double bytes) {
  return {.kind = units::Kernel::Kind::stream, .traffic = {bytes}};
}

// Results of one round are merged into those before them: outputs forward; gradients of queries and
// of the round's keys and values backward.
void add_merges(const Share& share, bool forward, std::vector<units::Kernel>& round) {
  constexpr double added = 10;  // bytes of one value: fp32 sum and 16-bit part read, sum written
  const auto& block = round.front();
  const auto extent = extent_of(share);
  const auto tokens = static_cast<double>(extent.tokens());
  const auto width = [&](std::int64_t heads, std::int64_t dim) {
    return tokens * static_cast<double>(heads * dim);
  };
  const auto dim = share.model.head_dim, value_dim = share.model.v_head_dim();
  const double seen = static_cast<double>(block.n) / static_cast<double>(block.m);  // of the keys
  const double outputs = width(extent.heads, value_dim), queries = width(extent.heads, dim);
  const double keys = width(model::core_kv_heads(extent, share.software.kernels), dim + value_dim);
  if (!is_blockwise(share) || share.software.compile) {
    round.push_back(stream(added * (forward ? outputs : queries + seen * keys)));
  } else if (forward) {
    // The part in fp32; the sum less the part; that, weighted; the sum less that.
    for (const double bytes : {2. + 4, 8. + 4, 4. + 4, 8. + 4})
      round.push_back(stream(bytes * outputs));
  } else {
    round.push_back(stream(added * queries));
    round.push_back(stream(added * seen * keys));
    round.push_back(stream((4. + 4) * keys));  // into one buffer, to be sent
  }
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
  Rounds rounds{.own = own, .each = {block}, .others = parts - 1};
  add_merges(share, forward, rounds.each);
  return rounds;
}

}  // namespace strategies
