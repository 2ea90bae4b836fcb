// SPDX-License-Identifier: Apache-2.0
#include "sim/window.hpp"

#include <algorithm>

namespace sim {

namespace {

std::size_t at(Lane lane) { return static_cast<std::size_t>(lane); }

struct Interval {
  Picoseconds start, end;
  Activity activity;
};

// Time of `inner` not covered by `cover`; both sorted and disjoint.
void add_uncovered(const std::vector<Interval>& inner, const std::vector<Interval>& cover,
                   Spent& spent) {
  std::size_t next = 0;
  for (const auto& [start, end, activity] : inner) {
    auto from = start;
    while (next < cover.size() && cover[next].end <= from) ++next;
    for (auto c = next; c < cover.size() && cover[c].start < end; ++c) {
      spent.on[activity] += std::max<Picoseconds>(0, cover[c].start - from);
      from = std::max(from, cover[c].end);
    }
    spent.on[activity] += std::max<Picoseconds>(0, end - from);
  }
}

}  // namespace

Windows::Windows(const Program& program) : program_(program) {
  for (const auto& body : program.templates()) {
    Shape shape;
    for (const auto& step : body.steps) {
      shape.total_issue += step.issue;
      shape.meets = shape.meets || step.rendezvous;
      if (step.lane == Lane::tensor && step.joins < 0) shape.tensor_joins = false;
    }
    shapes_.push_back(shape);
  }
  latest_.resize(shapes_.size(), nullptr);
}

std::size_t Windows::Hash::operator()(const std::vector<Picoseconds>& key) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15ull;
  for (auto value : key) {
    hash ^= static_cast<std::uint64_t>(value);
    hash *= 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>(hash);
}

// Writes the state as a key. Instants that cannot matter any more are clipped, so that like entries
// are one: lanes that were free before the pass began, and a host so far ahead that it never waits.
void Windows::enter(std::uint32_t body_index, const std::vector<Entered>& entered,
                    std::size_t which, Picoseconds start) {
  const auto& body = program_.templates()[body_index];
  const auto& shape = shapes_[body_index];
  const bool together = shape.meets && entered.size() > 1;
  const bool clip = shape.tensor_joins && !together;
  const auto relative = [&](Picoseconds instant) {
    return clip ? std::max<Picoseconds>(0, instant - start) : instant - start;
  };
  key_.clear();
  lanes_then_.clear();
  arrivals_.clear();
  key_.push_back(body_index);
  key_.push_back(together ? static_cast<Picoseconds>(which) : 0);
  for (std::size_t p = 0; p < entered.size(); ++p) {
    if (!together && p != which) continue;
    const auto& free = entered[p].free;
    auto host = free[at(Lane::host)];
    if (body.drains)
      host = std::max({host, free[at(Lane::compute)], free[at(Lane::tensor)], entered[p].arrival});
    auto& then = lanes_then_.emplace_back();
    then[at(Lane::host)] = std::max(host - start, -shape.total_issue);
    then[at(Lane::compute)] = relative(free[at(Lane::compute)]);
    then[at(Lane::tensor)] = relative(free[at(Lane::tensor)]);
    arrivals_.push_back(clip ? 0 : entered[p].arrival - start);
    key_.insert(key_.end(), {then[at(Lane::host)], then[at(Lane::compute)], then[at(Lane::tensor)],
                             arrivals_.back()});
  }
}

Spent Windows::played(std::uint32_t body_index, std::size_t which) {
  const auto& body = program_.templates()[body_index];
  auto undrained = body;
  undrained.drains = false;  // already in the host's instant
  std::vector<LaneTimes*> lanes_of;
  for (auto& then : lanes_then_) lanes_of.push_back(&then);
  const auto me = lanes_then_.size() > 1 ? which : 0;
  std::vector<Interval> compute, tensor;
  play(undrained, lanes_of, arrivals_, ends_,
       [&](std::size_t p, std::size_t s, Picoseconds from, Picoseconds to) {
         if (p != me || from == to) return;
         const auto& step = body.steps[s];
         (step.lane == Lane::compute ? compute : tensor).push_back({from, to, step.activity});
       });
  Spent spent;
  for (const auto& [from, to, activity] : compute) spent.on[activity] += to - from;
  add_uncovered(tensor, compute, spent);
  const auto& free = lanes_then_[me];
  const auto end = std::max(free[at(Lane::compute)], free[at(Lane::tensor)]);
  spent.host = std::max<Picoseconds>(0, end - spent.total());
  return spent;
}

const Spent& Windows::spent(std::uint32_t body, const std::vector<Entered>& entered,
                            std::size_t which, Picoseconds start) {
  enter(body, entered, which, start);
  auto& latest = latest_[body];
  if (latest && latest->first == key_) return latest->second;
  auto found = known_.find(key_);
  if (found == known_.end()) found = known_.emplace(key_, played(body, which)).first;
  latest = &*found;
  return found->second;
}

}  // namespace sim
