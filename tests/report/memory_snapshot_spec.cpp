// SPDX-License-Identifier: Apache-2.0
// A replay as a snapshot that PyTorch's memory viewer reads.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "report/traces/memory_snapshot.hpp"
#include "scenarios/foreign/memory_snapshot.hpp"
#include "tests/catch.hpp"

namespace memory_snapshot_spec {

namespace {

using allocator::mib;

// A history in which `weights` stay, `logits` are freed and wait for stream 1, and `more` finds no
// memory.
forecast::MemoryHistory three_tensors() {
  forecast::MemoryHistory history{.tensors = {{"", "", "weights", "parameters"},
                                              {"", "", "logits", "activations"},
                                              {"", "", "more", "activations"}}};
  allocator::CachingAllocator memory(history.settings, {40 * mib, {}}, &history.trace);
  memory.allocate(0, 14 * mib, 0);
  memory.allocate(1, 12 * mib - 1, 0);
  memory.record_stream(1, 1);
  memory.free(1);
  history.segments = memory.segments();
  memory.allocate(2, 30 * mib, 0);
  return history;
}

// The output of python3; "" where there is none.
std::string python(const std::string& program) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) return "";
  auto* pipe = popen(("python3 -c \"" + program + "\" 2>&1").c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("a written snapshot is read as one") {
  std::istringstream in(report::memory_snapshot(three_tensors()));
  std::string actions;
  const auto read =
      scenarios::read_memory_snapshot(*in.rdbuf(), "s.pickle", [&](const auto& event) {
        actions += std::string(event.action) + " " + std::to_string(event.size) + "\n";
      });
  CHECK(actions ==
        "segment_alloc 14680064\nalloc 14680064\nsegment_alloc 12582912\nalloc 12582911\n"
        "free_requested 12582911\nfree_completed 12582911\nsegment_free 12582912\noom 31457280\n");
  REQUIRE(read.devices.size() == 1);
  CHECK(read.devices[0].reserved == 26 * mib);
  CHECK(read.devices[0].allocated == 14 * mib);
  CHECK(read.devices[0].out_of_memory == 1);
  REQUIRE(read.segments.size() == 2);
  CHECK(read.segments[0].active == 12 * mib);  // the later segment has the lower address
}

TEST_CASE("Python's own pickle reads a snapshot") {
  const auto file = (std::filesystem::temp_directory_path() /
                     ("stepcast_memory_" + std::to_string(std::random_device()()) + ".pickle"))
                        .string();
  std::ofstream(file, std::ios::binary) << report::memory_snapshot(three_tensors());
  const auto shown =
      python("import pickle; s = pickle.load(open('" + file +
             "', 'rb')); print(sorted(s)); t = s['device_traces'][0]; print(len(t), t[1]); "
             "b = s['segments'][1]['blocks']; print(b[0], len(b)); "
             "print(s['segments'][0]['segment_pool_id'], s['segments'][0]['blocks'][0]['state'])");
  std::remove(file.c_str());
  if (shown.empty()) return;
  CHECK(shown ==
        "['allocator_settings', 'device_traces', 'segments']\n"
        "8 {'action': 'alloc', 'addr': 139637962047488, 'size': 14680064, 'stream': 0, 'frames': "
        "[{'filename': 'parameters', 'line': 0, 'name': 'weights'}]}\n"
        "{'address': 139637962047488, 'size': 14680064, 'requested_size': 14680064, 'state': "
        "'active_allocated', 'frames': [{'filename': 'parameters', 'line': 0, 'name': 'weights'}]} "
        "1\n(0, 0) active_awaiting_free\n");
}

TEST_CASE("a long history is written in batches, so that a reader need not keep all of it") {
  forecast::MemoryHistory history{.tensors = {{"", "", "one", "activations"}}};
  allocator::CachingAllocator memory({}, {40 * mib, {}}, &history.trace);
  for (int i = 0; i < 5000; ++i) {
    memory.allocate(0, 512, 0);
    memory.free(0);
  }
  history.segments = memory.segments();
  std::istringstream in(report::memory_snapshot(history));
  const auto read = scenarios::read_memory_snapshot(*in.rdbuf(), "s.pickle");
  CHECK(read.devices.at(0).events == 15001);
  CHECK(read.devices.at(0).most_requested == 512);
}

}  // namespace memory_snapshot_spec
