// SPDX-License-Identifier: Apache-2.0
#include "strategies/memory.hpp"

#include <algorithm>

#include "model/narrow.hpp"

namespace strategies {

namespace {

struct BytesPerParameter {
  double weights, gradients, optimizer;
  double copies = 0;  // in 8 or 4 bit, of the weights
};

double copy_bytes(const Training& training) {
  return model::weight_copy_bytes(training.precision, training.fp8_recipe);
}

double moment_bytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
    case Optimizer::muon:
      return 4;
    case Optimizer::adafactor:
      return 0;
    default:
      return 8;
  }
}

BytesPerParameter bytes_of(const Plan& plan, const Training& training, const Software& software) {
  const double moments = moment_bytes(training.optimizer);
  if (units::element_bytes(training.precision) == 4) return {4, 4, moments};
  BytesPerParameter bytes{software.weight_bytes, software.gradient_bytes,
                          software.optimizer_bytes - moment_bytes(Optimizer::adamw) + moments,
                          copy_bytes(training)};
  if (plan.gradient_precision)
    bytes.gradients += units::element_bytes(*plan.gradient_precision) -
                       units::element_bytes(software.gradient_precision);
  return bytes;
}

}  // namespace

double optimizer_traffic(const Training& training, const Software& software) {
  const double saved = moment_bytes(Optimizer::adamw) - moment_bytes(training.optimizer);
  const double copies = copy_bytes(training);
  const double cast = copies > 0 ? 2 + copies : 0;
  return std::max(12.0, software.optimizer_traffic - 2 * saved) + cast;
}

StaticMemory static_memory(const ActorFacts& actor, const Plan& plan, const Training& training,
                           const Software& software, int shards) {
  const auto bytes = bytes_of(plan, training, software);
  const double p = actor.parameters, experts = actor.expert_parameters;
  const auto held = [&](double each, int from_stage) {
    if (plan.zero < from_stage) return p * each;
    return (p - experts) * each / shards + experts * each / actor.expert_shards;
  };
  StaticMemory memory;
  memory.optimizer = {held(bytes.optimizer, 1)};
  memory.gradients = {held(bytes.gradients, 2)};
  const double copies = actor.cast * bytes.copies;
  // Experts that no other rank holds are whole as they are.
  const double gathered = actor.expert_shards > 1 ? p : p - experts;
  const bool gathers = plan.zero == 3 && std::max(shards, actor.expert_shards) > 1;
  memory.weights = {held(bytes.weights, 3) + (gathers ? 0 : copies)};
  if (gathers)
    memory.gathered = {plan.reshard_after_forward
                           ? actor.largest_unit * (2 * bytes.weights + bytes.gradients) +
                                 2 * bytes.copies * actor.largest_cast
                           : gathered * bytes.weights + copies +
                                 actor.largest_unit * bytes.gradients};
  return memory;
}

}  // namespace strategies
