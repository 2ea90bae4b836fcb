// SPDX-License-Identifier: Apache-2.0
// Arrivals and departures: what they change before the water rises.
#include <algorithm>
#include <stdexcept>

#include "sim/flows/water_levels.hpp"

namespace sim {

WaterLevels::WaterLevels(std::span<const Units> capacities)
    : links_(capacities.size()),
      details_(capacities.size()),
      capacities_(capacities.begin(), capacities.end()),
      crossing_(capacities.size()),
      columns_(capacities.size()),
      leaving_(capacities.size(), 0),
      entry_of_(capacities.size(), nobody) {
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l].left = capacities_[l];
}

void WaterLevels::reserve(std::size_t paths, std::size_t hops) {
  paths_.reserve(paths);
  holders_.reserve(paths);
  stirred_.reserve(paths);
  moved_.reserve(paths);
  hops_.reserve(hops);
}

std::uint32_t WaterLevels::add_path(std::span<const LinkUse> hops, Units cap) {
  Path path{.first = static_cast<std::uint32_t>(hops_.size()),
            .hops = static_cast<std::uint32_t>(hops.size()),
            .cap = cap};
  Units most = never;
  for (const auto& hop : hops) {
    hops_.push_back({hop.link, hop.times, 0});
    most = std::min(most, capacities_[hop.link]);
  }
  if (cap < most) {  // a link of its own, as wide as its flows may be fast together
    path.capped = true;
    ++path.hops;
    hops_.push_back({static_cast<std::uint32_t>(links_.size()), 1, 0});
    links_.push_back({.left = most});
    details_.emplace_back();
    capacities_.push_back(most);
    crossing_.emplace_back();
    columns_.emplace_back();
    leaving_.push_back(0);
    entry_of_.push_back(nobody);
  }
  paths_.push_back(path);
  holders_.push_back(nobody);
  return static_cast<std::uint32_t>(paths_.size() - 1);
}

bool WaterLevels::same_path(std::uint32_t id, std::span<const LinkUse> hops, Units cap) const {
  const auto& path = paths_[id];
  return path.cap == cap && path.hops == hops.size() + path.capped &&
         std::equal(
             hops.begin(), hops.end(), hops_.begin() + path.first,
             [](const LinkUse& a, const Hop& b) { return a.link == b.link && a.times == b.times; });
}

void WaterLevels::change(std::uint32_t id, std::int64_t flows) {
  auto& path = paths_[id];
  for (const auto& hop : hops_of(path))
    if (flows > 0 &&
        (flows > most_flows || details_[hop.link].flows + flows * hop.times > most_flows))
      throw std::invalid_argument("a link can carry at most 2^31 - 1 flows");
  for (const auto& hop : hops_of(path))
    details_[hop.link].flows += static_cast<std::uint32_t>(flows) * hop.times;
  path.pending += flows;
  if (path.stirred) return;
  path.stirred = true;
  stirred_.push_back(id);
}

Units WaterLevels::lone_level(std::uint32_t id, std::int64_t flows) const {
  if (flows > most_flows) return 0;
  auto level = paths_[id].cap;
  for (const auto& hop : hops(id).first(paths_[id].hops - paths_[id].capped)) {
    if (flows * hop.times > most_flows) return 0;
    level = std::min(level, capacities_[hop.link] / (flows * hop.times));
  }
  return level;
}

Units WaterLevels::load(std::uint32_t l) const {
  return static_cast<Units>(capacities_[l] - links_[l].left + product(details_[l].held, level(l)));
}

void WaterLevels::apply_changes() {
  for (const auto id : stirred_) {
    const auto& path = paths_[id];
    // A path that gets more flows is held anew together with them.
    if (path.pending < 0) release(id, -path.pending);
    if (path.pending > 0 && path.flows > 0) release(id, path.flows);
  }
  flush_released();
  for (const auto id : stirred_) {
    auto& path = paths_[id];
    const auto before = path.flows, change = path.pending;
    path.stirred = false;
    path.pending = 0;
    path.flows += change;
    if (path.capped && change != 0 && path.flows > 0) resize_cap(path);
    if (change < 0 && path.flows == 0) {
      delist(id);
      holders_[id] = nobody;
    }
    if (change <= 0) continue;
    if (before == 0) enlist(id);
    arrive(id);
  }
  stirred_.clear();
}

// Takes `flows` of a path off its links. Paths that one link holds share a pass over its column.
void WaterLevels::release(std::uint32_t id, std::int64_t flows) {
  const auto& path = paths_[id];
  if (holders_[id] != releasing_) flush_released();
  releasing_ = holders_[id];
  for (const auto& hop : hops_of(path))
    leaving_[hop.link] += static_cast<std::uint32_t>(flows) * hop.times;
}

void WaterLevels::flush_released() {
  if (releasing_ == nobody) return;
  auto& holder = details_[releasing_];
  auto& column = columns_[releasing_];
  auto kept = column.begin();
  for (auto entry : column) {
    const auto flows = leaving_[entry.link];
    if (flows > 0) {
      links_[entry.link].left += product(flows, holder.level);
      entry.weight -= flows;
      leaving_[entry.link] = 0;
      touch(entry.link);
    }
    if (entry.weight > 0) *kept++ = entry;
  }
  column.erase(kept, column.end());
  const auto flows = leaving_[releasing_];
  holder.held -= flows;
  links_[releasing_].users -= flows;
  if (holder.held == 0) set_level(releasing_, never);
  leaving_[releasing_] = 0;
  touch(releasing_);
  releasing_ = nobody;
}

void WaterLevels::arrive(std::uint32_t id) {
  auto& path = paths_[id];
  if (is_alone(path)) return hold_alone(id);
  holders_[id] = limbo;
  for (const auto& hop : hops_of(path)) {
    links_[hop.link].users += weight(path, hop);
    touch(hop.link);
  }
}

bool WaterLevels::is_alone(const Path& path) {
  return std::ranges::all_of(hops_of(path),
                             [&](const Hop& hop) { return crossing_[hop.link].size() == 1; });
}

// Holds a path that shares no link with others at its narrowest link.
void WaterLevels::hold_alone(std::uint32_t id) {
  const auto& path = paths_[id];
  auto& holder = holders_[id];
  Units level = never;
  for (const auto& hop : hops_of(path)) {
    const auto fair = capacities_[hop.link] / weight(path, hop);
    if (fair >= level) continue;
    level = fair;
    holder = hop.link;
  }
  for (const auto& hop : hops_of(path)) {
    auto& link = links_[hop.link];
    const auto flows = weight(path, hop);
    if (hop.link == holder) {
      details_[hop.link].held = link.users = flows;
      set_level(hop.link, level);
    } else {
      link.left -= product(flows, level);
      link.fastest = level;
      columns_[holder].push_back({hop.link, flows});
    }
  }
  moved_.push_back(id);
}

void WaterLevels::enlist(std::uint32_t id) {
  const auto& path = paths_[id];
  for (std::uint32_t h = path.first; h < path.first + path.hops; ++h) {
    auto& list = crossing_[hops_[h].link];
    hops_[h].place = static_cast<std::uint32_t>(list.size());
    list.push_back({id, h});
  }
}

void WaterLevels::delist(std::uint32_t id) {
  for (const auto& hop : hops_of(paths_[id])) {
    auto& list = crossing_[hop.link];
    list[hop.place] = list.back();
    hops_[list[hop.place].hop].place = hop.place;
    list.pop_back();
    if (list.empty()) links_[hop.link].fastest = 0;
  }
}

// Sets the width of the path's cap: never wider than the narrowest link of the path, beyond which a
// cap cannot matter.
void WaterLevels::resize_cap(const Path& path) {
  const auto hops = hops_of(path);
  const auto own = hops.back().link;
  Int128 width = static_cast<Int128>(path.cap) * path.flows;
  for (const auto& hop : hops.first(hops.size() - 1))
    width = std::min<Int128>(width, capacities_[hop.link]);
  links_[own].left += static_cast<Units>(width) - capacities_[own];
  capacities_[own] = static_cast<Units>(width);
}

void WaterLevels::touch(std::uint32_t l) {
  if (details_[l].touched) return;
  details_[l].touched = true;
  touched_.push_back(l);
}

void WaterLevels::set_level(std::uint32_t l, Units level) {
  auto& detail = details_[l];
  detail.level = level;
  if (!links_[l].queued) links_[l].known = level;
  if (detail.logged) return;
  detail.logged = true;
  changed_.push_back(l);
}

}  // namespace sim
