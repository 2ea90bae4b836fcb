// SPDX-License-Identifier: Apache-2.0
#include "strategies/data_traffic.hpp"

#include <algorithm>

#include "model/narrow.hpp"
#include "plans/memory.hpp"

namespace strategies {

using topology::Collective;

namespace {

// Hybrid sharding: reduce-scatter (or gather) inside the node, all-reduce across nodes.
struct Halves {
  topology::GroupShape inside, across;
};
Halves halves_of(const topology::GroupShape& shape) {
  const int inside = shape.least_per_node;
  return {{.ranks = inside,
           .nodes = 1,
           .least_per_node = inside,
           .most_per_node = inside,
           .parts = shape.parts},
          {.ranks = shape.nodes,
           .nodes = shape.nodes,
           .least_per_node = 1,
           .most_per_node = 1,
           .parts = shape.parts}};
}

}  // namespace

double DataTraffic::gradient_bytes() const {
  return reduced_gradient_bytes(job_.plan, job_.training, job_.software);
}

double DataTraffic::wire_bytes() const {
  return packed_bytes(job_.plan, job_.training).value_or(gradient_bytes());
}

double DataTraffic::parameter_bytes() const { return model::wide_bytes(job_.training.precision); }

bool DataTraffic::sharded_in_node(const Sharers& sharers) const {
  return job_.plan.zero >= 1 && job_.plan.shard_group == ShardGroup::node &&
         sharers.ring == FlowKind::ring && sharers.shape.nodes > 1;
}

int DataTraffic::shards_of(const Sharers& sharers) const {
  return sharded_in_node(sharers) ? sharers.shape.least_per_node : sharers.shape.ranks;
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
  return owns_tensors() ? by_owners(Collective::reduce, size, tensors, group)
                        : costs_.collective(Collective::reduce_scatter, size, group);
}

topology::Sending DataTraffic::from_parts(units::Bytes size, std::int64_t tensors,
                                          const topology::GroupShape& group) const {
  return owns_tensors() ? by_owners(Collective::broadcast, size, tensors, group)
                        : costs_.collective(Collective::all_gather, size, group);
}

topology::Sending DataTraffic::reduction(const Sharers& sharers, const Shared& what) const {
  const units::Bytes size{what.parameters * wire_bytes()};
  if (job_.plan.zero == 0 || (job_.plan.zero == 1 && job_.software.all_reduce_gradients))
    return costs_.collective(Collective::all_reduce, size, sharers.shape);
  if (!sharded_in_node(sharers)) return to_parts(size, what.tensors, sharers.shape);
  const auto [inside, across] = halves_of(sharers.shape);
  auto sending = costs_.collective(Collective::all_reduce, size / inside.ranks, across);
  sending.fixed += to_parts(size, what.tensors, inside).time();
  return sending;
}

topology::Sending DataTraffic::gathering(const Sharers& sharers, const Shared& what) const {
  return from_parts({what.parameters * parameter_bytes()}, what.tensors,
                    sharded_in_node(sharers) ? halves_of(sharers.shape).inside : sharers.shape);
}

}  // namespace strategies
