// SPDX-License-Identifier: Apache-2.0
#include "forecast/timeline.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "strategies/activity.hpp"

namespace forecast {

namespace {

// Indexed by strategies::LabelKind.
constexpr std::array<const char*, 16> kinds{
    "forward",       "backward",      "backward_input", "backward_weight",
    "pipeline_comm", "pipeline_comm", "data_comm",      "data_comm",
    "data_comm",     "data_comm",     "optimizer",      "tensor_comm",
    "context_comm",  "expert_comm",   "offload",        "other"};

std::string name_of(const sim::Label& label, bool several_chunks) {
  std::string name = strategies::to_text(static_cast<strategies::LabelKind>(label.kind));
  if (label.microbatch >= 0) name += " m" + std::to_string(label.microbatch);
  if (label.chunk >= 0 && several_chunks) name += " c" + std::to_string(label.chunk);
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

class Draw {
 public:
  Draw(const Scenario& scenario, const strategies::Lowered& lowered, const sim::Trace& trace,
       const Memory& memory)
      : scenario_(scenario), lowered_(lowered), trace_(trace), memory_(memory) {
    shown_.resize(lowered.actors.size());
    std::vector<bool> seen(static_cast<std::size_t>(scenario.plan.pipeline));
    for (std::size_t actor = 0; actor < shown_.size(); ++actor) {
      const auto stage = static_cast<std::size_t>(lowered.actors[actor].stage);
      shown_[actor] = !seen[stage];
      seen[stage] = true;
    }
    held_.resize(lowered.actors.size());
  }

  Timeline draw() {
    const auto& program = lowered_.program;
    for (std::size_t i = 0; i < program.ops().size(); ++i) {
      const auto& op = program.ops()[i];
      const bool both = op.kind == sim::Op::Kind::pass || op.kind == sim::Op::Kind::collective;
      for (auto event = op.first; event < op.first + (both ? op.count : 1); ++event)
        slice(op, program.labels()[i], event, lane_of(op, program.labels()[i]));
      if (!both) receive(op, program.labels()[i]);
      if (op.kind == sim::Op::Kind::pass) allocate(op);
    }
    return sorted();
  }

 private:
  std::uint32_t actor_of(std::uint32_t event) const {
    return static_cast<std::uint32_t>(lowered_.program.participants()[event].actor);
  }

  void slice(const sim::Op& op, const sim::Label& label, std::uint32_t event, const char* lane) {
    const auto actor = actor_of(event);
    if (!shown_[actor] || op.kind == sim::Op::Kind::latency) return;
    const auto& facts = lowered_.actors[actor];
    out_.slices.push_back({.stage = facts.stage,
                           .rank = facts.rank,
                           .lane = lane,
                           .name = name_of(label, scenario_.plan.virtual_stages > 1),
                           .kind = kinds[label.kind],
                           .microbatch = label.microbatch,
                           .chunk = label.chunk,
                           .start_ps = trace_.start[event],
                           .end_ps = trace_.end[event]});
  }

  void receive(const sim::Op& op, const sim::Label& label) {
    if (!shown_[actor_of(op.first)] || !shown_[actor_of(op.first + 1)]) return;
    slice(op, label, op.first + 1, "pipeline receive");
    out_.slices.back().name.replace(0, 4, "receive");
    out_.arrows.push_back({out_.slices.size() - 2, out_.slices.size() - 1});
  }

  void allocate(const sim::Op& op) {
    for (auto event = op.first; event < op.first + op.count; ++event) {
      const auto id = lowered_.program.body_of(op, event - op.first);
      const auto& body = lowered_.program.templates()[static_cast<std::size_t>(id)];
      const auto actor = actor_of(event);
      if (!shown_[actor]) continue;
      const int stage = lowered_.actors[actor].stage;
      const auto& fixed = memory_.stages[static_cast<std::size_t>(stage)];
      const auto base = fixed.weights + fixed.gradients + fixed.optimizer;
      const auto at = [&](sim::Picoseconds when, std::int64_t bytes) {
        out_.memory.push_back({stage, when, base + units::Bytes{static_cast<double>(bytes)}});
      };
      at(trace_.start[event], held_[actor] + std::max(body.peak, body.held));
      held_[actor] += body.held;
      at(trace_.end[event], held_[actor]);
    }
  }

  Timeline sorted() {
    std::vector<std::size_t> order(out_.slices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const auto& x = out_.slices[a];
      const auto& y = out_.slices[b];
      return std::tie(x.stage, x.lane, x.start_ps) < std::tie(y.stage, y.lane, y.start_ps);
    });
    std::vector<std::size_t> place(order.size());
    std::vector<Slice> slices;
    slices.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      slices.push_back(std::move(out_.slices[order[i]]));
    }
    out_.slices = std::move(slices);
    for (auto& arrow : out_.arrows) arrow = {place[arrow.from], place[arrow.to]};
    std::ranges::stable_sort(out_.memory, [](const auto& a, const auto& b) {
      return std::tie(a.stage, a.time_ps) < std::tie(b.stage, b.time_ps);
    });
    return std::move(out_);
  }

  const Scenario& scenario_;
  const strategies::Lowered& lowered_;
  const sim::Trace& trace_;
  const Memory& memory_;
  std::vector<bool> shown_;
  std::vector<std::int64_t> held_;
  Timeline out_;
};

}  // namespace

Timeline timeline_of(const Scenario& scenario, const strategies::Lowered& lowered,
                     const sim::Trace& trace, const Memory& memory) {
  return Draw(scenario, lowered, trace, memory).draw();
}

}  // namespace forecast
