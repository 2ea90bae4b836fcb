// SPDX-License-Identifier: Apache-2.0
// What is read and checked, but not simulated yet.
#include <algorithm>
#include <array>

#include "scenarios/document.hpp"
#include "scenarios/judge.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::Recompute;

struct Feature {
  const char *section, *key, *name, *instead;
  bool (*asked)(const Scenario&);
};

bool recomputes(const Scenario& s, Recompute::Kind kind) {
  return s.plan.recompute.kind == kind ||
         std::ranges::find(s.plan.recompute_of_stage, kind, &Recompute::kind) !=
             s.plan.recompute_of_stage.end();
}

bool offloads_states(const strategies::Offload& offload) {
  using enum strategies::Offload::Tier;
  return offload.optimizer != none || offload.parameters != none || offload.gradients;
}

bool gathers_apart(const Scenario& s) {
  return s.plan.gather_bucket && *s.plan.gather_bucket != s.plan.bucket.value_or(s.software.bucket);
}

// One entry per feature; it goes when the feature comes.
constexpr std::array features{
    Feature{"model", "moe", "a mixture of experts", "a dense model",
            [](const Scenario& s) { return s.model.moe.has_value(); }},
    Feature{"model", "attention", "multi-head latent attention", "mha, gqa or mqa",
            [](const Scenario& s) { return s.model.latent.has_value(); }},
    Feature{"model", "multi_token_prediction", "multi-token prediction", "0",
            [](const Scenario& s) { return s.model.multi_token_prediction > 0; }},
    Feature{"training", "optimizer", "onebit-adam", "adam",
            [](const Scenario& s) {
              return s.training.optimizer == strategies::Optimizer::onebit_adam;
            }},
    Feature{"plan", "expert", "expert parallelism", "1",
            [](const Scenario& s) { return s.plan.expert > 1; }},
    Feature{"plan", "recompute", "per-op recomputation", "selective or full",
            [](const Scenario& s) { return recomputes(s, Recompute::Kind::per_op); }},
    Feature{"plan", "recompute", "recomputation of chosen modules", "selective or full",
            [](const Scenario& s) { return recomputes(s, Recompute::Kind::modules); }},
    Feature{"plan", "recompute", "a choice for each stage", "one for all",
            [](const Scenario& s) { return !s.plan.recompute_of_stage.empty(); }},
    Feature{"plan", "offload", "offloading of model states", "none",
            [](const Scenario& s) { return offloads_states(s.plan.offload); }},
    Feature{"plan", "offload", "offloading of activations", "none",
            [](const Scenario& s) { return s.plan.offload.activations; }},
    Feature{"plan", "gradient_compression", "compression of gradients", "none",
            [](const Scenario& s) {
              return s.plan.gradient_compression != strategies::GradientCompression::none;
            }},
    Feature{"plan", "activation_compression", "compression of activations", "none",
            [](const Scenario& s) {
              return s.plan.activation_compression != strategies::ActivationCompression::none;
            }},
    Feature{"plan", "wrap", "gathering other than layer by layer", "layer",
            [](const Scenario& s) { return s.plan.wrap != strategies::Wrap{}; }},
    Feature{"plan", "bucket", "a gather bucket of its own", "one size", gathers_apart},
    Feature{"software", "cuda_graphs", "graphing parts of a layer", "true or false",
            [](const Scenario& s) { return !s.software.graphed_parts.empty(); }},
    Feature{"software", "data_loader", "a data loader", "none",
            [](const Scenario& s) { return s.software.data_loader.has_value(); }},
    Feature{"software", "limit_all_gathers", "gathering without a limit", "true",
            [](const Scenario& s) { return s.plan.zero == 3 && !s.software.limit_all_gathers; }}};

}  // namespace

void refuse_not_yet(const Scenario& scenario, const Value& document, Reading& reading) {
  const Judge judge(document, reading);
  for (const auto& feature : features)
    if (feature.asked(scenario))
      judge.unsupported(
          feature.section, feature.key,
          std::string(feature.name) + " is not simulated yet; write " + feature.instead);
}

}  // namespace scenarios
