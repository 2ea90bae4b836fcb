// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/cast.hpp"

#include <algorithm>

#include "plans/shard_groups.hpp"
#include "strategies/blocks.hpp"

namespace strategies {

Cast::Cast(const Job& of, const Costs& asked, Ranks ranks)
    : job(of),
      costs(asked),
      duties(data_duties(of.plan, of.training, of.software)),
      layout(layout_of(of.plan)),
      placement(of.plan),
      folding(placement, of.cluster, ranks_of_shard_group(of.plan, placement, of.cluster), ranks),
      blocks(blocks_of(of.model, of.training, of.plan, of.software.keep_sent_outputs)),
      microbatches{.all = microbatches_of(of.plan, of.training)},
      cells(static_cast<std::size_t>(layout.stages)) {
  microbatches.written = microbatches.all;
  groups.fill(std::vector<std::vector<Group>>(cells.size()));
}

Gpu gpu_of(const Job& job, std::int64_t rank) {
  return {job.cluster.kind_of_node(rank / job.cluster.node.gpus), job.cluster.slowdown_of(rank)};
}

Slot run_by(const Cast& cast, int stage, const Slot& slot) {
  if (cast.placement.lead_of(stage) == stage) return slot;
  const auto microbatches = static_cast<int>(cast.microbatches.written);
  auto its = slot;
  its.chunk = 1 - slot.chunk;
  its.microbatch = (slot.microbatch + microbatches / 2) % microbatches;
  return its;
}

double embedding_words(const Cast& cast) {
  return static_cast<double>(dense_extent_of(cast.job.share()).vocab * cast.job.model.hidden);
}

Parameters parameters_of(const Cast& cast, const Block& block) {
  const auto& cost = cast.writers.front()->cost(block);
  auto held = cast.placement.holds_apart() ? cost.parameters : cost.parameters.together();
  if (block.kind == Block::Kind::head)
    held += beside_head(cast.job.model, cast.layout, embedding_words(cast));
  return held;
}

Parameters parameters_of(const Cast& cast, const Segment& segment) {
  Parameters sum;
  for (const auto& block : segment) sum += parameters_of(cast, block);
  return sum;
}

Parameters parameters_of(const Cast& cast, int stage) {
  Parameters sum;
  for (int chunk = 0; chunk < cast.chunks(); ++chunk)
    sum += parameters_of(cast, cast.blocks_at(stage, chunk));
  return sum;
}

bool shares_parameters(const Cast& cast, int stage) {
  return !cast.groups_at(FlowKind::ring, stage).empty() ||
         !cast.groups_at(FlowKind::expert_ring, stage).empty();
}

bool divides_parameters(const Cast& cast, int stage) {
  const auto divides = [&](FlowKind ring) {
    return std::ranges::any_of(cast.groups_at(ring, stage), [&](const Group& group) {
      return cast.traffic().shards_of(group) > 1;
    });
  };
  return divides(FlowKind::ring) || divides(FlowKind::expert_ring);
}

bool host_optimizer(const Cast& cast) {
  return cast.job.plan.offload.optimizer != Offload::Tier::none;
}

bool host_parameters(const Cast& cast) {
  return cast.job.plan.offload.parameters != Offload::Tier::none;
}

std::int64_t offloaded(const Cast& cast, const Segment& segment) {
  std::int64_t bytes = 0;
  for (const auto& block : segment) bytes += cast.writers.front()->cost(block).offloaded;
  return bytes;
}

}  // namespace strategies
