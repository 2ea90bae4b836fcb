// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>
#include <array>

#include "plans/limits.hpp"
#include "plans/schedule_layout.hpp"
#include "plans/shard_groups.hpp"

namespace search {

using strategies::Plan;
using strategies::ScheduleKind;

namespace {

constexpr std::array every_schedule{ScheduleKind::gpipe,       ScheduleKind::one_f_one_b,
                                    ScheduleKind::interleaved, ScheduleKind::zb_h1,
                                    ScheduleKind::zb_h2,       ScheduleKind::zb_v,
                                    ScheduleKind::v_half,      ScheduleKind::v_min,
                                    ScheduleKind::dualpipe,    ScheduleKind::dualpipe_v};

std::vector<std::int64_t> divisors(std::int64_t of, const Values& allowed) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d * d <= of; ++d) {
    if (of % d != 0) continue;
    all.push_back(d);
    if (d * d < of) all.push_back(of / d);
  }
  std::erase_if(all, [&](std::int64_t d) { return !allowed.allow(d); });
  std::ranges::sort(all);
  return all;
}

class Walk {
 public:
  Walk(const forecast::Scenario& scenario, const Space& space,
       const std::function<void(const Plan&)>& visit, const Plan& plan)
      : model_(scenario.model),
        training_(scenario.training),
        cluster_(scenario.cluster),
        gpus_(scenario.cluster.gpus),
        space_(space),
        visit_(visit),
        plan_(plan) {}

  void divisions() {
    for (const auto t : divisors(gpus_, space_.tensor)) {
      if (!divides_layers(t)) continue;
      plan_.tensor = t;
      for (const bool sequence : {false, true})
        if (takes_sequence(sequence)) {
          plan_.sequence_parallel = sequence;
          contexts();
        }
    }
  }

 private:
  bool divides_layers(std::int64_t t) const {
    if (model_.heads % t != 0) return false;
    if (model_.kv_heads % t != 0 && t % model_.kv_heads != 0) return false;
    const auto& moe = model_.moe;
    const bool some_dense = !moe || moe->first_dense_layers > 0 || moe->every > 1;
    if (some_dense && model_.ffn % t != 0) return false;
    return !moe || moe->shared_experts * moe->shared_ffn % t == 0;
  }
  // With experts the rows must be divided where the layers are.
  bool takes_sequence(bool sequence) const {
    if (space_.sequence_parallel.value_or(sequence) != sequence) return false;
    if (plan_.tensor == 1) return !sequence || space_.sequence_parallel.has_value();
    return sequence || !model_.moe;
  }

  void contexts() {
    const auto length = training_.sequence_length;
    for (const auto c : divisors(gpus_ / plan_.tensor, space_.context)) {
      const bool ulysses = plan_.context_method == strategies::ContextMethod::ulysses;
      if (c > 1 && length % (ulysses ? c : 2 * c) != 0) continue;
      if (c > 1 && ulysses && model_.heads % (c * plan_.tensor) != 0) continue;
      if (plan_.sequence_parallel && plan_.tensor > 1 && length / c % plan_.tensor != 0) continue;
      plan_.context = c;
      experts();
    }
  }

  void experts() {
    if (!model_.moe) {
      plan_.expert = 1;
      plan_.expert_tensor.reset();
      return micro_batches();
    }
    const auto ranks = gpus_ / plan_.tensor / plan_.context;  // of one stage, at most
    for (const auto e : divisors(model_.moe->experts, space_.expert)) {
      if (plan_.tensor * plan_.context * ranks % e != 0) continue;
      if (e > 1 && model_.moe->imbalance > static_cast<double>(e)) continue;
      for (const auto et : divisors(model_.moe->expert_ffn, space_.expert_tensor)) {
        if (gpus_ % (e * et) != 0) continue;
        plan_.expert = e;
        plan_.expert_tensor = et;
        micro_batches();
      }
    }
  }

  void micro_batches() {
    for (const auto b : divisors(training_.global_batch, space_.micro_batch)) {
      plan_.micro_batch = b;
      plan_.layer_tensor.reset();
      visit_(plan_);
      regroupings();
    }
  }

  // Inside of nodes, whose ranks share out the samples of a microbatch.
  void regroupings() {
    if (model_.moe || space_.layer_tensor.most == 0 || cluster_.node.gpus % plan_.tensor != 0 ||
        plan_.rank_order.front() != strategies::Degree::tensor)
      return;
    for (const auto t : divisors(plan_.tensor, space_.layer_tensor)) {
      if (t == plan_.tensor || plan_.micro_batch % (plan_.tensor / t) != 0) continue;
      if (model_.kv_heads % t != 0 && t % model_.kv_heads != 0) continue;
      plan_.layer_tensor = t;
      visit_(plan_);
    }
    plan_.layer_tensor.reset();
  }

 public:
  void steps() {
    const auto ranks = gpus_ / plan_.tensor / plan_.context;
    for (const auto p : divisors(ranks, space_.pipeline)) {
      const auto d = ranks / p;
      if (p > model_.layers || !space_.data.allow(d)) continue;
      if (training_.global_batch % (plan_.micro_batch * d) != 0) continue;
      if (!space_.accumulate && training_.global_batch / (plan_.micro_batch * d) > p) continue;
      if (model_.moe && plan_.tensor * plan_.context * d %
                                (plan_.expert * plan_.expert_tensor.value_or(plan_.tensor)) !=
                            0)
        continue;
      plan_.pipeline = p;
      plan_.data = d;
      for (int zero = 0; zero <= 3; ++zero) {
        if (!space_.zero.allow(zero)) continue;
        // One replica has nobody to share with; the least asked for stands for all.
        if (d * plan_.context == 1 && zero > 0 && space_.zero.allow(zero - 1)) break;
        plan_.zero = zero;
        schedules();
      }
    }
  }

 private:
  bool runs(ScheduleKind schedule) const {
    const auto& asked = space_.schedules;
    const auto microbatches = training_.global_batch / plan_.micro_batch / plan_.data;
    const auto p = plan_.pipeline;
    const auto takes = [&](ScheduleKind kind) {
      return asked.empty() || std::ranges::find(asked, kind) != asked.end();
    };
    if (!takes(schedule)) return false;
    constexpr auto simple = ScheduleKind::one_f_one_b;
    if (p == 1 && schedule != simple && takes(simple)) return false;
    if (schedule == ScheduleKind::dualpipe)
      return p % 2 == 0 && microbatches % 2 == 0 && microbatches >= 2 * p;
    return schedule != ScheduleKind::dualpipe_v || microbatches >= 2 * p;
  }

  void schedules() {
    const auto microbatches = training_.global_batch / plan_.micro_batch / plan_.data;
    for (const auto schedule : every_schedule) {
      if (!runs(schedule)) continue;
      plan_.schedule = schedule;
      const bool in_node = plan_.zero > 0 && plan_.shard_group == strategies::ShardGroup::node;
      if (in_node && !strategies::shards_alike(plan_, cluster_)) continue;
      const bool two = strategies::layout_of(schedule, 1, 1).kind == strategies::Layout::Kind::v;
      const bool many = schedule == ScheduleKind::interleaved && plan_.pipeline > 1;
      const std::int64_t least = two || many ? 2 : 1;
      const auto most = many ? model_.layers / plan_.pipeline : least;
      for (auto v = least; v <= most; ++v) {
        if (!space_.virtual_stages.allow(v) || plan_.pipeline * v > model_.layers) continue;
        if (microbatches > strategies::most_microbatches({schedule, plan_.pipeline, v})) continue;
        plan_.virtual_stages = v;
        visit_(plan_);
      }
    }
  }

  const model::Transformer& model_;
  const strategies::Training& training_;
  const topology::Cluster& cluster_;
  const std::int64_t gpus_;
  const Space& space_;
  const std::function<void(const Plan&)>& visit_;
  Plan plan_;
};

}  // namespace

bool Values::allow(std::int64_t value) const {
  if (value < least || value > most) return false;
  return listed.empty() || std::ranges::find(listed, value) != listed.end();
}

void for_each_division(const forecast::Scenario& scenario, const Space& space,
                       const std::function<void(const Plan&)>& visit) {
  Walk(scenario, space, visit, scenario.plan).divisions();
}

void for_each_step(const forecast::Scenario& scenario, const Space& space, const Plan& division,
                   const std::function<void(const Plan&)>& visit) {
  Walk(scenario, space, visit, division).steps();
}

void for_each_plan(const forecast::Scenario& scenario, const Space& space,
                   const std::function<void(const Plan&)>& visit) {
  for_each_division(scenario, space,
                    [&](const Plan& division) { for_each_step(scenario, space, division, visit); });
}

}  // namespace search
