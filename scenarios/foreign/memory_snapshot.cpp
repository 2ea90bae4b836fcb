// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/memory_snapshot.hpp"

#include <algorithm>
#include <cstdlib>
#include <ios>
#include <limits>
#include <map>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/unpacked.hpp"
#include "scenarios/foreign/pickle.hpp"

namespace scenarios {

namespace {

// More bytes than any device has.
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

// Bytes since the first event of a list, and the most of them.
struct Since {
  std::int64_t now = 0, most = 0;
  void add(std::int64_t bytes) {
    now += bytes;
    most = std::max(most, now);
  }
};

struct DeviceEvents {
  std::uint64_t list = 0;
  Since reserved, requested;
  std::int64_t events = 0, out_of_memory = 0;
  std::int64_t refused = 0, wanted = 0;  // of the last event of no memory; wanted: as `requested`
};

class SnapshotReader {
 public:
  SnapshotReader(std::streambuf& in, const std::function<void(const SnapshotEvent&)>& visit)
      : pickle_(in), visit_(visit) {}

  forecast::MemorySnapshot read() {
    const auto root = pickle_.read([this](const Pickle&, const PickleValue& item,
                                          std::uint64_t list) { return take(item, list); });
    if (pickle_.at(root, "segments").kind != PickleKind::list ||
        pickle_.at(root, "device_traces").kind != PickleKind::list)
      fail(
          "no snapshot of memory: a map with the lists 'segments' and 'device_traces' was "
          "expected");
    const auto settings =
        pickle_.at(pickle_.at(root, "allocator_settings"), "PYTORCH_CUDA_ALLOC_CONF");
    if (settings.kind == PickleKind::text) result_.settings = pickle_.text(settings);
    add_up();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw PickleMistake(pickle_.offset(), what);
  }

  // Takes an item of a list: an event, a segment, or a block, as the blocks of some segments come
  // before the segments.
  bool take(const PickleValue& item, std::uint64_t list) {
    if (pickle_.at(item, "action").kind == PickleKind::text) {
      event(item, list);
      return true;
    }
    if (pickle_.at(item, "blocks").kind == PickleKind::list) {
      segment(item);
      return true;
    }
    if (pickle_.at(item, "state").kind == PickleKind::text) {
      block(item, list);
      return true;
    }
    return false;
  }

  std::int64_t number(const PickleValue& map, std::string_view key, std::int64_t least,
                      std::int64_t most) const {
    const auto value = pickle_.at(map, key);
    if (value.kind != PickleKind::integer)
      fail("'" + std::string(key) + "' is missing, or no whole number");
    if (value.integer < least || value.integer > most)
      fail("'" + std::string(key) + "' is " + std::to_string(value.integer) + ", out of its range");
    return value.integer;
  }
  std::int64_t bytes(const PickleValue& map, std::string_view key) const {
    return number(map, key, 0, most_bytes);
  }
  std::int64_t any(const PickleValue& map, std::string_view key) const {
    return number(map, key, std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max());
  }
  bool has(const PickleValue& map, std::string_view key) const {
    return pickle_.at(map, key).kind != PickleKind::none;
  }

  void grow(std::int64_t& sum, std::int64_t by) const {
    sum += by;
    if (sum > most_bytes) fail("more memory than there is");
  }

  void block(const PickleValue& item, std::uint64_t list) {
    auto& sum = blocks_[list];
    const auto size = bytes(item, "size");
    const auto& state = pickle_.text(pickle_.at(item, "state"));
    ++sum.blocks;
    if (state == "inactive") return;
    grow(sum.active, size);
    if (state != "active_allocated") return;
    grow(sum.allocated, size);
    grow(sum.requested, has(item, "requested_size") ? bytes(item, "requested_size") : size);
  }

  void segment(const PickleValue& item) {
    const auto list = pickle_.at(item, "blocks").index;
    auto sum = blocks_[list];
    blocks_.erase(list);
    sum.device = has(item, "device") ? number(item, "device", 0, 1 << 16) : 0;
    sum.address = any(item, "address");
    sum.size = bytes(item, "total_size");
    sum.stream = has(item, "stream") ? any(item, "stream") : 0;
    const auto type = pickle_.at(item, "segment_type");
    sum.small = type.kind == PickleKind::text && pickle_.text(type) == "small";
    const auto expandable = pickle_.at(item, "is_expandable");
    sum.expandable = expandable.kind == PickleKind::truth && expandable.integer == 1;
    if (sum.active > sum.size) fail("the blocks of a segment are larger than it is");
    result_.segments.push_back(sum);
  }

  void event(const PickleValue& item, std::uint64_t list) {
    const std::string_view action = pickle_.text(pickle_.at(item, "action"));
    auto found = std::ranges::find(events_, list, &DeviceEvents::list);
    if (found == events_.end()) {
      if (events_.size() == 1024) fail("events of more than 1024 devices");
      found = events_.insert(found, {.list = list});
    }
    SnapshotEvent event{.action = action,
                        .device = static_cast<std::size_t>(found - events_.begin()),
                        .size = bytes(item, "size")};
    if (has(item, "addr")) event.address = any(item, "addr");
    if (has(item, "stream")) event.stream = any(item, "stream");
    ++found->events;
    if (action == "alloc") {
      found->requested.add(event.size);
      found->refused = 0;
    }
    if (action == "free_completed") found->requested.add(-event.size);
    if (action == "segment_alloc" || action == "segment_map") found->reserved.add(event.size);
    if (action == "segment_free" || action == "segment_unmap") found->reserved.add(-event.size);
    if (action == "oom") {
      ++found->out_of_memory;
      found->refused = event.size;
      found->wanted = found->requested.now + event.size;
    }
    if (std::abs(found->requested.now) > most_bytes || std::abs(found->reserved.now) > most_bytes)
      fail("events allocate more memory than there is");
    if (visit_) visit_(event);
  }

  // Assigns the lists of events to devices. The place of a list is the number of its device, as
  // devices without events have empty lists. A single list with events belongs to the only device
  // with segments.
  void add_up() {
    std::vector<std::int64_t> numbers;
    for (const auto& segment : result_.segments) numbers.push_back(segment.device);
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    result_.devices.resize(std::max(numbers.size(), events_.size()));
    for (const auto& segment : result_.segments) {
      const auto at = std::ranges::lower_bound(numbers, segment.device) - numbers.begin();
      auto& device = result_.devices[static_cast<std::size_t>(at)];
      grow(device.reserved, segment.size);
      grow(device.allocated, segment.allocated);
      grow(device.requested, segment.requested);
    }
    for (std::size_t i = 0; i < result_.devices.size(); ++i) {
      auto& device = result_.devices[i];
      const auto events = i < events_.size() ? events_[i] : DeviceEvents{};
      device.events = events.events;
      device.out_of_memory = events.out_of_memory;
      device.refused = events.refused;
      if (device.refused > 0)
        device.wanted = device.requested + events.wanted - events.requested.now;
      device.most_reserved = device.reserved + events.reserved.most - events.reserved.now;
      device.most_requested = device.requested + events.requested.most - events.requested.now;
    }
  }

  Pickle pickle_;
  const std::function<void(const SnapshotEvent&)>& visit_;
  forecast::MemorySnapshot result_;
  std::map<std::uint64_t, forecast::SnapshotSegment>
      blocks_;  // by list: of a segment that is to come
  std::vector<DeviceEvents> events_;
};

}  // namespace

forecast::MemorySnapshot read_memory_snapshot(
    std::streambuf& in, const std::string& file_name,
    const std::function<void(const SnapshotEvent&)>& visit) {
  const auto wrong = [&](const std::string& text) { return Error({{file_name, text}}); };
  try {
    Unpacked unpacked(in);
    return SnapshotReader(unpacked, visit).read();
  } catch (const PickleMistake& mistake) {
    throw wrong("byte " + std::to_string(mistake.at) + ": " + mistake.what());
  } catch (const PackedMistake& mistake) {
    throw wrong("byte 0: " + std::string(mistake.what()));
  }
}

forecast::MemorySnapshot load_memory_snapshot(const std::filesystem::path& file) {
  auto in = open_file(file);
  try {
    return read_memory_snapshot(in, file.string());
  } catch (const std::ios_base::failure& failed) {
    throw Error({{file.string(), "cannot be read: " + failed.code().message()}});
  }
}

}  // namespace scenarios
