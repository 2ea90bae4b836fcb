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
  const auto divided = [&](int from_stage) {
    return plan.zero >= from_stage ? static_cast<double>(shards) : 1.0;
  };
  const double p = actor.parameters;
  StaticMemory memory;
  memory.optimizer = {p * bytes.optimizer / divided(1)};
  memory.gradients = {p * bytes.gradients / divided(2)};
  const double copies = actor.cast * bytes.copies;
  const bool gathers = plan.zero == 3 && shards > 1;
  memory.weights = {gathers ? p * bytes.weights / shards : p * bytes.weights + copies};
  if (gathers)
    memory.gathered = {plan.reshard_after_forward
                           ? actor.largest_unit * (2 * bytes.weights + bytes.gradients) +
                                 2 * bytes.copies * actor.largest_cast
                           : p * bytes.weights + copies + actor.largest_unit * bytes.gradients};
  return memory;
}

}  // namespace strategies
