// SPDX-License-Identifier: Apache-2.0
// The words of the choices of plans, trainings and software (units/words.hpp).
#pragma once
#include <string>
#include <vector>

#include "model/words.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "units/words.hpp"

namespace strategies {

inline std::string to_text(const ShardGroup& group) {
  using enum ShardGroup::Extent;
  return group.extent == all ? "all" : group.extent == node ? "node" : std::to_string(group.ranks);
}

constexpr auto words_of(GradientSync) {
  using enum GradientSync;
  return units::words<GradientSync>({{"microbatch", microbatch}, {"step", step}});
}

constexpr auto words_of(ContextMethod) {
  using enum ContextMethod;
  return units::words<ContextMethod>(
      {{"ring", ring}, {"ulysses", ulysses}, {"all-gather", all_gather}});
}

constexpr auto words_of(Optimizer) {
  using enum Optimizer;
  return units::words<Optimizer>({{"adamw", adamw},
                                  {"adam", adam},
                                  {"lamb", lamb},
                                  {"adafactor", adafactor},
                                  {"sophia", sophia},
                                  {"muon", muon},
                                  {"sgd", sgd},
                                  {"onebit-adam", onebit_adam}});
}

constexpr auto words_of(Locality) {
  using enum Locality;
  return units::words<Locality>(
      {{"random", random}, {"group_limited", group_limited}, {"neighbours", neighbours}});
}

constexpr auto words_of(Skew) {
  using enum Skew;
  return units::words<Skew>(
      {{"balanced", balanced}, {"power_law", power_law}, {"histogram", histogram}});
}

constexpr auto words_of(ExpertPlacement) {
  return units::words<ExpertPlacement>(
      {{"given", ExpertPlacement::given}, {"greedy", ExpertPlacement::greedy}});
}

// The kinds whose word says all; the others need figures or modules besides.
constexpr auto words_of(Recompute::Kind) {
  using enum Recompute::Kind;
  return units::words<Recompute::Kind>(
      {{"none", none}, {"selective", selective}, {"full", full}, {"per-op", per_op}});
}

constexpr auto words_of(Offload::Tier) {
  using enum Offload::Tier;
  return units::words<Offload::Tier>({{"none", none}, {"cpu", cpu}, {"nvme", nvme}});
}

constexpr auto words_of(GradientCompression) {
  using enum GradientCompression;
  return units::words<GradientCompression>({{"none", none}, {"onebit", onebit}, {"fp8", fp8}});
}

constexpr auto words_of(ActivationCompression) {
  using enum ActivationCompression;
  return units::words<ActivationCompression>({{"none", none}, {"fp8", fp8}, {"int8", int8}});
}

constexpr auto words_of(Degree) {
  using enum Degree;
  return units::words<Degree>(
      {{"tp", tensor}, {"cp", context}, {"ep", expert}, {"dp", data}, {"pp", pipeline}});
}

constexpr auto words_of(GraphedPart) {
  using enum GraphedPart;
  return units::words<GraphedPart>(
      {{"attn", attn}, {"moe_router", moe_router}, {"moe_preprocess", moe_preprocess}});
}

constexpr auto words_of(MoeDispatcher) {
  using enum MoeDispatcher;
  return units::words<MoeDispatcher>({{"all-to-all", all_to_all},
                                      {"all-gather", all_gather},
                                      {"deepep", deepep},
                                      {"hybridep", hybridep}});
}

constexpr auto words_of(TensorOverlap) {
  using enum TensorOverlap;
  return units::words<TensorOverlap>({{"async", async}, {"pipelined", pipelined}});
}

// "tp-cp-ep-dp-pp"
inline std::string word(const std::vector<Degree>& order) {
  std::string joined;
  for (const auto degree : order) {
    if (!joined.empty()) joined += '-';
    joined += units::word(degree);
  }
  return joined;
}

}  // namespace strategies
