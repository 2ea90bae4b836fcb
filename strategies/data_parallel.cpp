// SPDX-License-Identifier: Apache-2.0
// Data parallelism. Volumes per step in units of the parameters, m microbatches: plain and ZeRO-1
// 2; ZeRO-2 m + 1 (it reduces every microbatch); ZeRO-3 3m, or 2m without resharding.
// Overlapped, gradients are reduced bucket by bucket as the backward pass fills them; a collective
// on the data lane begins when the last of its ranks has filled the bucket.
// Ranks that have parts of the same sequences (context parallelism) hold the same parameters: they
// sum gradients and share states as replicas do.
#include <algorithm>

#include "strategies/lowering.hpp"
#include "strategies/memory.hpp"
#include "strategies/pipeline.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;
using sim::Picoseconds;
using topology::Collective;

bool Lowering::overlaps_data() const {
  return job_.plan.overlap.data.value_or(job_.software.overlap_data);
}
bool Lowering::overlaps_parameters() const {
  return job_.plan.zero >= 1 &&
         job_.plan.overlap.parameters.value_or(job_.software.overlap_parameters);
}
double Lowering::gradient_bytes() const {
  const bool wide = units::element_bytes(job_.training.precision) == 4;
  return units::element_bytes(job_.plan.gradient_precision.value_or(
      wide ? units::Precision::fp32 : job_.software.gradient_precision));
}
double Lowering::parameter_bytes() const {
  return std::max(2.0, units::element_bytes(job_.training.precision));
}
double Lowering::parameters_of(const Block& block) const {
  const double all = writers_.front()->cost(block).parameters;
  const bool shared =
      block.kind == Block::Kind::head && job_.model.tied_embeddings && embeds_and_predicts();
  if (!shared) return all;
  const auto extent = extent_of({job_.model, job_.plan, job_.training, job_.software});
  return all - static_cast<double>(extent.vocab * job_.model.hidden);
}

double Lowering::parameters_of(const Segment& segment) const {
  double sum = 0;
  for (const auto& block : segment) sum += parameters_of(block);
  return sum;
}

bool Lowering::is_last_backward(int stage, const Slot& slot) const {
  return slot ==
         last_of_chunk_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot.chunk)];
}

bool Lowering::embeds_and_predicts() const {
  return layout_.kind == Layout::Kind::mirrored ||
         place_of(0, layout_).stage == place_of(layout_.virtual_stages() - 1, layout_).stage;
}

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

bool Lowering::sharded_in_node(const Group& group) const {
  return job_.plan.zero >= 1 && job_.plan.shard_group == ShardGroup::node && group.shape.nodes > 1;
}

topology::Sending Lowering::reduction(const Group& group, double parameters) const {
  const units::Bytes size{parameters * gradient_bytes()};
  if (job_.plan.zero == 0) return costs_.collective(Collective::all_reduce, size, group.shape);
  if (!sharded_in_node(group))
    return costs_.collective(Collective::reduce_scatter, size, group.shape);
  const auto [inside, across] = halves_of(group.shape);
  auto sending = costs_.collective(Collective::all_reduce, size / inside.ranks, across);
  sending.fixed += costs_.collective(Collective::reduce_scatter, size, inside).time();
  return sending;
}

topology::Sending Lowering::gathering(const Group& group, double parameters) const {
  const units::Bytes size{parameters * parameter_bytes()};
  return costs_.collective(Collective::all_gather, size,
                           sharded_in_node(group) ? halves_of(group.shape).inside : group.shape);
}

void Lowering::data_collective(int stage, double parameters, bool gathers, LabelKind label,
                               const std::vector<EventId>& after) {
  std::vector<sim::Participant> who;
  for (const auto& group : groups_of_stage_[static_cast<std::size_t>(stage)]) {
    who.clear();
    for (auto actor : group.actors) who.push_back({sim::ActorId{actor}, {after[actor], no_event}});
    auto [known, fresh] = data_sent_.try_emplace({&group, parameters, gathers});
    if (fresh)
      known->second =
          gathers ? sent(gathering(group, parameters),
                         sharded_in_node(group) ? FlowKind::inside : FlowKind::ring, group.rank)
                  : sent(reduction(group, parameters), FlowKind::ring, group.rank);
    const auto op = add_collective(sim::Lane::data, known->second, data_comm, who, {label});
    for (std::uint32_t i = 0; i < who.size(); ++i)
      (gathers ? gathered_ : reduced_)[group.actors[i]] = out_.program.event(op, i);
  }
}

std::vector<Lowering::Segment> Lowering::segments_of(int virtual_stage, bool backward) const {
  const auto& blocks = blocks_[static_cast<std::size_t>(virtual_stage)];
  const bool per_block = job_.plan.zero == 3;
  const double bucket = job_.plan.bucket.value_or(job_.software.bucket).value / gradient_bytes();
  std::vector<Segment> segments;
  double filled = 0;
  const auto add = [&](const Block& block) {
    if (segments.empty() || per_block || filled >= bucket) {
      segments.emplace_back();
      filled = 0;
    }
    auto& segment = segments.back();
    segment.insert(backward ? segment.begin() : segment.end(), block);
    filled += parameters_of(block);
  };
  if (backward)
    std::for_each(blocks.rbegin(), blocks.rend(), add);
  else
    std::for_each(blocks.begin(), blocks.end(), add);
  if (segments.empty()) segments.emplace_back();
  return segments;
}

Lowering::Collectives Lowering::collectives_of(int stage, const Slot& slot) const {
  if (placement_.sharers() == 1) return {};
  const auto zero = job_.plan.zero;
  const bool forward = slot.pass == Pass::forward;
  const bool first = slot.microbatch == 0 || (layout_.kind == Layout::Kind::mirrored &&
                                              slot.microbatch == out_.microbatches / 2);
  Collectives which;
  which.reduces = !forward && slot.pass != Pass::backward_input && overlaps_data() &&
                  (is_last_backward(stage, slot) || zero >= 2);
  which.gathers = (zero == 3 && (forward || job_.plan.reshard_after_forward)) ||
                  (forward && first && overlaps_parameters() && zero < 3);
  which.reduces_after = !forward && zero >= 2 && !which.reduces;
  return which;
}

void Lowering::emit_passes(int stage, const Slot& slot) {
  const int v = virtual_stage_of(stage, slot.chunk, layout_);
  const bool forward = slot.pass == Pass::forward;
  const auto zero = job_.plan.zero;
  const auto [gathers, reduces, reduces_after] = collectives_of(stage, slot);
  await_input(stage, slot);

  if (!reduces && !gathers) {
    emit_segment(stage, slot, blocks_in(stage, slot), 1.0);
  } else {
    const auto segments = segments_of(v, !forward);
    // Prefetched, a gather may begin while the segment before the last one is still computed.
    const bool prefetches = zero < 3 || job_.plan.overlap.parameters.value_or(true);
    const auto& ready = prefetches ? before_latest_ : latest_;
    const auto& group = groups_of_stage_[static_cast<std::size_t>(stage)].front();
    if (gathers)
      data_collective(stage, parameters_of(segments.front()), true, label_gather_parameters, ready);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const double here = parameters_of(segments[i]);
      Picoseconds beside = 0;
      if (gathers && i + 1 < segments.size())
        beside += to_ticks(gathering(group, parameters_of(segments[i + 1])).time());
      if (reduces && i > 0)
        beside += to_ticks(reduction(group, parameters_of(segments[i - 1])).time());
      emit_segment(stage, slot, segments[i], slowdown(segments[i], slot.pass, beside));
      if (gathers && i + 1 < segments.size())
        data_collective(stage, parameters_of(segments[i + 1]), true, label_gather_parameters,
                        ready);
      if (reduces) data_collective(stage, here, false, label_reduce_gradients, latest_);
    }
  }
  if (reduces_after) {
    data_collective(stage, parameters_of(blocks_[static_cast<std::size_t>(v)]), false,
                    label_reduce_gradients, latest_);
    // Nothing runs beside it: the next pass waits.
    for (auto cell : cells_of_stage_[static_cast<std::size_t>(stage)])
      for (auto actor : cells_[cell].actors) gathered_[actor] = reduced_[actor];
  }
}

void Lowering::finish_gradients() {
  if (placement_.sharers() == 1 || overlaps_data() || job_.plan.zero >= 2) return;
  for (int stage = 0; stage < stages(); ++stage) {
    double parameters = 0;
    for (const auto& actor : out_.actors)
      if (actor.stage == stage) parameters = actor.parameters;
    data_collective(stage, parameters, false, label_reduce_gradients, latest_);
  }
}

// First and last stage hold a copy each of the embedding and sum its gradients.
void Lowering::tied_embedding() {
  if (!job_.model.tied_embeddings || embeds_and_predicts()) return;
  const auto extent = extent_of({job_.model, job_.plan, job_.training, job_.software});
  const double parameters = static_cast<double>(extent.vocab * job_.model.hidden);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> done;
  for (auto rank : folding_.ranks()) {
    auto where = placement_.at(rank);
    if (where.pipeline != 0) continue;
    where.pipeline = stages() - 1;
    const auto other = placement_.rank_of(where);
    const auto first = folding_.actor_of(rank);
    const auto last = folding_.actor_of(other);
    if (std::ranges::find(done, std::pair{first, last}) != done.end()) continue;
    done.emplace_back(first, last);
    const std::array<sim::Participant, 2> who{
        {{sim::ActorId{first}, {latest_[first], reduced_[first]}},
         {sim::ActorId{last}, {latest_[last], reduced_[last]}}}};
    const std::array<std::int64_t, 2> ends{rank, other};
    const auto summed =
        sent(costs_.collective(Collective::all_reduce, units::Bytes{parameters * gradient_bytes()},
                               topology::shape_of(ends, job_.cluster)),
             FlowKind::tied, rank);
    const auto op = add_collective(sim::Lane::data, summed, data_comm, who, {label_tied_embedding});
    reduced_[first] = out_.program.event(op, 0);
    reduced_[last] = out_.program.event(op, 1);
  }
}

namespace {

topology::GroupShape everyone(const topology::Cluster& cluster) {
  const auto per_node = std::min<std::int64_t>(cluster.node.gpus, cluster.gpus);
  const auto on_last = cluster.gpus - (cluster.nodes() - 1) * cluster.node.gpus;
  return {.ranks = static_cast<int>(cluster.gpus),
          .nodes = static_cast<int>(cluster.nodes()),
          .least_per_node = static_cast<int>(std::min(per_node, on_last)),
          .most_per_node = static_cast<int>(per_node),
          .parts = (1u << cluster.kinds()) - 1};
}

}  // namespace

bool post_validates(const Plan& plan, const Software& software) {
  return software.post_validation && memory_limit(plan.schedule, 1).has_value();
}

// Clipping needs the norm of all gradients: every rank waits for every other.
void Lowering::gradient_norm() {
  if (placement_.ranks() == 1) return;
  std::vector<sim::Participant> who;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor)
    who.push_back({sim::ActorId{actor}, {latest_[actor], reduced_[actor]}});
  const auto time = to_ticks(
      costs_.collective(Collective::all_reduce, units::Bytes{8.0}, everyone(job_.cluster)).time());
  const auto op =
      out_.program.add_collective(sim::Lane::data, time, data_comm, who, {label_gradient_norm});
  for (std::uint32_t actor = 0; actor < who.size(); ++actor)
    reduced_[actor] = out_.program.event(op, actor);
}

void Lowering::optimizer() {
  std::map<std::pair<double, Gpu>, sim::TemplateId> bodies;
  for (std::uint32_t actor = 0; actor < out_.actors.size(); ++actor) {
    const auto& gpu = out_.actors[actor].gpu;
    const double parameters = out_.actors[actor].parameters / out_.data_shards;
    auto found = bodies.find({parameters, gpu});
    if (found == bodies.end()) {
      const units::Kernel sweep{
          .kind = units::Kernel::Kind::stream,
          .traffic = {parameters * optimizer_traffic(job_.training, job_.software)}};
      const auto id =
          out_.program.add_template({.steps = {{.activity = optimizer_compute,
                                                .issue = to_ticks(job_.software.step_overhead),
                                                .duration = to_ticks(costs_.kernel(sweep, gpu))}},
                                     .drains = true});
      found = bodies.emplace(std::pair{parameters, gpu}, id).first;
    }
    const sim::Participant who{sim::ActorId{actor}, {reduced_[actor], latest_[actor]}};
    latest_[actor] =
        out_.program.event(out_.program.add_pass(found->second, {&who, 1}, {label_optimizer}));
  }
  const auto zero = job_.plan.zero;
  if (placement_.sharers() == 1 || zero == 0 || zero == 3 || overlaps_parameters()) return;
  for (int stage = 0; stage < stages(); ++stage)
    for (const auto& actor : out_.actors)
      if (actor.stage == stage) {
        data_collective(stage, actor.parameters, true, label_gather_parameters, latest_);
        break;
      }
}

}  // namespace strategies
