// SPDX-License-Identifier: Apache-2.0
#include "sim/spans.hpp"

#include <algorithm>

namespace sim {

namespace {

// The start of each actor's first pass or collective, or `begins_at` if that is earlier.
std::vector<Picoseconds> beginnings(const Program& program, const Trace& trace,
                                    std::vector<Picoseconds> begins_at) {
  for (const auto& op : program.ops()) {
    if (op.kind != Op::Kind::pass && op.kind != Op::Kind::collective) continue;
    for (auto event = op.first; event < op.first + op.count; ++event) {
      auto& begins = begins_at[static_cast<std::size_t>(program.participants()[event].actor)];
      begins = std::min(begins, trace.start[event]);
    }
  }
  return begins_at;
}

}  // namespace

Spans spans_of(const Program& program, const Trace& played, const Trace& trace,
               bool from_first_work) {
  const std::size_t actors = program.actors();
  Spans spans;
  spans.begins_at.assign(actors, 0);
  spans.ends_at.assign(actors, 0);
  std::vector<std::uint32_t> last_event(actors, none);
  for (std::uint32_t event = 0; event < trace.end.size(); ++event) {
    const auto actor = static_cast<std::size_t>(program.participants()[event].actor);
    if (last_event[actor] != none && trace.end[event] <= spans.ends_at[actor]) continue;
    spans.ends_at[actor] = trace.end[event];
    last_event[actor] = event;
  }
  if (from_first_work) spans.begins_at = beginnings(program, played, spans.ends_at);
  if (actors == 0) return spans;
  const auto span = [&](std::size_t actor) {
    return spans.ends_at[actor] - spans.begins_at[actor];
  };
  for (std::size_t actor = 1; actor < actors; ++actor)
    if (span(actor) > span(spans.longest)) spans.longest = actor;
  spans.length = span(spans.longest);
  spans.last_event = last_event[spans.longest];
  return spans;
}

}  // namespace sim
