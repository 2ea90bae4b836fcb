// SPDX-License-Identifier: Apache-2.0
// What no plan of a frame can be faster than.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "search/frame.hpp"
#include "search/stage_groups.hpp"

namespace search {

using sim::Picoseconds;
using strategies::ScheduleKind;

// Of the whole model: what passes of one microbatch take, and what follows.
struct Frame::Sums {
  double passed = 0, work = 0, longest = 0, issued = 0, sent = 0, update = 0;
  // Least shares among layers: of the forward pass, and of the work, in what a device does in all;
  // with the reduction of gradients in it, and without.
  double all = 0, all_reduced = 0, ahead = 1, ahead_reduced = 1;
};

// On the lane that a device has for its replicas.
double Frame::sent(const strategies::Parameters& of, bool layer) const {
  if (!sharing_.shares()) return 0;
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  using enum strategies::When;
  double time = 0;
  // The root unit stays gathered.
  const bool stays = !layer && scenario_.software.root_unit;
  if (lane_.reduces != never)
    time += static_cast<double>(sharing_.reduction(of)) * (lane_.reduces == always ? m : 1);
  const double gathers = (lane_.gathers == always ? m
                          : lane_.gathers == once ? 1
                                                  : 0) +
                         (lane_.gathers_again && !stays ? m : 0);
  return time + gathers * static_cast<double>(sharing_.gathering(of));
}

std::vector<Frame::Each> Frame::kinds() const {
  std::vector<Each> all;
  all.reserve(prices_.kinds.size());
  for (std::size_t k = 0; k < prices_.kinds.size(); ++k) {
    // Of each part the least that any way takes: the first need not be the fastest.
    Each least{HUGE_VAL, HUGE_VAL, HUGE_VAL, 0, 0, HUGE_VAL, 0};
    for (const auto& block : prices_.outlines[k]) {
      const auto way = price(block);
      least.forward = std::min(least.forward, static_cast<double>(way.forward));
      least.backward = std::min(least.backward, static_cast<double>(way.backward));
      least.weight = std::min(least.weight, static_cast<double>(way.weight));
      least.issued = std::min(least.issued, static_cast<double>(issued(block)));
    }
    using Held = strategies::Parameters;
    const auto first = prices_.kinds[k].first;
    if (sharing_.shares())
      least.reduction = static_cast<double>(
          least_of(first, [&](const Held& held) { return sharing_.reduction(held); }));
    least.update =
        static_cast<double>(least_of(first, [&](const Held& held) { return update(held); }));
    least.sent =
        least_of(first, [&](const Held& held) { return sent(held, prices_.kinds[k].layer); });
    all.push_back(least);
  }
  return all;
}

Frame::Sums Frame::sums() const {
  Sums sums;
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  const bool graded = strategies::splits_gradients(plan_.schedule);
  const auto each = kinds();
  for (std::size_t k = 0; k < each.size(); ++k) {
    const auto& one = each[k];
    const auto& kind = prices_.kinds[k];
    const double forward = one.forward, backward = one.backward + one.weight;
    const double work = forward + backward;
    sums.passed += kind.count * (forward + one.backward);
    sums.work += kind.count * work;
    sums.longest = std::max(sums.longest, work);
    sums.issued += kind.count * one.issued;
    sums.sent += kind.count * one.sent;
    sums.update += kind.count * one.update;
    if (!kind.layer) continue;
    const double ahead = graded ? forward : work;
    const double reduced = one.reduction * (duties_.reduces == DataLane::When::always ? m : 1);
    const double all = m * work;
    const bool beside = duties_.beside;
    const double all_reduced = !beside ? all + reduced
                               : duties_.reduces == DataLane::When::always
                                   ? reduced
                                   : all - backward + reduced;
    sums.all += kind.count * all;
    sums.all_reduced += kind.count * all_reduced;
    if (work <= 0) continue;
    sums.ahead = std::min(sums.ahead, ahead / all);
    sums.ahead_reduced = std::min(sums.ahead_reduced, forward / all_reduced);
  }
  return sums;
}

namespace {

// The least T with ahead · (what devices before s do) + (what s does) ≤ T for every device s of p,
// where they do `all` together.
double least_with_ahead(double all, double ahead, double p) {
  if (ahead <= 0) return all / p;
  return all * ahead / (1 - std::pow(1 - std::min(1.0, ahead), p));
}

}  // namespace

Picoseconds Frame::least_time() const {
  const auto total = sums();
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  const auto p = static_cast<double>(plan_.pipeline);
  const auto layout = layout_of(plan_);
  // Mirrored, half of the microbatches come from either end: a block is on two devices.
  const double copies = layout.kind == strategies::Layout::Kind::mirrored ? 2 : 1;
  const bool spans = strategies::post_validates(plan_, scenario_.software);
  // A step that the next one runs into begins with its first kernel, which is issued before.
  const double before = spans ? static_cast<double>(ticks(scenario_.software.launch_forward)) : 0;
  double time = m * std::max(total.work / p, total.longest / copies);
  time = std::max({time, m * total.issued / p - before, total.sent / p});
  const bool graded = strategies::splits_gradients(plan_.schedule);
  const bool loop = layout.kind == strategies::Layout::Kind::loop;
  const bool one_chunk = loop && layout.chunks == 1;
  if (one_chunk && !spans) {
    time = std::max(time, least_with_ahead(total.all, total.ahead, p));
    if (sharing_.shares())
      time = std::max(time, least_with_ahead(total.all_reduced, total.ahead_reduced, p));
  }
  if (sharing_.shares() && (!duties_.beside || duties_.reduces == DataLane::When::always))
    time = std::max(time, total.all_reduced / p);
  // The first microbatch passes all stages, forward and back.
  if (!spans) time = std::max(time, graded ? total.passed : total.work);
  time += spans ? 0 : total.update / p + static_cast<double>(sharing_.between());
  return whole_bound(time * (1 - 1e-9));
}

double Frame::least_time_of_chunks() const {
  double least = HUGE_VAL;
  const auto each = kinds();
  for (std::size_t k = 0; k < each.size(); ++k)
    if (prices_.kinds[k].layer)
      least = std::min(least, each[k].forward + each[k].backward + each[k].weight);
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  return static_cast<double>(plan_.virtual_stages) * m * least * (1 - 1e-9);
}

// Any order takes the least head of some of the work, all of that work, and its least tail
// (Carlier 1982). O(work²)
double Frame::one_machine_bound(std::vector<Work> work) {
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

namespace {

// The least time by which the passes of one microbatch must be longer on a device, so that what its
// stages keep fits: layers keep as much as they can, and then less where a byte costs least, parts
// of layers included. None: nothing fits.
std::optional<double> least_recomputation(const PipelineProblem& problem,
                                          const std::vector<int>& first_layer,
                                          const StageGroup& group) {
  struct Saving {
    double bytes, time;
  };
  double most = 0;
  for (const auto& load : group.loads) {
    double over = -static_cast<double>(load.capacity), transient = 0;
    std::vector<Saving> savings;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const auto v = static_cast<std::size_t>(group.members[m]);
      const double live = load.in_flight[m];
      for (int i = first_layer[v]; i < first_layer[v + 1]; ++i) {
        const auto& layer = problem.chain.layers[static_cast<std::size_t>(i)];
        over += static_cast<double>(layer.fixed);
        double least = HUGE_VAL;
        for (const auto& way : layer.options)
          least = std::min(least, static_cast<double>(way.transient));
        transient = std::max(transient, least);
        const auto time = [](const Price& way) {
          return static_cast<double>(way.forward + way.backward + way.weight);
        };
        // Down the lower hull of (kept, time) from the fastest way.
        const auto* here = &*std::ranges::min_element(
            layer.options, {}, [&](const Price& way) { return std::pair(time(way), way.kept); });
        over += live * static_cast<double>(here->kept);
        while (live > 0) {
          const Price* next = nullptr;
          double slope = 0;
          for (const auto& way : layer.options) {
            if (way.kept >= here->kept) continue;
            const double each =
                (time(way) - time(*here)) / static_cast<double>(here->kept - way.kept);
            if (next && each >= slope) continue;
            next = &way;
            slope = each;
          }
          if (!next) break;
          savings.push_back(
              {live * static_cast<double>(here->kept - next->kept), time(*next) - time(*here)});
          here = next;
        }
      }
    }
    over += transient;
    std::ranges::sort(savings, {}, [](const Saving& s) { return s.time / s.bytes; });
    double extra = 0;
    for (const auto& saving : savings) {
      if (over <= 0) break;
      const double share = std::min(1.0, over / saving.bytes);
      over -= saving.bytes;
      extra += share * saving.time;
    }
    if (over > 0) return std::nullopt;
    most = std::max(most, extra);
  }
  return most;
}

}  // namespace

Picoseconds Frame::least_time_as_cut() const { return least_time_as_cut(std::vector<double>{}); }

std::optional<Picoseconds> Frame::least_time_as_cut(const PipelineProblem& problem) const {
  std::vector<double> extra(static_cast<std::size_t>(plan_.pipeline), 0.0);
  const auto first = cut();
  const double copies = problem.layout.kind == strategies::Layout::Kind::mirrored ? 2 : 1;
  for (const auto& group : stage_groups(problem)) {
    const auto least = least_recomputation(problem, first, group);
    if (!least) return std::nullopt;
    const double time = *least * problem.microbatches / copies;
    for (const auto v : group.members) {
      const auto stage = static_cast<std::size_t>(strategies::place_of(v, problem.layout).stage);
      extra[stage] = time;
      if (copies > 1) extra[extra.size() - 1 - stage] = time;
    }
  }
  return least_time_as_cut(extra);
}

std::vector<Frame::Each> Frame::stages_as_cut() const {
  const auto first = cut();
  const auto each = kinds();
  std::vector<Each> all(first.size() - 1);
  for (std::size_t v = 0; v < all.size(); ++v) {
    // Prediction modules stay with the head.
    const auto end = v + 1 == all.size() ? static_cast<int>(prices_.elements.size()) : first[v + 1];
    for (int i = first[v]; i < end; ++i) {
      const auto& one = each[prices_.elements[static_cast<std::size_t>(i)]];
      all[v].forward += one.forward;
      all[v].backward += one.backward;
      all[v].weight += one.weight;
      all[v].reduction += one.reduction;
      all[v].update += one.update;
      all[v].issued += one.issued;
      all[v].sent += one.sent;
    }
  }
  return all;
}

// What devices do, with heads and tails along the microbatch's way to the last stage and back.
std::vector<Frame::Device> Frame::devices_as_cut() const {
  const auto layout = layout_of(plan_);
  const bool graded = strategies::splits_gradients(plan_.schedule);
  const bool mirrored = layout.kind == strategies::Layout::Kind::mirrored;
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  const auto all = stages_as_cut();
  std::vector<Device> devices(static_cast<std::size_t>(layout.stages));
  double forward = 0, backward = 0;
  for (const auto& stage : all) forward += stage.forward, backward += stage.backward;
  double before = 0, behind = backward;
  for (std::size_t v = 0; v < all.size(); ++v) {
    const auto& stage = all[v];
    const double beyond = forward - before - stage.forward;  // forward passes behind this stage
    behind -= stage.backward;                                // backward passes behind it
    const double gradient = forward + behind;                // when its first backward can begin
    const double rest = backward - behind - stage.backward;  // backward passes before it
    const double beside = duties_.beside ? (graded ? stage.weight : stage.backward) : 0;
    const double summed = v == 0 || v + 1 == all.size() ? static_cast<double>(embedding_sum()) : 0;
    const double sent = std::max(0.0, stage.reduction - beside) + summed;
    const double last = v == 0 ? 0 : all[0].weight;
    // Mirrored, half of the microbatches come from either end.
    const auto here =
        static_cast<std::size_t>(strategies::place_of(static_cast<int>(v), layout).stage);
    const auto hosts = mirrored ? std::vector{here, devices.size() - 1 - here} : std::vector{here};
    const auto copies = static_cast<double>(hosts.size());
    const double share = m / copies;
    for (const auto host : hosts) {
      auto& device = devices[host];
      device.work.push_back({share * stage.forward, before, beyond + backward + last});
      device.work.push_back(
          {share * stage.backward, gradient, std::max(rest + last, graded ? stage.weight : sent)});
      if (graded) device.work.push_back({share * stage.weight, gradient + stage.backward, sent});
      device.update += stage.update;
      device.issued += share * stage.issued;
      device.sent += stage.sent / copies + summed;
    }
    before += stage.forward;
  }
  return devices;
}

Picoseconds Frame::least_time_as_cut(const std::vector<double>& recomputed) const {
  if (strategies::post_validates(plan_, scenario_.software)) return least_time();
  double time = 0, update = 0;
  auto devices = devices_as_cut();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    auto& device = devices[d];
    if (!recomputed.empty() && recomputed[d] > 0) {
      // In some backward pass, before its gradients.
      const auto head = std::ranges::min(device.work, {}, &Work::head).head;
      device.work.push_back({recomputed[d], head, 0});
    }
    time = std::max({time, device.issued, device.sent, one_machine_bound(device.work)});
    update = std::max(update, device.update);
  }
  time += update + static_cast<double>(sharing_.between());
  return std::max(least_time(), whole_bound(time * (1 - 1e-9)));
}

std::optional<Picoseconds> Frame::guess(double headroom) const {
  // Some memory is always in the way; inputs of layers are kept whatever is recomputed.
  constexpr double usable = 0.95, most_dropped = 0.9;
  const double needed = rough_memory(), kept = needed - states();
  const double dropped = std::max(0.0, (needed - usable * room(headroom)) / kept);
  if (dropped > most_dropped) return std::nullopt;
  const auto m = static_cast<double>(strategies::microbatches_of(plan_, scenario_.training));
  const auto p = static_cast<double>(plan_.pipeline);
  const auto time = static_cast<double>(least_time_as_cut());
  const double again = dropped * m / p * static_cast<double>(prices_.forward.device);
  const double slower = scenario_.software.interference * std::min(time, sums().sent / p);
  return whole_bound(time + again + slower);
}

namespace {

// Slots of a stage by what they are: passes alone, and pairs.
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

Picoseconds Frame::least_time_of_pairs(const strategies::PassCosts::Segment& chain,
                                       strategies::PassCosts& times) const {
  const auto layout = layout_of(plan_);
  const auto m = static_cast<int>(strategies::microbatches_of(plan_, scenario_.training));
  const auto first = cut();
  const auto segment = [&](int v) {
    const bool last = static_cast<std::size_t>(v) + 2 == first.size();
    const auto end = last ? chain.end() : chain.begin() + first[static_cast<std::size_t>(v) + 1];
    return strategies::PassCosts::Segment(chain.begin() + first[static_cast<std::size_t>(v)], end);
  };
  double time = 0, update = 0;
  const auto devices = devices_as_cut();
  for (int stage = 0; stage < layout.stages; ++stage) {
    const auto counts = counts_of(plan_.schedule == ScheduleKind::dualpipe
                                      ? strategies::dualpipe(stage, layout.stages, m)
                                      : strategies::dualpipe_v(stage, layout.stages, m));
    const std::array segments{segment(strategies::virtual_stage_of(stage, 0, layout)),
                              segment(strategies::virtual_stage_of(stage, 1, layout))};
    double busy = 0;
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      for (std::size_t pass = 0; pass < 4; ++pass)
        if (const auto count = counts.alone[chunk][pass]; count > 0)
          busy += count * static_cast<double>(
                              times.alone(segments[chunk], static_cast<strategies::Pass>(pass)));
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
  time += update + static_cast<double>(sharing_.between());
  return std::max(least_time_as_cut(), whole_bound(time * (1 - 1e-9)));
}

}  // namespace search
