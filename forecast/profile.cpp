// SPDX-License-Identifier: Apache-2.0
#include "forecast/profile.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace forecast {

using units::Seconds;

std::optional<StepPart> part_of(GpuWork work) {
  switch (work) {
    case GpuWork::compute:
      return StepPart::compute;
    case GpuWork::tensor_comm:
      return StepPart::tensor_comm;
    case GpuWork::context_comm:
      return StepPart::context_comm;
    case GpuWork::expert_comm:
      return StepPart::expert_comm;
    case GpuWork::pipeline_comm:
      return StepPart::pipeline_comm;
    case GpuWork::data_comm:
      return StepPart::data_comm;
    case GpuWork::copy:
      return StepPart::offload;
    default:
      return {};
  }
}

std::string_view to_text(GpuWork work) {
  switch (work) {
    case GpuWork::all_reduce:
      return "all-reduce";
    case GpuWork::all_gather:
      return "all-gather";
    case GpuWork::reduce_scatter:
      return "reduce-scatter";
    case GpuWork::all_to_all:
      return "all-to-all";
    case GpuWork::send_receive:
      return "send and receive";
    case GpuWork::other_comm:
      return "other comm";
    case GpuWork::copy:
      return "copies";
    default:
      return facts_of(*part_of(work)).words;
  }
}

namespace {

Seconds seconds_of_ns(std::int64_t nanoseconds) {
  return {static_cast<double>(nanoseconds) * 1e-9};
}

struct KindChange {
  std::int64_t when;
  GpuWork kind;
  int by;
  bool waits = false;
};

// The properties that messages share which take equally long once both ranks are there.
using Alike = std::array<std::int64_t, 5>;

std::optional<Alike> alike_of(const ProfiledWork& work) {
  const bool message = work.kind == GpuWork::pipeline_comm || work.kind == GpuWork::send_receive;
  if (!message || work.elements <= 0) return {};
  return Alike{work.stream, work.group, work.source, work.destination, work.elements};
}

// Returns the time of the shortest message of each sort.
std::map<Alike, std::int64_t> shortest_messages(const Profile& profile) {
  std::map<Alike, std::int64_t> shortest;
  for (const auto& work : profile.work)
    if (const auto alike = alike_of(work)) {
      const auto took = work.end_ns - work.start_ns;
      const auto [at, fresh] = shortest.try_emplace(*alike, took);
      if (!fresh) at->second = std::min(at->second, took);
    }
  return shortest;
}

// Sweeps over the instants at which something begins or ends.
class InstantWalk {
 public:
  explicit InstantWalk(const std::vector<ProfiledStep>& steps)
      : steps_(steps), out_(steps.size()) {}

  std::vector<StepBreakdown> run(const std::vector<KindChange>& changes) {
    for (const auto& change : changes) {
      account_until(change.when);
      (change.waits ? waiting_ : going_on_[static_cast<std::size_t>(change.kind)]) += change.by;
    }
    if (!steps_.empty()) account_until(steps_.back().end_ns);
    std::vector<StepBreakdown> found;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      auto& step = found.emplace_back();
      step.name = steps_[s].name;
      step.time = seconds_of_ns(steps_[s].end_ns - steps_[s].start_ns);
      for (std::size_t kind = 0; kind < gpu_works; ++kind)
        step.exposed[kind] = seconds_of_ns(out_[s].exposed[kind]);
      step.idle = seconds_of_ns(out_[s].idle);
      step.communicating = seconds_of_ns(out_[s].communicating);
      step.hidden = seconds_of_ns(out_[s].hidden);
      step.waiting = seconds_of_ns(out_[s].waiting);
    }
    return found;
  }

 private:
  struct Spent {
    std::array<std::int64_t, gpu_works> exposed{};
    std::int64_t idle = 0, communicating = 0, hidden = 0, waiting = 0;
  };

  void account_until(std::int64_t when) {
    while (step_ < steps_.size()) {
      const auto& step = steps_[step_];
      const auto from = std::max(now_, step.start_ns), to = std::min(when, step.end_ns);
      if (to > from) add(out_[step_], to - from);
      if (when < step.end_ns) break;
      ++step_;
    }
    now_ = std::max(now_, when);
  }
  void add(Spent& spent, std::int64_t time) const {
    const auto first = std::ranges::find_if(going_on_, [](auto count) { return count > 0; });
    if (first == going_on_.end()) {
      spent.idle += time;
      spent.waiting += waiting_ > 0 ? time : 0;
    } else {
      spent.exposed[static_cast<std::size_t>(first - going_on_.begin())] += time;
    }
    bool communicates = false;
    for (std::size_t kind = 0; kind < gpu_works; ++kind)
      if (is_communication(static_cast<GpuWork>(kind)))
        communicates = communicates || going_on_[kind] > 0;
    if (!communicates) return;
    spent.communicating += time;
    if (going_on_.front() > 0) spent.hidden += time;
  }

  const std::vector<ProfiledStep>& steps_;
  std::vector<Spent> out_;
  std::array<std::int64_t, gpu_works> going_on_{};
  std::int64_t waiting_ = 0;  // messages whose other rank is not there
  std::size_t step_ = 0;
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
};

std::vector<StreamBreakdown> streams_of(const Profile& profile) {
  struct Busy {
    std::int64_t works = 0;
    std::array<std::int64_t, gpu_works> on{};
  };
  std::map<std::int64_t, Busy> streams;
  for (const auto& work : profile.work) {
    auto& busy = streams[work.stream];
    ++busy.works;
    busy.on[static_cast<std::size_t>(work.kind)] += work.end_ns - work.start_ns;
  }
  std::vector<StreamBreakdown> found;
  for (const auto& [stream, busy] : streams) {
    std::int64_t sum = 0;
    for (auto time : busy.on) sum += time;
    found.push_back({stream, busy.works, seconds_of_ns(sum),
                     static_cast<GpuWork>(std::ranges::max_element(busy.on) - busy.on.begin())});
  }
  return found;
}

}  // namespace

std::vector<ProfiledStep> steps_of(const Profile& profile) {
  auto steps = profile.steps;
  if (steps.empty()) {
    auto& whole = steps.emplace_back(
        ProfiledStep{"whole trace", profile.work.front().start_ns, profile.work.front().end_ns});
    for (const auto& work : profile.work) {
      whole.start_ns = std::min(whole.start_ns, work.start_ns);
      whole.end_ns = std::max(whole.end_ns, work.end_ns);
    }
  }
  std::ranges::stable_sort(steps, {}, &ProfiledStep::start_ns);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    steps[i].end_ns = std::min(steps[i].end_ns, steps[i + 1].start_ns);
  return steps;
}

Breakdown break_down(const Profile& profile) {
  if (profile.work.empty()) throw std::invalid_argument("the profile has no work of a GPU");
  std::vector<KindChange> changes;
  changes.reserve(2 * profile.work.size());
  const auto shortest = shortest_messages(profile);
  for (const auto& work : profile.work) {
    const auto alike = alike_of(work);
    const auto begins = alike ? work.end_ns - shortest.at(*alike) : work.start_ns;
    if (begins > work.start_ns) {
      changes.push_back({work.start_ns, work.kind, 1, true});
      changes.push_back({begins, work.kind, -1, true});
    }
    changes.push_back({begins, work.kind, 1});
    changes.push_back({work.end_ns, work.kind, -1});
  }
  std::ranges::stable_sort(changes, {}, &KindChange::when);
  const auto steps = steps_of(profile);
  Breakdown found;
  found.steps = InstantWalk(steps).run(changes);
  std::vector<std::size_t> order(found.steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return found.steps[i].time.value; });
  found.typical = order[(order.size() - 1) / 2];
  found.streams = streams_of(profile);
  return found;
}

}  // namespace forecast
