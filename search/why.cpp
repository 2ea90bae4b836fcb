// SPDX-License-Identifier: Apache-2.0
#include "search/why.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace search {
namespace {

using forecast::PartTime;
using strategies::Plan;
using topology::Node;
using units::Seconds;

constexpr double one_tenth_more = 1.1;  // of a resource
constexpr std::array resources{Resource::flops, Resource::memory_bandwidth, Resource::node_links,
                               Resource::network};
constexpr std::array changes{-0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5};

std::vector<PartTime> parts_of(const forecast::TimeParts& time) {
  std::vector<PartTime> parts;
  for (const auto& facts : forecast::step_parts) parts.push_back({facts.part, time[facts.part]});
  return parts;
}

// Drops zeros, and puts the largest first.
std::vector<PartTime> ranked(std::vector<PartTime> parts) {
  std::erase_if(parts, [](const PartTime& part) { return part.time.value == 0; });
  std::ranges::stable_sort(parts, std::greater{},
                           [](const PartTime& part) { return std::abs(part.time.value); });
  return parts;
}

// --- The next best

bool same_degrees(const Plan& a, const Plan& b) {
  const auto degrees = [](const Plan& p) {
    return std::tuple(p.tensor, p.sequence_parallel, p.context, p.expert,
                      strategies::expert_tensor(p), p.pipeline, p.virtual_stages, p.data, p.zero,
                      p.micro_batch, p.schedule);
  };
  return degrees(a) == degrees(b);
}

std::optional<Runner> runner_of(const std::vector<Ranked>& plans) {
  const auto& best = plans.front();
  const auto next = std::ranges::find_if(
      plans, [&](const Ranked& one) { return !same_degrees(one.plan, best.plan); });
  if (next == plans.end()) return {};
  auto losses = parts_of(next->forecast.time);
  const auto before = parts_of(best.forecast.time);
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i].time -= before[i].time;
  return Runner{static_cast<std::size_t>(next - plans.begin()),
                next->forecast.step.time - best.forecast.step.time, ranked(std::move(losses))};
}

// --- More of a resource

void enlarge(Node& node, Resource resource) {
  auto& device = node.device;
  switch (resource) {
    case Resource::flops:
      for (auto& peak : device.peak) peak = one_tenth_more * peak;
      device.vector_peak = one_tenth_more * device.vector_peak;
      break;
    case Resource::memory_bandwidth:
      device.memory_bandwidth = one_tenth_more * device.memory_bandwidth;
      break;
    case Resource::node_links:
      if (node.nvlink.kind == topology::NvLink::Kind::none)
        node.pcie.bandwidth = one_tenth_more * node.pcie.bandwidth;
      else
        node.nvlink.bandwidth = one_tenth_more * node.nvlink.bandwidth;
      break;
    case Resource::network:
      node.nics.bandwidth = one_tenth_more * node.nics.bandwidth;
      break;
  }
}

topology::Cluster enlarged(topology::Cluster cluster, Resource resource) {
  enlarge(cluster.node, resource);
  for (auto& part : cluster.others) enlarge(part.node, resource);
  if (resource == Resource::network)
    cluster.fabric.link_bandwidth = one_tenth_more * cluster.fabric.link_bandwidth;
  return cluster;
}

std::vector<Help> helps_of(const Question& question, const Ranked& best, const ForEach& for_each) {
  std::vector<Help> helps(resources.size());
  for_each(resources.size(), [&](std::size_t i) {
    auto scenario = question.scenario;
    scenario.plan = best.plan;
    scenario.cluster = enlarged(std::move(scenario.cluster), resources[i]);
    const auto before = best.forecast.step.time;
    const auto gain = before - forecast::simulate(scenario).step.time;
    helps[i] = {resources[i], gain, gain / before};
  });
  std::ranges::stable_sort(helps, std::greater{}, &Help::gain);
  return helps;
}

// --- More memory, or less

template <class Of>
Values listed(const std::vector<Plan>& plans, const Values& allowed, bool half_and_twice, Of of) {
  Values values;
  const auto add = [&](std::int64_t value) {
    if (value > 0 && allowed.allow(value)) values.listed.push_back(value);
  };
  for (const auto& plan : plans) {
    const std::int64_t value = std::invoke(of, plan);
    if (value == 0) values.listed.push_back(value);  // ZeRO
    add(value);
    if (!half_and_twice) continue;
    if (value % 2 == 0) add(value / 2);
    add(value * 2);
  }
  std::ranges::sort(values.listed);
  const auto end = std::unique(values.listed.begin(), values.listed.end());
  values.listed.erase(end, values.listed.end());
  return values;
}

// The degrees of these plans in all combinations; if `shifted`, with half and twice some of them.
Space around(const std::vector<Plan>& plans, const Space& whole, bool shifted) {
  Space space = whole;
  const auto limit = [&](Values Space::*values, bool half_and_twice, auto of) {
    space.*values = listed(plans, whole.*values, half_and_twice, of);
  };
  limit(&Space::tensor, shifted, &Plan::tensor);
  limit(&Space::pipeline, shifted, &Plan::pipeline);
  limit(&Space::micro_batch, shifted, &Plan::micro_batch);
  for (auto [values, of] :
       {std::pair{&Space::context, &Plan::context}, std::pair{&Space::expert, &Plan::expert}})
    limit(values, false, of);
  limit(&Space::virtual_stages, false, &Plan::virtual_stages);
  limit(&Space::zero, false, [](const Plan& plan) { return std::int64_t{plan.zero}; });
  limit(&Space::expert_tensor, false,
        [](const Plan& plan) { return strategies::expert_tensor(plan); });
  space.schedules.clear();
  for (const auto& plan : plans)
    if (std::ranges::find(space.schedules, plan.schedule) == space.schedules.end())
      space.schedules.push_back(plan.schedule);
  return space;
}

// The best plans of different degrees, the best first.
std::vector<Plan> nearest(const std::vector<Ranked>& ranked) {
  std::vector<Plan> plans;
  for (const auto& one : ranked)
    if (plans.size() < compared &&
        std::ranges::none_of(plans, [&](const Plan& p) { return same_degrees(p, one.plan); }))
      plans.push_back(one.plan);
  return plans;
}

void faster(std::optional<Seconds>& time, Seconds other) {
  time = std::min(time.value_or(other), other);
}

// The fastest time of the answer's plans for which that much memory is enough.
std::optional<Seconds> known(const Question& question, const Answer& answer, double factor) {
  std::optional<Seconds> time;
  for (const auto* plans : {&answer.plans, &answer.pareto})
    for (const auto& one : *plans) {
      const auto& memory = one.forecast.memory;
      if (memory.peak <= factor * (1 - question.memory_headroom) * memory.capacity)
        faster(time, one.forecast.step.time);
    }
  return time;
}

// The question of the best plan's own degrees and stages: only recomputation is open.
Question as_best(Question question, const Plan& best) {
  question.space = around({best}, question.space, false);
  question.space.partition = false;
  question.scenario.plan.layers_per_stage = best.layers_per_stage;
  return question;
}

// Searches plans that fit into a changed memory. Sizes between two of which the larger is no faster
// are not looked at.
class MemoryChanges {
 public:
  MemoryChanges(const Question& question, const Answer& answer, const Options& options)
      : question_(question),
        answer_(answer),
        options_{.top = 1, .for_each = options.for_each, .stop = options.stop},
        narrow_(as_best(question, answer.plans.front().plan)),
        wide_(question) {
    wide_.space = around(nearest(answer.plans), question.space, true);
    narrow_.gap = wide_.gap = 1;  // prove nothing
  }

  // The changes; empty if the search was told to stop.
  std::vector<MemoryChange> run() {
    const auto best = answer_.plans.front().forecast.step.time;
    std::vector<MemoryChange> memory_changes;
    for (const double change : changes) memory_changes.push_back({change, {}});
    const auto middle =
        std::ranges::find_if(memory_changes, [](const MemoryChange& r) { return r.change > 0; });
    const std::span less(memory_changes.begin(), middle), more(middle, memory_changes.end());
    for (auto& one : less)
      if (const auto time = least_time(one.change, best))
        one.time = std::max(*time, best);  // a faster plan would have fitted before, too
    more.back().time = least_time(more.back().change, {});
    fill(more, best);
    for (std::size_t i = 1; i < memory_changes.size(); ++i)  // plans that fit into less fit
      if (memory_changes[i - 1].time) faster(memory_changes[i].time, *memory_changes[i - 1].time);
    if (stopped_) memory_changes.clear();
    return memory_changes;
  }

 private:
  // Finds all times but the last, which is known, above a memory with which `before` is the time.
  void fill(std::span<MemoryChange> memory_changes, Seconds before) {
    if (memory_changes.size() < 2) return;
    const auto last = memory_changes.back().time;
    const auto middle = (memory_changes.size() - 2) / 2;
    memory_changes[middle].time =
        last == before ? last : least_time(memory_changes[middle].change, last);
    fill(memory_changes.subspan(0, middle + 1), before);
    fill(memory_changes.subspan(middle + 1), *memory_changes[middle].time);
  }

  // The least time with changed memory; none is expected to be less than `bound`.
  std::optional<Seconds> least_time(double change, std::optional<Seconds> bound) {
    auto time = known(question_, answer_, 1 + change);
    if (time && bound && *time <= *bound) return time;
    for (auto* asked : {&narrow_, &wide_}) {
      asked->scenario.cluster.memory_fraction =
          (1 + change) * question_.scenario.cluster.memory_fraction;
      const auto found = search(*asked, options_);
      stopped_ = stopped_ || found.interrupted;
      if (!found.plans.empty()) faster(time, found.plans.front().forecast.step.time);
    }
    return time;
  }

  const Question& question_;
  const Answer& answer_;
  Options options_;
  Question narrow_, wide_;
  bool stopped_ = false;
};

}  // namespace

Why why(const Question& question, const Answer& answer, const Options& options) {
  if (answer.plans.empty()) throw std::invalid_argument("no plan, so there is nothing to explain");
  ForEach for_each = options.for_each;
  if (!for_each)
    for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
      for (std::size_t i = 0; i < count; ++i) work(i);
    };
  const auto& best = answer.plans.front();
  const auto asked = only_alternative(question, best.alternative);
  return {.path = ranked(best.forecast.critical_path),
          .exposed = ranked(parts_of(best.forecast.time)),
          .runner = runner_of(answer.plans),
          .helps = helps_of(asked, best, for_each),
          .memory_changes = MemoryChanges(asked, answer, options).run()};
}

}  // namespace search
