// SPDX-License-Identifier: Apache-2.0
#include "strategies/context.hpp"

#include <algorithm>
#include <initializer_list>

#include "model/narrow.hpp"

namespace strategies {

using topology::Collective;

bool is_blockwise(const Share& share) {
  return share.software.blockwise_context && share.plan.context > 1 &&
         share.plan.context_method != ContextMethod::ulysses;
}

CoreShare core_share_of(const Share& share) {
  const auto parts = share.plan.context;
  auto extent = extent_of(share);
  extent.sequence *= parts;
  if (share.plan.context_method != ContextMethod::ulysses) return {extent, parts};
  extent.heads /= parts;
  extent.kv_heads = std::max<std::int64_t>(1, extent.kv_heads / parts);
  return {extent, 1};
}

namespace {

// Several exchanges, one after the other, as one that takes as long.
topology::Sending in_turn(std::initializer_list<topology::Sending> all) {
  topology::Sending sum{};
  units::Seconds sending;
  for (const auto& one : all) {
    sum.fixed += one.fixed;
    sum.bytes += one.bytes;
    sum.processors = std::max(sum.processors, one.processors);
    sending += one.bytes / one.rate;
  }
  sum.asked = all.begin()->asked;
  sum.rate = sending.value > 0 ? sum.bytes / sending : all.begin()->rate;
  return sum;
}

constexpr double gradient_bytes = 4;  // of one value, where gradients of blocks go round

double width(std::int64_t heads, std::int64_t dim) { return static_cast<double>(heads * dim); }

// Some of n equal exchanges that take as long as `all` in turn.
topology::Sending some_of(std::int64_t some, std::int64_t n, topology::Sending all) {
  const double share = static_cast<double>(some) / static_cast<double>(n);
  all.fixed.value *= share;
  all.bytes.value *= share;
  return all;
}

// The values of keys and values of the whole sequence, of the heads that this rank's core reads,
// per token of its part.
double gathered_width(const Share& share, const model::Extent& extent) {
  return static_cast<double>(share.plan.context) *
         width(model::core_kv_heads(extent, share.software.kernels),
               share.model.head_dim + share.model.v_head_dim());
}

units::Bytes bytes_of(const model::Extent& extent, double values_per_token, double value_bytes) {
  return {static_cast<double>(extent.tokens()) * values_per_token * value_bytes};
}

units::Bytes exchanged_bytes(const Share& share, const model::Extent& extent,
                             double values_per_token) {
  return bytes_of(extent, values_per_token, model::wide_bytes(share.training.precision));
}

// Keys and values arrive all at once or in turn. Their gradients leave a rank after each of its c
// rounds: c − 1 times, which `gradients` take, beside the round that follows, and once behind them.
ContextExchanges blockwise(const Share& share, const topology::Sending& keys,
                           const topology::Sending& gradients) {
  const auto others = share.plan.context - 1;
  ContextExchanges exchanges{.last_parts = others, .forward = {.before = keys}};
  auto& backward = exchanges.backward;
  backward.before = keys;
  backward.within = gradients;
  backward.after = some_of(1, others, gradients);
  if (share.plan.context_method == ContextMethod::all_gather) return exchanges;
  exchanges.last_parts = 1;
  backward.within = backward.after;
  if (others > 1) backward.before = in_turn({keys, some_of(others - 1, others, gradients)});
  return exchanges;
}

}  // namespace

units::Bytes context_buffer(const Share& share) {
  const auto parts = share.plan.context;
  if (parts == 1 || share.plan.context_method == ContextMethod::ulysses) return {};
  const auto extent = extent_of(share);
  const auto whole = exchanged_bytes(share, extent, gathered_width(share, extent));
  if (share.plan.context_method == ContextMethod::all_gather) return whole;
  return (2 / static_cast<double>(parts)) * whole;
}

ContextExchanges context_exchanges(const Share& share, const Costs& costs) {
  const auto parts = share.plan.context;
  if (parts == 1) return {};
  const auto extent = extent_of(share);
  const auto time = [&](Collective kind, double values_per_token) {
    return costs.collective(kind, exchanged_bytes(share, extent, values_per_token),
                            share.context_shape);
  };
  const auto dim = share.model.head_dim, value_dim = share.model.v_head_dim();
  const double gathered = gathered_width(share, extent);

  if (is_blockwise(share))
    return blockwise(
        share, time(Collective::all_gather, gathered),
        costs.collective(Collective::all_gather, bytes_of(extent, gathered, gradient_bytes),
                         share.context_shape));
  ContextExchanges exchanges;
  switch (share.plan.context_method) {
    case ContextMethod::ring:
      exchanges.last_parts = 1;
      exchanges.forward.before = time(Collective::all_gather, gathered);
      exchanges.backward.before = time(Collective::all_gather, 2 * gathered);
      break;
    case ContextMethod::all_gather:
      exchanges.forward.before = exchanges.backward.before = time(Collective::all_gather, gathered);
      exchanges.backward.after = time(Collective::reduce_scatter, gathered);
      break;
    case ContextMethod::ulysses: {
      const auto kv_heads = std::max(model::core_kv_heads(extent, share.software.kernels), parts);
      const auto inputs = in_turn({time(Collective::all_to_all, width(extent.heads, dim)),
                                   time(Collective::all_to_all, width(kv_heads, dim)),
                                   time(Collective::all_to_all, width(kv_heads, value_dim))});
      const auto output = time(Collective::all_to_all, width(extent.heads, value_dim));
      exchanges.forward = {.before = inputs, .after = output};
      exchanges.backward = {.before = output, .after = inputs};
      break;
    }
  }
  return exchanges;
}

}  // namespace strategies
