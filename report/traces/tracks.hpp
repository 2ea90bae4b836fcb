// SPDX-License-Identifier: Apache-2.0
// Private to the room: which slice goes to which thread of which process of a trace.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"

namespace report {

// One process of the trace: a rank that stands for its class.
struct TraceProcess {
  int stage = 0;
  std::int64_t rank = 0;
};

// One thread: slices that nest, by start; of equal starts the longer first.
struct TraceTrack {
  std::size_t process = 0;  // index into processes
  int thread = 0;           // within the process, from zero
  std::string name;         // the lane's; "data (2)" for overlapping bars
  std::vector<std::size_t> slices;
};

struct Tracks {
  std::vector<TraceProcess> processes;          // in order of appearance
  std::vector<TraceTrack> tracks;               // process by process
  std::vector<std::size_t> track_of;            // per slice
  std::map<int, std::size_t> process_of_stage;  // the first of each stage: it has its memory
};

// Throws as report/traces/trace.hpp says.
Tracks tracks_of(const forecast::Timeline& timeline);

// Nearest nanosecond. Monotonic, so order and touching survive.
constexpr std::int64_t nanoseconds(std::int64_t picoseconds) {
  return picoseconds / 1000 + (picoseconds % 1000 >= 500 ? 1 : 0);
}

// Nearest whole number that 64 bits hold, of what is not negative.
inline std::int64_t whole(double value) {
  return value < 9e18 ? std::llround(value) : std::int64_t{9'000'000'000'000'000'000};
}

}  // namespace report
