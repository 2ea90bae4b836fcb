// SPDX-License-Identifier: Apache-2.0
#include "scenarios/plan_keys.hpp"

#include <algorithm>

#include "plans/words.hpp"

namespace scenarios {
namespace {

using strategies::Plan;

// --- rank_order: tp-cp-ep-dp-pp

void read_rank_order(Plan& plan, const Cursor& at) {
  using strategies::Degree;
  constexpr auto names = words_of(Degree{});
  std::vector<Degree> order;
  const std::string_view text = at.value().text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('-', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const auto found = std::ranges::find(names, word, &Named<Degree>::name);
    if (found != names.end() && std::ranges::find(order, found->value) == order.end())
      order.push_back(found->value);
    else
      order.resize(0), begin = text.size();
    begin = std::max(begin, end) + 1;
  }
  if (order.size() == names.size())
    plan.rank_order = order;
  else
    at.complain("'" + std::string(text) +
                "' is no order of ranks; expected tp, cp, ep, dp and pp, each once, innermost "
                "first, such as 'tp-cp-ep-dp-pp'");
}

std::optional<Value> show_rank_order(const Plan& plan) {
  return shown_text(strategies::word(plan.rank_order));
}

// --- bucket: a size, or {reduce, gather}

Form bucket_form() {
  const Form size{.type = Type::bytes, .range = {1, 1e15, "a buffer in device memory"}};
  return {
      .type = Type::either,
      .forms = {size, map_of({{"reduce", "Bucket of gradient reduction", "of the software", size},
                              {"gather", "Bucket of parameter gathering", "as reduce", size}})}};
}

void read_bucket(Plan& plan, const Cursor& at) {
  if (!check(bucket_form(), at)) return;
  if (at.value().kind == Value::Kind::scalar) plan.bucket = units::parse_bytes(at.value().text);
  if (const auto size = at.find("reduce")) plan.bucket = units::parse_bytes(size->value().text);
  if (const auto size = at.find("gather"))
    plan.gather_bucket = units::parse_bytes(size->value().text);
}

std::optional<Value> show_bucket(const Plan& plan) {
  std::optional<Value> reduce;
  if (plan.bucket && plan.bucket->value != 0) reduce = shown_count(plan.bucket->value);
  if (!plan.gather_bucket) return reduce;
  Value both;
  if (reduce) show_key(both, "reduce", *reduce);
  show_key(both, "gather", shown_count(plan.gather_bucket->value));
  return both;
}

// --- shard_group: all, node or N

Form shard_group_form() {
  return {.type = Type::either,
          .forms = {{.type = Type::choice, .choices = {"all", "node"}},
                    {.type = Type::whole, .range = {1, 1'000'000, "ranks that share one copy"}}}};
}

void read_shard_group(Plan& plan, const Cursor& at) {
  using strategies::ShardGroup;
  if (!check(shard_group_form(), at)) return;
  const auto& text = at.value().text;
  plan.shard_group = text == "all"    ? ShardGroup::all
                     : text == "node" ? ShardGroup::node
                                      : ShardGroup::of(to_whole(at.value()));
}

std::optional<Value> show_shard_group(const Plan& plan) {
  const auto& group = plan.shard_group;
  return group.extent == strategies::ShardGroup::Extent::ranks ? shown_whole(group.ranks)
                                                               : shown_text(to_text(group));
}

// --- wrap: layer, {layers: N} or model

Form wrap_form() {
  return {.type = Type::either,
          .forms = {
              {.type = Type::choice, .choices = {"layer", "model"}},
              map_of({{"layers",
                       "Layers gathered at once",
                       "1",
                       {.type = Type::whole, .range = {1, 10'000, "layers gathered at once"}}}})}};
}

void read_wrap(Plan& plan, const Cursor& at) {
  if (!check(wrap_form(), at)) return;
  plan.wrap.layers = at.value().text == "model" ? 0 : 1;
  if (const auto layers = at.find("layers")) plan.wrap.layers = to_whole(layers->value());
}

std::optional<Value> show_wrap(const Plan& plan) {
  const auto layers = plan.wrap.layers;
  if (layers <= 1) return shown_text(layers == 0 ? "model" : "layer");
  Value map;
  show_key(map, "layers", shown_whole(layers));
  return map;
}

// --- layers_per_stage

Form layers_form() {
  return {.type = Type::list,
          .range = {1, 10'000, ""},
          .forms = {{.type = Type::whole, .range = {0, 10'000, "layers of one stage"}}}};
}

void read_layers_per_stage(Plan& plan, const Cursor& at) {
  if (!check(layers_form(), at)) return;
  plan.layers_per_stage.clear();
  for (const auto& item : at.value().items) plan.layers_per_stage.push_back(to_whole(item));
}

std::optional<Value> show_layers_per_stage(const Plan& plan) {
  if (plan.layers_per_stage.empty()) return {};
  return shown_list(plan.layers_per_stage, shown_whole);
}

}  // namespace

Key<Plan> rank_order_key() {
  return {{"rank_order",
           "Placement of ranks, innermost degree first",
           "tp-cp-ep-dp-pp",
           {.type = Type::text}},
          read_rank_order,
          show_rank_order};
}

Key<Plan> bucket_key() {
  return {{"bucket", "Gradient bucket, or those of reduction and gathering", "of the software",
           bucket_form()},
          read_bucket,
          show_bucket};
}

Key<Plan> shard_group_key() {
  return {
      {"shard_group", "Ranks that share one copy of what zero divides", "all", shard_group_form()},
      read_shard_group,
      show_shard_group};
}

Key<Plan> wrap_key() {
  return {{"wrap", "With zero 3: what is gathered at once", "layer", wrap_form()},
          read_wrap,
          show_wrap};
}

Key<Plan> layers_per_stage_key() {
  return {{"layers_per_stage", "Transformer layers of each virtual stage in model order",
           "as even as possible", layers_form()},
          read_layers_per_stage,
          show_layers_per_stage};
}

}  // namespace scenarios
