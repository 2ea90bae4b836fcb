// SPDX-License-Identifier: Apache-2.0
// Flows that meet nobody (private to flows.cpp): their rate stays, so they need no levels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flows/flows_service.hpp"

namespace sim {

// Flows, or classes of flows, that have each of their links to themselves; their path has no
// others.
class LoneFlows {
 public:
  using Hops = std::span<const WaterLevels::Hop>;
  static constexpr auto nobody = WaterLevels::nobody;

  explicit LoneFlows(std::size_t links) : on_(links, nobody) {}

  // The path whose flow is alone on the link.
  std::uint32_t on(std::uint32_t link) const { return link < on_.size() ? on_[link] : nobody; }
  bool has(std::uint32_t path) const { return path < flows_.size() && flows_[path].under_way; }
  Units rate(std::uint32_t path) const { return flows_[path].rate; }
  // The load on link `link` by a flow over these hops.
  Units load(std::uint32_t link, Hops hops) const {
    const auto& flow = flows_[on_[link]];
    const auto hop = std::ranges::find(hops, link, &WaterLevels::Hop::link);
    return flow.rate * flow.member.count * hop->times;
  }
  // When the next flow leaves; too_far without flows.
  Ticks next_completion() const { return due_.empty() ? too_far : due_.top().key; }
  std::uint32_t next_path() const { return due_.top().item; }

  // Puts a flow, or class, on vacant links. False if it would take too long to count.
  template <class Rate>
  bool begin(std::uint32_t path, Hops hops, const Member& member, Ticks now, Rate rate) {
    if (flows_.size() <= path) {
      flows_.resize(std::max<std::size_t>(path + 1, 2 * flows_.size()));
      places_.resize(flows_.size(), nobody);
    }
    auto& flow = flows_[path];
    // Most flows need what the one before on their path did.
    if (flow.member.mark != member.mark || flow.member.count != member.count) {
      flow.rate = rate();
      flow.lasts = ticks_for(member.mark, flow.rate);
    }
    flow.member = member;
    if (flow.lasts >= too_far - now) return false;
    flow.under_way = true;
    flow.since = now;
    set(hops, path);
    due_.insert(path, now + flow.lasts, places_);
    return true;
  }

  // Takes the path's flow off its links, and returns it with the service that it still needs.
  Member end(std::uint32_t path, Hops hops, Ticks now) {
    auto& flow = flows_[path];
    flow.under_way = false;
    set(hops, nobody);
    due_.erase(path, places_);
    auto left = flow.member;
    left.mark -= static_cast<Int128>(flow.rate) * (now - flow.since);
    return left;
  }

 private:
  struct Flow {
    Member member{};  // its mark is the service that it needs
    Units rate = 0;
    Ticks since = 0, lasts = 0;
    bool under_way = false;
  };

  void set(Hops hops, std::uint32_t path) {
    for (const auto& hop : hops)
      if (hop.link < on_.size()) on_[hop.link] = path;
  }

  std::vector<std::uint32_t> on_;  // by link; caps are left out
  std::vector<Flow> flows_;        // by path
  PlacedHeap<Ticks> due_;          // paths by completion
  std::vector<std::uint32_t> places_;
};

}  // namespace sim
