// SPDX-License-Identifier: Apache-2.0
#include "strategies/experts.hpp"

#include <algorithm>

#include "model/narrow.hpp"
#include "plans/precision.hpp"

namespace strategies {

using topology::Collective;
using topology::Sending;
using units::Bytes;

ExpertLoads expert_loads(const Share& share) {
  return expert_loads(*share.model.moe, share.training.routing, share.plan.expert);
}

std::int64_t routed_copies(const model::Moe& moe, const Plan& plan, std::int64_t rows,
                           double load) {
  const auto copies = static_cast<double>(expert_tensor(plan) * rows * moe.top_k);
  return static_cast<std::int64_t>(copies * load + 0.5);
}

bool sends_rows(MoeDispatcher dispatcher) {
  return dispatcher == MoeDispatcher::deepep || dispatcher == MoeDispatcher::hybridep;
}

namespace {

// The members of one node as a group of their own.
topology::GroupShape on_one_node(topology::GroupShape group) {
  group.ranks = group.least_per_node = group.most_per_node;
  group.nodes = group.sharing = 1;
  return group;
}

// Processors that DeepEP takes to dispatch and to combine: 20 of 132 on H800 (DeepSeek-AI 2024,
// arXiv 2412.19437, section 3.2.2). HybridEP is taken to be like it.
constexpr double dispatcher_processors = 20;

// Two exchanges at once: the ports to other nodes carry the traffic that meets others.
Sending beside(Sending between, const Sending& inside) {
  between.fixed += std::max(units::Seconds{}, inside.time() - between.time());
  between.processors = std::max(between.processors, inside.processors);
  return between;
}

struct Exchanging {
  const Share& share;
  const Costs& costs;
  double values = 0;  // values of a rank's rows, each row once
  double fullest = 1;

  const model::Moe& moe() const { return *share.model.moe; }
  const topology::GroupShape& group() const { return share.expert_shape; }
  Sending time(Collective kind, double bytes, const topology::GroupShape& shape) const {
    return costs.collective(kind, Bytes{bytes}, shape);
  }

  // The mean number of `parts` equal parts of the experts that a token is sent to.
  double hit(int parts) const { return parts_hit(moe(), share.training.routing, parts); }

  // The exchange with the ranks of the expert-parallel group, one way; a token goes once to each
  // node and once to each rank of a node.
  Sending deduplicated(double bytes_of_value) const {
    const double once = values * fullest * bytes_of_value;
    const double to_ranks = once * hit(group().ranks);
    auto sending = like(group().nodes == 1 ? to_ranks : once * hit(group().nodes), group());
    if (group().nodes > 1) sending = beside(sending, like(to_ranks, on_one_node(group())));
    if (share.processors > 0)
      sending.processors = std::min(1.0, dispatcher_processors / share.processors);
    return sending;
  }
  // The time of an exchange by kernels of the dispatcher's own, which are taken to be like NCCL's.
  Sending like(double bytes, const topology::GroupShape& shape) const {
    const auto sending = time(Collective::all_to_all, bytes, shape);
    if (costs.questions && sending.asked != 0) costs.questions->stands_in(sending.asked);
    return sending;
  }
  Sending between_experts(double bytes_of_value, Collective gathering) const {
    switch (share.software.moe_dispatcher) {
      case MoeDispatcher::all_gather:
        return time(gathering, values * bytes_of_value * static_cast<double>(share.plan.expert),
                    group());
      case MoeDispatcher::deepep:
      case MoeDispatcher::hybridep:
        return deduplicated(bytes_of_value);
      case MoeDispatcher::all_to_all:
        break;
    }
    return time(Collective::all_to_all,
                values * fullest * bytes_of_value * static_cast<double>(moe().top_k), group());
  }
  // The exchange among the ranks that divide the same experts.
  Sending between_parts(double bytes_of_value, Collective gathering) const {
    const bool rows = share.software.moe_dispatcher == MoeDispatcher::all_gather;
    const auto sent =
        rows ? static_cast<double>(share.plan.expert) : fullest * static_cast<double>(moe().top_k);
    const bool as_layers = expert_tensor(share.plan) == share.plan.tensor;
    auto sending = time(
        gathering, values * sent * bytes_of_value * static_cast<double>(expert_tensor(share.plan)),
        as_layers ? share.tensor_shape : share.apart_tensor_shape);
    if (as_layers) sending.rate.value = std::min(sending.rate.value, share.tensor_rate);
    return sending;
  }
  Sending one_way(double bytes_of_value, Collective gathering) const {
    if (share.plan.expert == 1) return between_parts(bytes_of_value, gathering);
    auto sending = between_experts(bytes_of_value, gathering);
    if (expert_tensor(share.plan) > 1) sending.join(between_parts(bytes_of_value, gathering));
    return sending;
  }
};

}  // namespace

double dispatched_value_bytes(const Training& training, MoeDispatcher dispatcher, bool wide,
                              Pass pass) {
  const auto precision = expert_precision(training, wide);
  const auto in_16_bit = wide_products(training.in_bf16);
  const bool read_narrow =
      !in_16_bit.weight_gradients && (pass == Pass::forward || !in_16_bit.input_gradients);
  const bool narrow = sends_rows(dispatcher) && read_narrow && precision == units::Precision::fp8 &&
                      training.fp8_recipe == Fp8Recipe::blockwise;
  return narrow ? model::copy_bytes(precision, training.fp8_recipe, model::Operand::values)
                : model::wide_bytes(training.precision);
}

ExpertExchanges expert_exchanges(const Share& share, const Costs& costs, bool wide) {
  const auto& plan = share.plan;
  if (!share.model.moe || plan.expert * expert_tensor(plan) == 1) return {};
  const auto rows = dense_extent_of(share).rows;
  const Exchanging exchanging{share, costs, static_cast<double>(rows * share.model.hidden),
                              expert_loads(share).fullest};
  // Experts that are divided like the rest of the layer exchange in its tensor-parallel group.
  const bool as_layers = plan.expert == 1 && expert_tensor(plan) == plan.tensor;
  const auto dispatch = [&](Pass pass) {
    return exchanging.one_way(
        dispatched_value_bytes(share.training, share.software.moe_dispatcher, wide, pass),
        Collective::all_gather);
  };
  return {
      as_layers ? FlowKind::tensor : FlowKind::expert, dispatch(Pass::forward),
      exchanging.one_way(model::wide_bytes(share.training.precision), Collective::reduce_scatter),
      dispatch(Pass::backward)};
}

Bytes gathered_rows(const Share& share) {
  const auto ranks = share.plan.expert * expert_tensor(share.plan);
  if (!share.model.moe || ranks == 1 || share.software.moe_dispatcher != MoeDispatcher::all_gather)
    return {};
  const auto values = ranks * dense_extent_of(share).rows * share.model.hidden;
  return {static_cast<double>(values) * model::wide_bytes(share.training.precision)};
}

bool host_waits_for_counts(const Share& share, bool wide) {
  const auto& moe = share.model.moe;
  return moe && !moe->capacity_factor && !share.software.cuda_graphs &&
         !model::fuses_experts(share.software.kernels, expert_precision(share.training, wide));
}

}  // namespace strategies
