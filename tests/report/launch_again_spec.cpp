// SPDX-License-Identifier: Apache-2.0
// A launch configuration that is read back has the plan it was made of, and is written again as it
// was.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/json.hpp"
#include "scenarios/documents/error.hpp"
#include "tests/catch.hpp"
#include "tests/report/drawn_plans.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/launch_plans.hpp"
#include "tests/report/read_back.hpp"

namespace launch_again_spec {

using forecast::Scenario;
using report::Framework;

namespace {

// Text without lines of comments, which name the scenario.
std::string without_comments(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    if (text[at] != '#') kept += text.substr(at, end - at) + '\n';
  }
  return kept;
}

std::string files_of(const report::Launch& launch) {
  auto text = without_comments(launch.text);
  for (const auto& file : launch.beside) text += file.name + ":\n" + without_comments(file.text);
  return text;
}

// Every plan that a framework can run as it is: published ones, and some that are drawn.
std::map<Framework, std::vector<Scenario>> runnable() {
  std::map<Framework, std::vector<Scenario>> all;
  const auto take = [&](const Scenario& s, Framework framework) {
    if (report::launch(s, framework).not_expressed.empty()) all[framework].push_back(s);
  };
  for (const auto& plan : tests::launch_plans())
    for (const auto& [word, framework] : report::framework_names) take(plan.scenario(), framework);
  for (const auto& range : tests::drawn_ranges()) {
    tests::Draw draw(23);
    for (int i = 0; i < 100; ++i) try {
        take(tests::drawn(range, draw), range.framework);
      } catch (const scenarios::Error&) {  // no framework can run this plan
      }
  }
  return all;
}

}  // namespace

TEST_CASE("a launch configuration that is read back is written again as it was") {
  for (const auto& [framework, scenarios_of] : runnable()) {
    CHECK(scenarios_of.size() >= 10);
    for (const auto& s : scenarios_of) {
      const auto launch = report::launch(s, framework);
      auto back = tests::read_back(launch, s, framework);
      back.model.name = s.model.name;  // which no job says
      const auto again = report::launch(back, framework);
      INFO(launch.text << "\nagain:\n" << again.text);
      CHECK(files_of(again) == files_of(launch));
      CHECK(report::sentences_of(again.not_expressed).empty());
    }
  }
}

// A job says a shard group in ranks, an order of ranks in its own words, and other keys where they
// have an effect alone. It does not name its model, nor the longest sequence of rotated positions,
// and has the width of all shared experts together.
TEST_CASE("the plan of a launch configuration that is read back is the one it was made of") {
  const std::set<std::string> plan_keys{"tensor",
                                        "pipeline",
                                        "data",
                                        "context",
                                        "expert",
                                        "expert_tensor",
                                        "micro_batch",
                                        "schedule",
                                        "zero",
                                        "sequence_parallel",
                                        "virtual_stages",
                                        "recompute",
                                        "layers_per_stage",
                                        "layers",
                                        "reshard_after_forward",
                                        "offload",
                                        "wrap",
                                        "gradient_sync",
                                        "gradient_precision",
                                        "master_weights",
                                        "gradient_compression",
                                        "activation_compression"};
  const std::set<std::string> not_told{"name", "max_sequence", "moe"};
  for (const auto& [framework, scenarios_of] : runnable())
    for (const auto& s : scenarios_of) {
      const auto launch = report::launch(s, framework);
      const auto was = report::scenario_document(s),
                 is = report::scenario_document(tests::read_back(launch, s, framework));
      INFO(launch.text);
      for (const auto* section : {"plan", "training", "model"})
        for (const auto& [key, value] : was.at(section).items()) {
          if (section == std::string("plan") ? !plan_keys.contains(key) : not_told.contains(key))
            continue;
          const bool even = key == "layers_per_stage" &&
                            value == report::Document(std::vector(value.size(), value.at(0)));
          if (even) continue;  // no file has a list of what is even anyway
          INFO(section << "." << key);
          CHECK(is.at(section).value(key, report::Document()) == value);
        }
      if (s.plan.context > 1) CHECK(is["plan"]["context_method"] == was["plan"]["context_method"]);
    }
}

}  // namespace launch_again_spec
