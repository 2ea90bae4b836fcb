// SPDX-License-Identifier: Apache-2.0
// Private to the room: which ops come after which.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/program.hpp"

namespace sim {

// An op comes after those whose events it waits for, and after the last one on each lane that it
// uses. Made in one pass over the program; what is waited for twice counts twice. O(events).
class Successors {
 public:
  explicit Successors(const Program& program)
      : nodes_(program.ops().size()),
        op_of_(program.participants().size()),
        last_(program.actors()) {
    for (auto& on_lane : last_) on_lane.fill(none);
    links_.reserve(3 * program.participants().size());
    const auto& ops = program.ops();
    for (std::uint32_t i = 0; i < ops.size(); ++i)
      for (auto event = ops[i].first; event < ops[i].first + ops[i].count; ++event) {
        op_of_[event] = i;
        const auto& participant = program.participants()[event];
        for (auto earlier : participant.after)
          if (earlier != no_event) wait_for(op_of_[static_cast<std::uint32_t>(earlier)], i);
        follow_lanes(ops[i], i, event == ops[i].first,
                     static_cast<std::uint32_t>(participant.actor));
      }
  }

  // Whether everything before the op has been played.
  bool ready(std::uint32_t op) const { return nodes_[op].waiting == 0; }
  // The op has been played: calls now_ready(later op) for each that has become ready.
  template <class NowReady>
  void release(std::uint32_t op, NowReady now_ready) {
    for (auto link = nodes_[op].first; link != none; link = links_[link].next)
      if (--nodes_[links_[link].later].waiting == 0) now_ready(links_[link].later);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  struct Node {
    std::uint32_t waiting = 0;
    std::uint32_t first = none;  // of its links
  };
  struct Link {
    std::uint32_t later, next;
  };

  void wait_for(std::uint32_t earlier, std::uint32_t op) {
    links_.push_back({op, nodes_[earlier].first});
    nodes_[earlier].first = static_cast<std::uint32_t>(links_.size() - 1);
    ++nodes_[op].waiting;
  }
  void follow(Lane lane, std::uint32_t actor, std::uint32_t op) {
    auto& last = last_[actor][static_cast<std::size_t>(lane)];
    if (last != none && last != op) wait_for(last, op);
    last = op;
  }
  // A pass's other lanes are used by passes only, which its compute lane orders.
  void follow_lanes(const Op& op, std::uint32_t index, bool sends, std::uint32_t actor) {
    switch (op.kind) {
      case Op::Kind::pass:
        return follow(Lane::compute, actor, index);
      case Op::Kind::collective:
        return follow(op.lane, actor, index);
      case Op::Kind::blocking:
        if (sends) follow(Lane::compute, actor, index);
        [[fallthrough]];
      case Op::Kind::transfer:
        if (sends) follow(Lane::send, actor, index);
        return;
      case Op::Kind::latency:
        return;
    }
  }

  std::vector<Node> nodes_;  // by op
  std::vector<Link> links_;
  std::vector<std::uint32_t> op_of_;                    // by event
  std::vector<std::array<std::uint32_t, lanes>> last_;  // by actor and lane
};

}  // namespace sim
