// SPDX-License-Identifier: Apache-2.0
#include "sim/window.hpp"

#include <algorithm>
#include <span>

#include "sim/play.hpp"

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

PassShape shape_of(const Template& body) {
  PassShape shape;
  for (const auto& step : body.steps) {
    shape.total_issue += step.issue;
    shape.meets = shape.meets || step.rendezvous;
    if (step.lane == Lane::tensor && step.joins < 0) shape.tensor_joins = false;
  }
  return shape;
}

// The state of one participant as far as it matters: free lanes and arrival, after the start of the
// pass. Instants that cannot matter any more are clipped, so that like states are one: lanes that
// were free before the pass began, and a host so far ahead that it never makes anyone wait.
Entry state_of(const Template& body, const PassShape& shape, const Entry& entered,
               Picoseconds start, Picoseconds began, bool clip) {
  const auto compute = entered[from_compute], tensor = entered[from_tensor];
  auto host = entered[from_host];
  if (body.drains) host = std::max({host, compute, tensor, entered[from_arrival]});
  const auto relative = [&](Picoseconds instant) {
    return clip ? std::max<Picoseconds>(0, instant - start) : instant - start;
  };
  return {std::max(host, began - shape.total_issue) - start, relative(compute), relative(tensor),
          clip ? 0 : entered[from_arrival] - start};
}

LaneTimes lanes_of(const Entry& state) {
  LaneTimes lanes{};
  lanes[at(Lane::host)] = state[from_host];
  lanes[at(Lane::compute)] = state[from_compute];
  lanes[at(Lane::tensor)] = state[from_tensor];
  return lanes;
}

// Returns how the participant `me` spends a pass. `steps_of` and `ends`: as play() has them; that
// the pass drains is already in the host's instant.
template <class StepsOf>
Spent spent_by(std::size_t me, StepsOf steps_of, std::span<LaneTimes> free,
               std::span<const Picoseconds> arrivals, std::vector<Picoseconds>& ends) {
  std::vector<LaneTimes*> lanes;
  for (auto& of : free) lanes.push_back(&of);
  std::vector<Interval> compute, tensor;
  play(steps_of, lanes, arrivals, ends,
       [&](std::size_t p, std::size_t s, Picoseconds from, Picoseconds to) {
         if (p != me || from == to) return;
         const auto& step = steps_of(p)[s];
         (step.lane == Lane::compute ? compute : tensor).push_back({from, to, step.activity});
       });
  Spent spent;
  for (const auto& [from, to, activity] : compute) spent.on[activity] += to - from;
  add_uncovered(tensor, compute, spent);
  const auto end = std::max(free[me][at(Lane::compute)], free[me][at(Lane::tensor)]);
  spent.host = std::max<Picoseconds>(0, end - spent.total());
  return spent;
}

}  // namespace

Windows::Windows(const Program& program, bool keeps) : program_(program), keeps_(keeps) {
  for (const auto& body : program.templates()) shapes_.push_back(shape_of(body));
  latest_.resize(shapes_.size());
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

Picoseconds Windows::began_at(std::uint32_t body_index, const Entry& entered) const {
  return first_start(program_.templates()[body_index], entered);
}

Window Windows::played(const Op& pass, std::uint32_t which) {
  const auto number = static_cast<std::uint32_t>(states_.size());
  if (keeps_) states_.push_back({lanes_then_, arrivals_});
  const bool together = lanes_then_.size() > 1;
  const auto steps_of = [&](std::size_t p) -> std::span<const Step> {
    return program_.templates()[body_of(pass, together ? p : which)].steps;
  };
  return {spent_by(together ? which : 0, steps_of, lanes_then_, arrivals_, ends_), number};
}

const Window& Windows::window(const Op& pass, const std::vector<Entry>& entered,
                              std::uint32_t which, Picoseconds start) {
  const auto body = body_of(pass, which);
  const auto& shape = shapes_[body];
  const bool together = shape.meets && entered.size() > 1;
  const bool clip = shape.tensor_joins && !together;
  auto& latest = latest_[body];
  const auto& templates = program_.templates();
  const auto mine = state_of(templates[body], shape, entered[which], start, start, clip);
  if (!together && latest.window && latest.state == mine) return *latest.window;

  if (!together)
    key_.assign({body, 0});
  else if (pass.bodies == one_body)
    key_.assign({body, which});
  else
    key_.assign({-1 - Picoseconds{pass.bodies}, which});
  lanes_then_.clear();
  arrivals_.clear();
  for (std::size_t p = 0; p < entered.size(); ++p) {
    if (!together && p != which) continue;
    // With equal bodies, a participant that began earlier stays ahead of `which` even with its host
    // held back.
    const auto runs = body_of(pass, p);
    const auto began = pass.bodies == one_body ? start : began_at(runs, entered[p]);
    const auto state = state_of(templates[runs], shapes_[runs], entered[p], start, began, clip);
    key_.insert(key_.end(), state.begin(), state.end());
    lanes_then_.push_back(lanes_of(state));
    arrivals_.push_back(state[from_arrival]);
  }
  auto found = known_.find(key_);
  if (found == known_.end()) found = known_.emplace(key_, played(pass, which)).first;
  if (!together) latest = {mine, &found->second};
  return found->second;
}

Spent spent_alone(const Template& body) {
  const auto shape = shape_of(body);
  const Entry free{};
  const auto start = first_start(body, free);
  const auto state = state_of(body, shape, free, start, start, shape.tensor_joins);
  auto entered = lanes_of(state);
  std::vector<Picoseconds> ends;
  return spent_by(
      0, [&](std::size_t) { return std::span(body.steps); }, {&entered, 1},
      {&state[from_arrival], 1}, ends);
}

}  // namespace sim
