// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include "forecast/diagnosis/weigh.hpp"

namespace forecast {

namespace {

// The usual idle seconds of a rank of a stage, as lower quartiles: before its first work, and
// (`idle`) the rest.
struct Usual {
  double idle = 0, before_first = 0;
};

std::map<std::int64_t, Usual> usual_idling(const Observed& evidence) {
  std::map<std::int64_t, std::pair<std::vector<double>, std::vector<double>>> all;
  for (const auto& sums : evidence.sums) {
    all[sums.stage].first.push_back(sums.idle - sums.before_first);
    all[sums.stage].second.push_back(sums.before_first);
  }
  std::map<std::int64_t, Usual> usual;
  for (const auto& [stage, idle] : all)
    usual[stage] = {lower_quartile(idle.first), lower_quartile(idle.second)};
  return usual;
}

// The idle seconds of the forecast that are left: take() subtracts as many of them as it can.
struct Expected {
  double left = 0;
  double take(double seconds) {
    const double taken = std::min(left, seconds);
    left -= taken;
    return seconds - taken;
  }
};

// The most seconds that a rank of a pipeline's first stage idles before its first work; unlimited
// if none is traced. Data are loaded for the first stage, so a later stage that begins after it
// waits for the pipeline to fill.
double longest_opening(const Observed& evidence) {
  double longest = -1;
  for (const auto& sums : evidence.sums)
    if (sums.stage == 0) longest = std::max(longest, sums.before_first);
  return longest < 0 ? std::numeric_limits<double>::infinity() : longest;
}

Suspect idling(Cause cause, double seconds, double seen) {
  return {.cause = cause, .seconds = {seconds}, .seen = {seen}};
}

}  // namespace

void add_idle_suspects(const Observed& evidence, std::vector<Suspect>& suspects) {
  const auto usual = usual_idling(evidence);
  const double felt = least_share * evidence.length;
  Suspect late = idling(Cause::late_rank, 0, 0), loading = idling(Cause::data_loading, 0, 0);
  const double opening = longest_opening(evidence);
  double gaps = 0, first = 0, copies = 0;
  for (std::size_t r = 0; r < evidence.sums.size(); ++r) {
    const auto& sums = evidence.sums[r];
    const auto& on = evidence.chain[r];
    const auto& mostly = usual.at(sums.stage);
    double own = std::min(on.gaps + on.after_last, sums.idle - sums.before_first - mostly.idle);
    if (own > felt) {
      late.seconds += units::Seconds{own};
      late.ranks.push_back(sums.rank);
    } else {
      own = 0;
    }
    const double before_first = std::min(on.before_first, opening);
    const double own_first = std::min(before_first, sums.before_first - mostly.before_first);
    if (own_first > felt) loading.ranks.push_back(sums.rank);
    first += before_first;
    gaps += on.gaps + on.after_last - own;
    copies += on.copying;
  }
  const auto part = [&](StepPart of) {
    return evidence.expected_chain[static_cast<std::size_t>(of)];
  };
  Expected expected{part(StepPart::other)};
  // Ranks that wait for messages of untraced stages are expected to idle for the forecast's bubble.
  if (waits_for_messages_unseen(evidence.step))
    expected.left += evidence.forecast.time[StepPart::bubble].value;
  const double hosts = expected.take(gaps);
  // Without a data loader the forecast has no idle time before the first kernel.
  loading.seconds = {evidence.scenario.software.data_loader ? expected.take(first) : first};
  loading.seen = {first};
  late.seen = late.seconds;
  suspects.push_back(late);
  suspects.push_back(loading);
  suspects.push_back(idling(Cause::host_bound, hosts, gaps));
  suspects.push_back(
      idling(Cause::copies, std::max(0.0, copies - part(StepPart::offload)), copies));
}

}  // namespace forecast
