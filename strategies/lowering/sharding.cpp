// SPDX-License-Identifier: Apache-2.0
#include "strategies/lowering/sharding.hpp"

#include <algorithm>
#include <utility>

#include "plans/duties.hpp"

namespace strategies {

std::vector<PassUnit> buckets_of(const Cast& cast, const Segment& blocks, bool backward) {
  const auto& job = cast.job;
  const double bucket = backward ? gradient_bucket(job.plan, job.training, job.software)
                                 : parameter_bucket(job.plan, job.training, job.software);
  std::vector<PassUnit> units;
  // A row of layers that runs again as one stays together.
  bool inside = false;
  const auto add = [&](const Block& block) {
    const bool full = !units.empty() && units.back().reduces.all() >= bucket;
    const bool joins = backward ? inside : block.checkpoint > 0;
    if (units.empty() || (full && !joins)) units.emplace_back();
    inside = block.checkpoint > 0;
    auto& unit = units.back();
    unit.blocks.insert(backward ? unit.blocks.begin() : unit.blocks.end(), block);
    unit.reduces += parameters_of(cast, block);
    unit.gathers = unit.reduces;
  };
  if (backward)
    std::for_each(blocks.rbegin(), blocks.rend(), add);
  else
    std::for_each(blocks.begin(), blocks.end(), add);
  if (units.empty()) units.emplace_back();
  return units;
}

bool is_root(const Cast& cast, const Block& block) {
  return root_is_model(cast.job.plan, cast.job.software) ||
         (cast.job.software.root_unit &&
          (block.kind == Block::Kind::embedding || block.kind == Block::Kind::head));
}

// The root unit is gathered before the first pass over it and reduced after the last of its blocks
// has its gradients.
std::vector<PassUnit> units_of(const Cast& cast, const Segment& blocks, bool backward) {
  const auto most = static_cast<std::size_t>(cast.job.plan.wrap.layers);
  std::vector<PassUnit> units;
  Parameters root;
  bool open = false;  // the last unit takes more layers
  for (const auto& block : blocks) {
    const bool whole_model = cast.job.plan.wrap.layers == 0;
    const bool layer = block.kind == Block::Kind::layer;
    const bool joins =
        whole_model || block.checkpoint > 0 || (layer && open && units.back().blocks.size() < most);
    if (units.empty() || !joins) units.emplace_back();
    open = layer;
    auto& unit = units.back();
    unit.blocks.push_back(block);
    (is_root(cast, block) ? root : unit.gathers) += parameters_of(cast, block);
  }
  if (units.empty()) units.emplace_back();
  for (auto& unit : units) unit.reduces = unit.gathers;
  if (!backward) {
    units.front().gathers += root;
    return units;
  }
  // The first block of the root in model order is the last to get its gradients.
  for (auto& unit : units)
    if (root.all() > 0 &&
        std::ranges::any_of(unit.blocks, [&](const auto& b) { return is_root(cast, b); }))
      unit.reduces += std::exchange(root, {});
  std::ranges::reverse(units);
  return units;
}

std::vector<PassUnit> cut_at_offloaded(const Cast& cast, std::vector<PassUnit> units,
                                       bool backward) {
  if (!cast.job.plan.offload.activations) return units;
  std::vector<PassUnit> cut;
  for (auto& unit : units) {
    const auto first = cut.size();
    auto blocks = std::move(unit.blocks);
    if (backward) std::ranges::reverse(blocks);
    bool alone = true;  // whether the block before is alone
    for (const auto& block : blocks) {
      const bool was_alone = std::exchange(alone, offloaded(cast, {block}) > 0);
      if (alone || was_alone) cut.emplace_back();
      auto& into = cut.back().blocks;
      into.insert(backward ? into.begin() : into.end(), block);
    }
    if (blocks.empty()) cut.emplace_back();
    cut[first].gathers = unit.gathers;
    cut.back().reduces = unit.reduces;
  }
  return cut;
}

bool prefetches(const Cast& cast) {
  return cast.job.plan.zero < 3 || gathers_ahead(cast.job.plan, cast.job.software);
}

std::size_t gathers_after(const Cast& cast, const std::vector<PassUnit>& units, std::size_t unit) {
  if (!prefetches(cast)) return unit + 1;
  if (cast.job.plan.zero < 3 || unit == 0) return unit;
  if (!cast.job.software.limit_all_gathers) return 0;
  if (!cast.job.plan.gather_bucket) return unit;
  // Gathers as many units ahead of the one in use as the bucket holds, at least one.
  const double bucket = cast.job.plan.gather_bucket->value / cast.traffic().parameter_bytes();
  std::size_t in_use = unit - 1;
  for (double ahead = units[unit].gathers.all() + units[in_use].gathers.all();
       in_use > 0 && ahead <= bucket; ahead += units[in_use].gathers.all())
    --in_use;
  return in_use + 1;
}

}  // namespace strategies
