// SPDX-License-Identifier: Apache-2.0
#include "report/traces/memory_snapshot.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "report/traces/pickle_writer.hpp"

namespace report {

namespace {

using Action = allocator::TraceEntry::Action;
using State = allocator::Segment::Part::State;

// The items in a batch, as many as in Python's own pickler.
constexpr std::size_t batch = 1000;

std::string_view word_of(Action action) {
  switch (action) {
    case Action::alloc:
      return "alloc";
    case Action::free_requested:
      return "free_requested";
    case Action::free_completed:
      return "free_completed";
    case Action::segment_alloc:
      return "segment_alloc";
    case Action::segment_free:
      return "segment_free";
    case Action::segment_map:
      return "segment_map";
    case Action::segment_unmap:
      return "segment_unmap";
    case Action::oom:
      return "oom";
  }
  return "";
}

std::string_view word_of(State state) {
  switch (state) {
    case State::allocated:
      return "active_allocated";
    case State::waiting:
      return "active_awaiting_free";
    case State::free:
      return "inactive";
  }
  return "";
}

bool is_of_tensor(Action action) {
  return action == Action::alloc || action == Action::free_requested ||
         action == Action::free_completed || action == Action::oom;
}

class SnapshotWriter {
 public:
  explicit SnapshotWriter(const forecast::MemoryHistory& history)
      : history_(history), frames_(history.tensors.size()) {}

  std::string write() {
    out_.open_map();
    out_.text("segments");
    list(history_.segments, [&](const auto& one) { segment(one); });
    out_.text("device_traces");
    out_.open_list();
    list(history_.trace, [&](const auto& one) { entry(one); });
    out_.close_list();
    out_.text("allocator_settings");
    settings();
    out_.close_map();
    return out_.finish();
  }

 private:
  template <class Items, class Write>
  void list(const Items& items, Write&& write) {
    out_.open_list();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0 && i % batch == 0) out_.next_batch();
      write(items[i]);
    }
    out_.close_list();
  }
  void field(std::string_view key, std::int64_t value) {
    out_.text(key);
    out_.integer(value);
  }
  void field(std::string_view key, std::string_view value) {
    out_.text(key);
    out_.text(value);
  }
  void truth(std::string_view key, bool value) {
    out_.text(key);
    out_.truth(value);
  }

  // Writes the list of frames: one, which names the tensor and is the same for all its events.
  void frames(std::optional<allocator::TensorId> tensor) {
    out_.text("frames");
    if (!tensor || *tensor >= frames_.size()) {
      out_.open_list();
      return out_.close_list();
    }
    auto& known = frames_[*tensor];
    if (known) return out_.recall(*known);
    const auto& named = history_.tensors[*tensor];
    out_.open_list();
    out_.open_map();
    field("filename", named.category);
    field("line", 0);
    field("name", named.name());
    out_.close_map();
    out_.close_list();
    known = out_.remember();
  }

  void segment(const allocator::Segment& segment) {
    std::int64_t total = 0, allocated = 0, active = 0, requested = 0;
    for (const auto& part : segment.parts) {
      total += part.size;
      if (part.state != State::free) active += part.size;
      if (part.state == State::allocated) allocated += part.size;
      if (part.state != State::free) requested += part.requested;
    }
    out_.open_map();
    field("device", 0);
    field("address", segment.parts.front().address);
    field("total_size", total);
    field("allocated_size", allocated);
    field("active_size", active);
    field("requested_size", requested);
    field("stream", segment.stream);
    field("segment_type", segment.small ? "small" : "large");
    out_.text("segment_pool_id");
    out_.integer(0);
    out_.integer(0);
    out_.pair();
    truth("is_expandable", segment.expandable);
    frames({});
    out_.text("blocks");
    list(segment.parts, [&](const auto& part) { block(part); });
    out_.close_map();
  }

  void block(const allocator::Segment::Part& part) {
    out_.open_map();
    field("address", part.address);
    field("size", part.size);
    field("requested_size", part.requested);
    field("state", word_of(part.state));
    frames(part.state == State::free ? std::nullopt : std::optional(part.tensor));
    out_.close_map();
  }

  void entry(const allocator::TraceEntry& entry) {
    out_.open_map();
    field("action", word_of(entry.action));
    field(entry.action == Action::oom ? "device_free" : "addr", entry.address);
    field("size", entry.size);
    field("stream", entry.stream);
    frames(is_of_tensor(entry.action) ? std::optional(entry.tensor) : std::nullopt);
    out_.close_map();
  }

  void settings() {
    const auto& settings = history_.settings;
    out_.open_map();
    field("PYTORCH_CUDA_ALLOC_CONF", "");
    field("max_split_size", settings.max_split_size.value_or(-1));
    out_.text("garbage_collection_threshold");
    out_.real(settings.garbage_collection_threshold);
    truth("expandable_segments", settings.expandable_segments);
    out_.text("roundup_power2_divisions");
    out_.open_map();
    for (int i = 0; i < allocator::division_intervals; ++i)
      field(std::to_string(1 << i), settings.roundup_power2_divisions[static_cast<std::size_t>(i)]);
    out_.close_map();
    out_.close_map();
  }

  const forecast::MemoryHistory& history_;
  PickleWriter out_;
  std::vector<std::optional<std::uint32_t>> frames_;  // of each tensor: where they are remembered
};

}  // namespace

std::string memory_snapshot(const forecast::MemoryHistory& history) {
  return SnapshotWriter(history).write();
}

}  // namespace report
