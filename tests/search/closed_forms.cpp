// SPDX-License-Identifier: Apache-2.0
#include "tests/search/closed_forms.hpp"

#include <algorithm>

namespace oracle {

namespace {

// The sum and the largest of the times that stages count for, over the stages cut so far.
struct ClosedLabel {
  Picoseconds sum = 0, largest = 0;
};

// Keeps the labels that no other label is at most equal to in both sum and largest time.
void prune(std::vector<ClosedLabel>& labels) {
  std::ranges::sort(labels, [](const ClosedLabel& a, const ClosedLabel& b) {
    return a.sum != b.sum ? a.sum < b.sum : a.largest < b.largest;
  });
  std::size_t kept = 0;
  for (const auto& label : labels)
    if (kept == 0 || label.largest < labels[kept - 1].largest) labels[kept++] = label;
  labels.resize(kept);
}

// The Pareto labels of all ways to cut the layers into stages that fit. `stage_time(time, last)` is
// the time that a stage counts for.
template <class StageTime>
std::vector<ClosedLabel> cut(const TimedPipeline& pipeline, StageTime stage_time) {
  const auto count = pipeline.layers.size();
  std::vector<std::vector<ClosedLabel>> labels(count + 1), next;
  labels[0].push_back({});
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    const auto in_flight = std::min(pipeline.microbatches, pipeline.stages - stage);
    next.assign(count + 1, {});
    for (std::size_t first = 0; first < count; ++first) {
      if (labels[first].empty()) continue;
      TimedLayer sum;
      for (auto last = first + 1; last <= count; ++last) {
        const auto& layer = pipeline.layers[last - 1];
        sum.time += layer.time;
        sum.fixed += layer.fixed;
        sum.kept += layer.kept;
        if (pipeline.capacity && sum.fixed + in_flight * sum.kept > *pipeline.capacity) break;
        const auto time = stage_time(sum.time, last);
        for (const auto& label : labels[first])
          next[last].push_back({label.sum + time, std::max(label.largest, time)});
      }
    }
    for (auto& list : next) prune(list);
    std::swap(labels, next);
  }
  return labels[count];
}

template <class Value>
std::optional<Picoseconds> least(const std::vector<ClosedLabel>& labels, Value value) {
  std::optional<Picoseconds> best;
  for (const auto& label : labels)
    if (!best || value(label) < *best) best = value(label);
  return best;
}

}  // namespace

std::optional<Picoseconds> least_bottleneck(const TimedPipeline& pipeline) {
  const auto labels = cut(pipeline, [](Picoseconds time, std::size_t) { return time; });
  return least(labels, [](const ClosedLabel& label) { return label.largest; });
}

std::optional<Picoseconds> least_latency(const TimedPipeline& pipeline) {
  const auto count = pipeline.layers.size();
  const auto labels = cut(pipeline, [&](Picoseconds time, std::size_t last) {
    return time + (last < count ? 2 * pipeline.layers[last - 1].cut : 0);
  });
  return least(labels, [&](const ClosedLabel& label) {
    return label.sum + (pipeline.microbatches - 1) * label.largest;
  });
}

}  // namespace oracle
