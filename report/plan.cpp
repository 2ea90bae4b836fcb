// SPDX-License-Identifier: Apache-2.0
// Plans and trainings, in the words of scenario files.
#include <algorithm>
#include <array>

#include "plans/duties.hpp"
#include "report/document.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/shown.hpp"

namespace report {
namespace {

using strategies::Plan;
using strategies::Software;

// Returns the plan with the values of the keys that it leaves to its software and to other keys.
// The precision of gradients stays open: if it were given, it would override the profile's
// `gradient_bytes` and 32-bit training.
Plan filled(Plan plan, const Software& software) {
  const auto overlaps = strategies::overlaps_of(plan, software);
  plan.overlap = {overlaps.data, overlaps.tensor, overlaps.pipeline, overlaps.parameters,
                  overlaps.expert};
  plan.expert_tensor = strategies::expert_tensor(plan);
  if (plan.zero >= 2) plan.gradient_sync = strategies::gradient_sync(plan, software);
  plan.bucket = plan.bucket.value_or(software.bucket);
  return plan;
}

// The keys that come first in a plan, in this order; those of `always` even at their defaults.
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
