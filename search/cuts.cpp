// SPDX-License-Identifier: Apache-2.0
#include "search/cuts.hpp"

#include <algorithm>

#include "plans/partition.hpp"

namespace search {

using strategies::Plan;
using strategies::ScheduleKind;

bool cuts_anywhere(ScheduleKind schedule) {
  return schedule == ScheduleKind::gpipe || schedule == ScheduleKind::one_f_one_b;
}

std::int64_t most_virtual_stages(const Plan& plan, const Space& space, ScheduleKind schedule,
                                 std::int64_t layers) {
  if (!plan.layers_per_stage.empty())
    return static_cast<std::int64_t>(plan.layers_per_stage.size());
  const bool bare_ends = cuts_anywhere(schedule) || schedule == ScheduleKind::interleaved;
  return space.partition && bare_ends ? layers + 2 : layers;
}

namespace {

// Whether chunks differ by a layer at most; only the first and the last may have none.
bool nearly_even(const LayersOfStages& cut, std::int64_t layers) {
  const auto stages = static_cast<std::int64_t>(cut.size());
  const auto least = layers / stages, most = (layers + stages - 1) / stages;
  for (std::size_t v = 0; v < cut.size(); ++v) {
    const bool end = v == 0 || v + 1 == cut.size();
    if (cut[v] < (end ? least : std::max<std::int64_t>(1, least)) || cut[v] > most) return false;
  }
  return true;
}

class Uneven {
 public:
  Uneven(const Plan& plan, const Space& space, std::int64_t layers, std::int64_t most)
      : plan_(plan), space_(space), layers_(layers), most_(std::min(most, layers)) {
    even_ = strategies::layers_per_virtual_stage(plan_, layers);
  }

  UnevenCuts run() {
    account_for_embedding();
    if (layers_ % plan_.virtual_stages == 0) first_and_last(layers_ / plan_.virtual_stages);
    return std::move(found_);
  }

 private:
  void account_for_embedding() {
    const auto stages = plan_.pipeline * plan_.virtual_stages;
    if ((layers_ + 1) % stages != 0) return;
    const auto each = (layers_ + 1) / stages;
    LayersOfStages cut(static_cast<std::size_t>(stages), each);
    --cut.front();
    add(std::move(cut));
  }

  // `layers`: the number in the first chunks of all ranks together, and in the second ones, ...
  void first_and_last(std::int64_t layers) {
    const auto others = plan_.pipeline - 2;
    if (layers < plan_.pipeline) return;
    if (layers - others - 1 > most_) found_.all = false;  // with one on each of the others
    const auto largest = others == 0 ? 1 : std::min(most_, (layers - 2) / others);
    for (std::int64_t each = 1; each <= largest; ++each) {
      const auto left = layers - others * each;
      if (left - 1 > most_ + most_) continue;
      const auto first = left - 1 > most_ ? left - most_ : 1;
      for (auto a = first; a <= std::min(most_, left - 1); ++a) add_chunks(a, each, left - a);
    }
  }
  void add_chunks(std::int64_t first, std::int64_t each, std::int64_t last) {
    LayersOfStages cut;
    for (std::int64_t chunk = 0; chunk < plan_.virtual_stages; ++chunk)
      for (std::int64_t rank = 0; rank < plan_.pipeline; ++rank)
        cut.push_back(rank == 0 ? first : rank + 1 == plan_.pipeline ? last : each);
    add(std::move(cut));
  }

  void add(LayersOfStages cut) {
    if (cut == even_ || (space_.chunks && nearly_even(cut, layers_))) return;
    if (std::ranges::max(cut) > most_)
      found_.all = false;
    else
      found_.cuts.push_back(std::move(cut));
  }

  const Plan& plan_;
  const Space& space_;
  std::int64_t layers_, most_;
  LayersOfStages even_;
  UnevenCuts found_;
};

}  // namespace

UnevenCuts uneven_cuts(const Plan& plan, const Space& space, std::int64_t layers,
                       std::int64_t most) {
  if (plan.schedule != ScheduleKind::interleaved || plan.pipeline == 1 || !space.partition ||
      !plan.layers_per_stage.empty())
    return {};
  return Uneven(plan, space, layers, most).run();
}

bool holds_cut(const Plan& plan, const LayersOfStages& given, const Space& space,
               std::int64_t layers) {
  const auto cut = strategies::layers_per_virtual_stage(plan, layers);
  if (!given.empty()) return cut == given;
  auto open = plan;
  open.layers_per_stage.clear();
  const auto stages = static_cast<std::int64_t>(cut.size());
  if (stages > most_virtual_stages(open, space, plan.schedule, layers)) return false;
  if (cut == strategies::layers_per_virtual_stage(open, layers)) return true;
  if (!space.partition) return false;
  if (cuts_anywhere(plan.schedule))
    return std::find(cut.begin() + 1, cut.end() - 1, 0) == cut.end() - 1;
  if (plan.schedule != ScheduleKind::interleaved) return false;
  if (space.chunks && nearly_even(cut, layers)) return true;
  const auto uneven = uneven_cuts(open, space, layers).cuts;
  return std::ranges::find(uneven, cut) != uneven.end();
}

}  // namespace search
