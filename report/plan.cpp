// SPDX-License-Identifier: Apache-2.0
// Plans and trainings, in the words of scenario files.
#include <algorithm>
#include <array>

#include "report/document.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/value_json.hpp"

namespace report {
namespace {

using strategies::Plan;
using strategies::Software;

// What the plan leaves to its software, and to other keys, as it holds; but for the precision of
// gradients: one that is given makes the profile's `gradient_bytes` and 32-bit training give way.
Plan filled(Plan plan, const Software& software) {
  auto& overlap = plan.overlap;
  // ZeRO-3 gathers ahead unless it is told not to.
  const bool gathers_ahead = plan.zero == 3 || software.overlap_parameters;
  plan.expert_tensor = strategies::expert_tensor(plan);
  overlap.data = overlap.data.value_or(software.overlap_data);
  overlap.tensor = overlap.tensor.value_or(software.overlap_tensor);
  overlap.pipeline = overlap.pipeline.value_or(software.overlap_pipeline);
  overlap.parameters = overlap.parameters.value_or(gathers_ahead);
  overlap.expert = overlap.expert.value_or(software.overlap_expert);
  plan.bucket = plan.bucket.value_or(software.bucket);
  return plan;
}

// What a plan is known by comes first, in this order; some of it whatever it is.
constexpr std::array degrees{
    "tensor",        "sequence_parallel", "context",  "context_method", "expert",
    "expert_tensor", "pipeline",          "schedule", "virtual_stages", "layers_per_stage",
    "data",          "micro_batch",       "zero"};
constexpr std::array always{"tensor", "pipeline", "data", "micro_batch", "zero"};

}  // namespace

Document plan_document(const Plan& plan, const Software& software) {
  return scenarios::json_document(scenarios::shown(filled(plan, software)));
}

Document short_plan_document(const Plan& plan) {
  const auto given = scenarios::json_document(scenarios::shown(plan));
  const auto usual = scenarios::json_document(scenarios::shown(Plan{}));
  Object object;
  const auto put = [&](const std::string& key, const Document& value) {
    const auto left_out = usual.find(key);
    if (left_out == usual.end() || *left_out != value || std::ranges::count(always, key) > 0 ||
        (key == "schedule" && plan.pipeline > 1))
      object.put(key.c_str(), value);
  };
  for (const auto* key : degrees)
    if (const auto value = given.find(key); value != given.end()) put(key, *value);
  for (const auto& [key, value] : given.items())
    if (std::ranges::count(degrees, key) == 0) put(key, value);
  return object.take();
}

Document training_document(const strategies::Training& training) {
  return scenarios::json_document(scenarios::shown(training));
}

}  // namespace report
