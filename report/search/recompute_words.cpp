// SPDX-License-Identifier: Apache-2.0
#include "report/search/recompute_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "plans/schedules/schedule_layout.hpp"
#include "report/words.hpp"
#include "strategies/lowering/lower.hpp"

namespace report {
namespace {

using strategies::Drop;
using Counts = std::map<std::string, std::int64_t>;

// Layers whose input is not kept have words of their own.
std::string recomputed_words(const strategies::Block& block) {
  const auto& drop = block.drop;
  if (drop.kind == Drop::everything) return block.checkpoint > 0 ? "full with input" : "full";
  if (drop.kind == Drop::per_op) return "per-op";
  std::string words;
  for (int i = 0; i < model::modules; ++i)
    if (const auto module = static_cast<model::Module>(i); drop.of.has(module))
      words += (words.empty() ? "" : "+") + std::string(word(module));
  return words;
}

Recomputed ordered(std::int64_t layers, const Counts& counts) {
  Recomputed all{layers, {counts.begin(), counts.end()}};
  std::ranges::stable_sort(all.choices, std::ranges::greater{},
                           [](const auto& choice) { return choice.second; });
  return all;
}

std::string recomputed_words(const Recomputed& stage) {
  if (stage.choices.empty()) return "nothing";
  std::string words;
  for (const auto& [what, layers] : stage.choices) {
    words += words.empty() ? what + " in " : ", " + what + " in ";
    if (layers == stage.layers)
      words += layers == 1 ? "its layer" : fmt::format("all {} layers", layers);
    else if (&what == &stage.choices.front().first)
      words += fmt::format("{} of {} layers", layers, stage.layers);
    else
      words += std::to_string(layers);
  }
  return words;
}

}  // namespace

std::vector<Recomputed> recomputed_by_stage(const model::Transformer& model,
                                            const strategies::Plan& plan) {
  const auto layout = strategies::layout_of(plan);
  const auto blocks = strategies::blocks_of(model, {}, plan);
  std::vector<Counts> counts(static_cast<std::size_t>(plan.pipeline));
  std::vector<std::int64_t> layers(counts.size(), 0);
  const auto add = [&](std::size_t stage, const strategies::Block& block) {
    ++layers[stage];
    if (block.drop.kind != Drop::nothing) ++counts[stage][recomputed_words(block)];
  };
  for (std::size_t v = 0; v < blocks.size(); ++v)
    for (const auto& block : blocks[v]) {
      if (block.kind != strategies::Block::Kind::layer) continue;
      const auto stage =
          static_cast<std::size_t>(strategies::place_of(static_cast<int>(v), layout).stage);
      add(stage, block);
      if (layout.kind == strategies::Layout::Kind::mirrored) add(counts.size() - 1 - stage, block);
    }
  std::vector<Recomputed> stages;
  for (std::size_t i = 0; i < counts.size(); ++i) stages.push_back(ordered(layers[i], counts[i]));
  return stages;
}

std::string words_of(const std::vector<Recomputed>& stages) {
  std::string words;
  for (std::size_t first = 0, last = 0; first < stages.size(); first = ++last) {
    const auto here = recomputed_words(stages[first]);
    while (last + 1 < stages.size() && recomputed_words(stages[last + 1]) == here) ++last;
    if (first == 0 && last + 1 == stages.size()) return here;
    words += words.empty() ? "" : "; ";
    words += first == last ? fmt::format("stage {}: ", first)
                           : fmt::format("stages {}-{}: ", first, last);
    words += here;
  }
  return words;
}

std::string short_words(const model::Transformer& model, const strategies::Plan& plan) {
  Counts counts;
  for (const auto& stage : strategies::blocks_of(model, {}, plan))
    for (const auto& block : stage)
      if (block.kind == strategies::Block::Kind::layer && block.drop.kind != Drop::nothing)
        ++counts[recomputed_words(block)];
  const auto all = ordered(model.layers, counts);
  if (all.choices.empty()) return "none";
  if (all.choices.front().second == all.layers) return all.choices.front().first;
  std::string words;
  for (const auto& [what, layers] : all.choices)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", what, layers);
  return words;
}

}  // namespace report
