// SPDX-License-Identifier: Apache-2.0
// The steps inside a pass.
#include <array>
#include <span>

#include "forecast/rank_times.hpp"
#include "forecast/timeline.hpp"
#include "sim/play.hpp"
#include "strategies/activity.hpp"

namespace forecast {
namespace {

// Indexed by strategies::Activity.
constexpr std::array<std::string_view, strategies::expert_waiting + 1> parts{
    "forward",
    "input gradient",
    "weight gradient",
    "recompute",
    "tensor comm",
    "tensor comm",
    "tensor comm",
    "context comm",
    "context comm",
    "context comm",
    "expert comm",
    "expert comm",
    "expert comm",
    "pipeline comm",
    "data comm",
    "offload",
    "data loading",
    "optimizer",
    "waiting for the fullest rank"};

class Steps {
 public:
  Steps(const sim::Template& body, const strategies::CostQueries& questions)
      : body_(body), questions_(questions) {}

  void add(std::size_t i, sim::Picoseconds start, sim::Picoseconds end) {
    if (end <= start) return;
    const auto number = i < body_.asked.size() ? body_.asked[i] : 0;
    const auto part = parts[body_.steps[i].activity];
    const auto kernels = class_of(body_.steps[i], number == 0 ? nullptr : &questions_[number]);
    if (number == 0 && !all_.empty() && !all_.back().asked && all_.back().part == part &&
        all_.back().kernels == kernels && all_.back().end_ps == start) {
      all_.back().end_ps = end;
      return;
    }
    auto& step = all_.emplace_back(
        PassStep{.part = part, .kernels = kernels, .start_ps = start, .end_ps = end});
    if (number != 0) step.asked = questions_[number];
  }
  std::vector<PassStep> take() { return std::move(all_); }

 private:
  const sim::Template& body_;
  const strategies::CostQueries& questions_;
  std::vector<PassStep> all_;
};

}  // namespace

std::vector<PassStep> pass_steps(const sim::Program& program, const sim::Op& pass,
                                 std::uint32_t which, const sim::EnteredPass& entered,
                                 const strategies::CostQueries& questions) {
  const bool together = entered.lanes.size() > 1;
  const auto body_of = [&](std::size_t participant) -> const sim::Template& {
    const auto number = together ? static_cast<std::uint32_t>(participant) : which;
    return program.body(program.body_of(pass, number));
  };
  const std::size_t me = together ? which : 0;
  Steps steps(body_of(me), questions);
  auto lanes = entered.lanes;
  std::vector<sim::LaneTimes*> lanes_of;
  for (auto& of : lanes) lanes_of.push_back(&of);
  std::vector<sim::Picoseconds> ends;
  sim::play([&](std::size_t p) { return std::span<const sim::Step>{body_of(p).steps}; }, lanes_of,
            entered.arrivals, ends,
            [&](std::size_t p, std::size_t i, sim::Picoseconds start, sim::Picoseconds end) {
              if (p == me) steps.add(i, start, end);
            });
  return steps.take();
}

}  // namespace forecast
