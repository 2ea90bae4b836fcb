// SPDX-License-Identifier: Apache-2.0
#include "report/traces/kineto_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "report/traces/chrome_events.hpp"
#include "report/traces/tracks.hpp"
#include "topology/collective.hpp"

namespace report {

namespace {

// PyTorch computes on stream 7; others are numbered behind it.
constexpr std::int64_t first_stream = 7;
constexpr std::int64_t device_pid = 0, host_pid = 1;  // pids; threads of the host: 1

// Returns "reduce gradients" for "reduce gradients m3 c1".
std::string_view without_numbers(std::string_view name) {
  for (const char* mark : {" m", " c"})
    for (auto at = name.find(mark); at != name.npos; at = name.find(mark, at + 1))
      if (at + 2 < name.size() && name[at + 2] >= '0' && name[at + 2] <= '9')
        return name.substr(0, at);
  return name;
}

struct SliceKind {
  const char* category;
  std::string name;
  bool communicates = false;
};

// The lane of a stretch of a pass that communicates; none: it waits for other ranks.
std::string_view lane_of(const forecast::PassStep& step) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> lanes{
      {{"tensor comm", "tensor"},
       {"context comm", "context"},
       {"expert comm", "expert"},
       {"data comm", "data"}}};
  for (const auto& [part, lane] : lanes)
    if (step.part == part) return lane;
  return {};
}

// Returns the name of a kernel, by which tools tell its class: "gemm input gradient".
std::string kernel_of(const forecast::PassStep& step) {
  if (!step.kernels) {
    auto name = step.asked ? std::string(topology::to_text(step.asked->collective))
                           : std::string(step.part);
    std::erase(name, '_');
    return name;
  }
  switch (*step.kernels) {
    case forecast::KernelClass::attention:
      return step.part == "input gradient" ? "flash_bwd" : "flash_fwd";
    case forecast::KernelClass::experts:
      return fmt::format("grouped_gemm {}", step.part);
    case forecast::KernelClass::products:
      return fmt::format("gemm {}", step.part);
    case forecast::KernelClass::others:
      break;
  }
  return fmt::format("elementwise {}", step.part);
}

// Adds the kernels of a pass and its communication, each on its lane, as they were played.
void open_pass(const forecast::Slice& pass, const std::vector<forecast::PassStep>& steps,
               std::vector<forecast::Slice>& opened) {
  for (const auto& step : steps) {
    const auto lane = step.kernels ? pass.lane : lane_of(step);
    if (lane.empty()) continue;
    auto& slice = opened.emplace_back(pass);
    slice.lane = lane;
    slice.name = kernel_of(step);
    slice.start_ps = pass.start_ps + step.start_ps;
    slice.end_ps = pass.start_ps + step.end_ps;
    slice.bytes = !step.kernels && step.asked ? step.asked->size : units::Bytes{};
  }
}

// The ranks between which a message goes; both sides of it name them. Of other slices: -1.
struct Ends {
  std::int64_t source = -1, destination = -1;
};

// A rank's slices, with kernels and communication in place of its passes, and their ends.
struct Opened {
  forecast::Timeline timeline;
  std::vector<Ends> ends;
};

Opened opened_passes(const forecast::Timeline& timeline, std::int64_t rank) {
  std::vector<Ends> ends(timeline.slices.size());
  for (const auto& [from, to] : timeline.arrows)
    if (timeline.slices[to].lane == "pipeline receive")
      ends[from] = ends[to] = {timeline.slices[from].rank, timeline.slices[to].rank};
  Opened opened;
  auto& slices = opened.timeline.slices;
  for (std::size_t i = 0; i < timeline.slices.size(); ++i) {
    const auto& slice = timeline.slices[i];
    if (slice.rank != rank) continue;
    if (slice.steps < 0)
      slices.push_back(slice);
    else
      open_pass(slice, timeline.passes.at(static_cast<std::size_t>(slice.steps)), slices);
    opened.ends.resize(slices.size(), ends[i]);
  }
  return opened;
}

SliceKind kind_of(const forecast::Slice& slice) {
  const auto name = without_numbers(slice.name);
  if (slice.lane == "compute") return {"kernel", std::string(name)};
  if (slice.lane == "offload") return {"gpu_memcpy", "Memcpy DtoH (Device -> Pinned)"};
  if (slice.lane == "fetch") return {"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"};
  if (slice.lane == "data loader") return {"cpu_op", std::string(name)};
  std::string kernel = fmt::format("ncclKernel_{}", name);
  std::ranges::replace(kernel, ' ', '_');
  return {"kernel", kernel, true};
}

// Adds what tells a kernel's group to a profiler. A message's is its pipeline, which all ranks name
// alike, so that both sides of it are matched; of collectives only this rank is known.
void add_group(Events& events, const forecast::Slice& slice, const Ends& ends) {
  const bool message = ends.source >= 0;
  events.string(",\"Process Group Description\":", message ? "pipeline" : slice.lane)
      .string(",\"Process Group Name\":",
              message ? "pipeline" : fmt::format("of rank {}", slice.rank));
  if (message)
    events.number(",\"Src Rank\":", ends.source).number(",\"Dst Rank\":", ends.destination);
  if (slice.bytes.value > 0)
    events.number(",\"In msg nelems\":", whole(slice.bytes.value)).raw(",\"dtype\":\"Byte\"");
}

void add_event(Events& events, const forecast::Slice& slice, const Ends& ends, std::int64_t stream,
               std::int64_t number) {
  const auto start = nanoseconds(slice.start_ps);
  const auto kind = kind_of(slice);
  const bool on_host = slice.lane == "data loader";
  events.begin('X', on_host ? host_pid : device_pid, on_host ? 1 : stream)
      .raw(",\"cat\":\"")
      .raw(kind.category)
      .raw("\",\"name\":")
      .raw(json_string(kind.name))
      .microseconds(",\"ts\":", start)
      .microseconds(",\"dur\":", nanoseconds(slice.end_ps) - start)
      .number(",\"args\":{\"External id\":", number);
  if (!on_host)
    events.number(",\"device\":", device_pid)
        .number(",\"stream\":", stream)
        .number(",\"correlation\":", number);
  if (kind.communicates) add_group(events, slice, ends);
  if (slice.microbatch >= 0) events.number(",\"microbatch\":", slice.microbatch);
  if (slice.chunk >= 0) events.number(",\"chunk\":", slice.chunk);
  if (slice.bytes.value > 0) events.number(",\"bytes\":", whole(slice.bytes.value));
  events.raw("}").end();
}

void add_step(Events& events, std::int64_t start, std::int64_t end) {
  events.begin('X', host_pid, 1)
      .raw(",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\"")
      .microseconds(",\"ts\":", start)
      .microseconds(",\"dur\":", end - start)
      .raw(",\"args\":{\"External id\":0}")
      .end();
}

}  // namespace

std::vector<std::int64_t> ranks_of(const forecast::Timeline& timeline) {
  std::vector<std::int64_t> ranks;
  for (const auto& slice : timeline.slices)
    if (ranks.empty() || ranks.back() != slice.rank) ranks.push_back(slice.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::string kineto_trace(const forecast::Timeline& timeline, std::int64_t rank,
                         std::int64_t world_size) {
  const auto [opened, ends] = opened_passes(timeline, rank);
  const Tracks tracks = tracks_of(opened);
  Events events(opened.slices.size(),
                fmt::format("\"schemaVersion\":1,\"deviceProperties\":[{{\"id\":0}}],"
                            "\"distributedInfo\":{{\"backend\":\"nccl\",\"rank\":{},"
                            "\"world_size\":{}}},\"displayTimeUnit\":\"ms\",",
                            rank, world_size));
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0, number = 0;
  for (const auto& track : tracks.tracks) {
    for (const std::size_t i : track.slices) {
      const auto& slice = opened.slices[i];
      add_event(events, slice, ends[i], first_stream + track.thread, ++number);
      first = std::min(first, nanoseconds(slice.start_ps));
      last = std::max(last, nanoseconds(slice.end_ps));
    }
  }
  if (number == 0) throw std::invalid_argument(fmt::format("the timeline has no rank {}", rank));
  add_step(events, std::min<std::int64_t>(first, 0), last);
  return events.take();
}

}  // namespace report
