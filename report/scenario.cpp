// SPDX-License-Identifier: Apache-2.0
#include "report/alerts.hpp"
#include "report/document.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/value_json.hpp"

namespace report {
namespace {

// A part of a scenario, by the table that reads it.
template <class Part>
Document part_document(const Part& part) {
  return scenarios::json_document(scenarios::shown(part));
}

}  // namespace

Document scenario_document(const forecast::Scenario& scenario) {
  Object object;
  object.unless_empty("name", scenario.name)
      .put("model", part_document(scenario.model))
      .put("cluster", part_document(scenario.cluster))
      .put("training", training_document(scenario.training))
      .put("plan", plan_document(scenario.plan, scenario.software))
      .put("software", part_document(scenario.software));
  if (!scenario.alerts.empty()) object.put("alerts", rules_document(scenario.alerts));
  return object.take();
}

}  // namespace report
