// SPDX-License-Identifier: Apache-2.0
#include "sim/gaps.hpp"

namespace sim {

void Gaps::before(std::uint32_t event, Picoseconds start, Account& account, Spent& spent) {
  if (start <= account.done) return;
  const auto ready = std::clamp(arrival(event), account.done, start);
  spent.host += start - ready;
  if (ready > account.done) {
    find_awaited(event, !account.pending.empty());
    covered_.clear();
    if (!account.pending.empty()) collectives(account, ready, spent);
    messages(account, ready, spent);
    rest(program_.participants()[event].actor, account.done, ready, EventId{event}, spent);
  }
  account.done = start;
  if (!account.pending.empty())
    std::erase_if(account.pending, [&](auto e) { return trace_->end[e] <= start; });
}

// Lanes run beside each other, but an instant counts once; work of the host counts only after all
// else that is waited for.
void Gaps::collectives(Account& account, Picoseconds ready, Spent& spent) {
  sort(account.pending);
  auto seen = account.done;
  for (const bool host_side : {false, true}) {
    if (host_side) seen = std::max(seen, last_but_host_side());
    for (auto earlier : account.pending) {
      const auto& op = program_.ops()[op_of_[earlier]];
      if (is_host_side(op.lane) != host_side || !is_awaited(earlier)) continue;
      const Interval beyond{std::max(trace_->start[earlier], seen),
                            std::min(trace_->end[earlier], ready)};
      if (beyond.end <= beyond.start) continue;
      spent.on[op.activity] += beyond.end - beyond.start;
      covered_.push_back(beyond);
      seen = beyond.end;
    }
  }
}

void Gaps::messages(const Account& account, Picoseconds ready, Spent& spent) {
  for (auto earlier : awaited_) {
    const auto& op = program_.ops()[op_of_[earlier]];
    if (op.kind == Op::Kind::pass || op.kind == Op::Kind::collective) continue;
    spent.on[op.activity] += cover(
        {std::max(trace_->start[earlier], account.done), std::min(trace_->end[earlier], ready)});
  }
}

Picoseconds Gaps::cover(Interval by) {
  if (by.end <= by.start) return 0;
  auto left = by.end - by.start;
  auto at = covered_.begin();
  while (at != covered_.end() && at->end <= by.start) ++at;
  const auto first = at;
  for (; at != covered_.end() && at->start < by.end; ++at) {
    left -= std::min(at->end, by.end) - std::max(at->start, by.start);
    by = {std::min(by.start, at->start), std::max(by.end, at->end)};
  }
  covered_.insert(covered_.erase(first, at), by);
  return left;
}

void Gaps::rest(ActorId actor, Picoseconds from, Picoseconds to, EventId until,
                Spent& spent) const {
  for (const auto& covered : covered_) {
    add_idle(actor, from, covered.start, until, spent);
    from = covered.end;
  }
  add_idle(actor, from, to, until, spent);
}

void Gaps::add_idle(ActorId actor, Picoseconds start, Picoseconds end, EventId until,
                    Spent& spent) const {
  if (end <= start) return;
  spent.idle += end - start;
  if (idle_) idle_->push_back({actor, start, end, until});
}

void Gaps::close(ActorId actor, Picoseconds end, Account& account, Spent& spent) const {
  sort(account.pending);
  for (auto event : account.pending) {
    const auto start = trace_->start[event], ended = trace_->end[event];
    if (ended <= account.done) continue;
    add_idle(actor, account.done, start, EventId{event}, spent);
    spent.on[program_.ops()[op_of_[event]].activity] += ended - std::max(start, account.done);
    account.done = ended;
  }
  add_idle(actor, account.done, end, no_event, spent);
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
        trace_->start[at] == trace_->end[at] || is_host_side(program_.ops()[op_of_[at]].lane);
    if (passes_on) add_after(at);
  }
}

bool Gaps::is_awaited(std::uint32_t earlier) const {
  return std::ranges::any_of(awaited_, [&](std::uint32_t e) {
    const auto& op = program_.ops()[op_of_[e]];
    return op.kind == Op::Kind::collective && op.lane == program_.ops()[op_of_[earlier]].lane &&
           trace_->end[earlier] <= trace_->end[e];
  });
}

Picoseconds Gaps::last_but_host_side() const {
  Picoseconds last = 0;
  for (auto e : awaited_)
    if (!is_host_side(program_.ops()[op_of_[e]].lane)) last = std::max(last, trace_->end[e]);
  return last;
}

void Gaps::sort(std::vector<std::uint32_t>& pending) const {
  const auto start = [&](std::uint32_t event) { return trace_->start[event]; };
  if (!std::ranges::is_sorted(pending, {}, start)) std::ranges::stable_sort(pending, {}, start);
}

}  // namespace sim
