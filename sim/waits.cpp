// SPDX-License-Identifier: Apache-2.0
#include "sim/waits.hpp"

namespace sim {

EventId held_back_by(const Program& program, const Trace& trace,
                     const std::vector<std::uint32_t>& op_of,
                     const std::vector<EventId>& lane_predecessor, EventId event) {
  const auto number = [](EventId e) { return static_cast<std::uint32_t>(e); };
  const auto& op = program.ops()[op_of[number(event)]];
  auto latest = no_event;
  const auto consider = [&](EventId earlier, std::uint32_t of) {
    if (earlier == no_event) return;
    // Lanes of one kind may stand in for each other: what ended later did not hold it back. But a
    // pass begins while what the one before it exchanges last is still on its way.
    const bool pass = program.ops()[op_of[number(earlier)]].kind == Op::Kind::pass;
    if (!pass && trace.end[number(earlier)] > trace.start[of]) return;
    if (latest == no_event || trace.end[number(earlier)] > trace.end[number(latest)])
      latest = earlier;
  };
  const auto consider_all_of = [&](std::uint32_t of) {
    for (EventId earlier : program.participants()[of].after) consider(earlier, of);
    consider(lane_predecessor[of], of);
  };
  switch (op.kind) {
    case Op::Kind::pass:
      consider_all_of(number(event));
      break;
    case Op::Kind::collective:
      for (auto of = op.first; of < op.first + op.count; ++of) consider_all_of(of);
      break;
    default:
      consider_all_of(op.first);
  }
  return latest;
}

}  // namespace sim
