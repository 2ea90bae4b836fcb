// SPDX-License-Identifier: Apache-2.0
// Keys that change a forecast change its launch configuration.
#include "forecast/forecast.hpp"
#include "plans/admissible.hpp"
#include "report/document.hpp"
#include "report/json.hpp"
#include "report/launch/launch.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace launch_effect_spec {

using forecast::Scenario;

namespace {

// A key, and a function that copies it from another scenario; the degrees and the batch stay.
struct Key {
  const char* name;
  void (*copy)(Scenario& to, const Scenario& from);
};

constexpr Key keys[] = {
    {"context_method",
     [](Scenario& to, const Scenario& from) { to.plan.context_method = from.plan.context_method; }},
    {"sequence_parallel",
     [](Scenario& to, const Scenario& from) {
       to.plan.sequence_parallel = from.plan.sequence_parallel;
     }},
    {"schedule",
     [](Scenario& to, const Scenario& from) {
       to.plan.schedule = from.plan.schedule;
       to.plan.virtual_stages = from.plan.virtual_stages;
     }},
    {"zero", [](Scenario& to, const Scenario& from) { to.plan.zero = from.plan.zero; }},
    {"reshard_after_forward",
     [](Scenario& to, const Scenario& from) {
       to.plan.reshard_after_forward = from.plan.reshard_after_forward;
     }},
    {"shard_group",
     [](Scenario& to, const Scenario& from) { to.plan.shard_group = from.plan.shard_group; }},
    {"recompute",
     [](Scenario& to, const Scenario& from) {
       to.plan.recompute = from.plan.recompute;
       to.plan.recompute_of_stage.clear();
     }},
    {"offload", [](Scenario& to, const Scenario& from) { to.plan.offload = from.plan.offload; }},
    {"overlap", [](Scenario& to, const Scenario& from) { to.plan.overlap = from.plan.overlap; }},
    {"gradient_precision",
     [](Scenario& to, const Scenario& from) {
       to.plan.gradient_precision = from.plan.gradient_precision;
     }},
    {"bucket", [](Scenario& to, const Scenario& from) { to.plan.bucket = from.plan.bucket; }},
    {"gather_bucket",
     [](Scenario& to, const Scenario& from) { to.plan.gather_bucket = from.plan.gather_bucket; }},
    {"gradient_sync",
     [](Scenario& to, const Scenario& from) { to.plan.gradient_sync = from.plan.gradient_sync; }},
    {"gradient_compression",
     [](Scenario& to, const Scenario& from) {
       to.plan.gradient_compression = from.plan.gradient_compression;
     }},
    {"activation_compression",
     [](Scenario& to, const Scenario& from) {
       to.plan.activation_compression = from.plan.activation_compression;
     }},
    {"wrap", [](Scenario& to, const Scenario& from) { to.plan.wrap = from.plan.wrap; }},
    {"rank_order",
     [](Scenario& to, const Scenario& from) { to.plan.rank_order = from.plan.rank_order; }},
    {"precision",
     [](Scenario& to, const Scenario& from) { to.training.precision = from.training.precision; }},
    {"optimizer",
     [](Scenario& to, const Scenario& from) { to.training.optimizer = from.training.optimizer; }},
};

// A scenario whose states are shared, by as many ranks on each node, so that the effect of a key
// depends on no other.
Scenario shared_scenario(std::mt19937& random) {
  for (;;) {
    auto s = tests::sharded_scenario(random);
    const auto& plan = s.plan;
    s.cluster = tests::cluster_of(s.cluster.gpus, 4, 4);
    if (plan.data * plan.context > 1 && plan.data != 3 && plan.pipeline != 3 &&
        plan.schedule != strategies::ScheduleKind::dualpipe)
      return s;
  }
}

// Step time in seconds and peak memory in bytes; nothing where the plan cannot run.
std::optional<std::pair<double, double>> outcome(const Scenario& s) {
  if (!strategies::all_hold(strategies::on_shards(), {s.model, s.training, s.plan, s.cluster}))
    return std::nullopt;
  try {
    const auto forecast = forecast::simulate(s);
    return std::pair{forecast.step.time.value, forecast.memory.peak.value};
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a key that changes a forecast changes every launch configuration, or is named") {
  std::mt19937 random(11);
  int effects = 0;
  for (int i = 0; i < 60; ++i) {
    const auto before = shared_scenario(random), other = tests::sharded_scenario(random);
    const auto was = outcome(before);
    if (!was) continue;
    for (const auto& [name, copy] : keys) {
      auto after = before;
      copy(after, other);
      const auto is = after == before ? was : outcome(after);
      if (!is || is == was) continue;
      ++effects;
      for (const auto& [word, framework] : report::framework_names) {
        INFO(word << ": " << name << " of\n"
                  << report::scenario_document(before).dump(2) << "\nas in\n"
                  << report::scenario_document(after).dump(2));
        CHECK(report::launch(before, framework) != report::launch(after, framework));
      }
    }
  }
  CHECK(effects > 200);
}

}  // namespace launch_effect_spec
