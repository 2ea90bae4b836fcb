// SPDX-License-Identifier: Apache-2.0
#include "sim/gaps.hpp"

namespace sim {

void Gaps::before(std::uint32_t event, Picoseconds start, Account& account, Spent& spent) {
  if (start <= account.done) return;
  const auto ready = std::clamp(arrival(event), account.done, start);
  spent.host += start - ready;
  auto waited = ready - account.done;
  find_awaited(event, !account.pending.empty());
  if (!account.pending.empty()) waited -= collectives(account, ready, spent);
  for (auto earlier : awaited_) {
    const auto& op = program_.ops()[op_of_[earlier]];
    if (op.kind == Op::Kind::pass || op.kind == Op::Kind::collective) continue;
    const auto covered = std::min(waited, overlap(earlier, account.done, ready));
    spent.on[op.activity] += covered;
    waited -= covered;
  }
  spent.idle += waited;
  account.done = start;
  if (!account.pending.empty())
    std::erase_if(account.pending, [&](auto e) { return trace_.end[e] <= start; });
}

// Lanes run beside each other, and an instant counts once; work of the host only after all else
// that is waited for.
Picoseconds Gaps::collectives(Account& account, Picoseconds ready, Spent& spent) const {
  sort(account.pending);
  Picoseconds sum = 0;
  auto seen = account.done;
  for (const bool host_side : {false, true}) {
    if (host_side) seen = std::max(seen, last_but_host_side());
    for (auto earlier : account.pending) {
      const auto& op = program_.ops()[op_of_[earlier]];
      if (is_host_side(op.lane) != host_side || !is_awaited(earlier)) continue;
      const auto covered = overlap(earlier, seen, ready);
      spent.on[op.activity] += covered;
      sum += covered;
      if (covered > 0) seen = std::min(trace_.end[earlier], ready);
    }
  }
  return sum;
}

void Gaps::close(Account& account, Spent& spent) const {
  sort(account.pending);
  for (auto event : account.pending) {
    const auto start = trace_.start[event], end = trace_.end[event];
    if (end <= account.done) continue;
    spent.idle += std::max<Picoseconds>(0, start - account.done);
    spent.on[program_.ops()[op_of_[event]].activity] += end - std::max(start, account.done);
    account.done = end;
  }
}

void Gaps::find_awaited(std::uint32_t event, bool beyond) {
  awaited_.clear();
  const auto add_after = [&](std::uint32_t of) {
    for (EventId earlier : program_.participants()[of].after)
      if (earlier != no_event) awaited_.push_back(static_cast<std::uint32_t>(earlier));
  };
  add_after(event);
  for (std::size_t i = 0; beyond && i < awaited_.size(); ++i) {
    const auto at = awaited_[i];
    const bool passes_on =
        trace_.start[at] == trace_.end[at] || is_host_side(program_.ops()[op_of_[at]].lane);
    if (passes_on) add_after(at);
  }
}

bool Gaps::is_awaited(std::uint32_t earlier) const {
  return std::ranges::any_of(awaited_, [&](std::uint32_t e) {
    const auto& op = program_.ops()[op_of_[e]];
    return op.kind == Op::Kind::collective && op.lane == program_.ops()[op_of_[earlier]].lane &&
           trace_.end[earlier] <= trace_.end[e];
  });
}

Picoseconds Gaps::last_but_host_side() const {
  Picoseconds last = 0;
  for (auto e : awaited_)
    if (!is_host_side(program_.ops()[op_of_[e]].lane)) last = std::max(last, trace_.end[e]);
  return last;
}

void Gaps::sort(std::vector<std::uint32_t>& pending) const {
  const auto start = [&](std::uint32_t event) { return trace_.start[event]; };
  if (!std::ranges::is_sorted(pending, {}, start)) std::ranges::stable_sort(pending, {}, start);
}

}  // namespace sim
