// SPDX-License-Identifier: Apache-2.0
// What is gathered and reduced at once: units of layers under ZeRO-3, else buckets.
#include <algorithm>
#include <utility>

#include "strategies/lowering.hpp"

namespace strategies {

std::vector<Lowering::Unit> Lowering::buckets_of(int virtual_stage, bool backward) const {
  const auto& blocks = blocks_[static_cast<std::size_t>(virtual_stage)];
  const double bucket = backward ? gradient_bucket(job_.plan, job_.training, job_.software)
                                 : parameter_bucket(job_.plan, job_.training, job_.software);
  std::vector<Unit> units;
  // A row of layers that runs again as one stays together.
  bool inside = false;
  const auto add = [&](const Block& block) {
    const bool full = !units.empty() && units.back().reduces.all() >= bucket;
    const bool joins = backward ? inside : block.checkpoint > 0;
    if (units.empty() || (full && !joins)) units.emplace_back();
    inside = block.checkpoint > 0;
    auto& unit = units.back();
    unit.blocks.insert(backward ? unit.blocks.begin() : unit.blocks.end(), block);
    unit.reduces += parameters_of(block);
    unit.gathers = unit.reduces;
  };
  if (backward)
    std::for_each(blocks.rbegin(), blocks.rend(), add);
  else
    std::for_each(blocks.begin(), blocks.end(), add);
  if (units.empty()) units.emplace_back();
  return units;
}

bool Lowering::is_root(const Block& block) const {
  return root_is_model(job_.plan, job_.software) ||
         (job_.software.root_unit &&
          (block.kind == Block::Kind::embedding || block.kind == Block::Kind::head));
}

// The root unit is gathered before the first pass over it and reduced after the last of its blocks
// has its gradients.
std::vector<Lowering::Unit> Lowering::units_of(int virtual_stage, bool backward) const {
  const auto& blocks = blocks_[static_cast<std::size_t>(virtual_stage)];
  const auto most = static_cast<std::size_t>(job_.plan.wrap.layers);
  std::vector<Unit> units;
  Parameters root;
  bool open = false;  // the last unit takes more layers
  for (const auto& block : blocks) {
    const bool whole_model = job_.plan.wrap.layers == 0;
    const bool layer = block.kind == Block::Kind::layer;
    const bool joins =
        whole_model || block.checkpoint > 0 || (layer && open && units.back().blocks.size() < most);
    if (units.empty() || !joins) units.emplace_back();
    open = layer;
    auto& unit = units.back();
    unit.blocks.push_back(block);
    (is_root(block) ? root : unit.gathers) += parameters_of(block);
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
        std::ranges::any_of(unit.blocks, [&](const auto& b) { return is_root(b); }))
      unit.reduces += std::exchange(root, {});
  std::ranges::reverse(units);
  return units;
}

std::vector<Lowering::Unit> Lowering::cut_at_offloaded(std::vector<Unit> units,
                                                       bool backward) const {
  if (!job_.plan.offload.activations) return units;
  std::vector<Unit> cut;
  for (auto& unit : units) {
    const auto first = cut.size();
    auto blocks = std::move(unit.blocks);
    if (backward) std::ranges::reverse(blocks);
    bool alone = true;  // the block before
    for (const auto& block : blocks) {
      const bool was_alone = std::exchange(alone, offloaded({block}) > 0);
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

bool Lowering::prefetches() const {
  return job_.plan.zero < 3 || job_.plan.overlap.parameters.value_or(true);
}

std::size_t Lowering::gathers_after(const std::vector<Unit>& units, std::size_t unit) const {
  if (!prefetches()) return unit + 1;
  if (job_.plan.zero < 3 || unit == 0) return unit;
  if (!job_.software.limit_all_gathers) return 0;
  if (!job_.plan.gather_bucket) return unit;
  // As many units ahead of the one in use as the bucket holds, at least one.
  const double bucket = job_.plan.gather_bucket->value / parameter_bytes();
  std::size_t in_use = unit - 1;
  for (double ahead = units[unit].gathers.all() + units[in_use].gathers.all();
       in_use > 0 && ahead <= bucket; ahead += units[in_use].gathers.all())
    --in_use;
  return in_use + 1;
}

// Units may be whole at once from the one in use to the one that is gathered farthest ahead; a unit
// whose gradients are being reduced has them whole.
void Lowering::describe_units(ActorFacts& facts) const {
  if (job_.plan.zero < 3) return;
  double root = 0;
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    const int v = virtual_stage_of(facts.stage, chunk, layout_);
    const auto units = units_of(v, false);
    std::vector<double> own, cast;  // of each unit, its share of the root left out
    for (const auto& unit : units) {
      own.push_back(0), cast.push_back(0);
      for (const auto& block : unit.blocks) {
        (is_root(block) ? root : own.back()) +=
            not_whole(parameters_of(block), out_.shards, host_parameters());
        cast.back() += writers_.front()->cost(block).cast;
      }
    }
    for (std::size_t last = 0; last < units.size(); ++last) {
      const auto after = gathers_after(units, last);
      double whole = 0, copied = 0;
      for (std::size_t i = std::max<std::size_t>(1, after) - 1; i <= last; ++i)
        whole += own[i], copied += cast[i];
      facts.held.gathered = std::max(facts.held.gathered, whole);
      facts.held.gathered_cast = std::max(facts.held.gathered_cast, copied);
      facts.held.unreduced = std::max(facts.held.unreduced, own[last]);
    }
  }
  facts.held.gathered += root;
  facts.held.unreduced += root;
}

void Lowering::describe_gradients(ActorFacts& facts) const {
  if (job_.plan.zero != 2) return;
  facts.held.unreduced = 0;
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    double sum = 0;
    for (const auto& block :
         blocks_[static_cast<std::size_t>(virtual_stage_of(facts.stage, chunk, layout_))])
      sum += not_whole(parameters_of(block), out_.shards, job_.plan.offload.gradients);
    facts.held.unreduced = std::max(facts.held.unreduced, sum);
  }
  facts.held.unreduced =
      std::min(facts.held.unreduced, most_unreduced(job_.plan, job_.training, job_.software));
}

}  // namespace strategies
