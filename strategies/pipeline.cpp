// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline.hpp"

#include <cmath>
#include <map>

#include "sim/engine.hpp"

namespace strategies {

namespace {

// Events that other slots wait for, by virtual stage and microbatch.
class Ends {
 public:
  Ends(std::size_t virtual_stages, int microbatches)
      : microbatches_(static_cast<std::size_t>(microbatches)),
        events_(virtual_stages * microbatches_, sim::no_event) {}
  sim::EventId& at(int virtual_stage, int microbatch) {
    return events_[static_cast<std::size_t>(virtual_stage) * microbatches_ +
                   static_cast<std::size_t>(microbatch)];
  }

 private:
  std::size_t microbatches_;
  std::vector<sim::EventId> events_;
};

}  // namespace

PipelineRun run_pipeline(const Order& order, int chunks, int microbatches, const PassTimes& times,
                         const std::vector<double>& slow) {
  const auto stages = static_cast<int>(order.size());
  const auto virtual_stages = stages * chunks;
  sim::Program program;
  std::map<std::pair<int, Pass>, sim::TemplateId> bodies;
  const auto body = [&](int stage, Pass pass) {
    const auto found = bodies.find({stage, pass});
    if (found != bodies.end()) return found->second;
    const auto whole = pass == Pass::forward          ? times.forward
                       : pass == Pass::backward       ? times.backward + times.weight
                       : pass == Pass::backward_input ? times.backward
                                                      : times.weight;
    const auto factor = slow.empty() ? 1.0 : slow[static_cast<std::size_t>(stage)];
    const auto ticks = std::llround(static_cast<double>(whole) * factor / chunks);
    const auto id = program.add_template({.steps = {{.duration = ticks}}});
    bodies.emplace(std::pair{stage, pass}, id);
    return id;
  };

  Ends forward(static_cast<std::size_t>(virtual_stages), microbatches), backward = forward;
  std::vector<std::vector<sim::EventId>> events(order.size());
  const auto carry = [&](sim::EventId from, int stage, int to) {
    if (stage == to) return from;
    const auto op =
        program.add_transfer(sim::Op::Kind::latency, times.latency, 0,
                             {sim::ActorId(stage), {from, sim::no_event}}, sim::ActorId(to));
    return program.event(op, 1);
  };

  walk(order, chunks, microbatches, [&](int stage, const Slot& slot) {
    const int v = virtual_stage_of(stage, slot.chunk, stages);
    auto after = sim::no_event;
    if (slot.pass == Pass::forward && v > 0)
      after = carry(forward.at(v - 1, slot.microbatch), (v - 1) % stages, stage);
    if ((slot.pass == Pass::backward || slot.pass == Pass::backward_input) &&
        v + 1 < virtual_stages)
      after = carry(backward.at(v + 1, slot.microbatch), (v + 1) % stages, stage);
    const sim::Participant who{sim::ActorId(stage), {after, sim::no_event}};
    const auto event = program.event(program.add_pass(body(stage, slot.pass), {&who, 1}));
    if (slot.pass == Pass::forward)
      forward.at(v, slot.microbatch) = event;
    else if (slot.pass != Pass::backward_weight)
      backward.at(v, slot.microbatch) = event;
    events[static_cast<std::size_t>(stage)].push_back(event);
  });

  const auto trace = sim::run(program);
  PipelineRun result;
  for (int stage = 0; stage < stages; ++stage)
    for (std::size_t i = 0; i < order[static_cast<std::size_t>(stage)].size(); ++i) {
      const auto event = static_cast<std::uint32_t>(events[static_cast<std::size_t>(stage)][i]);
      result.operations.push_back(
          {stage, order[static_cast<std::size_t>(stage)][i], trace.start[event], trace.end[event]});
    }
  return result;
}

}  // namespace strategies
