// SPDX-License-Identifier: Apache-2.0
#include "strategies/data_traffic.hpp"

#include <algorithm>

#include "model/narrow.hpp"
#include "plans/duties.hpp"
#include "plans/memory.hpp"
#include "plans/shard_groups.hpp"

namespace strategies {

using topology::Collective;

double DataTraffic::gradient_bytes() const {
  return reduced_gradient_bytes(job_.plan, job_.training, job_.software);
}

double DataTraffic::wire_bytes() const {
  return packed_bytes(job_.plan, job_.training).value_or(gradient_bytes());
}

double DataTraffic::parameter_bytes() const { return model::wide_bytes(job_.training.precision); }

int DataTraffic::shards_of(const Sharers& sharers) const {
  if (job_.plan.zero == 0) return sharers.shape.ranks;
  return sharers.ring == FlowKind::expert_ring ? shards_.apart : shards_.with_layer;
}

bool DataTraffic::keeps_copies(const Sharers& sharers) const {
  return shards_of(sharers) < sharers.shape.ranks;
}

FlowKind DataTraffic::flow_of(const Sharers& sharers, bool gathers) const {
  const bool inside = keeps_copies(sharers) && (gathers || fills_nodes(sharers));
  if (!inside) return sharers.ring;
  return sharers.ring == FlowKind::expert_ring ? FlowKind::expert_inside : FlowKind::inside;
}

// Several collectives of equal size, one after the other, one for every rank that owns a tensor.
topology::Sending DataTraffic::by_owners(Collective kind, units::Bytes size, std::int64_t tensors,
                                         const topology::GroupShape& group) const {
  const auto owners =
      static_cast<double>(std::clamp<std::int64_t>(tensors, 1, std::max(1, group.ranks)));
  auto sending = costs_.collective(kind, size / owners, group);
  sending.fixed = owners * sending.fixed;
  sending.bytes = owners * sending.bytes;
  return sending;
}

topology::Sending DataTraffic::to_parts(units::Bytes size, std::int64_t tensors,
                                        const topology::GroupShape& group) const {
  return owns_tensors(job_.plan, job_.software)
             ? by_owners(Collective::reduce, size, tensors, group)
             : costs_.collective(Collective::reduce_scatter, size, group);
}

topology::Sending DataTraffic::from_parts(units::Bytes size, std::int64_t tensors,
                                          const topology::GroupShape& group) const {
  return owns_tensors(job_.plan, job_.software)
             ? by_owners(Collective::broadcast, size, tensors, group)
             : costs_.collective(Collective::all_gather, size, group);
}

topology::Sending DataTraffic::reduction(const Sharers& sharers, const Shared& what) const {
  const units::Bytes size{what.parameters * wire_bytes()};
  if (!keeps_copies(sharers))
    return sums_everywhere() ? costs_.collective(Collective::all_reduce, size, sharers.shape)
                             : to_parts(size, what.tensors, sharers.shape);
  auto [inside, across] = halves_of(sharers.shape, shards_of(sharers));
  // Taken alone, it still shares NICs: all GPUs of a node sum their copies at once.
  if (fills_nodes(sharers)) across.sharing = job_.cluster.node.gpus;
  auto copies = costs_.collective(Collective::all_reduce, size / inside.ranks, across);
  auto parts = to_parts(size, what.tensors, inside);
  if (sums_everywhere()) {  // the sums come back as the gradients went
    const auto back = costs_.collective(Collective::all_gather, size, inside);
    parts.fixed += back.fixed;
    parts.bytes += back.bytes;
  }
  if (fills_nodes(sharers)) {
    parts.join(copies);
    return parts;
  }
  copies.join(parts);
  return copies;
}

topology::Sending DataTraffic::gathering(const Sharers& sharers, const Shared& what) const {
  return from_parts(
      {what.parameters * parameter_bytes()}, what.tensors,
      keeps_copies(sharers) ? halves_of(sharers.shape, shards_of(sharers)).inside : sharers.shape);
}

}  // namespace strategies
