// SPDX-License-Identifier: Apache-2.0
#include "sim/pass_matrix.hpp"

#include <algorithm>
#include <vector>

namespace sim {

namespace {

using MatrixRow = std::array<Picoseconds, inputs>;

constexpr MatrixRow nowhere{never, never, never, never};

struct Paths {  // longest paths from each input to one instant
  MatrixRow alone = nowhere, joined = nowhere;
};

void wait_for(MatrixRow& at, const MatrixRow& other) {
  for (std::size_t i = 0; i < inputs; ++i) at[i] = std::max(at[i], other[i]);
}
void wait_for(Paths& at, const Paths& other) {
  wait_for(at.alone, other.alone);
  wait_for(at.joined, other.joined);
}
void later(MatrixRow& at, Picoseconds by) {
  for (auto& value : at)
    if (value != never) value += by;
}
void later(Paths& at, Picoseconds by) {
  later(at.alone, by);
  later(at.joined, by);
}

}  // namespace

PassMatrix matrix_of(const Template& body) {
  Paths host, compute, tensor, arrival;
  host.alone[from_host] = compute.alone[from_compute] = tensor.alone[from_tensor] = 0;
  arrival.alone[from_arrival] = 0;
  if (body.drains) {
    wait_for(host, compute);
    wait_for(host, tensor);
    wait_for(host, arrival);
  }

  std::vector<Paths> ends;
  ends.reserve(body.steps.size());
  for (const auto& step : body.steps) {
    auto& lane = step.lane == Lane::compute ? compute : tensor;
    later(host, step.issue);
    Paths at = host;
    wait_for(at, lane);
    if (ends.empty()) wait_for(at, arrival);
    if (step.joins >= 0) wait_for(at, ends[static_cast<std::size_t>(step.joins)]);
    if (step.rendezvous) {
      wait_for(at.joined, at.alone);
      at.alone = nowhere;
    }
    later(at, step.duration);
    lane = at;
    ends.push_back(at);
  }

  PassMatrix matrix;
  matrix.alone = {host.alone, compute.alone, tensor.alone};
  matrix.joined = {host.joined, compute.joined, tensor.joined};
  matrix.first_issue = body.steps.front().issue;
  matrix.first_lane = body.steps.front().lane;
  matrix.drains = body.drains;
  matrix.meets = std::ranges::any_of(body.steps, &Step::rendezvous);
  return matrix;
}

}  // namespace sim
