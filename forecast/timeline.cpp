// SPDX-License-Identifier: Apache-2.0
#include "forecast/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "forecast/memory_samples.hpp"
#include "plans/memory.hpp"
#include "strategies/activity.hpp"

namespace forecast {

namespace {

// Indexed by strategies::LabelKind.
constexpr std::array<std::string_view, 16> kinds{"forward",
                                                 "backward",
                                                 "backward_input",
                                                 "backward_weight",
                                                 facts_of(StepPart::pipeline_comm).name(),
                                                 facts_of(StepPart::pipeline_comm).name(),
                                                 facts_of(StepPart::data_comm).name(),
                                                 facts_of(StepPart::data_comm).name(),
                                                 facts_of(StepPart::data_comm).name(),
                                                 facts_of(StepPart::data_comm).name(),
                                                 facts_of(StepPart::optimizer).name(),
                                                 facts_of(StepPart::tensor_comm).name(),
                                                 facts_of(StepPart::context_comm).name(),
                                                 facts_of(StepPart::expert_comm).name(),
                                                 facts_of(StepPart::offload).name(),
                                                 facts_of(StepPart::other).name()};

class Draw {
 public:
  Draw(const Scenario& scenario, const strategies::Lowered& lowered, const sim::Trace& trace,
       const sim::Waits& waits, const Memory& memory, const strategies::Questions& questions)
      : scenario_(scenario),
        lowered_(lowered),
        trace_(trace),
        questions_(questions),
        shown_(lowered.actors.size()),
        paths_(scenario, lowered),
        samples_of_(lowered.actors.size(), none),
        slice_of_(trace.start.size(), no_slice) {
    std::vector<bool> seen(static_cast<std::size_t>(scenario.plan.pipeline));
    const bool late = strategies::gradients_come_late(scenario.software, lowered.microbatches);
    for (std::size_t actor = 0; actor < shown_.size(); ++actor) {
      const auto stage = lowered.actors[actor].stage;
      const auto at = static_cast<std::size_t>(stage);
      if (seen[at]) continue;
      seen[at] = shown_[actor] = true;
      samples_of_[actor] = samples_.size();
      samples_.emplace_back(stage, memory.stages[at], late);
      if (late) gradients_.emplace_back(paths_, stage, gradients_of(actor));
    }
    for (const auto& stretch : waits.critical_path) {
      if (stretch.event == sim::no_event) continue;
      const auto event = static_cast<std::uint32_t>(stretch.event);
      const auto& op = lowered.program.ops()[waits.op_of[event]];
      const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
      shown_[actor_of(event)] = true;
      if (!both) shown_[actor_of(op.first)] = true;
    }
  }

  Drawn draw() {
    const auto& program = lowered_.program;
    for (std::size_t i = 0; i < program.ops().size(); ++i) {
      const auto& op = program.ops()[i];
      const auto& label = program.labels()[i];
      const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
      for (auto event = op.first; event < op.first + (both ? op.count : 1); ++event)
        slice(op, label, event, lane_of(op, label));
      if (!both) receive(op, label);
      if (op.kind == sim::Op::Kind::pass) allocate(op, label);
    }
    for (auto& samples : samples_) {
      auto taken = samples.take();
      out_.memory.insert(out_.memory.end(), taken.begin(), taken.end());
    }
    sort();
    find_peaks();
    return {std::move(out_), std::move(slice_of_)};
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::uint32_t actor_of(std::uint32_t event) const {
    return static_cast<std::uint32_t>(lowered_.program.participants()[event].actor);
  }

  // Stages run passes of the same names.
  const std::string& named(const sim::Label& label) {
    const std::array<std::int64_t, 3> key{label.kind, label.microbatch, label.chunk};
    const auto [at, is_new] = names_.try_emplace(key);
    if (is_new) at->second = name_of(label, scenario_.plan.virtual_stages > 1);
    return at->second;
  }

  void slice(const sim::Op& op, const sim::Label& label, std::uint32_t event, const char* lane) {
    const auto actor = actor_of(event);
    if (!shown_[actor] || op.kind == sim::Op::Kind::latency) return;
    const auto& facts = lowered_.actors[actor];
    slice_of_[event] = out_.slices.size();
    out_.slices.push_back({.stage = facts.stage,
                           .rank = facts.rank,
                           .lane = lane,
                           .name = named(label),
                           .kind = kinds[label.kind],
                           .microbatch = label.microbatch,
                           .chunk = label.chunk,
                           .start_ps = trace_.start[event],
                           .end_ps = trace_.end[event]});
    if (op.kind == sim::Op::Kind::pass) {
      const auto id = lowered_.program.body_of(op, event - op.first);
      const auto& body = lowered_.program.body(id);
      out_.slices.back().flops = {body.flops};
      out_.slices.back().bytes = {body.sent};
      out_.slices.back().steps = steps_of(id, body);
    }
    if (op.traffic != sim::no_traffic)
      out_.slices.back().bytes = {lowered_.program.traffic()[op.traffic].bytes};
  }

  int steps_of(sim::TemplateId id, const sim::Template& body) {
    const auto [at, fresh] = passes_.try_emplace(id, static_cast<int>(out_.passes.size()));
    if (fresh) out_.passes.push_back(pass_steps(body, questions_));
    return at->second;
  }

  void receive(const sim::Op& op, const sim::Label& label) {
    if (!shown_[actor_of(op.first)] || !shown_[actor_of(op.first + 1)]) return;
    slice(op, label, op.first + 1, "pipeline receive");
    out_.slices.back().name.replace(0, 4, "receive");
    out_.arrows.push_back({out_.slices.size() - 2, out_.slices.size() - 1});
  }

  void allocate(const sim::Op& op, const sim::Label& label) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto samples = samples_of_[actor_of(event)];
      if (samples == none) continue;
      const auto& body = lowered_.program.body(lowered_.program.body_of(op, event - op.first));
      const auto beside =
          gradients_.empty() ? PassBeside(body) : gradients_[samples].pass(label, body);
      samples_[samples].pass(beside, label.kind == strategies::label_optimizer, trace_.start[event],
                             trace_.end[event], slice_of_[event]);
    }
  }

  units::Bytes gradients_of(std::size_t actor) const {
    return strategies::static_memory(lowered_.actors[actor].held, lowered_.shards, scenario_.plan,
                                     scenario_.training, scenario_.software)
        .gradients;
  }

  void sort() {
    // A lane's slices are in the order of the program, which is mostly that of time.
    std::map<std::tuple<int, std::int64_t, std::string_view>, std::vector<std::size_t>> lanes;
    for (std::size_t i = 0; i < out_.slices.size(); ++i) {
      const auto& slice = out_.slices[i];
      lanes[{slice.stage, slice.rank, slice.lane}].push_back(i);
    }
    std::vector<std::size_t> order;
    order.reserve(out_.slices.size());
    for (auto& [lane, slices] : lanes) {
      const auto start = [&](std::size_t i) { return out_.slices[i].start_ps; };
      if (!std::ranges::is_sorted(slices, {}, start)) std::ranges::stable_sort(slices, {}, start);
      order.insert(order.end(), slices.begin(), slices.end());
    }
    std::vector<std::size_t> place(order.size());
    std::vector<Slice> slices;
    slices.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      slices.push_back(std::move(out_.slices[order[i]]));
    }
    out_.slices = std::move(slices);
    const auto placed = [&](std::size_t& slice) {
      if (slice != no_slice) slice = place[slice];
    };
    for (auto& arrow : out_.arrows) arrow = {place[arrow.from], place[arrow.to]};
    for (auto& slice : slice_of_) placed(slice);
    for (auto& sample : out_.memory) placed(sample.slice);
    std::ranges::stable_sort(out_.memory, {}, &MemorySample::stage);
  }

  void find_peaks() {
    out_.peaks.assign(static_cast<std::size_t>(scenario_.plan.pipeline), none);
    for (std::size_t i = 0; i < out_.memory.size(); ++i) {
      auto& peak = out_.peaks[static_cast<std::size_t>(out_.memory[i].stage)];
      if (peak == none || out_.memory[i].allocated > out_.memory[peak].allocated) peak = i;
    }
  }

  const Scenario& scenario_;
  const strategies::Lowered& lowered_;
  const sim::Trace& trace_;
  const strategies::Questions& questions_;
  std::vector<bool> shown_;
  std::vector<MemorySamples> samples_;
  StagePaths paths_;
  std::vector<LateGradients> gradients_;  // of the same ranks, where they come late
  std::vector<std::size_t> samples_of_;   // by actor
  std::vector<std::size_t> slice_of_;     // by event
  std::map<std::array<std::int64_t, 3>, std::string> names_;  // by kind, microbatch and chunk
  std::map<sim::TemplateId, int> passes_;                     // in Timeline::passes
  Timeline out_;
};

}  // namespace

std::string name_of(const sim::Label& label, bool chunks) {
  std::string name = strategies::to_text(static_cast<strategies::LabelKind>(label.kind));
  if (label.microbatch >= 0) name += " m" + std::to_string(label.microbatch);
  if (label.chunk >= 0 && chunks) name += " c" + std::to_string(label.chunk);
  return name;
}

const char* lane_of(const sim::Op& op, const sim::Label& label) {
  switch (op.kind) {
    case sim::Op::Kind::pass:
      return "compute";
    case sim::Op::Kind::collective:
      if (label.kind == strategies::label_context_exchange) return "context";
      if (label.kind == strategies::label_expert_exchange) return "expert";
      if (op.lane == sim::Lane::load) return "data loader";
      if (op.lane == sim::Lane::offload) return "offload";
      if (op.lane == sim::Lane::fetch) return "fetch";
      return op.lane == sim::Lane::exchange ? "tensor" : "data";
    default:
      return "pipeline send";
  }
}

Drawn timeline_of(const Scenario& scenario, const strategies::Lowered& lowered,
                  const sim::Trace& trace, const sim::Waits& waits, const Memory& memory,
                  const strategies::Questions& questions) {
  return Draw(scenario, lowered, trace, waits, memory, questions).draw();
}

}  // namespace forecast
