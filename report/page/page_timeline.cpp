// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <map>
#include <tuple>
#include <vector>

#include "report/basis.hpp"
#include "report/page/columns.hpp"
#include "report/page/page_parts.hpp"

namespace report {
namespace {

// The properties that slices of different microbatches share.
struct Sort {
  std::string_view kind;
  std::string before, after;  // the name around the microbatch
  std::int64_t chunk = -1;
  bool bare = false;  // there is a microbatch, but not in the name
  double bytes = 0, flops = 0;
  int steps = -1;
  friend auto operator<=>(const Sort&, const Sort&) = default;
};

Sort sort_of(const forecast::Slice& slice) {
  Sort sort{.kind = slice.kind,
            .before = slice.name,
            .chunk = slice.chunk,
            .bytes = std::round(slice.bytes.value),
            .flops = std::round(slice.flops.value),
            .steps = slice.steps};
  if (slice.microbatch < 0) return sort;
  const auto marker = " m" + std::to_string(slice.microbatch);
  const auto at = slice.name.find(marker);
  const auto end = at + marker.size();
  sort.bare = at == std::string::npos || (end < slice.name.size() && slice.name[end] != ' ');
  if (sort.bare) return sort;
  sort.before = slice.name.substr(0, at);
  sort.after = slice.name.substr(end);
  return sort;
}

class Slices {
 public:
  void add(const forecast::Slice& slice) {
    if (lanes_.empty() || !same_lane(slice, *lanes_.back().first)) {
      lanes_.push_back({&slice, 0});
      end_ = microbatch_ = 0;
    }
    ++lanes_.back().second;
    const auto [found, fresh] =
        numbers_.try_emplace(sort_of(slice), static_cast<std::int64_t>(sorts_.size()));
    if (fresh) sorts_.push_back(&found->first);
    sort_.push_back(found->second);
    microbatches_.push_back(slice.microbatch - microbatch_);
    gaps_.push_back(slice.start_ps - end_);
    durations_.push_back(slice.end_ps - slice.start_ps);
    end_ = slice.end_ps;
    microbatch_ = slice.microbatch;
  }

  void write(Object& object) const {
    Document lanes = Document::array(), sorts = Document::array();
    for (const auto& [first, count] : lanes_)
      lanes.push_back({first->stage, first->rank, first->lane, count});
    for (const auto* sort : sorts_)
      sorts.push_back({sort->kind, sort->before, sort->after, sort->chunk, sort->bare, sort->bytes,
                       sort->flops, sort->steps});
    object.put("lanes", std::move(lanes))
        .put("sorts", std::move(sorts))
        .put("slices", table_document({sort_, microbatches_, gaps_, durations_}));
  }

 private:
  static bool same_lane(const forecast::Slice& a, const forecast::Slice& b) {
    return std::tie(a.stage, a.rank, a.lane) == std::tie(b.stage, b.rank, b.lane);
  }

  std::vector<std::pair<const forecast::Slice*, std::int64_t>> lanes_;
  std::map<Sort, std::int64_t> numbers_;
  std::vector<const Sort*> sorts_;  // by number
  Column sort_, microbatches_, gaps_, durations_;
  std::int64_t end_ = 0, microbatch_ = 0;
};

void add_page_arrows(Object& object, std::vector<forecast::Arrow> arrows) {
  std::ranges::sort(arrows, {}, [](const auto& arrow) { return std::tie(arrow.from, arrow.to); });
  Column from, over;
  std::int64_t last = 0;
  for (const auto& arrow : arrows) {
    const auto begin = static_cast<std::int64_t>(arrow.from);
    from.push_back(begin - last);
    over.push_back(static_cast<std::int64_t>(arrow.to) - begin);
    last = begin;
  }
  object.put("arrows", table_document({from, over}));
}

Document timeline_memory_document(const forecast::Timeline& timeline) {
  const auto& samples = timeline.memory;
  Document stages = Document::array();
  for (std::size_t first = 0, end = 0; first < samples.size(); first = end) {
    const int stage = samples[first].stage;
    std::vector<Column> columns(3);  // each less the one before
    std::array<std::int64_t, 3> before{};
    for (; end < samples.size() && samples[end].stage == stage; ++end) {
      const std::array<std::int64_t, 3> now{samples[end].time_ps,
                                            std::llround(samples[end].activations.value),
                                            std::llround(samples[end].temporary.value)};
      for (std::size_t i = 0; i < now.size(); ++i) columns[i].push_back(now[i] - before[i]);
      before = now;
    }
    const auto peak = std::ranges::find_if(
        timeline.peaks, [&](std::size_t sample) { return sample >= first && sample < end; });
    const auto shown = peak == timeline.peaks.end() ? first : *peak;
    const auto slice = samples[shown].slice;
    stages.push_back(
        Object()
            .put("stage", stage)
            .put("samples", table_document(columns))
            .put("peak", shown - first)
            .put("slice", slice == forecast::no_slice ? -1 : static_cast<std::int64_t>(slice))
            .take());
  }
  return stages;
}

// Returns the samples of each link, in millionths of its bandwidth.
Document links_document(const forecast::Timeline& timeline) {
  std::vector<std::vector<Column>> tables(timeline.link_names.size(), std::vector<Column>(2));
  std::vector<std::int64_t> times(tables.size());
  for (const auto& sample : timeline.links) {
    auto& table = tables.at(sample.link);
    table[0].push_back(sample.time_ps - times[sample.link]);
    table[1].push_back(std::llround(sample.utilisation * 1e6));
    times[sample.link] = sample.time_ps;
  }
  Document links = Document::array();
  for (std::size_t i = 0; i < tables.size(); ++i)
    links.push_back(Object()
                        .put("name", timeline.link_names[i])
                        .put("samples", table_document(tables[i]))
                        .take());
  return links;
}

// Returns the steps in each kind of pass: their names, each once, and a table of steps for each
// pass.
Document passes_document(const forecast::Timeline& timeline) {
  std::map<std::pair<std::string_view, std::string>, std::int64_t> numbers;
  Document names = Document::array(), bodies = Document::array();
  for (const auto& pass : timeline.passes) {
    Column name, gap, duration;
    std::int64_t end = 0;
    for (const auto& step : pass) {
      auto words = step.asked ? what_of(*step.asked) : "";
      const auto [found, fresh] =
          numbers.try_emplace({step.part, words}, static_cast<std::int64_t>(names.size()));
      if (fresh) names.push_back({step.part, words});
      name.push_back(found->second);
      gap.push_back(step.start_ps - end);
      duration.push_back(step.end_ps - step.start_ps);
      end = step.end_ps;
    }
    bodies.push_back(table_document({name, gap, duration}));
  }
  return Object().put("names", std::move(names)).put("bodies", std::move(bodies)).take();
}

}  // namespace

Document timeline_document(const forecast::Timeline& timeline) {
  Slices slices;
  for (const auto& slice : timeline.slices) slices.add(slice);
  Object object;
  slices.write(object);
  add_page_arrows(object, timeline.arrows);
  object.put("passes", passes_document(timeline))
      .put("memory", timeline_memory_document(timeline))
      .put("links", links_document(timeline))
      .put("idle", idle_document(timeline))
      .put("path", path_document(timeline));
  return object.take();
}

}  // namespace report
