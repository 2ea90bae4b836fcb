// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "sim/engine.hpp"
#include "sim/waits.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

struct Drawn {
  Timeline timeline;                  // without idle intervals and critical path
  std::vector<std::size_t> slice_of;  // by event; no_slice: of a rank that is not drawn
};

// The timeline of the lowest rank of every stage and of every other rank on the critical path:
// bars, messages between them, and memory over time. `questions` are those that priced the program.
Drawn timeline_of(const Scenario& scenario, const strategies::Lowered& lowered,
                  const sim::Trace& trace, const sim::Waits& waits, const Memory& memory,
                  const strategies::CostQueries& questions);

// The bars alone of the lowest ranks of `stages`, without names and steps; `flops` is zero unless
// Job::counts_flops. They and the end are those of timeline_of(). O(events)
Timeline picture_of(const strategies::Lowered& lowered, const sim::Trace& trace,
                    const sim::Waits& waits, const std::vector<int>& stages);

// The steps of participant `which` of a pass that was entered in this state and that `questions`
// priced, after the start of the pass; steps without duration are left out, and element-wise
// kernels of one part that follow each other are one. O(participants that meet · steps)
std::vector<PassStep> pass_steps(const sim::Program& program, const sim::Op& pass,
                                 std::uint32_t which, const sim::EnteredPass& entered,
                                 const strategies::CostQueries& questions);

// The name of an op's bar, and the lane on which it is drawn.
std::string name_of(const sim::Label& label, bool chunks);
std::string_view lane_of(const sim::Op& op, const sim::Label& label);

}  // namespace forecast
