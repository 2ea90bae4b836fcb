// SPDX-License-Identifier: Apache-2.0
// Keys of recomputation: one choice for all stages, or one for each; and choices for single layers.
#include <algorithm>
#include <utility>

#include "plans/words.hpp"
#include "scenarios/plan_keys.hpp"

namespace scenarios {
namespace {

using strategies::Module;
using strategies::Plan;
using strategies::Recompute;
using RecomputeKind = Recompute::Kind;

constexpr std::string_view by_search = "optimal";

constexpr std::string_view maps =
    "{full_layers: N}, {checkpoint_every: K} or {selective: [module, ...]}";

Form every_form() {
  const Range row{1, 10'000, "layers of one pipeline rank"};
  return {.type = Type::either,
          .forms = {{.type = Type::whole, .range = row},
                    {.type = Type::list,
                     .range = {1, 8, "rows inside of rows"},
                     .forms = {{.type = Type::whole, .range = row}}}}};
}

Form one_form() {
  auto words = names_of(all_words<RecomputeKind>());
  words.push_back(by_search);
  return {
      .type = Type::either,
      .forms = {
          {.type = Type::choice, .choices = std::move(words)},
          map_of({{"full_layers",
                   "Layers that are recomputed whole: of each pipeline rank, or of this "
                   "virtual stage",
                   "",
                   {.type = Type::whole, .range = {0, 10'000, "layers of one pipeline rank"}}},
                  {"checkpoint_every",
                   "Layers that are recomputed whole as one row, of which the first input alone "
                   "is kept; a list: and shorter rows inside, the longest first",
                   "1", every_form()},
                  {"selective", "Modules that are recomputed", "",
                   words_form(all_words<Module>())}})}};
}

Form recompute_form() {
  Form form = one_form();
  form.forms.push_back({.type = Type::list, .range = {1, 10'000, ""}, .forms = {one_form()}});
  return form;
}

Recompute read_word(const Cursor& at) {
  if (at.value().text != by_search) return {meaning(all_words<RecomputeKind>(), at.value()), 0, {}};
  at.unsupported(
      "optimal is chosen by `stepcast search`; run that, or write none, selective, full, per-op, " +
      std::string(maps));
  return {};
}

std::vector<std::int64_t> read_every(const Cursor& at) {
  std::vector<std::int64_t> every;
  if (at.value().kind != Value::Kind::list)
    every.push_back(to_whole(at.value()));
  else
    for (const auto& item : at.value().items) every.push_back(to_whole(item));
  for (std::size_t i = 1; i < every.size(); ++i)
    if (every[i] >= every[i - 1] || every[i - 1] % every[i] != 0) {
      at.complain(
          "rows lie inside of longer ones: expected numbers that divide the one before, "
          "such as [8, 2]");
      break;
    }
  return every == std::vector<std::int64_t>{1} ? std::vector<std::int64_t>{} : every;
}

Recompute read_recompute_map(const Cursor& at) {
  const auto layers = at.find("full_layers"), rows = at.find("checkpoint_every"),
             chosen = at.find("selective");
  if ((layers || rows) == chosen.has_value()) {
    at.complain("expected one of " + std::string(maps));
    return {};
  }
  if (!chosen)
    return {layers ? RecomputeKind::full_layers : RecomputeKind::full,
            layers ? to_whole(layers->value()) : 0,
            {},
            rows ? read_every(*rows) : std::vector<std::int64_t>{}};
  if (auto named = values_named(all_words<Module>(), *chosen);
      named != std::vector{Module::core_attn})
    return {RecomputeKind::modules, 0, std::move(named)};
  return {RecomputeKind::selective, 0, {}};
}

Recompute read_one(const Cursor& at) {
  return at.value().kind == Value::Kind::map ? read_recompute_map(at) : read_word(at);
}

void read_recompute(Plan& plan, const Cursor& at) {
  if (!check(recompute_form(), at)) return;
  if (at.value().kind != Value::Kind::list) {
    plan.recompute = read_one(at);
    return;
  }
  for (std::size_t i = 0; i < at.value().items.size(); ++i)
    plan.recompute_of_stage.push_back(read_one(at.item(i)));
}

// Shows one number of layers as itself, several as a list.
Value show_every(const std::vector<std::int64_t>& every) {
  return every.size() == 1 ? shown_whole(every.front()) : shown_list(every, shown_whole);
}

Value show_one(const Recompute& recompute) {
  Value map;
  if (recompute.kind == RecomputeKind::modules)
    show_key(map, "selective", shown_words(recompute.modules));
  if (recompute.kind == RecomputeKind::full_layers)
    show_key(map, "full_layers", shown_whole(recompute.layers));
  if (!recompute.every.empty())  // of layers that are recomputed whole
    show_key(map, "checkpoint_every", show_every(recompute.every));
  return map.kind == Value::Kind::map ? map : shown_text(units::word(recompute.kind));
}

std::optional<Value> show_recompute(const Plan& plan) {
  if (plan.recompute_of_stage.empty()) return show_one(plan.recompute);
  return shown_list(plan.recompute_of_stage, show_one);
}

// --- layers: [{from, to, recompute, tensor, data, zero}]

Form layer_form() {
  const Range index{0, 9'999, "layers are counted from 0"};
  const Range degree{1, 1e5, "ranks that divide these layers"};
  return map_of(
      {{"from", "First of these layers, counted from 0", "", {.type = Type::whole, .range = index}},
       {"to", "Last of these layers", "", {.type = Type::whole, .range = index}},
       {"recompute", "What is recomputed of each of them", "as the plan's", one_form()},
       {"tensor",
        "Tensor-parallel degree of these layers, a divisor of the plan's: its groups fall into "
        "smaller ones that share out the samples of a microbatch",
        "the plan's",
        {.type = Type::whole, .range = degree}},
       {"data",
        "Replicas of these layers: data x tensor of the plan / tensor of these layers",
        "follows",
        {.type = Type::whole, .range = degree}},
       {"zero",
        "ZeRO stage of these layers: the plan's",
        "the plan's",
        {.type = Type::whole, .range = {0, 3, "ZeRO stages"}}}});
}

Form recompute_layers_form() {
  return {.type = Type::list, .range = {0, 10'000, ""}, .forms = {layer_form()}};
}

void read_layers(Plan& plan, const Cursor& at) {
  if (!check(recompute_layers_form(), at)) return;
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto item = at.item(i);
    const auto from = item.find("from"), to = item.find("to"), chosen = item.find("recompute"),
               tensor = item.find("tensor");
    if (!from || !to || !(chosen || tensor)) {
      item.complain(
          "expected from, to, and recompute or tensor, such as {from: 0, to: 3, recompute: full}");
      continue;
    }
    strategies::LayerStrategy range{to_whole(from->value()), to_whole(to->value()), {}, {}};
    if (chosen) range.recompute = read_one(*chosen);
    if (range.recompute && range.recompute->kind == RecomputeKind::full_layers)
      chosen->complain("full_layers counts layers, and these are counted already; write full");
    if (tensor) range.tensor = to_whole(tensor->value());
    if (const auto data = item.find("data")) range.data = to_whole(data->value());
    if (const auto zero = item.find("zero")) range.zero = static_cast<int>(to_whole(zero->value()));
    if (range.tensor && !plan.layer_tensor) plan.layer_tensor = range.tensor;
    if (range.tensor != plan.layer_tensor && range.tensor)
      tensor->complain("layers have one degree besides the plan's, here " +
                       std::to_string(*plan.layer_tensor) + " and " +
                       std::to_string(*range.tensor) + "; write the same for all that differ");
    plan.layers.push_back(std::move(range));
  }
}

Value show_range(const strategies::LayerStrategy& range) {
  Value map;
  show_key(map, "from", shown_whole(range.from));
  show_key(map, "to", shown_whole(range.to));
  if (range.recompute) show_key(map, "recompute", show_one(*range.recompute));
  if (range.tensor) show_key(map, "tensor", shown_whole(*range.tensor));
  if (range.data) show_key(map, "data", shown_whole(*range.data));
  if (range.zero) show_key(map, "zero", shown_whole(*range.zero));
  return map;
}

std::optional<Value> show_layers(const Plan& plan) {
  if (plan.layers.empty()) return {};
  return shown_list(plan.layers, show_range);
}

}  // namespace

Form recompute_ways_form() { return recompute_form(); }

RecomputeWays read_recompute_ways(const Cursor& at) {
  const bool single = at.value().kind != Value::Kind::list;
  std::vector<Recompute> ways;
  bool all = false;
  for (std::size_t i = 0; i < (single ? 1 : at.value().items.size()); ++i) {
    const auto one = single ? at : at.item(i);
    if (one.value().text == by_search) {
      all = true;
      continue;
    }
    ways.push_back(read_one(one));
    if (ways.back().kind == RecomputeKind::full_layers)
      one.complain("full_layers counts layers, and a search chooses layer by layer; write full");
  }
  if (!all) return {std::move(ways)};
  std::erase_if(ways, [](const Recompute& one) {
    return one.kind != RecomputeKind::per_op && one.every.empty();
  });
  return {{}, std::move(ways)};
}

Key<Plan> layers_key() {
  return {{"layers", "Layers with a choice of their own, whatever `recompute` says", "all alike",
           recompute_layers_form()},
          read_layers,
          show_layers};
}

Key<Plan> recompute_key() {
  return {{"recompute",
           "What is dropped after the forward pass and computed again; a list: of each virtual "
           "stage, in model order",
           "none", recompute_form()},
          read_recompute,
          show_recompute};
}

}  // namespace scenarios
