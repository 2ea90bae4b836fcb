// SPDX-License-Identifier: Apache-2.0
// A pass as a matrix over (max, +): what makes repetition cheap and stays exact.
//
// A pass starts from four instants: when the host, the compute lane and the tensor lane become
// free, and when its input arrives. Every later instant in it is the maximum, over these four, of
// the instant plus the longest path from it. So the lanes at its end are a matrix times the lanes
// at its start, whatever those are: the pass needs to be played only once.
//
// Actors that run the pass together meet at each rendezvous. A path that crosses one may start at
// any of them, a path that crosses none only at the actor itself: hence two matrices.
#pragma once
#include <algorithm>
#include <array>

#include "sim/play.hpp"
#include "sim/program.hpp"

namespace sim {

enum Input : std::size_t { from_host, from_compute, from_tensor, from_arrival, inputs };
enum Output : std::size_t { to_host, to_compute, to_tensor, outputs };

using Entry = std::array<Picoseconds, inputs>;
using Exit = std::array<Picoseconds, outputs>;

struct PassMatrix {
  std::array<std::array<Picoseconds, inputs>, outputs> alone;   // paths without a rendezvous
  std::array<std::array<Picoseconds, inputs>, outputs> joined;  // paths across one
  Picoseconds first_issue = 0;                                  // host time before the first step
  Lane first_lane = Lane::compute;
  bool drains = false, meets = false;
};

// O(steps).
PassMatrix matrix_of(const Template& body);

// When the first step begins, if it is no rendezvous.
inline Picoseconds first_start(const Entry& at, bool drains, Picoseconds issue, Lane on) {
  const auto host =
      drains ? std::max({at[from_host], at[from_compute], at[from_tensor], at[from_arrival]})
             : at[from_host];
  const auto lane = on == Lane::compute ? at[from_compute] : at[from_tensor];
  return std::max({host + issue, lane, at[from_arrival]});
}
inline Picoseconds first_start(const PassMatrix& matrix, const Entry& at) {
  return first_start(at, matrix.drains, matrix.first_issue, matrix.first_lane);
}
inline Picoseconds first_start(const Template& body, const Entry& at) {
  return first_start(at, body.drains, body.steps.front().issue, body.steps.front().lane);
}

}  // namespace sim
