// SPDX-License-Identifier: Apache-2.0
// Jobs whose runs are published: the scenario read from the file beside the published description.
// Keys that differ are explained in docs/jobs.md.
#include <map>
#include <set>
#include <sstream>

#include "scenarios/document.hpp"
#include "scenarios/job_document.hpp"
#include "scenarios/published.hpp"
#include "scenarios/shown.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace job_rows_spec {

using scenarios::Value;

namespace {

void flatten(const Value& value, const std::string& path, std::map<std::string, std::string>& all) {
  if (value.kind != Value::Kind::map) {
    std::string text = value.text;
    for (const auto& item : value.items) text += " " + item.text;
    all[path] = text;
    return;
  }
  for (const auto& member : value.members) flatten(member.value, path + "." + member.key.text, all);
}

std::map<std::string, std::string> keys_of(const forecast::Scenario& scenario) {
  std::map<std::string, std::string> all;
  flatten(scenarios::shown(scenario.model), "model", all);
  flatten(scenarios::shown(scenario.training), "training", all);
  flatten(scenarios::shown(scenario.plan), "plan", all);
  flatten(scenarios::shown(scenario.software), "software", all);
  for (const auto* of_reports : {"model.name", "software.name"}) all.erase(of_reports);
  return all;
}

// The scenario of the job with the cluster of the published run, and with that run's vocabulary
// where the job has none.
forecast::Scenario of_job(const std::string& name, const Value& run) {
  const auto text =
      scenarios::read_file(tests::job_folder / "megatron_functional_tests" / (name + ".yaml"));
  scenarios::Reading reading(name, {});
  scenarios::Value over;
  scenarios::set_value(over, "cluster", *run.find("cluster"), reading);
  const auto hints = scenarios::over_job({}, over, over, {});
  auto made = *scenarios::read_job(text, "job", hints.value_or(scenarios::JobHints{}));
  std::erase_if(made.document.members,
                [](const auto& member) { return member.key.text == "cluster"; });
  scenarios::set_value(made.document, "cluster", *run.find("cluster"), reading);
  if (tests::at(made.document, "model.vocab").empty())
    scenarios::set_value(made.document, "model.vocab", *run.find("model")->find("vocab"), reading);
  auto scenario = scenarios::read_document(made.document, reading);
  reading.throw_if_any();
  return scenario;
}

// Keys of which docs/jobs.md explains why the published description differs.
const std::set<std::string>& explained() {
  static const std::set<std::string> keys{"model.position",
                                          "model.vocab",
                                          "plan.expert_tensor",
                                          "plan.layers_per_stage",
                                          "plan.overlap.expert",
                                          "plan.overlap.pipeline",
                                          "plan.rank_order",
                                          "plan.schedule",
                                          "plan.shard_group",
                                          "plan.virtual_stages",
                                          "software.allocator.expandable_segments",
                                          "software.attention",
                                          "software.cuda_graphs",
                                          "software.fused_bias_activation",
                                          "software.fused_cross_entropy",
                                          "software.fused_gradient_accumulation",
                                          "software.fused_rotary",
                                          "software.fused_softmax",
                                          "software.gradient_bytes",
                                          "software.gradient_precision",
                                          "software.moe_dispatcher",
                                          "software.narrow_weights",
                                          "software.tensor_overlap",
                                          "software.vocab_multiple",
                                          "training.global_batch",
                                          "training.routing.groups",
                                          "training.routing.locality",
                                          "training.routing.skew",
                                          "training.routing.top_groups"};
  return keys;
}

}  // namespace

TEST_CASE("a job makes the scenario that its published run has, but for keys that are explained") {
  std::map<std::string, const scenarios::PublishedRow*> rows;
  const auto sets =
      scenarios::load_datasets(std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios/published",
                               {"megatron_lm_golden_small", "megatron_lm_golden_release_scale"});
  for (const auto& set : sets)
    for (const auto& row : set.rows) rows[row.id] = &row;
  std::istringstream ids(scenarios::read_file(tests::job_folder / "rows.txt"));
  std::size_t compared = 0;
  std::set<std::string> met;
  for (std::string id; std::getline(ids, id);) {
    const auto* row = rows.at(id);
    INFO(id);
    REQUIRE(row->scenario);
    const auto job = keys_of(of_job(id.substr(0, id.rfind("__")), *row->run));
    auto published = keys_of(*row->scenario);
    for (const auto& [key, value] : job) published.try_emplace(key, "");
    for (const auto& [key, value] : published) {
      const auto found = job.find(key);
      if ((found == job.end() ? "" : found->second) == value) continue;
      INFO(key << ": published '" << value << "', job '"
               << (found == job.end() ? "" : found->second) << "'");
      met.insert(key);
      CHECK(explained().contains(key));
    }
    ++compared;
  }
  CHECK(compared == 141);
  CHECK(met == explained());
}

}  // namespace job_rows_spec
