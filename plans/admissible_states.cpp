// SPDX-License-Identifier: Apache-2.0
// Conditions of parameters, gradients and optimizer states that are divided, compressed or kept
// outside the device.
#include "plans/admissible.hpp"
#include "plans/words.hpp"

namespace strategies {

namespace {

using Tier = Offload::Tier;

bool updates_on_host(const Case& c) { return c.plan.offload.optimizer != Tier::none; }
bool is_updated_by_hosts(Optimizer optimizer) {
  using enum Optimizer;
  return optimizer == adamw || optimizer == adam || optimizer == sgd;
}

// Both methods of 1-bit compression keep, on every rank, the error of its whole gradient.
std::string keeps_errors(const std::string& what, const Case& c, const std::string& instead) {
  return what + " keeps the error of a whole gradient on each rank, but zero " +
         digits(c.plan.zero) + " leaves no rank a whole gradient; write zero: 1 or " + instead;
}

}  // namespace

std::span<const Condition> on_states() {
  static const std::vector<Condition> all{
      {{"plan.offload", "plan.zero"},
       {"plan.offload"},
       [](const Case& c) { return c.plan.offload.parameters == Tier::none || c.plan.zero == 3; },
       [](const Case& c) {
         return "parameters leave the device with zero: 3 only, which gathers them when they are "
                "needed, not " +
                digits(c.plan.zero) + "; write zero: 3 or leave parameters out";
       }},
      {{"plan.offload"},
       {"plan.offload"},
       [](const Case& c) { return !c.plan.offload.gradients || updates_on_host(c); },
       [](const Case&) {
         return std::string(
             "gradients on the host are read by an optimizer that is there; write optimizer: cpu "
             "beside them or leave gradients out");
       }},
      {{"plan.offload", "plan.zero"},
       {"plan.offload"},
       [](const Case& c) { return !c.plan.offload.gradients || c.plan.zero >= 2; },
       [](const Case& c) {
         return "gradients leave the device with zero: 2 or 3, which reduce them after every "
                "microbatch, not " +
                digits(c.plan.zero) + "; write zero: 2 or leave gradients out";
       }},
      {{"plan.offload", "training.optimizer"},
       {"plan.offload"},
       [](const Case& c) {
         return !updates_on_host(c) || is_updated_by_hosts(c.training.optimizer);
       },
       [](const Case& c) {
         return "the host updates with adamw, adam or sgd, not " +
                std::string(units::word(c.training.optimizer)) +
                "; write one of them as training.optimizer or leave optimizer out";
       }},
      {{"plan.zero", "plan.wrap"},
       {"plan.wrap"},
       [](const Case& c) { return c.plan.wrap == Wrap{} || c.plan.zero == 3; },
       [](const Case& c) {
         return "parameters are gathered with zero: 3 only, not " + digits(c.plan.zero) +
                "; write zero: 3 or leave wrap out";
       }},
      {{"plan.zero", "plan.gradient_compression"},
       {"plan.gradient_compression"},
       [](const Case& c) {
         return c.plan.gradient_compression != GradientCompression::onebit || c.plan.zero < 2;
       },
       [](const Case& c) { return keeps_errors("onebit", c, "gradient_compression: none"); }},
      {{"plan.zero", "training.optimizer"},
       {"training.optimizer"},
       [](const Case& c) {
         return c.training.optimizer != Optimizer::onebit_adam || c.plan.zero < 2;
       },
       [](const Case& c) { return keeps_errors("onebit-adam", c, "optimizer: adam"); }}};
  return all;
}

}  // namespace strategies
