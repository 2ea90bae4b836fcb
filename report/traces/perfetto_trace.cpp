// SPDX-License-Identifier: Apache-2.0
// Message and field numbers: Perfetto's protos/perfetto/trace, repeated in
// tests/report/perfetto.proto.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/document.hpp"
#include "report/traces/protobuf.hpp"
#include "report/traces/trace.hpp"
#include "report/traces/tracks.hpp"

namespace report {
namespace {

namespace trace {
constexpr std::uint32_t packet = 1;
}
namespace packet {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, interned_data = 12, sequence_flags = 13,
                        track_event = 11, track_descriptor = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
constexpr std::uint32_t pid = 1, process_name = 6, tid = 2, thread_name = 5, counter_unit = 3,
                        counter_unit_name = 6;
constexpr std::uint64_t unit_bytes = 3;
}  // namespace descriptor
namespace event {
constexpr std::uint32_t annotation = 4, type = 9, name_iid = 10, track = 11, counter = 30,
                        real_counter = 44, flow = 47;
constexpr std::uint64_t slice_begin = 1, slice_end = 2, counter_type = 4;
}  // namespace event
namespace annotation {
constexpr std::uint32_t name_iid = 1, integer = 4, string = 6;
// Numbers of interned names, which the writer may choose.
constexpr std::uint64_t microbatch = 1, chunk = 2, kind = 3, flops = 4, bytes = 5;
}  // namespace annotation
namespace interned {
constexpr std::uint32_t event_names = 2, annotation_names = 3, iid = 1, name = 2;
}

// Invalid UTF-8 would make the packet unreadable for strict parsers.
std::string clean(std::string_view text) {
  return nlohmann::json::parse(json_string(text)).get<std::string>();
}

// Track ids: 1 … for processes, then threads, then memory counters, then links.
struct Ids {
  const Tracks& tracks;
  std::uint64_t process(std::size_t i) const { return 1 + i; }
  std::uint64_t thread(std::size_t i) const { return 1 + tracks.processes.size() + i; }
  std::uint64_t counter(std::size_t process_index) const {
    return 1 + tracks.processes.size() + tracks.tracks.size() + process_index;
  }
  std::uint64_t link(std::size_t i) const { return counter(tracks.processes.size()) + i; }
};

class Writer {
 public:
  explicit Writer(const forecast::Timeline& timeline)
      : timeline_(timeline), tracks_(tracks_of(timeline)), flows_(timeline.slices.size()) {
    out_.reserve(timeline.slices.size() * 72 + timeline.arrows.size() * 24 + 4096);
    for (std::size_t i = 0; i < timeline.arrows.size(); ++i) {
      flows_[timeline.arrows[i].from].push_back(i + 1);
      flows_[timeline.arrows[i].to].push_back(i + 1);
    }
  }

  std::string write() {
    write_start();
    for (std::size_t i = 0; i < tracks_.processes.size(); ++i) write_process(i);
    for (std::size_t i = 0; i < tracks_.tracks.size(); ++i) write_thread(i);
    for (std::size_t i = 0; i < tracks_.tracks.size(); ++i) write_slices(i);
    write_memory();
    write_links();
    return out_.take();
  }

 private:
  void finish_packet(std::uint64_t flags) {
    packet_.integer(packet::sequence_id, 1).integer(packet::sequence_flags, flags);
    out_.message(trace::packet, packet_);
    packet_.clear();
  }

  void write_start() {
    Message data;
    const std::array<std::pair<std::uint64_t, const char*>, 5> names{
        {{annotation::microbatch, "microbatch"},
         {annotation::chunk, "chunk"},
         {annotation::kind, "kind"},
         {annotation::flops, "flops"},
         {annotation::bytes, "bytes"}}};
    for (const auto& [iid, name] : names)
      data.message(interned::annotation_names,
                   Message().integer(interned::iid, iid).text(interned::name, name));
    packet_.message(packet::interned_data, data);
    finish_packet(packet::state_cleared);
  }

  void write_process(std::size_t i) {
    const auto& process = tracks_.processes[i];
    Message inner;
    inner.integer(descriptor::pid, pid(i))
        .text(descriptor::process_name,
              fmt::format("stage {} (rank {})", process.stage, process.rank));
    packet_.message(
        packet::track_descriptor,
        Message().integer(descriptor::uuid, ids_.process(i)).message(descriptor::process, inner));
    finish_packet(packet::needs_state);
  }

  void write_thread(std::size_t i) {
    const auto& track = tracks_.tracks[i];
    Message inner;
    inner.integer(descriptor::pid, pid(track.process))
        .integer(descriptor::tid, ids_.thread(i))
        .text(descriptor::thread_name, clean(track.name));
    packet_.message(packet::track_descriptor,
                    Message()
                        .integer(descriptor::uuid, ids_.thread(i))
                        .integer(descriptor::parent, ids_.process(track.process))
                        .message(descriptor::thread, inner));
    finish_packet(packet::needs_state);
  }

  // Viewers take process 0 for the idle task of a machine, and a thread whose id is a process id
  // for the main thread of that process. So the ids of processes and threads come from one range.
  std::uint64_t pid(std::size_t process) const { return ids_.process(process); }

  void write_slices(std::size_t track) {
    std::vector<std::int64_t> open;  // ends, outermost first
    const auto close_until = [&](std::int64_t start) {
      for (; !open.empty() && open.back() <= start; open.pop_back()) write_end(track, open.back());
    };
    for (const std::size_t i : tracks_.tracks[track].slices) {
      const auto& slice = timeline_.slices[i];
      close_until(slice.start_ps);
      write_begin(track, i);
      open.push_back(slice.end_ps);
    }
    for (; !open.empty(); open.pop_back()) write_end(track, open.back());
  }

  void write_begin(std::size_t track, std::size_t i) {
    const auto& slice = timeline_.slices[i];
    packet_.integer(packet::timestamp, static_cast<std::uint64_t>(nanoseconds(slice.start_ps)));
    event_.clear()
        .integer(event::type, event::slice_begin)
        .integer(event::track, ids_.thread(track))
        .integer(event::name_iid, interned_name(slice.name));
    annotate(annotation::microbatch, slice.microbatch);
    annotate(annotation::chunk, slice.chunk);
    if (slice.flops.value > 0) annotate(annotation::flops, whole(slice.flops.value));
    if (slice.bytes.value > 0) annotate(annotation::bytes, whole(slice.bytes.value));
    event_.message(event::annotation,
                   annotation_.clear()
                       .integer(annotation::name_iid, annotation::kind)
                       .text(annotation::string, clean_kind(std::string(slice.kind))));
    for (const std::uint64_t flow : flows_[i]) event_.fixed64(event::flow, flow);
    packet_.message(packet::track_event, event_);
    finish_packet(packet::needs_state);
  }

  void write_end(std::size_t track, std::int64_t end_ps) {
    packet_.integer(packet::timestamp, static_cast<std::uint64_t>(nanoseconds(end_ps)))
        .message(packet::track_event, event_.clear()
                                          .integer(event::type, event::slice_end)
                                          .integer(event::track, ids_.thread(track)));
    finish_packet(packet::needs_state);
  }

  void annotate(std::uint64_t name, std::int64_t value) {
    if (value < 0) return;
    event_.message(event::annotation,
                   annotation_.clear()
                       .integer(annotation::name_iid, name)
                       .integer(annotation::integer, static_cast<std::uint64_t>(value)));
  }

  // A name travels once, in the packet that uses it first.
  std::uint64_t interned_name(const std::string& name) {
    const auto [at, fresh] = names_.try_emplace(name, names_.size() + 1);
    if (fresh)
      packet_.message(
          packet::interned_data,
          Message().message(
              interned::event_names,
              Message().integer(interned::iid, at->second).text(interned::name, clean(name))));
    return at->second;
  }

  const std::string& clean_kind(const std::string& kind) {
    const auto [at, fresh] = kinds_.try_emplace(kind);
    if (fresh) at->second = clean(kind);
    return at->second;
  }

  void write_memory() {
    std::vector<bool> described(tracks_.processes.size(), false);
    for (const auto& sample : timeline_.memory) {
      const std::size_t process = tracks_.process_of_stage.at(sample.stage);
      if (!described[process]) write_counter(process);
      described[process] = true;
      packet_.integer(packet::timestamp, static_cast<std::uint64_t>(nanoseconds(sample.time_ps)))
          .message(packet::track_event,
                   event_.clear()
                       .integer(event::type, event::counter_type)
                       .integer(event::track, ids_.counter(process))
                       .integer(event::counter,
                                static_cast<std::uint64_t>(std::llround(sample.allocated.value))));
      finish_packet(packet::needs_state);
    }
  }

  void write_counter(std::size_t process) {
    packet_.message(packet::track_descriptor,
                    Message()
                        .integer(descriptor::uuid, ids_.counter(process))
                        .text(descriptor::name, "allocated memory")
                        .integer(descriptor::parent, ids_.process(process))
                        .message(descriptor::counter, Message().integer(descriptor::counter_unit,
                                                                        descriptor::unit_bytes)));
    finish_packet(packet::needs_state);
  }

  void write_links() {
    for (std::size_t i = 0; i < timeline_.link_names.size(); ++i) {
      packet_.message(
          packet::track_descriptor,
          Message()
              .integer(descriptor::uuid, ids_.link(i))
              .text(descriptor::name, clean(timeline_.link_names[i]))
              .message(descriptor::counter, Message().text(descriptor::counter_unit_name, "%")));
      finish_packet(packet::needs_state);
    }
    for (const auto& sample : timeline_.links) {
      packet_.integer(packet::timestamp, static_cast<std::uint64_t>(nanoseconds(sample.time_ps)))
          .message(packet::track_event,
                   event_.clear()
                       .integer(event::type, event::counter_type)
                       .integer(event::track, ids_.link(sample.link))
                       .fixed64(event::real_counter,
                                std::bit_cast<std::uint64_t>(100 * sample.utilisation)));
      finish_packet(packet::needs_state);
    }
  }

  const forecast::Timeline& timeline_;
  Tracks tracks_;
  Ids ids_{tracks_};
  std::vector<std::vector<std::uint64_t>> flows_;              // per slice
  std::unordered_map<std::string_view, std::uint64_t> names_;  // looked up, never walked
  std::unordered_map<std::string_view, std::string> kinds_;
  Message out_, packet_, event_, annotation_;
};

}  // namespace

std::string perfetto_trace(const forecast::Timeline& timeline) { return Writer(timeline).write(); }

}  // namespace report
