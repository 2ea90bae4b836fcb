// SPDX-License-Identifier: Apache-2.0
// Causes of idle time, for the page; web/src/bubbles.ts reads it back.
//   awaited: the work that was waited for, list after list. The same entries mostly follow each
//     other in every list, so entries are runs: an entry that is written (less the one written
//     before: slice + 1; 0, the next of the others; -1 - i, once more the i-th of them), and the
//     number of entries behind it that followed their predecessors last time, too. others: index
//     into sorts ([stage, rank, lane, name] each), start (less the one before), duration
//   idle: intervals: lane (index into lanes, less the one before), gap (picoseconds since the end
//     of the one before it in the lane), duration, cause, until (slice + 1, less the one before),
//     links of its chain; by_cause: picoseconds; chain: the links of all, awaited
//   path: begin, spans (picoseconds of each step), and the steps, awaited
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/page/columns.hpp"
#include "report/page/page_parts.hpp"

namespace report {
namespace {

std::int64_t slice_number(std::size_t slice) {
  return slice == forecast::no_slice ? 0 : static_cast<std::int64_t>(slice) + 1;
}

class AwaitedColumns {
 public:
  void begin_list() { before_.reset(); }

  void add(const forecast::Awaited& awaited) {
    const auto [entry, written] = entry_of(awaited);
    if (was_behind(entry)) {
      ++more_.back();
      return;
    }
    entries_.push_back(written - last_);
    more_.push_back(0);
    last_ = written;
  }

  Document take() const {
    return Object()
        .put("entries", table_document({entries_, more_}))
        .put("sorts", sorts_)
        .put("others", table_document({sort_, starts_, durations_}))
        .take();
  }

 private:
  using Sort = std::tuple<int, std::int64_t, std::string_view, std::string>;
  using Other = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  // Returns the number of an entry, and the value that is written for it.
  std::pair<std::int64_t, std::int64_t> entry_of(const forecast::Awaited& awaited) {
    if (const auto slice = slice_number(awaited.slice); slice != 0) return {slice, slice};
    const Sort sort{awaited.stage, awaited.rank, awaited.lane, awaited.name};
    const auto [found, fresh] =
        numbers_.try_emplace(sort, static_cast<std::int64_t>(sorts_.size()));
    if (fresh) sorts_.push_back({awaited.stage, awaited.rank, awaited.lane, awaited.name});
    const auto duration = awaited.end_ps - awaited.start_ps;
    const auto [other, first] =
        others_.try_emplace({found->second, awaited.start_ps, duration}, -1 - std::ssize(sort_));
    if (!first) return {other->second, other->second};
    sort_.push_back(found->second);
    starts_.push_back(awaited.start_ps - start_);
    durations_.push_back(duration);
    start_ = awaited.start_ps;
    return {other->second, 0};
  }

  // Whether the entry followed the one before it the last time, too, so that the page knows it.
  bool was_behind(std::int64_t entry) {
    const auto before = std::exchange(before_, entry);
    if (!before) return false;
    const auto [known, fresh] = behind_.try_emplace(*before, entry);
    return !fresh && std::exchange(known->second, entry) == entry;
  }

  std::unordered_map<std::int64_t, std::int64_t> behind_;  // looked up, never walked
  std::optional<std::int64_t> before_;                     // in this list
  std::map<Sort, std::int64_t> numbers_;
  std::map<Other, std::int64_t> others_;
  Document sorts_ = Document::array();
  Column entries_, more_, sort_, starts_, durations_;
  std::int64_t last_ = 0, start_ = 0;
};

// The compute lane of each rank that is drawn.
std::map<std::pair<int, std::int64_t>, std::int64_t> compute_lanes(
    const forecast::Timeline& timeline) {
  std::map<std::pair<int, std::int64_t>, std::int64_t> lanes;
  std::int64_t lane = -1;
  const forecast::Slice* before = nullptr;
  for (const auto& slice : timeline.slices) {
    if (before == nullptr || std::tie(before->stage, before->rank, before->lane) !=
                                 std::tie(slice.stage, slice.rank, slice.lane)) {
      ++lane;
      if (slice.lane == "compute") lanes.emplace(std::pair(slice.stage, slice.rank), lane);
    }
    before = &slice;
  }
  return lanes;
}

}  // namespace

Document idle_document(const forecast::Timeline& timeline) {
  const auto lanes = compute_lanes(timeline);
  Column lane, gap, duration, cause, until, links;
  std::array<Column, forecast::interval_causes> by_cause;
  AwaitedColumns chain;
  std::int64_t lane_before = 0, until_before = 0, end = 0;
  for (const auto& idle : timeline.idle) {
    const auto found = lanes.find({idle.stage, idle.rank});
    if (found == lanes.end()) continue;  // nothing of it is drawn
    if (lane.empty() || found->second != lane_before) end = 0;
    lane.push_back(found->second - lane_before);
    gap.push_back(idle.start_ps - end);
    duration.push_back(idle.end_ps - idle.start_ps);
    cause.push_back(static_cast<std::int64_t>(idle.cause));
    until.push_back(slice_number(idle.until) - until_before);
    links.push_back(static_cast<std::int64_t>(idle.chain.size()));
    for (std::size_t i = 0; i < by_cause.size(); ++i) by_cause[i].push_back(idle.by_cause[i]);
    chain.begin_list();
    for (const auto& link : idle.chain) chain.add(link);
    lane_before = found->second;
    until_before = slice_number(idle.until);
    end = idle.end_ps;
  }
  Document causes = Document::array();
  for (std::size_t i = 0; i < by_cause.size(); ++i)
    causes.push_back(to_text(static_cast<forecast::IdleCause>(i)));
  return Object()
      .put("causes", std::move(causes))
      .put("intervals", table_document({lane, gap, duration, cause, until, links}))
      .put("by_cause", table_document({by_cause.begin(), by_cause.end()}))
      .put("chain", chain.take())
      .take();
}

Document path_document(const forecast::Timeline& timeline) {
  const auto& path = timeline.critical_path;
  Column spans;
  AwaitedColumns steps;
  for (const auto& step : path) {
    spans.push_back(step.end_ps - step.start_ps);
    steps.add(step);
  }
  return Object()
      .put("begin", path.empty() ? 0 : path.front().start_ps)
      .put("spans", table_document({spans}))
      .put("steps", steps.take())
      .take();
}

}  // namespace report
