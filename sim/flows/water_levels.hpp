// SPDX-License-Identifier: Apache-2.0
// Max-min fair levels of links, kept while flows come and go (private to flows.cpp).
//
// The model. Water rises in all flows at once. A link is full when its flows carry its capacity: it
// then holds every flow on it that nothing held before, at the level of the water. So each path is
// held by one link, a link holds all its paths at one level, and
//     capacity(l) = held(l) * level(l) + sum over other links m of weight(l, m) * level(m),
// where weight(l, m) counts the flows on l that m holds; there level(m) <= level(l). That is a
// triangular system of links. Only it is kept up to date, never the rates of flows.
//
// An update lets the water rise again from the lowest level that changed. A link is visited when
// the water is where it was full, if anything on it has changed; it takes its level from the levels
// of the others as they are then, and takes over flows that others hold at higher levels. The links
// that hold flows on it, and those it holds flows on, are then visited in their turn. Whatever
// the order of visits, only the max-min fair levels satisfy every link; in rising order most links
// change only once, because levels depend on lower ones alone.
//
// Levels are integers, rounded down. So that links which fill together in truth do so here too, a
// link that has less than its rounding errors left when a neighbour fills is full with it.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/flows/flow.hpp"
#include "sim/flows/flows_queue.hpp"

namespace sim {

__extension__ typedef __int128 Int128;
using Units = std::int64_t;  // of bandwidth

class WaterLevels {
 public:
  static constexpr Units never = std::numeric_limits<Units>::max();
  static constexpr std::uint32_t nobody = 0xffffffffu;

  struct Hop {
    std::uint32_t link;
    std::uint32_t times;
    std::uint32_t place;  // among the paths with flows on the link
  };

  explicit WaterLevels(std::span<const Units> capacities);

  void reserve(std::size_t paths, std::size_t hops);
  // Adds an idle path. hops: known links, none twice. cap: `never` for none.
  std::uint32_t add_path(std::span<const LinkUse> hops, Units cap);
  // Whether the path was added with these hops and this cap.
  bool same_path(std::uint32_t path, std::span<const LinkUse> hops, Units cap) const;
  // Adds flows to a path, or takes them away if `flows` is below zero; solve() takes it into
  // account. Throws std::invalid_argument when a link would carry 2^31 flows or more.
  void change(std::uint32_t path, std::int64_t flows);
  // Brings all levels up to date.
  void solve();
  // The level of `flows` flows on an idle path if nothing else were on its links; 0 if they are too
  // many for a level.
  Units lone_level(std::uint32_t path, std::int64_t flows) const;

  // The links of a path; its cap may be one link more.
  std::span<const Hop> hops(std::uint32_t path) const {
    return {hops_.data() + paths_[path].first, paths_[path].hops};
  }
  // Whether no flow crosses the link, those of changes to come included.
  bool vacant(std::uint32_t link) const { return details_[link].flows == 0; }

  // The link that holds the path's flows, at its level; nobody, where there are none.
  std::uint32_t holder(std::uint32_t path) const { return holders_[path]; }
  Units level(std::uint32_t link) const {
    return details_[link].held > 0 ? details_[link].level : 0;
  }
  Units load(std::uint32_t link) const;
  std::size_t links() const { return links_.size(); }
  // Results of the last solve(): links whose level may have changed, paths whose holder has
  // changed.
  std::span<const std::uint32_t> changed_links() const { return changed_; }
  std::span<const std::uint32_t> moved_paths() const { return moved_; }

 private:
  static constexpr std::uint32_t limbo = 0xfffffffeu;  // holds what has just arrived
  static constexpr std::int64_t most_flows = (std::int64_t{1} << 31) - 1;  // on a link

  // The fields of a link that are read most often. Until the water is there, a link may carry far
  // too much.
  struct Link {
    Int128 left = 0;      // of the capacity, without what other links hold at their levels
    Units known = never;  // not full before the water is here. Its level; lower when it is queued
    Units fastest = 0;    // no flow that another link holds here is faster
    std::uint32_t users = 0;  // held flows, and those in limbo
    bool queued = false;      // visited when the water is at `known`
  };
  // Once solved, level = left / held, save for rounding.
  struct Detail {
    Units level = never;  // never: holds nothing
    Units tie = never;    // the level of the last neighbour that filled together with this link
    std::uint32_t held = 0;
    std::uint32_t flows = 0;  // on the link, those of changes to come included
    bool logged = false;
    bool touched = false;
  };
  struct Path {
    std::uint32_t first = 0, hops = 0;  // in hops_
    std::int64_t flows = 0, pending = 0;
    Units cap = never;    // as it was given
    bool capped = false;  // has a link of its own
    bool stirred = false;
  };
  struct Crossing {
    std::uint32_t path, hop;
  };
  struct Entry {  // of the column of a link m: weight(link, m)
    std::uint32_t link;
    std::uint32_t weight;
  };

  static Int128 product(std::int64_t flows, Units level) {
    return static_cast<Int128>(flows) * level;
  }
  std::span<Hop> hops_of(const Path& path) { return {hops_.data() + path.first, path.hops}; }
  std::uint32_t weight(const Path& path, const Hop& hop) const {
    return static_cast<std::uint32_t>(path.flows) * hop.times;
  }

  // Arrivals and departures.
  void apply_changes();
  void release(std::uint32_t path, std::int64_t flows);
  void flush_released();
  void arrive(std::uint32_t path);
  bool is_alone(const Path& path);
  void hold_alone(std::uint32_t path);
  void enlist(std::uint32_t path);
  void delist(std::uint32_t path);
  void resize_cap(const Path& path);
  void touch(std::uint32_t link);

  // The water rises.
  void visit(std::uint32_t link, Units key);
  void fill(std::uint32_t link, Units level);
  void take_flows(std::uint32_t link, Units level);
  void take(std::uint32_t path, std::uint32_t link, Units level);
  void leave_limbo(const Path& path, Units level);
  void leave_holder(const Path& path, std::uint32_t holder, Units level);
  Units level_with_faster(std::uint32_t link, Units level);
  void neighbour_filled(std::uint32_t link, Units level);
  void consider(std::uint32_t link);
  void reconsider(std::uint32_t link);
  void queue(std::uint32_t link, Units level);
  void set_level(std::uint32_t link, Units level);
  bool full(std::uint32_t link, Units level) const;
  Units rounding(std::uint32_t link, Units level) const;
  // The level without flows that other links may have to leave to this one.
  static Units level_alone(const Link& link) {
    return link.left <= 0 ? 0 : static_cast<Units>(link.left) / link.users;
  }
  // Whether nothing on the link can fill it.
  static bool idle(const Link& link) { return link.users == 0 && link.left >= 0; }

  std::vector<Link> links_;
  std::vector<Detail> details_;
  std::vector<Units> capacities_;
  std::vector<std::vector<Crossing>> crossing_;  // paths with flows, by link
  std::vector<std::vector<Entry>> columns_;
  std::vector<Path> paths_;
  std::vector<std::uint32_t> holders_;  // of paths
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> stirred_, touched_, changed_, moved_;
  RisingQueue queue_;
  // Scratch, by link: the flows that leave a column, and the link's place in a column.
  std::vector<std::uint32_t> leaving_, entry_of_;
  std::uint32_t releasing_ = nobody;
  std::vector<std::pair<Units, std::uint32_t>> faster_;  // level and number of flows
};

}  // namespace sim
