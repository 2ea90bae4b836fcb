// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "forecast/diagnosis/weigh.hpp"

namespace forecast {

namespace {

constexpr double slow = 1.08;      // transfers over what is forecast, on all ranks
constexpr double slower = 1.12;    // or over those of the other ranks
constexpr double in_layers = 0.5;  // share of a layer's communication that is forward's

// One sort of communication.
struct Sort {
  std::size_t part = 0;
  std::vector<double> expected;  // by rank: what transfers should take
  std::vector<double> ratio;     // by rank: what they took over that
  double common = 1;             // on all ranks
  double on_chain = 0;
};

bool inside_layers(StepPart part) {
  return part == StepPart::tensor_comm || part == StepPart::context_comm ||
         part == StepPart::expert_comm;
}

// Returns the factor by which the rank has more communication of this part than forecast, because
// it runs more layers or passes; 1 for parts outside of layers.
double passes(const RanPasses& work, StepPart part, std::size_t rank) {
  if (!inside_layers(part)) return 1;
  const double again = work.attention_only ? 0 : work.again;
  return (1 + in_layers * again) * std::max(1.0, work.layers[rank]);
}

Sort sort_of(const Observed& evidence, const RanPasses& work, std::size_t part) {
  Sort sort{.part = part};
  std::vector<double> known;
  for (std::size_t r = 0; r < evidence.sums.size(); ++r) {
    const auto& sums = evidence.sums[r];
    sort.expected.push_back(sums.forecast_transfers[part] *
                            passes(work, static_cast<StepPart>(part), r));
    const double ratio = sort.expected[r] > 0 ? sums.transfers[part] / sort.expected[r] : 1.0;
    sort.ratio.push_back(ratio);
    if (sort.expected[r] > 0) known.push_back(ratio);
    sort.on_chain += evidence.chain[r].communicating[part];
  }
  if (!known.empty()) sort.common = lower_quartile(known);
  if (sort.common < slow) sort.common = 1;
  return sort;
}

// Seconds of communication on the chain beyond those of the forecast.
double excess_of(const Observed& evidence, const RanPasses& work, const Sort& sort) {
  const auto part = static_cast<StepPart>(sort.part);
  return std::max(0.0, sort.on_chain - evidence.expected_chain[sort.part] * passes(work, part, 0));
}

// Transfers that stalled on some ranks, by those that lost most.
Suspect stall_of(const Observed& evidence, const Sort& sort, double excess) {
  Suspect suspect{.cause = Cause::stall, .part = static_cast<StepPart>(sort.part)};
  for (const auto& sums : evidence.sums) {
    const auto& stalls = sums.stalls[sort.part];
    if (stalls.count == 0) continue;
    suspect.ranks.push_back(sums.rank);
    if (!(stalls.seconds > suspect.seconds.value)) continue;
    suspect.seconds = {stalls.seconds};
    suspect.factor = stalls.longest / stalls.usual;
    suspect.seen = {stalls.longest};
    suspect.expected = {stalls.usual};
    suspect.stalled = stalls.count;
    suspect.transfers = stalls.of;
  }
  if (suspect.ranks.size() == evidence.sums.size()) suspect.ranks.clear();
  suspect.seconds = {std::min(suspect.seconds.value, excess)};
  return suspect;
}

// Ranks whose transfers are slow beside those of the others, or beside the forecast.
Suspect slow_link_of(const Observed& evidence, const Sort& sort, double excess) {
  Suspect suspect{.cause = Cause::slow_link, .part = static_cast<StepPart>(sort.part)};
  double lost = 0;
  bool some_are_not = false;
  for (std::size_t r = 0; r < sort.ratio.size(); ++r) {
    const bool own = sort.ratio[r] > slower * sort.common;
    if (!own && sort.common == 1) {
      some_are_not = some_are_not || sort.expected[r] > 0;
      continue;
    }
    some_are_not = some_are_not || !own;
    const auto& sums = evidence.sums[r];
    const double took = sums.transfers[sort.part];
    if (took * (1 - 1 / sort.ratio[r]) > lost) {
      lost = took * (1 - 1 / sort.ratio[r]);
      suspect.factor = sort.ratio[r];
      suspect.seen = {took};
      suspect.expected = {sort.expected[r]};
    }
    if (own) suspect.ranks.push_back(sums.rank);
  }
  if (!some_are_not) suspect.ranks.clear();
  suspect.seconds = {std::min(lost, excess)};
  return suspect;
}

}  // namespace

void add_communication_suspects(const Observed& evidence, const RanPasses& work,
                                std::vector<Suspect>& suspects) {
  for (const auto& facts : step_parts) {
    if (facts.sort != StepPartFacts::Sort::communication) continue;
    const auto sort = sort_of(evidence, work, static_cast<std::size_t>(facts.part));
    if (sort.on_chain == 0) continue;
    double excess = excess_of(evidence, work, sort);
    const auto take = [&](Suspect suspect) {
      excess -= suspect.seconds.value;
      if (suspect.seconds.value > 0) suspects.push_back(std::move(suspect));
    };
    double awaited = 0, hidden = 0;
    for (std::size_t r = 0; r < evidence.sums.size(); ++r) {
      awaited +=
          std::min(evidence.sums[r].awaited[sort.part], evidence.chain[r].communicating[sort.part]);
      hidden = std::max(hidden, sort.expected[r] - evidence.expected_chain[sort.part]);
    }
    if (awaited > 0)
      take({.cause = Cause::unseen_rank,
            .seconds = {std::min(awaited, excess)},
            .part = facts.part});
    take(stall_of(evidence, sort, excess));
    take(slow_link_of(evidence, sort, excess));
    if (hidden > 0)
      take({.cause = Cause::no_overlap,
            .seconds = {std::min(hidden, excess)},
            .factor = 1,
            .seen = {sort.on_chain},
            .expected = {evidence.expected_chain[sort.part]},
            .part = facts.part});
  }
}

}  // namespace forecast
