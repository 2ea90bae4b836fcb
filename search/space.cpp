// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>

#include "plans/admissible.hpp"
#include "plans/holdings.hpp"
#include "plans/schedules/limits.hpp"
#include "plans/schedules/schedule_needs.hpp"
#include "search/cuts.hpp"

namespace search {

using strategies::Plan;
using strategies::ScheduleKind;

namespace {

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
      plan_.tensor = t;
      if (!hold(strategies::on_tensor())) continue;
      for (const bool sequence : {false, true})
        if (takes_sequence(sequence)) contexts();
    }
  }

 private:
  bool hold(std::span<const strategies::Condition> conditions) const {
    return strategies::all_hold(conditions, {model_, training_, plan_, cluster_});
  }
  bool takes_sequence(bool sequence) {
    plan_.sequence_parallel = sequence;
    if (space_.sequence_parallel.value_or(sequence) != sequence) return false;
    if (plan_.tensor == 1) return !sequence || space_.sequence_parallel.has_value();
    return hold(strategies::on_expert_rows());
  }

  void contexts() {
    for (const auto c : divisors(gpus_ / plan_.tensor, space_.context)) {
      plan_.context = c;
      if (hold(strategies::on_context()) && hold(strategies::on_sequence_parts()) &&
          hold(strategies::on_ulysses()))
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
      for (const auto et : divisors(model_.moe->expert_ffn, space_.expert_tensor)) {
        if (gpus_ % (e * et) != 0) continue;
        plan_.expert = e;
        plan_.expert_tensor = et;
        if (hold(strategies::on_experts())) micro_batches();
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

  void regroupings() {
    if (space_.layer_tensor.most == 0) return;
    for (const auto t : divisors(plan_.tensor, space_.layer_tensor)) {
      plan_.layer_tensor = t;
      if (hold(strategies::on_regrouping())) visit_(plan_);
    }
    plan_.layer_tensor.reset();
  }

 public:
  void steps() {
    const auto ranks = gpus_ / plan_.tensor / plan_.context;
    for (const auto p : divisors(ranks, space_.pipeline)) {
      const auto d = ranks / p;
      if (!space_.data.allow(d)) continue;
      plan_.pipeline = p;
      plan_.data = d;
      if (!hold(strategies::on_batch()) || !hold(strategies::on_expert_ranks())) continue;
      if (!space_.accumulate && training_.global_batch / (plan_.micro_batch * d) > p) continue;
      for (int zero = 0; zero <= 3; ++zero) {
        if (!space_.zero.allow(zero)) continue;
        plan_.zero = zero;
        if (hold(strategies::on_states())) schedules();
      }
    }
  }

  // The reason why the first plan that was left out for its number of passes is not simulated.
  const std::optional<strategies::Refusal>& too_large() const { return too_large_; }

 private:
  static constexpr auto simple = ScheduleKind::one_f_one_b;
  bool takes(ScheduleKind schedule) const {
    const auto& asked = space_.schedules;
    return asked.empty() || std::ranges::find(asked, schedule) != asked.end();
  }
  // Whether a stage of ZeRO below this one may be taken.
  bool lower_zero(int zero) const {
    while (--zero >= 0)
      if (space_.zero.allow(zero)) return true;
    return false;
  }
  bool runs(ScheduleKind schedule) {
    if (!takes(schedule)) return false;
    if (plan_.pipeline == 1 && schedule != simple && takes(simple)) return false;
    plan_.schedule = schedule;
    // Where no rank shares anything, all stages of ZeRO are the same; the least stands for all.
    if (lower_zero(plan_.zero) && !strategies::sums_gradients(plan_)) return false;
    return hold(strategies::on_stages()) && hold(strategies::on_microbatches()) &&
           hold(strategies::on_shards());
  }

  void schedules() {
    const auto microbatches = training_.global_batch / plan_.micro_batch / plan_.data;
    for (const auto& [name, schedule] : words_of(ScheduleKind{})) {
      if (!runs(schedule)) continue;
      const bool two = strategies::has_two_chunks(schedule);
      const bool many = schedule == ScheduleKind::interleaved;
      const std::int64_t least = two || (many && takes(simple)) ? 2 : 1;
      const auto stages = most_virtual_stages(plan_, space_, schedule, model_.layers);
      const auto most = many ? stages / plan_.pipeline : least;
      for (auto v = least; v <= most; ++v) {
        if (!space_.virtual_stages.allow(v) || plan_.pipeline * v > stages) continue;
        const strategies::PipelineSize size{schedule, plan_.pipeline, v, microbatches};
        if (microbatches > strategies::most_microbatches(size)) {
          if (!too_large_) too_large_ = strategies::too_large(size);
          continue;
        }
        plan_.virtual_stages = v;
        visit_(plan_);
        if (many && plan_.pipeline == 1) break;  // the fewest chunks stand for all
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
  std::optional<strategies::Refusal> too_large_;
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

bool any_plan_in(const forecast::Scenario& scenario, const Space& space) {
  bool any = false;
  const std::function<void(const Plan&)> note = [&](const Plan&) { any = true; };
  for_each_division(scenario, space, [&](const Plan& division) {
    if (!any) for_each_step(scenario, space, division, note);
  });
  return any;
}

std::optional<strategies::Refusal> too_large_in(const forecast::Scenario& scenario,
                                                const Space& space) {
  const std::function<void(const Plan&)> nobody = [](const Plan&) {};
  std::optional<strategies::Refusal> first;
  for_each_division(scenario, space, [&](const Plan& division) {
    if (first) return;
    Walk walk(scenario, space, nobody, division);
    walk.steps();
    first = walk.too_large();
  });
  return first;
}

}  // namespace search
