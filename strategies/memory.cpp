// SPDX-License-Identifier: Apache-2.0
#include "strategies/memory.hpp"

#include <algorithm>

namespace strategies {

namespace {

struct BytesPerParameter {
  double weights, gradients, optimizer;
};

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
                          software.optimizer_bytes - moment_bytes(Optimizer::adamw) + moments};
  if (plan.gradient_precision)
    bytes.gradients += units::element_bytes(*plan.gradient_precision) -
                       units::element_bytes(software.gradient_precision);
  return bytes;
}

}  // namespace

double optimizer_traffic(const Training& training, const Software& software) {
  const double saved = moment_bytes(Optimizer::adamw) - moment_bytes(training.optimizer);
  return std::max(12.0, software.optimizer_traffic - 2 * saved);
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
  memory.weights = {p * bytes.weights / divided(3)};
  if (plan.zero == 3 && shards > 1)
    memory.gathered = {plan.reshard_after_forward
                           ? actor.largest_unit * (2 * bytes.weights + bytes.gradients)
                           : p * bytes.weights + actor.largest_unit * bytes.gradients};
  return memory;
}

}  // namespace strategies
