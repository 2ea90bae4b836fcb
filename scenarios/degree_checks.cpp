// SPDX-License-Identifier: Apache-2.0
// The degrees of a plan: what they divide, and what they multiply to.
#include <algorithm>
#include <string>
#include <vector>

#include "plans/shard_groups.hpp"
#include "scenarios/form.hpp"
#include "scenarios/judge.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::ContextMethod;

// The divisors of both numbers nearest to `wanted`, in words.
std::string divisors_near(std::int64_t wanted, std::int64_t of) {
  std::int64_t below = 1, above = of;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(of, 65'536); ++d) {
    if (of % d != 0) continue;
    if (d < wanted) below = d;
    if (d > wanted && d < above) above = d;
  }
  return below == above ? digits(below) : digits(below) + " or " + digits(above);
}

void check_tensor(const Scenario& s, const Judge& judge) {
  const auto t = s.plan.tensor;
  if (!judge.knows({"plan.tensor", "model.heads", "model.kv_heads"})) return;
  if (s.model.heads % t != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " does not divide " + digits(s.model.heads) +
                       " heads: each rank computes whole heads; write a divisor, such as " +
                       divisors_near(t, s.model.heads));
  else if (s.model.kv_heads % t != 0 && t % s.model.kv_heads != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " and " + digits(s.model.kv_heads) +
                       " kv_heads do not divide each other: key and value heads are split or "
                       "copied whole; write a divisor or a multiple");
  if (!judge.knows({"model.ffn", "model.hidden", "model.activation", "model.moe"})) return;
  const auto& moe = s.model.moe;
  const bool some_dense = !moe || moe->first_dense_layers > 0 || moe->every > 1;
  if (some_dense && s.model.ffn % t != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " does not divide ffn " + digits(s.model.ffn) +
                       ": each rank computes an equal share of the MLP");
  if (moe && moe->shared_experts * moe->shared_ffn % t != 0)
    judge.complain("plan", "tensor",
                   digits(t) + " does not divide the width of the shared experts, " +
                       digits(moe->shared_experts) + " x " + digits(moe->shared_ffn) +
                       ": each rank computes an equal share of them");
}

// The sequence is cut for context parallelism, and each part again for sequence parallelism.
void check_sequence(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  const auto length = s.training.sequence_length;
  if (!judge.knows({"plan.context", "plan.context_method", "training.sequence_length"})) return;
  // Early tokens attend to little: a rank takes one piece from each end.
  const bool balanced = plan.context_method != ContextMethod::ulysses;
  const auto pieces = plan.context * (balanced ? 2 : 1);
  if (plan.context > 1 && length % pieces != 0) {
    const auto lower = length / pieces * pieces;
    judge.complain("plan", "context",
                   digits(plan.context) + " cuts a sequence into " + digits(pieces) + " pieces" +
                       (balanced ? ", two for each rank so that causal work is even" : "") +
                       ", but sequence_length is " + digits(length) +
                       "; write another degree, or " + (lower > 0 ? digits(lower) + " or " : "") +
                       digits(lower + pieces) + " tokens");
    return;
  }
  if (!judge.knows({"plan.tensor", "plan.sequence_parallel"})) return;
  if (plan.sequence_parallel && plan.tensor > 1 && length / plan.context % plan.tensor != 0)
    judge.complain("plan", "sequence_parallel",
                   "tensor " + digits(plan.tensor) + " does not divide " +
                       (plan.context > 1 ? "the " + digits(length / plan.context) +
                                               " tokens of a context-parallel rank"
                                         : "sequence_length " + digits(length)) +
                       ": each rank keeps an equal share of the sequence");
}

// Ulysses turns parts of the sequence into parts of the heads.
void check_ulysses(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (plan.context_method != ContextMethod::ulysses || plan.context == 1) return;
  if (!judge.knows({"plan.tensor", "plan.context", "model.heads"})) return;
  const auto parts = plan.context * plan.tensor;
  if (s.model.heads % parts != 0)
    judge.complain("plan", "context",
                   digits(plan.context) + " x tensor " + digits(plan.tensor) + " = " +
                       digits(parts) + " does not divide " + digits(s.model.heads) +
                       " heads: with ulysses each rank attends with whole heads; write a smaller "
                       "degree, or context_method: ring");
}

// The degrees make up the cluster; false if what follows would be nonsense.
bool check_cluster(const Scenario& s, bool data_given, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.tensor", "plan.pipeline", "plan.data", "plan.context", "cluster"}))
    return false;
  const auto gpus = s.cluster.gpus, held = plan.tensor * plan.context * plan.pipeline;
  const std::string blamed = judge.given("plan", "pipeline")  ? "pipeline"
                             : judge.given("plan", "context") ? "context"
                                                              : "tensor";
  const auto product = "tensor " + digits(plan.tensor) +
                       (plan.context > 1 ? " x context " + digits(plan.context) : "") +
                       " x pipeline " + digits(plan.pipeline);
  if (gpus % held != 0) {
    judge.complain("plan", blamed,
                   product + " = " + digits(held) + " does not divide " + digits(gpus) +
                       " GPUs: every replica takes that many");
    return false;
  }
  if (data_given && held * plan.data != gpus) {
    judge.complain("plan", "data",
                   product + " x data " + digits(plan.data) + " = " + digits(held * plan.data) +
                       ", but the cluster has " + digits(gpus) +
                       " GPUs; write data: " + digits(gpus / held) + " or leave it out");
    return false;
  }
  return true;
}

void check_experts(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"model.moe"})) return;
  const bool knows_tensor = judge.knows({"plan.expert_tensor"});
  if (!s.model.moe) {
    if (plan.expert > 1 && judge.knows({"plan.expert"}))
      judge.complain(
          "plan", "expert",
          digits(plan.expert) + " for a dense model: there are no experts to spread; write 1");
    if (knows_tensor && plan.expert_tensor.value_or(plan.tensor) != plan.tensor &&
        judge.knows({"plan.tensor"}))
      judge.complain("plan", "expert_tensor",
                     digits(*plan.expert_tensor) +
                         " for a dense model: there are no experts to divide; leave it out");
    return;
  }
  const auto experts = s.model.moe->experts, width = s.model.moe->expert_ffn;
  if (const double fullest = s.model.moe->imbalance;
      judge.knows({"plan.expert"}) && plan.expert > 1 && fullest > static_cast<double>(plan.expert))
    judge.complain("model", "moe",
                   "imbalance " + plain(fullest) + " with expert " + digits(plan.expert) +
                       ": a rank that had all tokens would have " + digits(plan.expert) +
                       " times the mean; write no more than that");
  const auto tensor = plan.expert_tensor.value_or(plan.tensor);
  if (experts % plan.expert != 0 && judge.knows({"plan.expert"}))
    judge.complain("plan", "expert",
                   digits(plan.expert) + " does not divide " + digits(experts) +
                       " experts: each rank holds whole experts; write a divisor, such as " +
                       divisors_near(plan.expert, experts));
  if (width % tensor != 0 && knows_tensor)
    judge.complain("plan", "expert_tensor",
                   digits(tensor) + " does not divide expert_ffn " + digits(width) +
                       ": each rank computes an equal share of an expert; write a divisor, such "
                       "as " +
                       divisors_near(tensor, width));
}

// Each tensor-parallel rank sends tokens of its own to their experts.
void check_expert_rows(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.tensor", "plan.sequence_parallel", "model.moe"})) return;
  if (!s.model.moe || plan.tensor == 1 || plan.sequence_parallel) return;
  judge.complain("plan", judge.given("plan", "sequence_parallel") ? "sequence_parallel" : "tensor",
                 "a mixture of experts divided by tensor " + digits(plan.tensor) +
                     " needs sequence parallelism: each rank sends tokens of its own to their "
                     "experts; write sequence_parallel: true");
}

// The ranks of one pipeline stage, arranged anew for the experts.
void check_expert_ranks(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (!judge.knows({"plan.expert", "plan.expert_tensor", "plan.tensor", "model.moe"})) return;
  if (!s.model.moe) return;
  const auto tensor = plan.expert_tensor.value_or(plan.tensor);
  const auto ranks = plan.tensor * plan.context * plan.data;
  if (ranks % (plan.expert * tensor) == 0) return;
  judge.complain("plan", judge.given("plan", "expert") ? "expert" : "expert_tensor",
                 "expert " + digits(plan.expert) + " x expert_tensor " + digits(tensor) + " = " +
                     digits(plan.expert * tensor) + " does not divide tensor " +
                     digits(plan.tensor) + " x context " + digits(plan.context) + " x data " +
                     digits(plan.data) + " = " + digits(ranks) +
                     ": the experts of a stage are spread over its ranks; write smaller degrees");
}

void check_shard_group(const Scenario& s, const Judge& judge) {
  const auto& plan = s.plan;
  if (plan.zero == 0 || plan.shard_group != strategies::ShardGroup::node ||
      !judge.knows({"plan.zero", "plan.shard_group", "plan.rank_order", "cluster.node"}))
    return;
  if (strategies::shards_alike(plan, s.cluster)) return;
  const auto [least, most] = strategies::sharers_on_nodes(plan, s.cluster);
  judge.complain("plan", "shard_group",
                 "node, but some node has " + digits(most) +
                     " ranks of a data-parallel group and another " + digits(least) +
                     ": states are divided over as many ranks on every node; write all, or "
                     "degrees that fill whole nodes alike");
}

void check_batch(const Scenario& s, const Judge& judge) {
  if (!judge.knows({"plan.micro_batch", "training.global_batch"})) return;
  const auto step = s.plan.micro_batch * s.plan.data;
  const auto batch = s.training.global_batch;
  const auto product = "micro_batch " + digits(s.plan.micro_batch) + " x data " +
                       digits(s.plan.data) + " = " + digits(step);
  if (batch % step != 0) {
    const auto lower = batch / step * step;
    judge.complain("training", "global_batch",
                   digits(batch) + " is not divisible by " + product +
                       ": every replica runs whole microbatches; write " +
                       (lower > 0 ? digits(lower) + " or " : "") + digits(lower + step));
    return;
  }
  constexpr std::int64_t most = 1'000'000;
  if (batch / step > most)
    judge.complain("training", "global_batch",
                   digits(batch) + " over " + product + " makes " + digits(batch / step) +
                       " microbatches; expected at most " + digits(most));
}

}  // namespace

void check_degrees(const Scenario& scenario, bool data_given, const Judge& judge) {
  check_tensor(scenario, judge);
  check_sequence(scenario, judge);
  check_ulysses(scenario, judge);
  check_experts(scenario, judge);
  check_expert_rows(scenario, judge);
  if (!check_cluster(scenario, data_given, judge)) return;
  check_expert_ranks(scenario, judge);
  check_shard_group(scenario, judge);
  check_batch(scenario, judge);
}

}  // namespace scenarios
