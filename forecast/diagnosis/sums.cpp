// SPDX-License-Identifier: Apache-2.0
#include "forecast/diagnosis/sums.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace forecast {

namespace {

double in_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

void add_stretches(SeenSums& sums, const SeenRank& rank) {
  for (const auto& stretch : rank.stretches) {
    const double took = in_seconds(stretch.end_ns - stretch.start_ns);
    if (stretch.work == none_seen) {
      sums.idle += took;
      if (&stretch == &rank.stretches.front()) sums.before_first = took;
      continue;
    }
    const auto& of = rank.works[stretch.work].of;
    if (of.kind == GpuWork::compute) sums.computing[static_cast<std::size_t>(of.sort)] += took;
    if (is_communication(of.kind))
      sums.exposed[static_cast<std::size_t>(rank.works[stretch.work].part)] += took;
  }
  for (const auto& work : rank.works) {
    if (work.of.kind != GpuWork::compute) continue;
    sums.forward += work.of.attention == AttentionPass::forward ? 1 : 0;
    sums.backward += work.of.attention == AttentionPass::backward ? 1 : 0;
  }
}

struct OneTransfer {
  double took = 0;
  double elements = 0;
  bool complete = false;    // all who took part are traced
  std::uint32_t group = 0;  // those who took part, as this rank numbers them
};

// Shortens each of few transfers that took far longer than many others of as many elements in the
// same group, to the time of those. If ranks of the group are not traced, the stall may be a late
// rank: the second value is the seconds of such transfers.
std::pair<Stalls, double> take_stalls(std::vector<OneTransfer>& all, double length) {
  constexpr std::size_t many = 8, few = 20;  // the least transfers; one stalls in `few`
  constexpr double far = 4, felt = 0.005;    // times the usual; share of the step
  std::map<std::pair<std::uint32_t, double>, std::vector<OneTransfer*>> alike;
  for (auto& one : all)
    if (one.elements > 0) alike[{one.group, one.elements}].push_back(&one);
  Stalls stalls;
  double awaited = 0;
  for (auto& [key, transfers] : alike) {
    if (transfers.size() < many) continue;
    std::ranges::sort(transfers, {}, &OneTransfer::took);
    const double usual = transfers[transfers.size() / 2]->took;
    if (usual <= 0) continue;
    const auto stalled = [&](const OneTransfer* one) {
      return one->took > far * usual && one->took - usual > felt * length;
    };
    const auto count = std::ranges::count_if(transfers, stalled);
    if (count == 0 ||
        count > static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, transfers.size() / few)))
      continue;
    for (auto* one : transfers) {
      if (!stalled(one)) continue;
      const double lost = one->took - usual;
      if (one->complete) {
        stalls.seconds += lost;
        ++stalls.count;
        if (one->took > stalls.longest) stalls.longest = one->took, stalls.usual = usual;
      } else {
        awaited += lost;
      }
      one->took = usual;
    }
  }
  stalls.of = static_cast<std::int64_t>(all.size());
  return {stalls, awaited};
}

// Returns the seconds that the transfers of a part take, and the seconds waited for ranks that are
// not traced: those show where large transfers take very different times for each element.
std::pair<double, double> transfers_and_waits(const std::vector<OneTransfer>& all) {
  constexpr double large = 0.25, uneven = 1.5, even = 1.2;
  double most = 0, sum = 0, waits = 0;
  for (const auto& one : all) most = std::max(most, one.elements);
  std::vector<double> rates;
  for (const auto& one : all) {
    sum += one.took;
    if (!one.complete && one.elements >= large * most)
      rates.push_back(one.took / std::max(1.0, one.elements));
  }
  if (rates.size() < 4) return {sum, 0};
  std::ranges::sort(rates);
  const double low = rates[rates.size() / 10], high = rates[rates.size() - 1 - rates.size() / 10];
  if (!(high > uneven * low)) return {sum, 0};
  for (const auto& one : all)
    if (!one.complete) waits += std::max(0.0, one.took - even * low * std::max(1.0, one.elements));
  return {sum - waits, waits};
}

void add_transfers(SeenSums& sums, const SeenRank& rank, const SeenStep& step) {
  std::array<std::vector<OneTransfer>, step_parts.size()> all;
  for (const auto& work : rank.works) {
    if (!is_communication(work.of.kind)) continue;
    const auto* meeting = work.meeting == none_seen ? nullptr : &step.meetings[work.meeting];
    const auto took = meeting ? meeting->transfer_ns : work.of.end_ns - work.of.start_ns;
    // Waiting for stages is no waiting for late ranks: follow_unseen_stages() takes it apart.
    if (work.part == StepPart::pipeline_comm && (!meeting || meeting->present < 2)) continue;
    all[static_cast<std::size_t>(work.part)].push_back(
        {in_seconds(took), static_cast<double>(work.of.elements), meeting && meeting->complete,
         work.of.group});
  }
  for (std::size_t part = 0; part < all.size(); ++part) {
    double stalled_by_unseen = 0;
    std::tie(sums.stalls[part], stalled_by_unseen) = take_stalls(all[part], step.time.value);
    std::tie(sums.transfers[part], sums.awaited[part]) = transfers_and_waits(all[part]);
    sums.awaited[part] += stalled_by_unseen;
  }
}

}  // namespace

namespace {

// Counts the expected times of a class as those of another.
void count_expected(std::vector<SeenSums>& all, std::size_t of, std::size_t as) {
  for (auto& sums : all) {
    sums.expected[as] += std::exchange(sums.expected[of], 0);
    sums.forward_expected[as] += std::exchange(sums.forward_expected[of], 0);
  }
}

// If no name tells of experts, they run as products one by one, and count as these.
void compare_experts_as_products(std::vector<SeenSums>& all) {
  constexpr auto experts = static_cast<std::size_t>(KernelClass::experts);
  if (std::ranges::all_of(all, [](const auto& sums) { return sums.computing[experts] == 0; }))
    count_expected(all, experts, static_cast<std::size_t>(KernelClass::products));
}

// If the names of all kernels tell nothing, so that they count as others, the expected times do,
// too.
void compare_as_one_class(std::vector<SeenSums>& all) {
  constexpr auto others = static_cast<std::size_t>(KernelClass::others);
  for (const auto& sums : all)
    for (std::size_t of = 0; of < kernel_classes; ++of)
      if (of != others && sums.computing[of] > 0) return;
  for (std::size_t of = 0; of < others; ++of) count_expected(all, of, others);
}

}  // namespace

std::vector<SeenSums> sums_of(const SeenStep& step, const std::vector<RankTimes>& expected) {
  std::vector<SeenSums> all;
  for (const auto& rank : step.ranks) {
    const auto& forecast = expected[rank.expected];
    SeenSums sums{.layers = forecast.layers, .stage = forecast.stage, .rank = rank.rank};
    const auto& forward = forecast.computing[static_cast<std::size_t>(KernelPhase::forward)];
    const auto& again = forecast.computing[static_cast<std::size_t>(KernelPhase::recompute)];
    for (const auto of : all_kernel_classes) {
      const auto i = static_cast<std::size_t>(of);
      sums.expected[i] = forecast.computed(of).value;
      sums.forward_expected[i] = forward[i].value;
      if (of == KernelClass::attention && forward[i].value > 0)
        sums.attention_again = again[i] / forward[i];
    }
    for (const auto& part : step_parts)
      sums.forecast_transfers[static_cast<std::size_t>(part.part)] =
          forecast.communicating[part.part].value;
    sums.bubble = forecast.exposed[StepPart::bubble].value;
    for (const auto& part : step_parts)
      if (part.part != StepPart::bubble && part.part != StepPart::pipeline_comm)
        sums.expected_busy += forecast.exposed[part.part].value;
    using enum StepPart;
    for (const auto part : {compute, recompute, tensor_comm, context_comm, expert_comm})
      sums.expected_passes += forecast.exposed[part].value;
    add_stretches(sums, rank);
    add_transfers(sums, rank, step);
    all.push_back(sums);
  }
  compare_experts_as_products(all);
  compare_as_one_class(all);
  return all;
}

bool waits_for_messages_unseen(const SeenStep& step) {
  for (const auto& rank : step.ranks)
    for (const auto& work : rank.works)
      if (work.part == StepPart::pipeline_comm && is_communication(work.of.kind) &&
          (work.meeting == none_seen || step.meetings[work.meeting].present < 2))
        return true;
  return false;
}

namespace {

// Returns the factor by which a rank's passes, with all that lies between them, took longer than
// forecast; at least 0.5.
double pace_of(const SeenSums& sums, double length) {
  constexpr auto pipeline = static_cast<std::size_t>(StepPart::pipeline_comm);
  const double busy = length - sums.before_first - sums.exposed[pipeline];
  const double more = busy - sums.expected_busy;
  return sums.expected_passes > 0 ? std::max(0.5, 1 + more / sums.expected_passes) : 1;
}

}  // namespace

void follow_unseen_stages(const SeenStep& step, std::vector<SeenSums>& sums,
                          std::vector<OnChain>& chain) {
  if (!waits_for_messages_unseen(step)) return;
  constexpr auto pipeline = static_cast<std::size_t>(StepPart::pipeline_comm);
  for (std::size_t r = 0; r < sums.size(); ++r) {
    auto& on = chain[r].communicating[pipeline];
    const double waits = std::max(0.0, on - sums[r].forecast_transfers[pipeline]);
    double seen = chain[r].gaps;
    for (const auto class_time : chain[r].computing) seen += class_time;
    if (waits == 0 || seen == 0) continue;
    const double usual = std::min(waits, sums[r].bubble * pace_of(sums[r], step.time.value));
    for (auto& class_time : chain[r].computing) class_time *= 1 + usual / seen;
    chain[r].gaps *= 1 + usual / seen;
    on -= usual;
    sums[r].awaited[pipeline] = waits - usual;
  }
}

double lower_quartile(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 4];
}

}  // namespace forecast
