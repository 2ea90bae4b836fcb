// SPDX-License-Identifier: Apache-2.0
#include "plans/admissible.hpp"

#include <algorithm>
#include <numeric>

#include "model/layer.hpp"
#include "plans/shard_groups.hpp"
#include "plans/words.hpp"
#include "units/text.hpp"

namespace strategies {

namespace {

// The divisors of `of` nearest to `wanted`, in words.
std::string divisors_near(std::int64_t wanted, std::int64_t of) {
  std::int64_t below = 1, above = of;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(of, 65'536); ++d) {
    if (of % d != 0) continue;
    if (d < wanted) below = d;
    if (d > wanted && d < above) above = d;
  }
  return below == above ? digits(below) : digits(below) + " or " + digits(above);
}

// Returns the number that the expert degree must divide besides the experts: the ranks of a stage
// over those that share each expert. Returns 0 where that is no whole number, or where some degree
// is still open, so that the degrees do not make the cluster's GPUs.
std::int64_t ranks_for_experts(const Case& c) {
  const auto& plan = c.plan;
  const auto ranks = plan.tensor * plan.context * plan.data;
  const bool known = ranks * plan.pipeline == c.cluster.gpus;
  return known && ranks % expert_tensor(plan) == 0 ? ranks / expert_tensor(plan) : 0;
}
// Returns, in words, the possible expert degrees that are nearest to that of the plan.
std::string expert_degrees(const Case& c) {
  return divisors_near(c.plan.expert, std::gcd(c.model.moe->experts, ranks_for_experts(c)));
}

bool divides_either(std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; }
bool whole_heads(const Case& c) { return c.model.heads % c.plan.tensor == 0; }
std::int64_t shared_width(const Case& c) {
  return c.model.moe ? c.model.moe->shared_experts * c.model.moe->shared_ffn : 0;
}
bool some_dense(const Case& c) { return model::has_part(c.model, model::LinearPart::mlp); }

}  // namespace

bool all_hold(std::span<const Condition> conditions, const Case& of) {
  return std::ranges::all_of(conditions, [&](const Condition& one) { return one.holds(of); });
}

std::span<const Condition> on_tensor() {
  static const std::vector<Condition> all{
      {{"plan.tensor", "model.heads", "model.kv_heads"},
       {"plan.tensor"},
       whole_heads,
       [](const Case& c) {
         return digits(c.plan.tensor) + " does not divide " + digits(c.model.heads) +
                " heads: each rank computes whole heads; write a divisor, such as " +
                divisors_near(c.plan.tensor, c.model.heads);
       }},
      {{"plan.tensor", "model.heads", "model.kv_heads"},
       {"plan.tensor"},
       [](const Case& c) {
         return !whole_heads(c) || divides_either(c.model.kv_heads, c.plan.tensor);
       },
       [](const Case& c) {
         return digits(c.plan.tensor) + " and " + digits(c.model.kv_heads) +
                " kv_heads do not divide each other: key and value heads are split or "
                "copied whole; write a divisor or a multiple";
       }},
      {{"plan.tensor", "model.heads", "model.kv_heads", "model.ffn", "model.hidden",
        "model.activation", "model.moe"},
       {"plan.tensor"},
       [](const Case& c) { return !some_dense(c) || c.model.ffn % c.plan.tensor == 0; },
       [](const Case& c) {
         return digits(c.plan.tensor) + " does not divide ffn " + digits(c.model.ffn) +
                ": each rank computes an equal share of the MLP";
       }},
      {{"plan.tensor", "model.heads", "model.kv_heads", "model.ffn", "model.hidden",
        "model.activation", "model.moe"},
       {"plan.tensor"},
       [](const Case& c) { return shared_width(c) % c.plan.tensor == 0; },
       [](const Case& c) {
         return digits(c.plan.tensor) + " does not divide the width of the shared experts, " +
                digits(c.model.moe->shared_experts) + " x " + digits(c.model.moe->shared_ffn) +
                ": each rank computes an equal share of them";
       }}};
  return all;
}

namespace {

// Whether a rank takes one piece from each end of the sequence, because early tokens attend to
// little.
bool is_balanced(const Plan& plan) { return plan.context_method != ContextMethod::ulysses; }
std::int64_t pieces_of(const Plan& plan) { return plan.context * (is_balanced(plan) ? 2 : 1); }
bool whole_pieces(const Case& c) {
  return c.plan.context == 1 || c.training.sequence_length % pieces_of(c.plan) == 0;
}

}  // namespace

std::span<const Condition> on_context() {
  static const std::vector<Condition> all{
      {{"plan.context", "plan.context_method", "training.sequence_length"},
       {"plan.context"},
       whole_pieces,
       [](const Case& c) {
         const auto length = c.training.sequence_length, pieces = pieces_of(c.plan);
         const auto lower = length / pieces * pieces;
         return digits(c.plan.context) + " cuts a sequence into " + digits(pieces) + " pieces" +
                (is_balanced(c.plan) ? ", two for each rank so that causal work is even" : "") +
                ", but sequence_length is " + digits(length) + "; write another degree, or " +
                (lower > 0 ? digits(lower) + " or " : "") + digits(lower + pieces) + " tokens";
       }}};
  return all;
}

std::span<const Condition> on_sequence_parts() {
  static const std::vector<Condition> all{
      {{"plan.context", "plan.context_method", "training.sequence_length", "plan.tensor",
        "plan.sequence_parallel"},
       {"plan.sequence_parallel"},
       [](const Case& c) {
         return !whole_pieces(c) || !c.plan.sequence_parallel || c.plan.tensor == 1 ||
                c.training.sequence_length / c.plan.context % c.plan.tensor == 0;
       },
       [](const Case& c) {
         const auto length = c.training.sequence_length;
         return "tensor " + digits(c.plan.tensor) + " does not divide " +
                (c.plan.context > 1 ? "the " + digits(length / c.plan.context) +
                                          " tokens of a context-parallel rank"
                                    : "sequence_length " + digits(length)) +
                ": each rank keeps an equal share of the sequence";
       }}};
  return all;
}

// Ulysses turns parts of the sequence into parts of the heads.
std::span<const Condition> on_ulysses() {
  static const std::vector<Condition> all{
      {{"plan.tensor", "plan.context", "model.heads"},
       {"plan.context"},
       [](const Case& c) {
         return is_balanced(c.plan) || c.plan.context == 1 ||
                c.model.heads % (c.plan.context * c.plan.tensor) == 0;
       },
       [](const Case& c) {
         return digits(c.plan.context) + " x tensor " + digits(c.plan.tensor) + " = " +
                digits(c.plan.context * c.plan.tensor) + " does not divide " +
                digits(c.model.heads) +
                " heads: with ulysses each rank attends with whole heads; write a smaller "
                "degree, or context_method: ring";
       }}};
  return all;
}

namespace {

const Condition dense_has_no_experts{
    {"model.moe", "plan.expert"},
    {"plan.expert"},
    [](const Case& c) { return c.model.moe || c.plan.expert == 1; },
    [](const Case& c) {
      return digits(c.plan.expert) + " for a dense model: there are no experts to spread; write 1";
    }};
const Condition dense_divides_no_experts{
    {"model.moe", "plan.expert_tensor", "plan.tensor"},
    {"plan.expert_tensor"},
    [](const Case& c) { return c.model.moe || expert_tensor(c.plan) == c.plan.tensor; },
    [](const Case& c) {
      return digits(*c.plan.expert_tensor) +
             " for a dense model: there are no experts to divide; leave it out";
    }};
const Condition fullest_rank_is_possible{
    {"model.moe", "plan.expert"},
    {"model.moe"},
    [](const Case& c) {
      return !c.model.moe || c.plan.expert == 1 ||
             c.model.moe->imbalance <= static_cast<double>(c.plan.expert);
    },
    [](const Case& c) {
      return "imbalance " + units::plain(c.model.moe->imbalance) + " with expert " +
             digits(c.plan.expert) + ": a rank that had all tokens would have " +
             digits(c.plan.expert) + " times the mean; write no more than that";
    }};
const Condition whole_experts{
    {"model.moe", "plan.expert"},
    {"plan.expert"},
    [](const Case& c) { return !c.model.moe || c.model.moe->experts % c.plan.expert == 0; },
    [](const Case& c) {
      return digits(c.plan.expert) + " does not divide " + digits(c.model.moe->experts) +
             " experts: each rank holds whole experts; write a divisor, such as " +
             expert_degrees(c);
    }};
const Condition equal_parts_of_experts{
    {"model.moe", "plan.expert_tensor"},
    {"plan.expert_tensor"},
    [](const Case& c) {
      return !c.model.moe || c.model.moe->expert_ffn % expert_tensor(c.plan) == 0;
    },
    [](const Case& c) {
      return digits(expert_tensor(c.plan)) + " does not divide expert_ffn " +
             digits(c.model.moe->expert_ffn) +
             ": each rank computes an equal share of an expert; write a divisor, such as " +
             divisors_near(expert_tensor(c.plan), c.model.moe->expert_ffn);
    }};

}  // namespace

std::span<const Condition> on_experts() {
  static const std::vector<Condition> all{dense_has_no_experts, dense_divides_no_experts,
                                          fullest_rank_is_possible, whole_experts,
                                          equal_parts_of_experts};
  return all;
}

std::span<const Condition> on_expert_rows() {
  static const std::vector<Condition> all{
      {{"plan.tensor", "plan.sequence_parallel", "model.moe"},
       {"plan.sequence_parallel", "plan.tensor"},
       [](const Case& c) { return !c.model.moe || c.plan.tensor == 1 || c.plan.sequence_parallel; },
       [](const Case& c) {
         return "a mixture of experts divided by tensor " + digits(c.plan.tensor) +
                " needs sequence parallelism: each rank sends tokens of its own to their "
                "experts; write sequence_parallel: true";
       }}};
  return all;
}

std::span<const Condition> on_expert_ranks() {
  static const std::vector<Condition> all{
      {{"plan.expert", "plan.expert_tensor", "plan.tensor", "model.moe"},
       {"plan.expert", "plan.expert_tensor"},
       [](const Case& c) {
         return !c.model.moe || c.plan.tensor * c.plan.context * c.plan.data %
                                        (c.plan.expert * expert_tensor(c.plan)) ==
                                    0;
       },
       [](const Case& c) {
         const auto& plan = c.plan;
         const auto tensor = expert_tensor(plan);
         return "expert " + digits(plan.expert) + " x expert_tensor " + digits(tensor) + " = " +
                digits(plan.expert * tensor) + " does not divide tensor " + digits(plan.tensor) +
                " x context " + digits(plan.context) + " x data " + digits(plan.data) + " = " +
                digits(plan.tensor * plan.context * plan.data) +
                ": the experts of a stage are spread over its ranks; write " +
                (ranks_for_experts(c) > 0 ? "expert " + expert_degrees(c) : "smaller degrees");
       }}};
  return all;
}

namespace {

// Whether the plan shards something, over groups whose number of ranks it gives.
bool numbers_shards(const Case& c) {
  return c.plan.zero > 0 && c.plan.shard_group.extent == ShardGroup::Extent::ranks;
}

// Whether tensor-parallel groups fall into whole groups of layers; groups_fall_apart complains
// where they do not.
bool regroups_whole(const Case& c) {
  return !c.plan.layer_tensor || c.plan.tensor % *c.plan.layer_tensor == 0;
}

std::string on_uneven_nodes(const std::string& group, int least, int most) {
  return group + ", but some node has " + digits(most) +
         " ranks of a data-parallel group and another " + digits(least) +
         ": states are divided over as many ranks on every node; write all, or degrees that fill "
         "whole nodes alike";
}

const Condition whole_shard_groups{
    {"plan.zero", "plan.shard_group", "plan.data", "plan.context", "plan.schedule"},
    {"plan.shard_group"},
    [](const Case& c) {
      return !numbers_shards(c) || !regroups_whole(c) ||
             dense_sharers(c.plan) % c.plan.shard_group.ranks == 0;
    },
    [](const Case& c) {
      const auto ranks = c.plan.shard_group.ranks, sharers = dense_sharers(c.plan);
      const bool mirrored = sharers > c.plan.data * c.plan.context;
      return digits(ranks) + " does not divide data " + digits(c.plan.data) + " x context " +
             digits(c.plan.context) + (mirrored ? " x 2 copies = " : " = ") + digits(sharers) +
             ": equally many ranks share each copy; write a divisor, such as " +
             divisors_near(ranks, sharers);
    }};

const Condition shard_groups_fill_nodes{
    {"plan.zero", "plan.shard_group", "plan.rank_order", "cluster.node"},
    {"plan.shard_group"},
    [](const Case& c) {
      return !numbers_shards(c) || !regroups_whole(c) || !whole_shard_groups.holds(c) ||
             groups_fill_nodes(c.plan, c.plan.shard_group.ranks, c.cluster);
    },
    [](const Case& c) {
      const auto [least, most] = sharers_on_nodes(c.plan, c.cluster);
      if (least != most) return on_uneven_nodes(digits(c.plan.shard_group.ranks), least, most);
      return digits(c.plan.shard_group.ranks) + ", but a node holds " + digits(most) +
             " ranks of a data-parallel group: a shard group is an equal part of a node's ranks, "
             "or all those of several nodes; write a divisor or a multiple of " +
             digits(most);
    }};

const Condition shard_groups_hold_all_experts{
    {"plan.zero", "plan.shard_group", "plan.rank_order", "plan.tensor", "plan.expert",
     "plan.expert_tensor", "cluster.node"},
    {"plan.shard_group"},
    [](const Case& c) {
      return c.plan.zero == 0 || !regroups_whole(c) || c.plan.layer_tensor ||
             !whole_shard_groups.holds(c) || groups_hold_all_parts(c.plan, c.cluster);
    },
    [](const Case& c) {
      const auto ranks =
          numbers_shards(c) ? c.plan.shard_group.ranks : sharers_on_nodes(c.plan, c.cluster).least;
      const auto parts = c.plan.expert * expert_tensor(c.plan);
      return (numbers_shards(c) ? "" : "node, ") + digits(ranks) + " ranks x tensor " +
             digits(c.plan.tensor) + " = " + digits(ranks * c.plan.tensor) +
             " GPUs hold no whole number of sets of experts, each on expert " +
             digits(c.plan.expert) + " x expert_tensor " + digits(expert_tensor(c.plan)) + " = " +
             digits(parts) +
             ": each group keeps a copy of all experts; write more ranks, all, or "
             "a smaller expert degree";
    }};

}  // namespace

std::span<const Condition> on_shards() {
  static const std::vector<Condition> all{
      {{"plan.zero", "plan.shard_group", "plan.rank_order", "cluster.node"},
       {"plan.shard_group"},
       [](const Case& c) {
         return c.plan.zero == 0 || !regroups_whole(c) || c.plan.shard_group != ShardGroup::node ||
                shards_alike(c.plan, c.cluster);
       },
       [](const Case& c) {
         const auto [least, most] = sharers_on_nodes(c.plan, c.cluster);
         return on_uneven_nodes("node", least, most);
       }},
      whole_shard_groups,
      shard_groups_fill_nodes,
      shard_groups_hold_all_experts};
  return all;
}

namespace {

// Whether groups of the plan's tensor degree fall into whole smaller ones.
bool falls_apart(const Plan& plan) {
  return *plan.layer_tensor < plan.tensor && plan.tensor % *plan.layer_tensor == 0;
}
bool regroups(const Case& c) { return c.plan.layer_tensor && falls_apart(c.plan); }
std::string some_layers(const Case& c) {
  return "tensor " + digits(*c.plan.layer_tensor) + " of some layers";
}
std::int64_t smaller_groups(const Case& c) { return c.plan.tensor / *c.plan.layer_tensor; }

const Condition experts_have_their_own{
    {"plan.layers", "plan.tensor", "model.moe"},
    {"plan.layers"},
    [](const Case& c) { return !c.plan.layer_tensor || !c.model.moe; },
    [](const Case& c) {
      return some_layers(c) +
             " of a model with experts: these have degrees of their own; write plan.expert and "
             "plan.expert_tensor";
    }};
const Condition groups_fall_apart{
    {"plan.layers", "plan.tensor"},
    {"plan.layers"},
    [](const Case& c) { return !c.plan.layer_tensor || falls_apart(c.plan); },
    [](const Case& c) {
      const auto t = digits(c.plan.tensor);
      return some_layers(c) + (*c.plan.layer_tensor == c.plan.tensor
                                   ? " is the plan's own: leave it out"
                                   : ": the groups of the plan's tensor " + t +
                                         " fall into smaller ones; write a divisor of " + t);
    }};
const Condition samples_are_shared_out{
    {"plan.layers", "plan.tensor", "plan.micro_batch"},
    {"plan.layers"},
    [](const Case& c) { return !regroups(c) || c.plan.micro_batch % smaller_groups(c) == 0; },
    [](const Case& c) {
      const auto groups = digits(smaller_groups(c));
      return some_layers(c) + ": " + groups +
             " groups share out the samples of a microbatch, but micro_batch is " +
             digits(c.plan.micro_batch) + "; write a multiple of " + groups;
    }};
const Condition heads_are_split_or_copied{
    {"plan.layers", "plan.tensor", "model.kv_heads"},
    {"plan.layers"},
    [](const Case& c) {
      return !regroups(c) || divides_either(c.model.kv_heads, *c.plan.layer_tensor);
    },
    [](const Case& c) {
      return some_layers(c) + ": " + digits(*c.plan.layer_tensor) + " and " +
             digits(c.model.kv_heads) +
             " kv_heads do not divide each other: key and value heads are split or copied whole";
    }};
const Condition groups_lie_in_nodes{
    {"plan.layers", "plan.tensor", "cluster.node", "plan.rank_order"},
    {"plan.layers"},
    [](const Case& c) {
      return !regroups(c) || (c.plan.rank_order.front() == Degree::tensor &&
                              c.cluster.node.gpus % c.plan.tensor == 0);
    },
    [](const Case& c) {
      return some_layers(c) + ": groups of the plan's tensor " + digits(c.plan.tensor) +
             " must lie inside of nodes; write tp first in rank_order, and a degree that divides "
             "the " +
             digits(c.cluster.node.gpus) + " GPUs of a node";
    }};

}  // namespace

// The samples of a microbatch are dealt out to the smaller groups, inside of a node.
std::span<const Condition> on_regrouping() {
  static const std::vector<Condition> all{experts_have_their_own, groups_fall_apart,
                                          samples_are_shared_out, heads_are_split_or_copied,
                                          groups_lie_in_nodes};
  return all;
}

}  // namespace strategies
