// SPDX-License-Identifier: Apache-2.0
// The water rises: links are visited in order of level.
#include "sim/flows/water_levels.hpp"

#include <algorithm>
#include <functional>

namespace sim {

void WaterLevels::solve() {
  for (const auto l : changed_) details_[l].logged = false;
  changed_.clear();
  moved_.clear();
  apply_changes();
  for (const auto l : touched_) {
    details_[l].touched = false;
    consider(l);
  }
  touched_.clear();
  const auto valid = [&](const RisingQueue::Entry& next) {
    return links_[next.link].queued && links_[next.link].known == next.level;
  };
  for (RisingQueue::Entry next{}; queue_.take(next, valid);) {
    links_[next.link].queued = false;
    links_[next.link].known = details_[next.link].level;
    visit(next.link, next.level);
  }
}

// Visits a link that may be full, because the water is at its level.
void WaterLevels::visit(std::uint32_t l, Units water) {
  const auto& link = links_[l];
  if (idle(link)) return;
  const auto& now = details_[l];
  auto level = level_alone(link);
  if (link.fastest > level) level = level_with_faster(l, level);
  if (level > now.tie && level - now.tie <= rounding(l, now.tie)) level = now.tie;
  // Among links that fill together, those that hold flows go first, so that the flows stay there.
  const Units due = now.held > 0 ? std::min(level, now.level) : level + rounding(l, level);
  if (due > water && due > queue_.next()) return queue(l, due);
  if (level != now.level || link.users > now.held || link.fastest > level) fill(l, level);
}

// Fills the link: from now on it holds all flows on it that no slower link holds.
void WaterLevels::fill(std::uint32_t l, Units level) {
  const auto before = details_[l].level;
  set_level(l, level);
  for (const auto& entry : columns_[l]) {
    links_[entry.link].left -= product(entry.weight, level - before);
    reconsider(entry.link);
    neighbour_filled(entry.link, level);
  }
  if (links_[l].users > details_[l].held || links_[l].fastest > level) take_flows(l, level);
  if (details_[l].held == 0) set_level(l, never);
}

// Looks at all paths on the link; those that are free or faster are held by it from now on.
void WaterLevels::take_flows(std::uint32_t l, Units level) {
  auto& column = columns_[l];
  for (std::size_t i = 0; i < column.size(); ++i)
    entry_of_[column[i].link] = static_cast<std::uint32_t>(i);
  links_[l].fastest = 0;
  for (const auto& [id, hop] : crossing_[l]) {
    const auto holder = holders_[id];
    if (holder == l) continue;
    if (holder != limbo && details_[holder].level <= level)
      links_[l].fastest = std::max(links_[l].fastest, details_[holder].level);
    else
      take(id, l, level);
  }
  for (const auto& entry : column) entry_of_[entry.link] = nobody;
}

void WaterLevels::take(std::uint32_t id, std::uint32_t l, Units level) {
  const auto& path = paths_[id];
  if (holders_[id] == limbo)
    leave_limbo(path, level);
  else
    leave_holder(path, holders_[id], level);
  holders_[id] = l;
  moved_.push_back(id);
  auto& column = columns_[l];
  for (const auto& hop : hops_of(path)) {
    const auto flows = weight(path, hop);
    if (hop.link == l) {
      details_[l].held += flows;
      links_[l].users += flows;
      links_[l].left += product(flows, level);
      continue;
    }
    if (auto& at = entry_of_[hop.link]; at == nobody) {
      at = static_cast<std::uint32_t>(column.size());
      column.push_back({hop.link, flows});
    } else {
      column[at].weight += flows;
    }
    neighbour_filled(hop.link, level);
  }
}

// Gives the level to flows of a path that no link held.
void WaterLevels::leave_limbo(const Path& path, Units level) {
  for (const auto& hop : hops_of(path)) {
    auto& link = links_[hop.link];
    const auto flows = weight(path, hop);
    link.users -= flows;
    link.left -= product(flows, level);
  }
}

// Takes the path's flows out of the column of the link that held them at a higher level.
void WaterLevels::leave_holder(const Path& path, std::uint32_t h, Units level) {
  auto& holder = details_[h];
  auto& column = columns_[h];
  for (const auto& hop : hops_of(path)) leaving_[hop.link] = weight(path, hop);
  for (auto& entry : column) {
    const auto flows = leaving_[entry.link];
    if (flows == 0) continue;
    entry.weight -= flows;
    links_[entry.link].left += product(flows, holder.level - level);
    reconsider(entry.link);
  }
  std::erase_if(column, [](const Entry& entry) { return entry.weight == 0; });
  const auto flows = leaving_[h];
  holder.held -= flows;
  links_[h].users -= flows;
  links_[h].left -= product(flows, level);
  if (holder.held == 0) set_level(h, never);
  reconsider(h);
  for (const auto& hop : hops_of(path)) leaving_[hop.link] = 0;
}

// The level at which the link fills if it also takes the flows that other links hold at higher
// levels.
Units WaterLevels::level_with_faster(std::uint32_t l, Units level) {
  auto& link = links_[l];
  link.fastest = 0;
  faster_.clear();
  for (const auto& [id, hop] : crossing_[l]) {
    const auto holder = holders_[id];
    if (holder == l || holder == limbo) continue;
    const auto speed = details_[holder].level;
    link.fastest = std::max(link.fastest, speed);
    if (speed > level) faster_.push_back({speed, weight(paths_[id], hops_[hop])});
  }
  std::ranges::sort(faster_, std::greater<>());
  auto left = link.left;
  std::int64_t users = link.users;
  for (const auto& [speed, flows] : faster_) {
    if (speed <= level) break;
    left += product(flows, speed);
    users += flows;
    level = left <= 0 ? 0 : static_cast<Units>(left) / users;
  }
  return level;
}

// The most by which rounding alone sets levels apart: four units per flow on the link, over its
// users, and 2^-40 of the level.
Units WaterLevels::rounding(std::uint32_t l, Units level) const {
  return Units{4} * details_[l].flows / std::max(links_[l].users, 1u) + (level >> 40);
}

// Whether the link has no more left at the level than rounding alone may leave.
bool WaterLevels::full(std::uint32_t l, Units level) const {
  const auto& link = links_[l];
  const Int128 rest = link.left - product(link.users, level);
  return rest >= 0 && rest <= Units{4} * details_[l].flows + product(link.users, level >> 40);
}

// Takes note that flows that another link holds on this one have a new level.
void WaterLevels::neighbour_filled(std::uint32_t l, Units level) {
  constexpr Units most_rounding = Units{1} << 33;  // of 2^31 flows
  auto& link = links_[l];
  if (link.fastest < level) link.fastest = level;
  if (link.users == 0 || link.known - level > most_rounding + (level >> 40)) return;
  if (!full(l, level)) return;
  details_[l].tie = level;
  queue(l, level);
}

// Queues a link to which flows have come, or which they have left.
void WaterLevels::consider(std::uint32_t l) {
  if (!idle(links_[l])) queue(l, level_alone(links_[l]));
}

// Queues a link on which flows of other links have become faster or slower: it is visited when the
// water is where it was full. That may be a little late, and then some links change twice; to find
// out where it is full now, at each of their changes, takes longer. A link that holds nothing has
// mostly too much on it only until one of them fills.
void WaterLevels::reconsider(std::uint32_t l) {
  const auto& link = links_[l];
  if (link.queued) return;
  if (link.known < never)
    queue(l, link.known);
  else if (link.left < 0)
    queue(l, link.fastest);
}

// Has the link visited no later than the water comes to the level.
void WaterLevels::queue(std::uint32_t l, Units level) {
  auto& link = links_[l];
  if (link.queued && link.known <= level) return;
  link.known = std::max(std::min(level, link.known), queue_.water());
  link.queued = true;
  queue_.add(link.known, l);
}

}  // namespace sim
