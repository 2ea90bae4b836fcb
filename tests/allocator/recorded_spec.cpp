// SPDX-License-Identifier: Apache-2.0
// Recorded training steps (recorded/*.txt.gz, written by tools/record_training.py, which says what
// their lines mean) are played by the replay beside what PyTorch's caching allocator did in them.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "allocator/caching_allocator.hpp"
#include "tests/catch.hpp"

namespace recorded_spec {

namespace fs = std::filesystem;
using namespace allocator;
using Action = TraceEntry::Action;

std::string unpacked(const fs::path& path) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  auto* file = gzopen(path.c_str(), "rb");
  REQUIRE(file);
  for (int n; (n = gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

// A request to the driver as the files have it: "S 2097152".
std::string call(Action action, Size size) {
  static const std::map<Action, std::string> letters{{Action::segment_alloc, "S "},
                                                     {Action::segment_free, "F "},
                                                     {Action::segment_map, "M "},
                                                     {Action::segment_unmap, "U "},
                                                     {Action::oom, "O "}};
  const auto letter = letters.find(action);
  return letter == letters.end() ? "" : letter->second + std::to_string(size) + "; ";
}

struct Run {
  std::string name;
  Settings settings;
  Limits limits;
  Size reserved_at_most = 0, allocated_at_most = 0;
  std::vector<std::string> lines;
  std::vector<Address> segments;  // addresses that the driver gave, in order
};

Settings settings_of(const std::string& conf) {
  Settings settings;
  const auto value = conf.substr(conf.find(':') + 1);
  const auto is = [&](const char* name) { return conf.rfind(name, 0) == 0; };
  if (is("expandable_segments")) settings.expandable_segments = value == "True";
  if (is("max_split_size_mb")) settings.max_split_size = std::stoll(value) * mib;
  if (is("roundup_power2_divisions"))
    settings.roundup_power2_divisions.fill(static_cast<int>(std::stoi(value)));
  if (is("garbage_collection_threshold")) settings.garbage_collection_threshold = std::stod(value);
  return settings;
}

Run read(const fs::path& path) {
  Run run;
  run.name = path.filename().string();
  std::istringstream text(unpacked(path));
  for (std::string line; std::getline(text, line);) {
    const auto value = line.substr(std::min(line.size(), line.find(": ") + 2));
    const auto says = [&](const char* key) { return line.rfind(key, 0) == 0; };
    if (says("# conf: ")) run.settings = settings_of(value);
    if (says("# memory: ")) run.limits.device = std::stoll(value);
    if (says("# limit: ") && value != "0") run.limits.allowed = std::stoll(value);
    if (says("# reserved_at_most: ")) run.reserved_at_most = std::stoll(value);
    if (says("# allocated_at_most: ")) run.allocated_at_most = std::stoll(value);
    if (says("S ")) run.segments.push_back(std::stoll(line.substr(2)));
    if (!says("#")) run.lines.push_back(line);
  }
  return run;
}

std::vector<Run> runs() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(STEPCAST_SOURCE_DIR "/tests/allocator/recorded"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Run> all;
  for (const auto& path : paths) all.push_back(read(path));
  return all;
}

// Plays a run in step with its record.
class Player {
 public:
  Player(const Run& run, Addresses addresses)
      : memory_(run.settings, run.limits, &trace_, std::move(addresses)) {}

  // Returns whether the requests to the driver since the last tensor are those of the record.
  bool play(const std::string& line) {
    std::istringstream words(line);
    char what = ' ';
    words >> what;
    std::int64_t first = 0, second = 0, third = 0;
    words >> first >> second >> third;
    const auto tensor = static_cast<TensorId>(first);
    switch (what) {
      case '+':
        return memory_.allocate(tensor, second, static_cast<StreamId>(third)) && asked_the_same();
      case 'O':
        recorded_ += call(Action::oom, first);
        return !memory_.allocate(~TensorId{0} >> 8, first, static_cast<StreamId>(second)) &&
               asked_the_same();
      case '~':
        memory_.record_stream(tensor, another_stream);
        [[fallthrough]];
      case '-':
        memory_.free(tensor);
        return true;
      case '=':
        memory_.passes(tensor, another_stream);
        return true;
      default:
        recorded_ += what + (" " + std::to_string(second)) + "; ";
        return true;
    }
  }
  const Counts& counts() const { return memory_.counts(); }

 private:
  static constexpr StreamId another_stream = 99;

  bool asked_the_same() {
    std::string asked;
    for (; seen_ < trace_.size(); ++seen_) asked += call(trace_[seen_].action, trace_[seen_].size);
    const bool same = asked == std::exchange(recorded_, "");
    return same;
  }

  Trace trace_;
  CachingAllocator memory_;
  std::size_t seen_ = 0;
  std::string recorded_;
};

TEST_CASE(
    "every segment of recorded training steps is met, at the addresses that the driver gave") {
  std::size_t tensors = 0;
  for (const auto& run : runs()) {
    CAPTURE(run.name);
    Player player(run, Addresses(run.segments));
    for (std::size_t i = 0; i < run.lines.size(); ++i) {
      CAPTURE(i, run.lines[i]);
      REQUIRE(player.play(run.lines[i]));
      tensors += run.lines[i].front() == '+' ? 1 : 0;
    }
    CHECK(player.counts().reserved.peak == run.reserved_at_most);
    CHECK(player.counts().allocated.peak == run.allocated_at_most);
  }
  CHECK(tensors > 40'000);
}

TEST_CASE("without the driver's addresses most recorded runs are met all the same") {
  int met = 0, all = 0;
  for (const auto& run : runs()) {
    CAPTURE(run.name);
    Player player(run, {});
    bool same = true;
    for (const auto& line : run.lines) same = player.play(line) && same;
    met += same ? 1 : 0;
    ++all;
    CHECK(static_cast<double>(player.counts().reserved.peak) ==
          Approx(static_cast<double>(run.reserved_at_most)).epsilon(0.02));
  }
  CHECK(all == 22);
  CHECK(met >= 17);
}

}  // namespace recorded_spec
