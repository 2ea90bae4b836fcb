// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/engine.hpp"
#include "strategies/activity.hpp"

namespace strategies {

namespace {

// Plays one order: the program under construction, and the events that later slots wait for.
class Player {
 public:
  Player(const Order& order, const Layout& layout, int microbatches, const PassTimes& times,
         const std::vector<double>& slow)
      : layout_(layout),
        microbatches_(static_cast<std::size_t>(microbatches)),
        latency_(times.latency),
        times_(chunk_times(layout, times, slow)),
        forward_(static_cast<std::size_t>(layout.virtual_stages()) * microbatches_, sim::no_event),
        backward_(forward_.size(), sim::no_event),
        events_(order.size()) {}

  void add(int stage, const Slot& slot) {
    if (slot.paired) {
      first_of_pair_ = slot;
      return;
    }
    const bool pair = first_of_pair_.paired;
    const auto other = pair ? arrival(stage, first_of_pair_) : sim::no_event;
    auto duration = duration_of(stage, slot.pass);
    if (pair) duration += duration_of(stage, first_of_pair_.pass);
    const sim::Participant who{sim::ActorId(stage), {arrival(stage, slot), other}};
    const auto event =
        program_.event(program_.add_pass(body(duration), {&who, 1}, named(label_of(slot), slot)));
    if (pair) finish(stage, first_of_pair_, event);
    finish(stage, slot, event);
    first_of_pair_.paired = false;
  }

  PipelineRun run(const Order& order) && {
    PipelineRun result{.trace = sim::run(program_)};
    const auto& trace = result.trace;
    for (std::size_t stage = 0; stage < order.size(); ++stage)
      for (std::size_t i = 0; i < order[stage].size(); ++i) {
        const auto event = static_cast<std::uint32_t>(events_[stage][i]);
        result.operations.push_back({static_cast<int>(stage), order[stage][i], trace.start[event],
                                     trace.end[event], events_[stage][i]});
      }
    result.program = std::move(program_);
    return result;
  }

 private:
  static LabelKind label_of(const Slot& slot) {
    switch (slot.pass) {
      case Pass::forward:
        return label_forward;
      case Pass::backward:
        return label_backward;
      case Pass::backward_input:
        return label_backward_input;
      case Pass::backward_weight:
        break;
    }
    return label_backward_weight;
  }
  static sim::Label named(LabelKind kind, const Slot& slot) {
    return {kind, static_cast<std::int16_t>(slot.chunk), slot.microbatch};
  }
  sim::Picoseconds duration_of(int stage, Pass pass) const {
    const auto& times = times_[static_cast<std::size_t>(stage)];
    switch (pass) {
      case Pass::forward:
        return times.forward;
      case Pass::backward:
        return times.backward + times.weight;
      case Pass::backward_input:
        return times.backward;
      case Pass::backward_weight:
        return times.weight;
    }
    return 0;
  }
  sim::TemplateId body(sim::Picoseconds duration) {
    const auto found = bodies_.find(duration);
    if (found != bodies_.end()) return found->second;
    const auto id = program_.add_template({.steps = {{.duration = duration}}});
    bodies_.emplace(duration, id);
    return id;
  }
  std::size_t at(ChunkPlace place, const Slot& slot) const {
    return static_cast<std::size_t>(virtual_stage_of(place.stage, place.chunk, layout_)) *
               microbatches_ +
           static_cast<std::size_t>(slot.microbatch);
  }
  // The event at which a slot's input from another chunk is on its device.
  sim::EventId arrival(int stage, const Slot& slot) {
    const ChunkPlace here{stage, slot.chunk};
    if (slot.pass == Pass::backward_weight) return sim::no_event;
    const bool forward = slot.pass == Pass::forward;
    const auto from = forward ? before(here, layout_) : behind(here, layout_);
    if (!from) return sim::no_event;
    const auto event = (forward ? forward_ : backward_)[at(*from, slot)];
    if (from->stage == stage) return event;
    const auto op = program_.add_transfer(sim::Op::Kind::latency, latency_, pipeline_comm,
                                          {sim::ActorId(from->stage), {event, sim::no_event}},
                                          sim::ActorId(stage),
                                          named(forward ? label_send_forward : label_send_backward,
                                                {slot.pass, from->chunk, slot.microbatch}));
    return program_.event(op, 1);
  }
  void finish(int stage, const Slot& slot, sim::EventId event) {
    if (slot.pass == Pass::forward)
      forward_[at({stage, slot.chunk}, slot)] = event;
    else if (slot.pass != Pass::backward_weight)
      backward_[at({stage, slot.chunk}, slot)] = event;
    events_[static_cast<std::size_t>(stage)].push_back(event);
  }

  Layout layout_;
  std::size_t microbatches_;
  sim::Picoseconds latency_;
  std::vector<ChunkTimes> times_;
  sim::Program program_;
  std::map<sim::Picoseconds, sim::TemplateId> bodies_;
  std::vector<sim::EventId> forward_, backward_;  // by virtual stage and microbatch
  std::vector<std::vector<sim::EventId>> events_;
  Slot first_of_pair_{Pass::forward, 0, 0};
};

}  // namespace

std::vector<ChunkTimes> chunk_times(const Layout& layout, const PassTimes& times,
                                    const std::vector<double>& slow) {
  std::vector<ChunkTimes> result;
  for (int stage = 0; stage < layout.stages; ++stage) {
    const auto factor = slow.empty() ? 1.0 : slow[static_cast<std::size_t>(stage)];
    const auto share = [&](sim::Picoseconds whole) {
      return std::llround(static_cast<double>(whole) * factor / layout.parts());
    };
    result.push_back({share(times.forward), share(times.backward), share(times.weight)});
  }
  return result;
}

PipelineRun run_pipeline(const Order& order, const Layout& layout, int microbatches,
                         const PassTimes& times, const std::vector<double>& slow) {
  Player player(order, layout, microbatches, times, slow);
  walk(order, layout, microbatches, [&](int stage, const Slot& slot) { player.add(stage, slot); });
  return std::move(player).run(order);
}

PipelineFigures figures_of(const PipelineRun& run, std::size_t stages) {
  PipelineFigures figures;
  figures.work.resize(stages);
  sim::Picoseconds first = INT64_MAX, last = 0;
  std::vector<sim::Picoseconds> began(stages, INT64_MAX), ended(stages, 0);
  for (const auto& op : run.operations) {
    const auto s = static_cast<std::size_t>(op.stage);
    first = std::min(first, op.start);
    last = std::max(last, op.end);
    began[s] = std::min(began[s], op.start);
    ended[s] = std::max(ended[s], op.end);
    if (!op.slot.paired) figures.work[s] += op.end - op.start;  // with its second half
  }
  figures.makespan = last - first;
  double idle = 0;
  for (std::size_t s = 0; s < stages; ++s) {
    figures.span = std::max(figures.span, ended[s] - began[s]);
    idle += static_cast<double>(figures.makespan - figures.work[s]);
  }
  if (figures.makespan <= 0) return figures;
  const auto whole = static_cast<double>(figures.makespan);
  figures.bubble_fraction = idle / static_cast<double>(stages) / whole;
  figures.bubble_fraction_max_stage =
      1 - static_cast<double>(*std::ranges::max_element(figures.work)) / whole;
  return figures;
}

}  // namespace strategies
