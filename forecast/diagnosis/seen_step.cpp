// SPDX-License-Identifier: Apache-2.0
#include "forecast/diagnosis/seen_step.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "forecast/diagnosis/diagnosis.hpp"
#include "plans/holdings.hpp"
#include "plans/shard_groups.hpp"

namespace forecast {

namespace {

const ProfiledGroup* group_of(const Profile& profile, const ProfiledWork& work) {
  return work.group == 0 ? nullptr : &profile.groups[work.group - 1];
}

std::int64_t length(const ProfiledStep& step) { return step.end_ns - step.start_ns; }

// Returns, by profile, the index of the chosen step. Steps are matched by name if all profiles have
// some names in common.
std::vector<std::size_t> chosen_steps(const std::vector<std::vector<ProfiledStep>>& steps) {
  std::map<std::string, std::pair<std::size_t, std::int64_t>> named;  // profiles, longest
  for (const auto& of_profile : steps) {
    std::set<std::string> seen;
    for (const auto& step : of_profile) {
      auto& [count, longest] = named[step.name];
      if (seen.insert(step.name).second) ++count;
      longest = std::max(longest, length(step));
    }
  }
  std::vector<std::pair<std::int64_t, std::string>> common;
  for (const auto& [name, facts] : named)
    if (facts.first == steps.size()) common.emplace_back(facts.second, name);
  std::ranges::sort(common);
  std::vector<std::size_t> chosen;
  for (const auto& of_profile : steps) {
    const auto fallback =
        of_profile.begin() + static_cast<std::ptrdiff_t>((of_profile.size() - 1) / 2);
    const auto found = common.empty()
                           ? fallback
                           : std::ranges::find(of_profile, common[(common.size() - 1) / 2].second,
                                               &ProfiledStep::name);
    chosen.push_back(static_cast<std::size_t>(found - of_profile.begin()));
  }
  return chosen;
}

// Turns sorted works into stretches: what each instant of the step was spent on.
class Stretches {
 public:
  explicit Stretches(SeenRank& rank) : rank_(rank) {}

  void fill() {
    std::vector<std::pair<std::int64_t, std::uint32_t>> ends;
    for (std::uint32_t i = 0; i < rank_.works.size(); ++i)
      ends.emplace_back(rank_.works[i].of.end_ns, i);
    std::ranges::sort(ends);
    now_ = rank_.start_ns;
    std::uint32_t next = 0;
    for (const auto& [end, ending] : ends) {
      for (; next < rank_.works.size() && rank_.works[next].of.start_ns <= end; ++next) {
        until(rank_.works[next].of.start_ns);
        active_[level(next)].insert(next);
      }
      until(end);
      active_[level(ending)].erase(ending);
    }
    until(rank_.end_ns);
  }

 private:
  std::size_t level(std::uint32_t work) const {
    const auto kind = rank_.works[work].of.kind;
    return kind == GpuWork::compute ? 0 : is_communication(kind) ? 1 : 2;
  }
  void until(std::int64_t when) {
    when = std::min(when, rank_.end_ns);
    if (when <= now_) return;
    std::uint32_t work = none_seen;
    for (const auto& of_level : active_)
      if (work == none_seen && !of_level.empty()) work = *of_level.begin();
    auto& all = rank_.stretches;
    if (!all.empty() && all.back().work == work)
      all.back().end_ns = when;
    else
      all.push_back({now_, when, work});
    now_ = when;
  }

  SeenRank& rank_;
  std::int64_t now_ = 0;
  std::array<std::set<std::uint32_t>, 3> active_;
};

// The name of a meeting: its group and, for a message, the two ends.
using MeetingName = std::tuple<std::string, std::int64_t, std::int64_t>;

struct Attendance {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> works;
};

using Attendances = std::map<MeetingName, std::vector<Attendance>>;

Attendances attendances(const SeenStep& step, const std::vector<Profile>& profiles) {
  Attendances all;
  for (std::uint32_t r = 0; r < step.ranks.size(); ++r) {
    const auto& rank = step.ranks[r];
    const auto& profile = profiles[rank.profile];
    // The key has the group's number, which is cheaper to find than its name.
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::vector<std::uint32_t>*>
        known;
    for (std::uint32_t w = 0; w < rank.works.size(); ++w) {
      const auto& of = rank.works[w].of;
      const auto* group = group_of(profile, of);
      if (!group) continue;
      auto& works = known[{of.group, of.source, of.destination}];
      if (!works) {
        auto& who = all[{group->name, of.source, of.destination}];
        works = &who.emplace_back(Attendance{r, {}}).works;
      }
      works->push_back(w);
    }
  }
  return all;
}

void add_meetings(SeenStep& step, const std::vector<Profile>& profiles) {
  for (const auto& [name, who] : attendances(step, profiles)) {
    const auto count = who.front().works.size();
    if (std::ranges::any_of(who, [&](const auto& one) { return one.works.size() != count; }))
      continue;  // the edges of the step cut some off: which is which cannot be told
    const auto& first = step.ranks[who.front().rank];
    const auto& group =
        *group_of(profiles[first.profile], first.works[who.front().works.front()].of);
    const bool message = std::get<1>(name) >= 0 && std::get<2>(name) >= 0;
    const auto size = message ? 2 : group.size;
    for (std::size_t i = 0; i < count; ++i) {
      Meeting meeting{.present = static_cast<std::uint32_t>(who.size()),
                      .complete = size > 0 && static_cast<std::int64_t>(who.size()) >= size};
      for (const auto& one : who) {
        auto& work = step.ranks[one.rank].works[one.works[i]];
        work.meeting = static_cast<std::uint32_t>(step.meetings.size());
        const auto took = work.of.end_ns - work.of.start_ns;
        if (took >= meeting.transfer_ns) continue;
        meeting.transfer_ns = took;
        meeting.last = one.rank;
        meeting.last_work = one.works[i];
      }
      step.meetings.push_back(meeting);
    }
  }
}

SeenRank seen_rank(const std::vector<Profile>& profiles, std::size_t number,
                   const ProfiledStep& step, const Scenario& scenario) {
  const auto& profile = profiles[number];
  SeenRank rank{.start_ns = step.start_ns, .end_ns = step.end_ns};
  for (const auto& work : profile.work)
    if (work.start_ns >= step.start_ns && work.start_ns < step.end_ns) {
      rank.works.push_back({work});
      if (is_communication(work.kind))
        rank.works.back().part = part_in(scenario, work, group_of(profile, work));
    }
  if (rank.works.empty())
    throw NothingSeen(number, "the step " + step.name +
                                  " has no work of the GPU; record it again, or give the traces "
                                  "of other ranks without this one");
  std::ranges::stable_sort(rank.works, {}, [](const SeenWork& work) { return work.of.start_ns; });
  Stretches(rank).fill();
  return rank;
}

// Where the forecast has no kernels of experts, whatever its name sounds like is a product.
void count_experts_as_products(SeenStep& step, const std::vector<RankTimes>& expected) {
  if (std::ranges::any_of(expected, [](const RankTimes& times) {
        return times.computed(KernelClass::experts).value > 0;
      }))
    return;
  for (auto& rank : step.ranks)
    for (auto& work : rank.works)
      if (work.of.sort == KernelClass::experts) work.of.sort = KernelClass::products;
}

}  // namespace

StepPart part_in(const Scenario& scenario, const ProfiledWork& work, const ProfiledGroup* group) {
  if (const auto told = part_of(work.kind)) return *told;
  const auto& plan = scenario.plan;
  if (work.kind == GpuWork::send_receive)
    return plan.pipeline > 1 ? StepPart::pipeline_comm : StepPart::context_comm;
  if (work.kind == GpuWork::all_to_all)
    return plan.expert > 1 ? StepPart::expert_comm : StepPart::context_comm;
  const auto size = group ? group->size : 0;
  // Collectives of unknown groups are those of layers, not of their experts.
  const bool nothing_summed =
      size == 0 ? strategies::dense_sharers(plan) == 1 : !strategies::sums_gradients(plan);
  if (plan.tensor > 1 && (size == plan.tensor || nothing_summed)) return StepPart::tensor_comm;
  return StepPart::data_comm;
}

SeenStep see_step(const std::vector<Profile>& profiles, const Scenario& scenario,
                  const std::vector<RankTimes>& expected) {
  std::vector<std::vector<ProfiledStep>> steps;
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    if (profiles[p].work.empty()) throw NothingSeen(p, "the profile has no work of a GPU");
    steps.push_back(steps_of(profiles[p]));
  }
  const auto chosen = chosen_steps(steps);
  SeenStep seen{.name = steps.front()[chosen.front()].name};
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    seen.ranks.push_back(seen_rank(profiles, p, steps[p][chosen[p]], scenario));
    auto& rank = seen.ranks.back();
    rank.profile = p;
    rank.rank = std::max<std::int64_t>(0, profiles[p].rank.value_or(static_cast<std::int64_t>(p)));
    rank.expected = rank_like(rank.rank, scenario, expected);
    seen.time = std::max(seen.time,
                         units::Seconds{static_cast<double>(rank.end_ns - rank.start_ns) * 1e-9});
  }
  std::ranges::stable_sort(seen.ranks, {}, &SeenRank::rank);
  add_meetings(seen, profiles);
  count_experts_as_products(seen, expected);
  return seen;
}

}  // namespace forecast
