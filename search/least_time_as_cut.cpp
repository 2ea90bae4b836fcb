// SPDX-License-Identifier: Apache-2.0
// Bounds of one partition: what each device does, and what comes before and after it.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "search/block_bounds.hpp"
#include "search/least_time.hpp"
#include "search/solvers/stage_groups.hpp"

namespace search {

using sim::Picoseconds;

namespace {

// Work of one device: none of it can begin before its head, and after each of it a tail follows.
struct Work {
  double time, head, tail;
};
struct DeviceWork {
  std::vector<Work> work;
  double update = 0, issued = 0, sent = 0;
};

// Any order takes the least head of some of the work, all of that work, and its least tail
// (Carlier 1982). O(work²)
double one_machine_bound(std::vector<Work> work) {
  std::ranges::sort(work, std::ranges::greater{}, &Work::head);
  double bound = 0;
  for (const auto& last : work) {
    double sum = 0;
    for (const auto& each : work) {
      if (each.tail < last.tail) continue;
      sum += each.time;
      bound = std::max(bound, each.head + sum + last.tail);
    }
  }
  return bound;
}

// The microbatches whose tensors a device holds at some time of a step, and its memory.
struct Held {
  double capacity = 0;               // bytes
  std::vector<double> microbatches;  // in flight, by member of the device's virtual stages
  bool in_pass = true;               // while a layer runs with tensors that it does not keep
};

// A layer's way from what it keeps if it runs fastest to less.
struct Saving {
  double bytes, time;
};

// Goes down the lower hull of (kept, time) from the layer's fastest way, for `live` microbatches.
// Returns what the fastest way keeps.
double find_savings(const Layer& layer, double live, std::vector<Saving>& savings) {
  const auto time = [](const Price& way) {
    return static_cast<double>(way.forward + way.backward + way.weight);
  };
  const auto* here = &*std::ranges::min_element(
      layer.options, {}, [&](const Price& way) { return std::pair(time(way), way.kept); });
  const auto kept = live * static_cast<double>(here->kept);
  while (live > 0) {
    const Price* next = nullptr;
    double slope = 0;
    for (const auto& way : layer.options) {
      if (way.kept >= here->kept) continue;
      const double each = (time(way) - time(*here)) / static_cast<double>(here->kept - way.kept);
      if (next && each >= slope) continue;
      next = &way;
      slope = each;
    }
    if (!next) break;
    savings.push_back(
        {live * static_cast<double>(here->kept - next->kept), time(*next) - time(*here)});
    here = next;
  }
  return kept;
}

// The least time by which the passes of one microbatch must be longer on a device, so that what it
// holds fits: layers keep as much as they can, and then less where a byte costs least, parts of
// layers included. Nothing if none fits.
std::optional<double> least_recomputation(const PipelineProblem& problem,
                                          const std::vector<int>& first_layer,
                                          const std::vector<int>& members, const Held& held) {
  double over = -held.capacity, transient = 0;
  std::vector<Saving> savings;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto v = static_cast<std::size_t>(members[m]);
    for (int i = first_layer[v]; i < first_layer[v + 1]; ++i) {
      const auto& layer = problem.chain.layers[static_cast<std::size_t>(i)];
      double least = HUGE_VAL;
      for (const auto& way : layer.options)
        least = std::min(least, static_cast<double>(way.transient));
      transient = std::max(transient, least);
      over += static_cast<double>(layer.fixed) + find_savings(layer, held.microbatches[m], savings);
    }
  }
  if (held.in_pass) over += transient;
  std::ranges::sort(savings, {}, [](const Saving& s) { return s.time / s.bytes; });
  double extra = 0;
  for (const auto& saving : savings) {
    if (over <= 0) break;
    const double share = std::min(1.0, over / saving.bytes);
    over -= saving.bytes;
    extra += share * saving.time;
  }
  if (over > 0) return std::nullopt;
  return extra;
}

// The least times of the blocks of a virtual stage.
struct StageWork {
  LeastPassTimes passes;
  ReplicaTimes replicas;
  StageWork& operator+=(const StageWork& more) {
    passes.forward += more.passes.forward;
    passes.backward += more.passes.backward;
    passes.weight += more.passes.weight;
    passes.issued += more.passes.issued;
    replicas.reduction += more.replicas.reduction;
    replicas.update += more.replicas.update;
    replicas.sent += more.replicas.sent;
    return *this;
  }
};

// The least times of each virtual stage.
std::vector<StageWork> stages_as_cut(const PlanBounds& bounds) {
  std::vector<StageWork> kinds(bounds.prices.kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k)
    kinds[k] = {pass_times(bounds, k), replica_times(bounds, k)};
  const auto first = cut_of(bounds);
  std::vector<StageWork> all(first.size() - 1);
  for (std::size_t v = 0; v < all.size(); ++v) {
    // Prediction modules stay with the head.
    const auto end =
        v + 1 == all.size() ? static_cast<int>(bounds.prices.elements.size()) : first[v + 1];
    for (int i = first[v]; i < end; ++i)
      all[v] += kinds[bounds.prices.elements[static_cast<std::size_t>(i)]];
    const auto leads = leads_of(bounds, static_cast<int>(v));
    all[v].passes.forward += static_cast<double>(leads.forward);
    all[v].passes.backward += static_cast<double>(leads.backward);
    all[v].passes.weight += static_cast<double>(leads.weight);
  }
  return all;
}

// The work of devices, with heads and tails along the microbatch's way to the last stage and back.
std::vector<DeviceWork> devices_as_cut(const PlanBounds& bounds) {
  const auto& layout = bounds.layout;
  const bool mirrored = layout.kind == strategies::Layout::Kind::mirrored;
  const auto m = static_cast<double>(bounds.microbatches);
  const auto all = stages_as_cut(bounds);
  std::vector<DeviceWork> devices(static_cast<std::size_t>(layout.stages));
  double forward = 0, backward = 0;
  for (const auto& stage : all) forward += stage.passes.forward, backward += stage.passes.backward;
  double before = 0, behind = backward;
  for (std::size_t v = 0; v < all.size(); ++v) {
    const auto& stage = all[v].passes;
    const auto& replicas = all[v].replicas;
    const double beyond = forward - before - stage.forward;  // forward passes behind this stage
    behind -= stage.backward;                                // backward passes behind it
    const double gradient = forward + behind;                // when its first backward can begin
    const double rest = backward - behind - stage.backward;  // backward passes before it
    const double beside =
        bounds.duties.beside ? (bounds.graded ? stage.weight : stage.backward) : 0;
    const double summed =
        v == 0 || v + 1 == all.size() ? static_cast<double>(embedding_time(bounds)) : 0;
    const double sent = std::max(0.0, replicas.reduction - beside) + summed;
    const double last = v == 0 ? 0 : all[0].passes.weight;
    // Mirrored, half of the microbatches come from either end.
    const auto here =
        static_cast<std::size_t>(strategies::place_of(static_cast<int>(v), layout).stage);
    const auto hosts = mirrored ? std::vector{here, devices.size() - 1 - here} : std::vector{here};
    const auto copies = static_cast<double>(hosts.size());
    const double share = m / copies;
    for (const auto host : hosts) {
      auto& device = devices[host];
      device.work.push_back({share * stage.forward, before, beyond + backward + last});
      device.work.push_back({share * stage.backward, gradient,
                             std::max(rest + last, bounds.graded ? stage.weight : sent)});
      if (bounds.graded)
        device.work.push_back({share * stage.weight, gradient + stage.backward, sent});
      device.update += replicas.update;
      device.issued += share * stage.issued;
      device.sent += replicas.sent / copies + summed;
    }
    before += stage.forward;
  }
  return devices;
}

// `recomputed`: the time of recomputation by device, in a step; empty: nothing is recomputed.
Picoseconds time_as_cut(const PlanBounds& bounds, const std::vector<double>& recomputed) {
  if (strategies::post_validates(bounds.plan, bounds.scenario.software)) return least_time(bounds);
  double time = 0, update = 0;
  auto devices = devices_as_cut(bounds);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    auto& device = devices[d];
    if (!recomputed.empty() && recomputed[d] > 0) {
      // The recomputation is in some backward pass, before its gradients.
      const auto head = std::ranges::min(device.work, {}, &Work::head).head;
      device.work.push_back({recomputed[d], head, 0});
    }
    time = std::max({time, device.issued, device.sent, one_machine_bound(device.work)});
    update = std::max(update, device.update);
  }
  time += update + static_cast<double>(bounds.replicas.between());
  return std::max(least_time(bounds), whole_bound(time * (1 - 1e-9)));
}

}  // namespace

Picoseconds least_time_as_cut(const PlanBounds& bounds) { return time_as_cut(bounds, {}); }

namespace {

// The virtual stages of a device, and what it holds at some times of every step. Of orders that are
// searched for only that is known which holds of any: when the last of these stages begins a
// microbatch's backward pass, all of them hold that microbatch. Of pairs, only what is kept counts:
// another layer than the largest may run when a device is fullest.
struct Holder {
  std::vector<int> members;
  std::vector<Held> held;
};
std::vector<Holder> holders(const PipelineProblem& problem, strategies::ScheduleKind schedule) {
  const bool searched = strategies::is_searched(schedule);
  const bool in_pass = !strategies::pairs_always(schedule);
  std::vector<Holder> all;
  for (const auto& group : stage_groups(problem)) {
    Holder holder{group.members, {}};
    if (searched)
      holder.held.push_back({static_cast<double>(group.loads.front().capacity),
                             std::vector<double>(group.members.size(), 1.0)});
    else
      for (const auto& load : group.loads)
        holder.held.push_back({static_cast<double>(load.capacity),
                               {load.in_flight.begin(), load.in_flight.end()},
                               in_pass});
    all.push_back(std::move(holder));
  }
  return all;
}

// The microbatches that a device holds on the average of a step that takes `time` picoseconds: a
// stage keeps the tensors of each at least while its passes run forward behind the stage, and back.
Held held_on_average(const Holder& holder, const std::vector<StageWork>& stages,
                     double microbatches, double time) {
  Held average{holder.held.front().capacity, {}, false};
  for (const auto v : holder.members) {
    double behind = 0;
    for (auto i = static_cast<std::size_t>(v) + 1; i < stages.size(); ++i)
      behind += stages[i].passes.forward + stages[i].passes.backward;
    average.microbatches.push_back(microbatches * behind / time);
  }
  return average;
}

}  // namespace

std::optional<Picoseconds> least_time_as_cut(const PlanBounds& bounds,
                                             const PipelineProblem& problem, Picoseconds target) {
  const auto first = cut_of(bounds);
  const bool searched = strategies::is_searched(bounds.plan.schedule);
  const auto stages = searched ? stages_as_cut(bounds) : std::vector<StageWork>{};
  const double copies = problem.layout.kind == strategies::Layout::Kind::mirrored ? 2 : 1;
  // The least recomputation in any step, and in one that is faster than the target.
  std::vector<double> always(static_cast<std::size_t>(bounds.plan.pipeline), 0.0);
  auto if_faster = always;
  for (const auto& holder : holders(problem, bounds.plan.schedule)) {
    double most = 0;
    for (const auto& held : holder.held) {
      const auto least = least_recomputation(problem, first, holder.members, held);
      if (!least) return std::nullopt;
      most = std::max(most, *least);
    }
    double most_if_faster = most;
    if (searched) {
      const auto least = least_recomputation(
          problem, first, holder.members,
          held_on_average(holder, stages, problem.microbatches, static_cast<double>(target)));
      if (!least) return target;
      most_if_faster = std::max(most, *least);
    }
    const double each = problem.microbatches / copies;
    for (const auto v : holder.members) {
      const auto stage = static_cast<std::size_t>(strategies::place_of(v, problem.layout).stage);
      always[stage] = each * most;
      if_faster[stage] = each * most_if_faster;
      if (copies > 1) always[always.size() - 1 - stage] = always[stage];
    }
  }
  const auto time = time_as_cut(bounds, always);
  if (!searched || time >= target) return time;
  return std::max(time, std::min(target, time_as_cut(bounds, if_faster)));
}

namespace {

// Numbers of a stage's slots by kind: passes alone, and pairs.
struct SlotCounts {
  std::array<std::array<int, 4>, 2> alone{};  // by chunk and pass
  std::array<int, 2> pairs{};                 // by the forward pass's chunk
};
SlotCounts counts_of(const std::vector<strategies::Slot>& slots) {
  SlotCounts counts;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto chunk = static_cast<std::size_t>(slots[i].chunk);
    if (slots[i].paired)
      ++counts.pairs[chunk], ++i;
    else
      ++counts.alone[chunk][static_cast<std::size_t>(slots[i].pass)];
  }
  return counts;
}

}  // namespace

Picoseconds least_time_of_pairs(const PlanBounds& bounds, const strategies::Segment& chain,
                                strategies::PassCosts& times) {
  const auto& layout = bounds.layout;
  const auto m = static_cast<int>(bounds.microbatches);
  const auto first = cut_of(bounds);
  const auto segment = [&](int v) {
    const bool last = static_cast<std::size_t>(v) + 2 == first.size();
    const auto end = last ? chain.end() : chain.begin() + first[static_cast<std::size_t>(v) + 1];
    return strategies::Segment(chain.begin() + first[static_cast<std::size_t>(v)], end);
  };
  double time = 0, update = 0;
  const auto devices = devices_as_cut(bounds);
  for (int stage = 0; stage < layout.stages; ++stage) {
    const auto counts = counts_of(bounds.plan.schedule == strategies::ScheduleKind::dualpipe
                                      ? strategies::dualpipe(stage, layout.stages, m)
                                      : strategies::dualpipe_v(stage, layout.stages, m));
    const std::array segments{segment(strategies::virtual_stage_of(stage, 0, layout)),
                              segment(strategies::virtual_stage_of(stage, 1, layout))};
    double busy = 0;
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      for (std::size_t pass = 0; pass < 4; ++pass)
        if (const auto count = counts.alone[chunk][pass]; count > 0)
          busy += count * static_cast<double>(times.time_alone(
                              segments[chunk], static_cast<strategies::Pass>(pass)));
      if (counts.pairs[chunk] > 0)
        busy += counts.pairs[chunk] *
                static_cast<double>(times.pair(segments[chunk], segments[1 - chunk]));
    }
    const auto& device = devices[static_cast<std::size_t>(stage)];
    const double head = std::ranges::min(device.work, {}, &Work::head).head;
    const double tail = std::ranges::min(device.work, {}, &Work::tail).tail;
    time = std::max(time, head + busy + tail);
    update = std::max(update, device.update);
  }
  time += update + static_cast<double>(bounds.replicas.between());
  return std::max(least_time_as_cut(bounds), whole_bound(time * (1 - 1e-9)));
}

}  // namespace search
