// SPDX-License-Identifier: Apache-2.0
#include "strategies/least_costs.hpp"

#include <algorithm>
#include <array>

#include "model/narrow.hpp"
#include "plans/duties.hpp"
#include "plans/placement.hpp"
#include "sim/play.hpp"

namespace strategies {

using sim::Picoseconds;

namespace {

// The least time of a pass in pieces. Messages wait for an exchange at its very end, but the device
// does not.
LeastTime least_time(const Pieces& pieces) {
  LeastTime time;
  std::vector<Picoseconds> over(pieces.size());
  Picoseconds sent = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    if (piece.waits_for >= 0)
      time.device = std::max(time.device, over[static_cast<std::size_t>(piece.waits_for)]);
    const auto alone = sim::on_compute_lane(piece.body);
    time.device += alone;
    time.computing += alone;
    for (const auto& step : piece.body.steps) time.host += step.issue;
    if (!piece.then) continue;
    const auto exchange = to_ticks(piece.then->sending.time());
    time.exchanging += exchange;
    sent = std::max(sent, time.device) + exchange;
    over[i] = sent;
  }
  return time;
}

// The lead of a pass up to its first exchange of experts: where others make that longer, the host
// catches up.
Picoseconds lead_of(const Pieces& pieces) {
  const auto compute = static_cast<std::size_t>(sim::Lane::compute);
  auto found_idle = sim::lanes_from(0, 0), queued = sim::lanes_from(0);
  std::vector<std::array<Picoseconds, 2>> over(pieces.size());
  std::array<Picoseconds, 2> sent{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    if (piece.waits_for >= 0) {
      const auto& there = over[static_cast<std::size_t>(piece.waits_for)];
      found_idle[compute] = std::max(found_idle[compute], there[0]);
      queued[compute] = std::max(queued[compute], there[1]);
    }
    found_idle = sim::after(piece.body, found_idle);
    queued = sim::after(piece.body, sim::lanes_from(queued[compute]));
    if (!piece.then) continue;
    if (piece.then->group == FlowKind::expert) break;
    const auto exchange = to_ticks(piece.then->sending.time());
    sent = {std::max(sent[0], found_idle[compute]) + exchange,
            std::max(sent[1], queued[compute]) + exchange};
    over[i] = sent;
  }
  return found_idle[compute] - queued[compute];
}

// The exchanges of experts for which the next piece waits, and the device with it.
BlockLeastCosts::Exchanged exchanged_in(const Pieces& pieces) {
  BlockLeastCosts::Exchanged all;
  Picoseconds device = 0;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    device += sim::on_compute_lane(pieces[i].body);
    const auto& then = pieces[i].then;
    if (!then) continue;
    const auto& sending = then->sending;
    const auto leaves = device + to_ticks(sending.fixed), time = to_ticks(sending.time());
    device += time;
    if (then->group != FlowKind::expert || pieces[i + 1].waits_for != static_cast<int>(i)) continue;
    const auto on_the_way = time - to_ticks(sending.fixed);
    if (all.bytes <= 0) {
      all.first_bytes = sending.bytes.value;
      all.first_time = on_the_way;
      all.first_leaves = leaves;
    }
    all.bytes += sending.bytes.value;
    all.time += on_the_way;
  }
  return all;
}

LeastTime lesser(const LeastTime& a, const LeastTime& b) {
  return {std::min(a.device, b.device), std::min(a.host, b.host),
          std::min(a.computing, b.computing), std::min(a.exchanging, b.exchanging)};
}

// The least costs of a block by this writer's prices. Bytes do not depend on the rank.
BlockLeastCosts least_costs_of(const PassWriter& writer, const Block& block, bool holds_apart,
                               bool sensitivities) {
  const auto& cost = writer.cost(block);
  const std::vector<Block> alone{block};
  BlockLeastCosts least{.kept = cost.kept, .recomputed = cost.recomputed, .cast = cost.cast};
  const auto pass = [&](const Pieces& pieces, LeastTime& time, Picoseconds& lead) {
    time = least_time(pieces);
    lead = lead_of(pieces);
  };
  const auto backward = [&](Pass pass) { return writer.backward(alone, pass); };
  const auto pieces = backward(Pass::backward);
  pass(writer.forward(alone), least.forward, least.lead.forward);
  pass(pieces, least.backward, least.lead.backward);
  pass(backward(Pass::backward_input), least.backward_input, least.lead.backward_input);
  pass(backward(Pass::backward_weight), least.backward_weight, least.lead.backward_weight);
  least.exchanged = exchanged_in(pieces);
  least.forward_peak = cost.recomputed + cost.largest_growing;
  least.backward_peak = cost.recomputed + cost.gradients_freeing;
  least.input_peak = cost.recomputed + cost.gradients;
  least.parameters = holds_apart ? cost.parameters : cost.parameters.together();
  if (!sensitivities) return least;
  // The longest path grows faster and faster as its parts grow: its growth for the first little bit
  // bounds it.
  constexpr double little = 1.0 / 256;
  const auto growth = [&](const Pieces& slowed, const LeastTime& usual) {
    return std::max(0.0, static_cast<double>(least_time(slowed).device - usual.device) / little);
  };
  const auto slowed = [&](Pass pass) { return writer.backward(alone, pass, 1 + little); };
  least.sensitivity = {growth(writer.forward(alone, 1 + little), least.forward),
                       growth(slowed(Pass::backward), least.backward),
                       growth(slowed(Pass::backward_input), least.backward_input),
                       growth(slowed(Pass::backward_weight), least.backward_weight)};
  return least;
}

void keep_lesser(BlockLeastCosts& least, const BlockLeastCosts& other) {
  least.forward = lesser(least.forward, other.forward);
  least.backward = lesser(least.backward, other.backward);
  least.backward_input = lesser(least.backward_input, other.backward_input);
  least.backward_weight = lesser(least.backward_weight, other.backward_weight);
  using Lead = BlockLeastCosts::Lead;
  for (const auto pass :
       {&Lead::forward, &Lead::backward, &Lead::backward_input, &Lead::backward_weight})
    least.lead.*pass = std::min(least.lead.*pass, other.lead.*pass);
  // The time that sharing links adds grows with bytes, and shrinks with the time that they take
  // alone.
  auto& exchanged = least.exchanged;
  exchanged = {std::min(exchanged.bytes, other.exchanged.bytes),
               std::min(exchanged.first_bytes, other.exchanged.first_bytes),
               std::max(exchanged.time, other.exchanged.time),
               std::max(exchanged.first_time, other.exchanged.first_time),
               std::max(exchanged.first_leaves, other.exchanged.first_leaves)};
  const auto keep = [&](double BlockLeastCosts::Sensitivity::*of) {
    least.sensitivity.*of = std::min(least.sensitivity.*of, other.sensitivity.*of);
  };
  keep(&BlockLeastCosts::Sensitivity::forward);
  keep(&BlockLeastCosts::Sensitivity::backward);
  keep(&BlockLeastCosts::Sensitivity::backward_input);
  keep(&BlockLeastCosts::Sensitivity::backward_weight);
}

}  // namespace

std::vector<RankKind> rank_kinds(const Plan& plan, const topology::Cluster& cluster) {
  const bool alike = cluster.kinds() == 1;
  const std::int64_t first = alike ? 2 * cluster.node.gpus : 256, everywhere = alike ? 8 : 256;
  const Placement placement(plan);
  const auto shape = [&](const std::vector<std::int64_t>& group) {
    return topology::shape_of(group, cluster);
  };
  std::vector<RankKind> kinds;
  const auto stride = std::max<std::int64_t>(1, placement.ranks() / everywhere);
  for (std::int64_t rank = 0; rank < placement.ranks(); rank += rank < first ? 1 : stride) {
    const RankKind kind{
        cluster.kind_of_node(rank / cluster.node.gpus),
        shape(tensor_group(placement, rank)),
        shape(context_group(placement, rank)),
        shape(expert_group(placement, rank)),
        shape(apart_tensor_group(placement, rank)),
        placement.regroups() ? shape(regrouping_group(placement, rank)) : topology::GroupShape{}};
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

Share share_of(const Job& job, const RankKind& kind) {
  auto share = job.share();
  share.gpu = {kind.gpu, 1.0};
  share.processors = job.cluster.kind(kind.gpu).device.sms;
  share.tensor_shape = kind.tensor;
  share.context_shape = kind.context;
  share.expert_shape = kind.expert;
  share.apart_tensor_shape = kind.expert_tensor;
  share.regrouping_shape = kind.regrouping;
  share.outside = kind.tensor.nodes > 1;
  return share;
}

double message_bytes(const Share& share) {
  const auto extent = dense_extent_of(share);
  const auto& plan = share.plan;
  const double bytes = static_cast<double>(extent.tokens() * share.model.hidden) *
                       model::wide_bytes(share.training.precision);
  const bool split = plan.tensor > 1 && (plan.sequence_parallel || share.software.scatter_gather);
  return split ? bytes / static_cast<double>(plan.tensor) : bytes;
}

LeastCosts::LeastCosts(const Job& job, const std::vector<RankKind>& kinds, const Costs& costs,
                       const std::vector<Block>& blocks, bool sensitivities) {
  const Placement placement(job.plan);
  const bool pairs = runs_in_pairs(job.model, job.plan, job.software);
  // A graph is launched once for a whole pass: none of its blocks takes that time.
  auto software = job.software;
  if (software.cuda_graphs) software.launch_forward = software.launch_backward = {0.0};
  const Job launched{job.model, job.training, job.plan, software, job.cluster};
  for (const auto& kind : kinds) {
    const PassWriter writer(share_of(launched, kind), costs, {blocks});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto least = least_costs_of(writer, blocks[i], placement.holds_apart(), sensitivities);
      if (blocks_.size() == i)
        blocks_.emplace_back(blocks[i], least);
      else
        keep_lesser(blocks_[i].second, least);
    }
  }
  const auto stages = job.plan.pipeline;
  const units::Bytes bytes{message_bytes(job.share())};
  for (std::int64_t stage = 0; stage < stages; ++stage)
    for (const std::int64_t by : {-1, 1}) {
      const auto there = (stage + by + stages) % stages;
      sending_.push_back(to_ticks(costs
                                      .transfer(bytes, placement.rank_of({.pipeline = stage}),
                                                placement.rank_of({.pipeline = there}))
                                      .time()));
    }
  if (stages > 1 && job.software.pipeline_sync && !pairs && !job.software.launch_blocking)
    launches_ = {to_ticks(costs.by_host(job.software.launch_forward)),
                 to_ticks(costs.by_host(job.software.launch_backward))};
}

const BlockLeastCosts& LeastCosts::of(const Block& block) const {
  return std::ranges::find(blocks_, block, &std::pair<Block, BlockLeastCosts>::first)->second;
}

}  // namespace strategies
