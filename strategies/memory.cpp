// SPDX-License-Identifier: Apache-2.0
#include "strategies/memory.hpp"

namespace strategies {

StaticMemory static_memory(const ActorFacts& actor, const Plan& plan, const Software& software,
                           int shards) {
  const double gradient_bytes = plan.gradient_precision
                                    ? software.gradient_bytes -
                                          units::element_bytes(software.gradient_precision) +
                                          units::element_bytes(*plan.gradient_precision)
                                    : software.gradient_bytes;
  const auto divided = [&](int from_stage) {
    return plan.zero >= from_stage ? static_cast<double>(shards) : 1.0;
  };
  const double p = actor.parameters;
  StaticMemory memory;
  memory.optimizer = {p * software.optimizer_bytes / divided(1)};
  memory.gradients = {p * gradient_bytes / divided(2)};
  memory.weights = {p * software.weight_bytes / divided(3)};
  if (plan.zero == 3 && shards > 1)
    memory.gathered = {actor.largest_unit * (2 * software.weight_bytes + gradient_bytes)};
  return memory;
}

}  // namespace strategies
