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

constexpr std::string_view receive_lane = "pipeline receive";

std::uint32_t actor_of(const strategies::Lowered& lowered, std::uint32_t event) {
  return static_cast<std::uint32_t>(lowered.program.participants()[event].actor);
}

// Calls `use` with the event and the lane of every bar of an op, of the actors that are shown. The
// arrival of a message follows its sending if both actors are shown.
template <class Use>
void for_each_bar(const strategies::Lowered& lowered, const std::vector<bool>& shown,
                  const sim::Op& op, const sim::Label& label, Use use) {
  if (op.kind == sim::Op::Kind::latency) return;
  const std::string_view lane = lane_of(op, label);
  const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
  for (auto event = op.first; event < op.first + (both ? op.count : 1); ++event)
    if (shown[actor_of(lowered, event)]) use(event, lane);
  if (!both && shown[actor_of(lowered, op.first)] && shown[actor_of(lowered, op.first + 1)])
    use(op.first + 1, receive_lane);
}

// A bar without its name and steps.
Slice bar_of(const strategies::Lowered& lowered, const sim::Trace& trace, const sim::Op& op,
             const sim::Label& label, std::uint32_t event, std::string_view lane) {
  const auto& facts = lowered.actors[actor_of(lowered, event)];
  Slice bar{.stage = facts.stage,
            .rank = facts.rank,
            .lane = lane,
            .kind = kinds[label.kind],
            .microbatch = label.microbatch,
            .chunk = label.chunk,
            .start_ps = trace.start[event],
            .end_ps = trace.end[event]};
  if (op.kind == sim::Op::Kind::pass) {
    const auto& body = lowered.program.body(lowered.program.body_of(op, event - op.first));
    bar.flops = {body.flops};
    bar.bytes = {body.sent};
  }
  if (op.traffic != sim::no_traffic) bar.bytes = {lowered.program.traffic()[op.traffic].bytes};
  return bar;
}

// Sorts bars by stage, rank, lane and start. Returns the new position of each
// bar, by its old one.
std::vector<std::size_t> sort_bars(std::vector<Slice>& bars) {
  // A lane's bars are in the order of the program, which is mostly that of time.
  std::map<std::tuple<int, std::int64_t, std::string_view>, std::vector<std::size_t>> lanes;
  for (std::size_t i = 0; i < bars.size(); ++i)
    lanes[{bars[i].stage, bars[i].rank, bars[i].lane}].push_back(i);
  std::vector<std::size_t> place(bars.size());
  std::vector<Slice> sorted;
  sorted.reserve(bars.size());
  for (auto& [lane, of_lane] : lanes) {
    const auto start = [&](std::size_t i) { return bars[i].start_ps; };
    if (!std::ranges::is_sorted(of_lane, {}, start)) std::ranges::stable_sort(of_lane, {}, start);
    for (const auto i : of_lane) {
      place[i] = sorted.size();
      sorted.push_back(std::move(bars[i]));
    }
  }
  bars = std::move(sorted);
  return place;
}

// By actor: whether it is the first of its pipeline stage.
std::vector<bool> firsts_of(const strategies::Lowered& lowered) {
  std::vector<bool> seen, first;
  for (const auto& actor : lowered.actors) {
    const auto stage = static_cast<std::size_t>(actor.stage);
    if (seen.size() <= stage) seen.resize(stage + 1);
    first.push_back(!seen[stage]);
    seen[stage] = true;
  }
  return first;
}

// By actor: whether it is drawn, as the first of its stage or as one of the critical path.
std::vector<bool> shown_actors(const strategies::Lowered& lowered, const sim::Waits& waits) {
  auto shown = firsts_of(lowered);
  for (const auto& stretch : waits.critical_path) {
    if (stretch.event == sim::no_event) continue;
    const auto event = static_cast<std::uint32_t>(stretch.event);
    const auto& op = lowered.program.ops()[waits.op_of[event]];
    const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
    shown[actor_of(lowered, event)] = true;
    if (!both) shown[actor_of(lowered, op.first)] = true;
  }
  return shown;
}

class Draw {
 public:
  Draw(const Scenario& scenario, const strategies::Lowered& lowered, const sim::Trace& trace,
       const sim::Waits& waits, const Memory& memory, const strategies::Questions& questions)
      : scenario_(scenario),
        lowered_(lowered),
        trace_(trace),
        questions_(questions),
        shown_(shown_actors(lowered, waits)),
        paths_(scenario, lowered),
        samples_of_(lowered.actors.size(), none),
        slice_of_(trace.start.size(), no_slice) {
    const bool late = strategies::gradients_come_late(scenario.software, lowered.microbatches);
    const auto firsts = firsts_of(lowered);
    for (std::size_t actor = 0; actor < firsts.size(); ++actor) {
      if (!firsts[actor]) continue;
      const auto stage = lowered.actors[actor].stage;
      samples_of_[actor] = samples_.size();
      samples_.emplace_back(stage, memory.stages[static_cast<std::size_t>(stage)], late);
      if (late) gradients_.emplace_back(paths_, stage, gradients_of(actor));
    }
  }

  Drawn draw() {
    const auto& program = lowered_.program;
    for (std::size_t i = 0; i < program.ops().size(); ++i) {
      const auto& op = program.ops()[i];
      const auto& label = program.labels()[i];
      for_each_bar(lowered_, shown_, op, label, [&](std::uint32_t event, std::string_view lane) {
        draw(op, label, event, lane);
      });
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

  // Stages run passes of the same names.
  const std::string& named(const sim::Label& label) {
    const std::array<std::int64_t, 3> key{label.kind, label.microbatch, label.chunk};
    const auto [at, is_new] = names_.try_emplace(key);
    if (is_new) at->second = name_of(label, scenario_.plan.virtual_stages > 1);
    return at->second;
  }

  void draw(const sim::Op& op, const sim::Label& label, std::uint32_t event,
            std::string_view lane) {
    slice_of_[event] = out_.slices.size();
    auto& bar = out_.slices.emplace_back(bar_of(lowered_, trace_, op, label, event, lane));
    bar.name = named(label);
    if (op.kind == sim::Op::Kind::pass) {
      const auto id = lowered_.program.body_of(op, event - op.first);
      bar.steps = steps_of(id, lowered_.program.body(id));
    }
    if (lane != receive_lane) return;
    bar.name.replace(0, 4, "receive");
    out_.arrows.push_back({out_.slices.size() - 2, out_.slices.size() - 1});
  }

  int steps_of(sim::TemplateId id, const sim::Template& body) {
    const auto [at, fresh] = passes_.try_emplace(id, static_cast<int>(out_.passes.size()));
    if (fresh) out_.passes.push_back(pass_steps(body, questions_));
    return at->second;
  }

  void allocate(const sim::Op& op, const sim::Label& label) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto samples = samples_of_[actor_of(lowered_, event)];
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
    const auto place = sort_bars(out_.slices);
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

std::vector<Slice> picture_of(const strategies::Lowered& lowered, const sim::Trace& trace,
                              const sim::Waits& waits) {
  const auto shown = shown_actors(lowered, waits);
  const auto& program = lowered.program;
  std::vector<Slice> bars;
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    const auto& label = program.labels()[i];
    for_each_bar(lowered, shown, op, label, [&](std::uint32_t event, std::string_view lane) {
      bars.push_back(bar_of(lowered, trace, op, label, event, lane));
    });
  }
  sort_bars(bars);
  return bars;
}

}  // namespace forecast
