// SPDX-License-Identifier: Apache-2.0
// The question: a model, trained this way, on this cluster, under this plan, by this software.
#pragma once
#include <string>
#include <vector>

#include "forecast/alert_rule.hpp"
#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "plans/software.hpp"
#include "topology/cluster.hpp"

namespace forecast {

struct Scenario {
  std::string name;
  model::Transformer model;
  topology::Cluster cluster;
  strategies::Training training;
  strategies::Plan plan;
  strategies::Software software;
  std::vector<AlertRule> alerts;  // judged on the answer, which does not depend on them
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace forecast
