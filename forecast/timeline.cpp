// SPDX-License-Identifier: Apache-2.0
#include "forecast/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <string>
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

// Lanes of a rank by name; a lane's number is its place here.
constexpr std::array<std::string_view, 10> lanes{
    "compute", "context",          "data",          "data loader", "expert", "fetch",
    "offload", "pipeline receive", "pipeline send", "tensor"};

consteval std::uint32_t number_of(std::string_view lane) {
  return static_cast<std::uint32_t>(std::ranges::find(lanes, lane) - lanes.begin());
}
constexpr std::uint32_t receive_lane = number_of("pipeline receive");

std::uint32_t lane_number(const sim::Op& op, const sim::Label& label) {
  switch (op.kind) {
    case sim::Op::Kind::pass:
      return number_of("compute");
    case sim::Op::Kind::collective:
      if (label.kind == strategies::label_context_exchange) return number_of("context");
      if (label.kind == strategies::label_expert_exchange) return number_of("expert");
      if (op.lane == sim::Lane::load) return number_of("data loader");
      if (op.lane == sim::Lane::offload) return number_of("offload");
      if (op.lane == sim::Lane::fetch) return number_of("fetch");
      return op.lane == sim::Lane::exchange ? number_of("tensor") : number_of("data");
    default:
      return number_of("pipeline send");
  }
}

std::uint32_t actor_of(const strategies::Lowered& lowered, std::uint32_t event) {
  return static_cast<std::uint32_t>(lowered.program.participants()[event].actor);
}

// Calls `use` with the event and the number of the lane of every bar of an op, of the actors that
// are shown. The arrival of a message follows its sending if both actors are shown.
template <class Use>
void for_each_bar(const strategies::Lowered& lowered, const std::vector<bool>& shown,
                  const sim::Op& op, const sim::Label& label, Use use) {
  if (op.kind == sim::Op::Kind::latency) return;
  const auto lane = lane_number(op, label);
  const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
  for (auto event = op.first; event < op.first + (both ? op.count : 1); ++event)
    if (shown[actor_of(lowered, event)]) use(event, lane);
  if (!both && shown[actor_of(lowered, op.first)] && shown[actor_of(lowered, op.first + 1)])
    use(op.first + 1, receive_lane);
}

// A bar without its name and steps.
Slice bar_of(const strategies::Lowered& lowered, const sim::Trace& trace, const sim::Op& op,
             const sim::Label& label, std::uint32_t event, std::uint32_t lane) {
  const auto& facts = lowered.actors[actor_of(lowered, event)];
  Slice bar{.stage = facts.stage,
            .rank = facts.rank,
            .lane = lanes[lane],
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

// The lanes of all ranks that are shown, in order of stage, rank and name.
class LaneOrder {
 public:
  LaneOrder(const strategies::Lowered& lowered, const std::vector<bool>& shown)
      : place_(lowered.actors.size()) {
    std::vector<std::uint32_t> actors;
    for (std::uint32_t actor = 0; actor < shown.size(); ++actor)
      if (shown[actor]) actors.push_back(actor);
    std::ranges::sort(actors, {}, [&](std::uint32_t actor) {
      return std::pair{lowered.actors[actor].stage, lowered.actors[actor].rank};
    });
    for (std::size_t i = 0; i < actors.size(); ++i) place_[actors[i]] = i * lanes.size();
    count_ = actors.size() * lanes.size();
  }
  std::size_t count() const { return count_; }
  std::size_t place(std::uint32_t actor, std::uint32_t lane) const { return place_[actor] + lane; }

 private:
  std::vector<std::size_t> place_;  // of an actor's first lane
  std::size_t count_ = 0;
};

// Returns bars in the order of their lanes, then of their starts; `places` are those of the lanes
// in a LaneOrder, `start` returns the start of the bar of a number.
template <class Start>
std::vector<std::size_t> by_lane(const std::vector<std::size_t>& places, std::size_t lane_count,
                                 Start start) {
  std::vector<std::size_t> end(lane_count + 1);
  for (const auto lane : places) ++end[lane + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<std::size_t> order(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) order[end[places[i]]++] = i;
  // A lane's bars are in the order of the program, which is mostly that of time.
  std::size_t begin = 0;
  for (std::size_t lane = 0; lane < lane_count; begin = end[lane++]) {
    const auto of_lane = std::span(order).subspan(begin, end[lane] - begin);
    if (!std::ranges::is_sorted(of_lane, {}, start)) std::ranges::stable_sort(of_lane, {}, start);
  }
  return order;
}

// Bars, and the places of their lanes in a LaneOrder.
struct Bars {
  std::vector<Slice> slices;
  std::vector<std::size_t> lanes;

  // Sorts slices by lane, then start. Returns the new position of each slice, by its old one.
  std::vector<std::size_t> sort(std::size_t lane_count) {
    const auto order =
        by_lane(lanes, lane_count, [&](std::size_t i) { return slices[i].start_ps; });
    std::vector<std::size_t> place(slices.size());
    std::vector<Slice> sorted;
    sorted.reserve(slices.size());
    for (const auto i : order) {
      place[i] = sorted.size();
      sorted.push_back(std::move(slices[i]));
    }
    slices = std::move(sorted);
    return place;
  }
};

// Returns, by actor, whether it is the first of its pipeline stage.
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

// Returns, by actor, whether it is drawn: as the first of its stage or as one of the critical path.
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

// The steps inside of passes, each kind once.
class PassBodies {
 public:
  PassBodies(const sim::Program& program, const sim::Waits& waits,
             const strategies::CostQueries& questions)
      : program_(program), waits_(waits), questions_(questions) {}

  // Returns the number of the steps of an event's pass. Passes that went on alike share it, and so
  // do all others of a template once the steps of different ones are too many to draw.
  int number_of(const sim::Op& op, std::uint32_t event) {
    constexpr std::size_t most_steps = 200'000;
    const auto id = program_.body_of(op, event - op.first);
    const auto entered_as = waits_.entered_as[event];
    const auto [at, fresh] = numbers_.try_emplace({id, entered_as}, 0);
    if (!fresh) return at->second;
    auto& alike = of_template_[id];
    if (steps_ > most_steps && !alike.empty()) return at->second = alike.front();
    auto steps = pass_steps(program_, op, event - op.first, waits_.entered[entered_as], questions_);
    for (const auto pass : alike)
      if (are_alike(all_[static_cast<std::size_t>(pass)], steps)) return at->second = pass;
    steps_ += steps.size();
    at->second = static_cast<int>(all_.size());
    alike.push_back(at->second);
    all_.push_back(std::move(steps));
    return at->second;
  }
  std::vector<std::vector<PassStep>> take() { return std::move(all_); }

 private:
  // Whether steps of one template began and ended alike.
  static bool are_alike(const std::vector<PassStep>& one, const std::vector<PassStep>& other) {
    return std::ranges::equal(one, other, [](const PassStep& a, const PassStep& b) {
      return a.part == b.part && a.start_ps == b.start_ps && a.end_ps == b.end_ps;
    });
  }

  const sim::Program& program_;
  const sim::Waits& waits_;
  const strategies::CostQueries& questions_;
  std::map<std::pair<sim::TemplateId, std::uint32_t>, int> numbers_;  // by state at entry
  std::map<sim::TemplateId, std::vector<int>> of_template_;
  std::vector<std::vector<PassStep>> all_;
  std::size_t steps_ = 0;
};

class Draw {
 public:
  Draw(const Scenario& scenario, const strategies::Lowered& lowered, const sim::Trace& trace,
       const sim::Waits& waits, const Memory& memory, const strategies::CostQueries& questions)
      : scenario_(scenario),
        lowered_(lowered),
        trace_(trace),
        bodies_(lowered.program, waits, questions),
        shown_(shown_actors(lowered, waits)),
        order_(lowered, shown_),
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
      for_each_bar(lowered_, shown_, op, label,
                   [&](std::uint32_t event, std::uint32_t lane) { draw(op, label, event, lane); });
      if (op.kind == sim::Op::Kind::pass) allocate(op, label);
    }
    for (auto& samples : samples_) {
      auto taken = samples.take();
      out_.memory.insert(out_.memory.end(), taken.begin(), taken.end());
    }
    out_.passes = bodies_.take();
    sort();
    find_peaks();
    return {std::move(out_), std::move(slice_of_)};
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Returns the name of an op's bar; each is made once, because stages run passes of the same
  // names.
  const std::string& named(const sim::Label& label) {
    const std::array<std::int64_t, 3> key{label.kind, label.microbatch, label.chunk};
    const auto [at, is_new] = names_.try_emplace(key);
    if (is_new) at->second = name_of(label, scenario_.plan.virtual_stages > 1);
    return at->second;
  }

  void draw(const sim::Op& op, const sim::Label& label, std::uint32_t event, std::uint32_t lane) {
    slice_of_[event] = bars_.slices.size();
    auto& bar = bars_.slices.emplace_back(bar_of(lowered_, trace_, op, label, event, lane));
    bars_.lanes.push_back(order_.place(actor_of(lowered_, event), lane));
    bar.name = named(label);
    if (op.kind == sim::Op::Kind::pass) bar.steps = bodies_.number_of(op, event);
    if (lane != receive_lane) return;
    bar.name.replace(0, 4, "receive");
    out_.arrows.push_back({bars_.slices.size() - 2, bars_.slices.size() - 1});
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
    const auto place = bars_.sort(order_.count());
    out_.slices = std::move(bars_.slices);
    for (const auto& slice : out_.slices) out_.end_ps = std::max(out_.end_ps, slice.end_ps);
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
  PassBodies bodies_;
  std::vector<bool> shown_;
  LaneOrder order_;
  Bars bars_;
  std::vector<MemorySamples> samples_;
  StagePaths paths_;
  std::vector<LateGradients> gradients_;  // of the same ranks, where they come late
  std::vector<std::size_t> samples_of_;   // by actor
  std::vector<std::size_t> slice_of_;     // by event
  std::map<std::array<std::int64_t, 3>, std::string> names_;  // by kind, microbatch and chunk
  Timeline out_;
};

}  // namespace

std::string name_of(const sim::Label& label, bool chunks) {
  std::string name = strategies::to_text(static_cast<strategies::LabelKind>(label.kind));
  if (label.microbatch >= 0) name += " m" + std::to_string(label.microbatch);
  if (label.chunk >= 0 && chunks) name += " c" + std::to_string(label.chunk);
  return name;
}

std::string_view lane_of(const sim::Op& op, const sim::Label& label) {
  return lanes[lane_number(op, label)];
}

Drawn timeline_of(const Scenario& scenario, const strategies::Lowered& lowered,
                  const sim::Trace& trace, const sim::Waits& waits, const Memory& memory,
                  const strategies::CostQueries& questions) {
  return Draw(scenario, lowered, trace, waits, memory, questions).draw();
}

Timeline picture_of(const strategies::Lowered& lowered, const sim::Trace& trace,
                    const sim::Waits& waits, const std::vector<int>& stages) {
  const auto shown = shown_actors(lowered, waits);
  auto pictured = firsts_of(lowered);
  for (std::size_t actor = 0; actor < pictured.size(); ++actor)
    if (std::ranges::find(stages, lowered.actors[actor].stage) == stages.end())
      pictured[actor] = false;
  const LaneOrder places(lowered, pictured);
  const auto& program = lowered.program;
  struct Bar {
    std::uint32_t op, event, lane;
  };
  std::vector<Bar> bars;
  std::vector<std::size_t> lanes_of_bars;
  Timeline picture;
  for (std::uint32_t i = 0; i < program.ops().size(); ++i)
    for_each_bar(lowered, shown, program.ops()[i], program.labels()[i],
                 [&](std::uint32_t event, std::uint32_t lane) {
                   picture.end_ps = std::max(picture.end_ps, trace.end[event]);
                   const auto actor = actor_of(lowered, event);
                   if (!pictured[actor]) return;
                   bars.push_back({i, event, lane});
                   lanes_of_bars.push_back(places.place(actor, lane));
                 });
  picture.slices.reserve(bars.size());
  for (const auto i : by_lane(lanes_of_bars, places.count(),
                              [&](std::size_t bar) { return trace.start[bars[bar].event]; })) {
    const auto [op, event, lane] = bars[i];
    picture.slices.push_back(
        bar_of(lowered, trace, program.ops()[op], program.labels()[op], event, lane));
  }
  return picture;
}

}  // namespace forecast
