// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/traces/chrome_events.hpp"
#include "report/traces/trace.hpp"
#include "report/traces/tracks.hpp"

namespace report {
namespace {

void add_name(Events& events, const char* what, std::int64_t pid, std::int64_t tid,
              std::string_view name) {
  events.begin('M', pid, tid).raw(",\"name\":\"").raw(what).raw("\",\"args\":{\"name\":");
  events.raw(json_string(name)).raw("}").end();
}

void add_order(Events& events, const char* what, std::int64_t pid, std::int64_t tid,
               std::int64_t order) {
  events.begin('M', pid, tid).raw(",\"name\":\"").raw(what);
  events.number("\",\"args\":{\"sort_index\":", order).raw("}").end();
}

void add_names(Events& events, const Tracks& tracks) {
  for (std::size_t i = 0; i < tracks.processes.size(); ++i) {
    const auto& process = tracks.processes[i];
    add_name(events, "process_name", process.rank, 0,
             fmt::format("stage {} (rank {})", process.stage, process.rank));
    add_order(events, "process_sort_index", process.rank, 0, static_cast<std::int64_t>(i));
  }
  for (const auto& track : tracks.tracks) {
    const auto pid = tracks.processes[track.process].rank;
    add_name(events, "thread_name", pid, track.thread, track.name);
    add_order(events, "thread_sort_index", pid, track.thread, track.thread);
  }
}

void add_slice(Events& events, const forecast::Slice& slice, int thread) {
  const auto start = nanoseconds(slice.start_ps);
  events.begin('X', slice.rank, thread)
      .microseconds(",\"ts\":", start)
      .microseconds(",\"dur\":", nanoseconds(slice.end_ps) - start)
      .string(",\"name\":", slice.name)
      .string(",\"cat\":", slice.kind)
      .string(",\"args\":{\"kind\":", slice.kind);
  if (slice.microbatch >= 0) events.number(",\"microbatch\":", slice.microbatch);
  if (slice.chunk >= 0) events.number(",\"chunk\":", slice.chunk);
  if (slice.flops.value > 0) events.number(",\"flops\":", whole(slice.flops.value));
  if (slice.bytes.value > 0) events.number(",\"bytes\":", whole(slice.bytes.value));
  events.raw("}").end();
}

void add_arrows(Events& events, const forecast::Timeline& timeline, const Tracks& tracks) {
  const auto thread = [&](std::size_t slice) {
    return tracks.tracks[tracks.track_of[slice]].thread;
  };
  for (std::size_t i = 0; i < timeline.arrows.size(); ++i) {
    const auto& arrow = timeline.arrows[i];
    const auto& from = timeline.slices[arrow.from];
    const auto& to = timeline.slices[arrow.to];
    // A viewer ties an arrow to the bar that is open at its time stamp: the last nanosecond.
    const auto leaves = std::max(nanoseconds(from.start_ps), nanoseconds(from.end_ps) - 1);
    events.begin('s', from.rank, thread(arrow.from))
        .microseconds(",\"ts\":", leaves)
        .number(",\"name\":\"message\",\"cat\":\"message\",\"id\":", static_cast<std::int64_t>(i))
        .end();
    events.begin('f', to.rank, thread(arrow.to))
        .microseconds(",\"ts\":", nanoseconds(to.start_ps))
        .number(",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":",
                static_cast<std::int64_t>(i))
        .end();
  }
}

// Links have a process of their own, behind all ranks.
void add_links(Events& events, const forecast::Timeline& timeline, const Tracks& tracks) {
  if (timeline.links.empty()) return;
  std::int64_t network = 0;
  for (const auto& process : tracks.processes) network = std::max(network, process.rank + 1);
  add_name(events, "process_name", network, 0, "links, of their bandwidth");
  add_order(events, "process_sort_index", network, 0,
            static_cast<std::int64_t>(tracks.processes.size()));
  for (const auto& sample : timeline.links)
    events.begin('C', network, 0)
        .microseconds(",\"ts\":", nanoseconds(sample.time_ps))
        .string(",\"name\":", timeline.link_names[sample.link])
        .thousandths(",\"args\":{\"percent\":", std::llround(1e5 * sample.utilisation))
        .raw("}")
        .end();
}

}  // namespace

std::string chrome_trace(const forecast::Timeline& timeline) {
  const Tracks tracks = tracks_of(timeline);
  Events events(timeline.slices.size() + 2 * timeline.arrows.size() + timeline.memory.size() +
                timeline.links.size());
  add_names(events, tracks);
  for (const auto& track : tracks.tracks)
    for (const std::size_t i : track.slices) add_slice(events, timeline.slices[i], track.thread);
  add_arrows(events, timeline, tracks);
  for (const auto& sample : timeline.memory)
    events.begin('C', tracks.processes[tracks.process_of_stage.at(sample.stage)].rank, 0)
        .microseconds(",\"ts\":", nanoseconds(sample.time_ps))
        .number(",\"name\":\"allocated memory\",\"args\":{\"bytes\":",
                std::llround(sample.allocated.value))
        .raw("}")
        .end();
  add_links(events, timeline, tracks);
  return events.take();
}

}  // namespace report
