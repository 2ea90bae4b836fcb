// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "forecast/diagnosis/weigh.hpp"
#include "plans/plan.hpp"
#include "strategies/job.hpp"

namespace forecast {

namespace {

constexpr std::size_t products = 0, attention = 1, experts = 2;
constexpr double certain = 0.02;  // factors nearer to one are noise
constexpr double alike = 0.05;    // classes whose factors differ by less slow down as one
constexpr double outlying = 1.03;

double sum_of(const BySort& of) { return std::accumulate(of.begin(), of.end(), 0.0); }

// Factors on the expected time of a rank's kernels, by class: of passes and layers that really ran,
// and of slowness.
struct Factors {
  BySort again{1, 1, 1, 1};  // passes
  double layers = 1;
  BySort common{1, 1, 1, 1};  // on all ranks
  BySort own{1, 1, 1, 1};     // on this one
};

// The measured over the expected time of a class of kernels on a rank; 0 where none ran or
// less than 0.5 % of the step was expected.
double ratio_of(const Observed& evidence, const Factors& factors, std::size_t rank,
                std::size_t of) {
  const auto& sums = evidence.sums[rank];
  const double expected = sums.expected[of] * factors.again[of] * factors.layers;
  constexpr double felt = 0.005;  // of the step
  return expected > felt * evidence.length && sums.computing[of] > 0 ? sums.computing[of] / expected
                                                                     : 0.0;
}

BySort passes_of(const SeenSums& sums, const RanPasses& work) {
  BySort factors{1, 1, 1, 1};
  for (std::size_t of = 0; of < kernel_classes; ++of)
    if (sums.expected[of] > 0 && (!work.attention_only || of == attention))
      factors[of] += work.again * sums.forward_expected[of] / sums.expected[of];
  return factors;
}

// The ratio that all ranks share: the mean for experts, whose sum over ranks does not depend on who
// holds them; the lower quartile for other kernels, so that few slow ranks do not count as all.
double common_ratio(const std::vector<double>& ratios, bool mean) {
  if (ratios.empty()) return 1;
  return mean ? std::accumulate(ratios.begin(), ratios.end(), 0.0) /
                    static_cast<double>(ratios.size())
              : lower_quartile(ratios);
}

bool differ(const std::vector<double>& ratios) {
  if (ratios.size() < 2) return false;
  const auto [least, most] = std::ranges::minmax(ratios);
  return most > outlying * least;
}

void add_common(const Observed& evidence, std::vector<Factors>& all) {
  std::array<std::vector<double>, kernel_classes> ratios;
  for (std::size_t r = 0; r < all.size(); ++r)
    for (std::size_t of = 0; of < kernel_classes; ++of)
      if (const double ratio = ratio_of(evidence, all[r], r, of); ratio > 0)
        ratios[of].push_back(ratio);
  const bool only_experts_differ = !differ(ratios[products]) && differ(ratios[experts]);
  for (std::size_t of = 0; of < kernel_classes; ++of) {
    double common = common_ratio(ratios[of], of == experts && only_experts_differ);
    if (std::abs(common - 1) < certain) common = 1;
    for (auto& factors : all) factors.common[of] = common;
  }
}

void add_own(const Observed& evidence, std::vector<Factors>& all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    double seen = 0, expected = 0;
    BySort own{1, 1, 1, 1};
    bool outlier = false;
    for (std::size_t of = 0; of < kernel_classes; ++of) {
      const double ratio = ratio_of(evidence, all[r], r, of);
      if (ratio == 0) continue;
      own[of] = ratio / all[r].common[of];
      seen += evidence.sums[r].computing[of];
      expected += evidence.sums[r].computing[of] / own[of];
      outlier = outlier || own[of] > 1 + 3 * (outlying - 1);
    }
    if (outlier || seen > outlying * expected) all[r].own = own;
  }
}

// Seconds on the chain that each factor adds, each on top of the factors before it.
struct Shares {
  double again = 0, layers = 0;
  BySort common{}, own{};
};

Shares shares_of(const OnChain& chain, const Factors& factors) {
  Shares shares;
  for (std::size_t of = 0; of < kernel_classes; ++of) {
    double base = chain.computing[of] /
                  (factors.again[of] * factors.layers * factors.common[of] * factors.own[of]);
    shares.again += base * (factors.again[of] - 1);
    base *= factors.again[of];
    shares.layers += base * (factors.layers - 1);
    base *= factors.layers;
    shares.common[of] = base * (factors.common[of] - 1);
    base *= factors.common[of];
    shares.own[of] = base * (factors.own[of] - 1);
  }
  return shares;
}

// Classes that make up a good part of all computation.
std::vector<std::size_t> large_classes(const Observed& evidence) {
  BySort seen{};
  for (const auto& sums : evidence.sums)
    for (std::size_t of = 0; of < kernel_classes; ++of) seen[of] += sums.computing[of];
  std::vector<std::size_t> large;
  for (std::size_t of = 0; of < kernel_classes; ++of)
    if (seen[of] > 0.04 * sum_of(seen)) large.push_back(of);
  return large;
}

void add_common_suspects(const Observed& evidence, const BySort& seconds, const BySort& factors,
                         std::vector<Suspect>& suspects) {
  const auto large = large_classes(evidence);
  const auto factor = [&](std::size_t of) { return factors[of]; };
  if (large.size() > 1) {
    const auto [least, most] = std::ranges::minmax(large, {}, factor);
    if (factors[least] > 1 + certain && factors[most] < (1 + alike) * factors[least]) {
      const double all = sum_of(seconds);
      suspects.push_back({.cause = Cause::low_clock,
                          .seconds = {all},
                          .factor = std::accumulate(large.begin(), large.end(), 0.0,
                                                    [&](double sum, std::size_t of) {
                                                      return sum + factors[of];
                                                    }) /
                                    static_cast<double>(large.size())});
      return;
    }
  }
  for (std::size_t of = 0; of < kernel_classes; ++of)
    if (factors[of] > 1)
      suspects.push_back({.cause = Cause::slow_kernels,
                          .seconds = {seconds[of]},
                          .factor = factors[of],
                          .kernels = static_cast<KernelClass>(of)});
}

// Ranks that are slower than the others, together.
void add_rank_suspects(const Observed& evidence, const std::vector<Factors>& factors,
                       const std::vector<Shares>& shares, std::vector<Suspect>& suspects) {
  Suspect slow{.cause = Cause::straggler}, full{.cause = Cause::expert_imbalance};
  full.kernels = KernelClass::experts;
  BySort most{1, 1, 1, 1};
  for (std::size_t r = 0; r < factors.size(); ++r) {
    const auto& own = factors[r].own;
    const double others = std::max(own[products], own[attention]);
    const bool only_experts = own[experts] > 1 + certain && others < 1 + certain;
    auto& suspect = only_experts ? full : slow;
    const double seconds = only_experts ? shares[r].own[experts] : sum_of(shares[r].own);
    double base = 0;
    for (std::size_t of = 0; of < kernel_classes; ++of)
      base += evidence.sums[r].computing[of] / own[of];
    const double factor = only_experts ? own[experts] : sum_of(evidence.sums[r].computing) / base;
    if (!(factor > 1 + certain)) continue;
    suspect.seconds += units::Seconds{seconds};
    suspect.factor = std::max(suspect.factor, factor);
    suspect.ranks.push_back(evidence.sums[r].rank);
    if (!only_experts)
      for (std::size_t of = 0; of < kernel_classes; ++of) most[of] = std::max(most[of], own[of]);
  }
  // The class of kernels is named if it is the only slow one.
  for (std::size_t of = 0; of < kernel_classes; ++of) {
    bool alone = most[of] > 1 + alike;
    for (std::size_t other = 0; other < kernel_classes; ++other)
      alone = alone && (other == of || most[other] < 1 + certain);
    if (alone) slow.kernels = static_cast<KernelClass>(of);
  }
  for (auto* suspect : {&slow, &full})
    if (!suspect->ranks.empty()) suspects.push_back(*suspect);
}

void add_stage_suspects(const Observed& evidence, const RanPasses& work,
                        const std::vector<Shares>& shares, std::vector<Suspect>& suspects) {
  std::map<std::int64_t, Suspect> stages;
  for (std::size_t r = 0; r < shares.size(); ++r) {
    if (!(work.layers[r] > 1 + certain)) continue;
    auto& suspect = stages[evidence.sums[r].stage];
    suspect.cause = Cause::stage_imbalance;
    suspect.stage = static_cast<int>(evidence.sums[r].stage);
    suspect.factor = work.layers[r];
    suspect.seconds += units::Seconds{shares[r].layers};
    suspect.ranks.push_back(evidence.sums[r].rank);
  }
  for (const auto& [stage, suspect] : stages) suspects.push_back(suspect);
}

}  // namespace

RanPasses work_of(const Observed& evidence) {
  RanPasses work{.layers = std::vector<double>(evidence.sums.size(), 1.0)};
  const auto microbatches = static_cast<double>(
      strategies::microbatches_of(evidence.scenario.plan, evidence.scenario.training));
  double forward = 0, backward = 0, again = 0, layers = 0, seen = 0, expected = 0, count = 0;
  for (const auto& sums : evidence.sums) {
    forward += static_cast<double>(sums.forward);
    backward += static_cast<double>(sums.backward);
    layers += static_cast<double>(sums.layers) * microbatches;
    again += sums.attention_again;
    count += 1;
    seen += sums.computing[products];
    expected += sums.expected[products] + sums.forward_expected[products] / 2;
  }
  if (forward == 0 || backward == 0 || layers == 0) return work;
  const double excess = forward / backward - 1 - again / count;
  if (excess > 0.1) {
    work.again = excess;
    work.attention_only = seen < expected;
  }
  // Kernels of a layer and microbatch: a whole number.
  const double each = std::max(1.0, std::round(backward / layers));
  for (std::size_t r = 0; r < evidence.sums.size(); ++r) {
    const auto& sums = evidence.sums[r];
    if (sums.layers > 0 && sums.backward > 0)
      work.layers[r] = static_cast<double>(sums.backward) /
                       (each * microbatches * static_cast<double>(sums.layers));
  }
  return work;
}

void add_kernel_suspects(const Observed& evidence, const RanPasses& work,
                         std::vector<Suspect>& suspects) {
  std::vector<Factors> factors(evidence.sums.size());
  for (std::size_t r = 0; r < factors.size(); ++r) {
    factors[r].again = passes_of(evidence.sums[r], work);
    factors[r].layers = work.layers[r];
  }
  add_common(evidence, factors);
  add_own(evidence, factors);
  std::vector<Shares> shares;
  BySort common{};
  double again = 0;
  for (std::size_t r = 0; r < factors.size(); ++r) {
    shares.push_back(shares_of(evidence.chain[r], factors[r]));
    again += shares[r].again;
    for (std::size_t of = 0; of < kernel_classes; ++of) common[of] += shares[r].common[of];
  }
  if (work.again > 0) {
    // Recomputed passes communicate again within their layers: in the same proportion.
    suspects.push_back(
        {.cause = Cause::recomputation,
         .seconds = {again},
         .factor = 1 + work.again,
         .kernels = work.attention_only ? std::optional(KernelClass::attention) : std::nullopt});
  }
  add_common_suspects(evidence, common, factors.front().common, suspects);
  add_rank_suspects(evidence, factors, shares, suspects);
  add_stage_suspects(evidence, work, shares, suspects);
}

}  // namespace forecast
