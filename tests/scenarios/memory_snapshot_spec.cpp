// SPDX-License-Identifier: Apache-2.0
// Snapshots as PyTorch writes them: three tensors of 4 MiB less 100 bytes, the first of which was
// freed, in a segment of 20 MiB.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/memory_snapshot.hpp"
#include "tests/catch.hpp"

namespace memory_snapshot_spec {

namespace {

constexpr std::int64_t mib = 1024 * 1024;

std::string mistake_in(const std::string& name) {
  const std::string file = STEPCAST_SOURCE_DIR "/tests/fuzz/corpus/memory_snapshot/" + name;
  try {
    scenarios::load_memory_snapshot(file);
  } catch (const scenarios::Error& error) {
    return error.complaints.front().text;
  }
  return "";
}

}  // namespace

TEST_CASE("a snapshot says which bytes are allocated and reserved, and the most of each") {
  for (const std::string name :
       {"three_tensors_protocol_2", "three_tensors_protocol_3", "three_tensors_protocol_4",
        "three_tensors_protocol_5", "three_tensors_packed"}) {
    CAPTURE(name);
    std::vector<std::string> actions;
    std::ifstream file(STEPCAST_SOURCE_DIR "/tests/fuzz/corpus/memory_snapshot/" + name,
                       std::ios::binary);
    const auto snapshot = scenarios::read_memory_snapshot(
        *file.rdbuf(), name,
        [&](const scenarios::SnapshotEvent& event) { actions.emplace_back(event.action); });
    CHECK(actions == std::vector<std::string>{"segment_alloc", "alloc", "alloc", "alloc",
                                              "free_requested", "free_completed"});
    REQUIRE(snapshot.devices.size() == 1);
    CHECK(snapshot.devices[0] == forecast::SnapshotDevice{.reserved = 20 * mib,
                                                          .allocated = 8 * mib,
                                                          .requested = 8 * mib - 200,
                                                          .most_reserved = 20 * mib,
                                                          .most_requested = 12 * mib - 300,
                                                          .events = 6});
    REQUIRE(snapshot.segments.size() == 1);
    CHECK(snapshot.segments[0].blocks == 4);
    CHECK_FALSE(snapshot.segments[0].small);
    CHECK(snapshot.settings == "expandable_segments:False");
  }
}

// The run trained two layers of GPT on an H100 with PyTorch 2.11 (tools/record_training.py, case
// gpt_pickled), which counted at most 599,660,544 bytes allocated and 679,477,248 reserved.
TEST_CASE("a snapshot of a real run says the bytes that the run itself counted") {
  const auto snapshot = scenarios::load_memory_snapshot(
      STEPCAST_SOURCE_DIR "/tests/scenarios/memory/two_layers_h100.pickle.gz");
  REQUIRE(snapshot.devices.size() == 1);
  const auto& device = snapshot.devices[0];
  CHECK(device.most_reserved == 679'477'248);
  CHECK(static_cast<double>(device.most_requested) == Approx(599'660'544.0).epsilon(1e-4));
  CHECK(device.events == 2641);
  CHECK(device.out_of_memory == 0);
  CHECK(snapshot.segments.size() == 37);
}

// 8 MiB and 4 MiB are allocated, 30 MiB more are refused, and the 4 MiB are freed.
TEST_CASE("a snapshot says that memory ran out, unless the run went on") {
  const auto device_of = [](const std::string& name) {
    return scenarios::load_memory_snapshot(
               STEPCAST_SOURCE_DIR "/tests/fuzz/corpus/memory_snapshot/" + name)
        .devices.at(0);
  };
  const auto dead = device_of("ends_out_of_memory");
  CHECK(dead.out_of_memory == 1);
  CHECK(dead.refused == 30 * mib);
  CHECK(dead.wanted == 42 * mib);
  CHECK(dead.most_requested == 12 * mib);
  const auto alive = device_of("goes_on_after_out_of_memory");
  CHECK(alive.out_of_memory == 1);
  CHECK(alive.refused == 0);
  CHECK(alive.wanted == 0);
}

TEST_CASE("a file that is no snapshot is refused with the byte where that shows") {
  CHECK(mistake_in("runs_code") ==
        "byte 2: opcode GLOBAL is no plain value; only numbers, texts, lists, tuples and maps are "
        "read");
  CHECK(mistake_in("cut_off").ends_with("the pickle ends before its STOP"));
  CHECK(mistake_in("no_snapshot")
            .ends_with("no snapshot of memory: a map with the lists 'segments' "
                       "and 'device_traces' was expected"));
  CHECK(mistake_in("text") == "byte 0: no pickle: it does not begin with PROTO");
}

TEST_CASE("events that are not plain are refused") {
  const auto text_of = [](const std::string& bytes) -> std::string {
    std::istringstream in("\x80\x02" + bytes);
    try {
      scenarios::read_memory_snapshot(*in.rdbuf(), "s.pickle");
    } catch (const scenarios::Error& error) {
      return error.complaints.front().place + ": " + error.complaints.front().text;
    }
    return "";
  };
  using namespace std::string_literals;
  // [{'action': 'oom'}]
  CHECK(text_of("](}(\x8c\x06"
                "action\x8c\x03oomue.") ==
        "s.pickle: byte 20: 'size' is missing, or no whole number");
  // [{'action': 'alloc', 'size': -1}]
  CHECK(text_of("](}(\x8c\x06"
                "action\x8c\x05"
                "alloc\x8c\x04sizeJ\xff\xff\xff\xffue."s) ==
        "s.pickle: byte 33: 'size' is -1, out of its range");
}

}  // namespace memory_snapshot_spec
