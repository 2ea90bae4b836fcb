// SPDX-License-Identifier: Apache-2.0
// A job that is changed to a plan has the forecast of that plan, or a sentence says what is lost.
#include "forecast/forecast.hpp"
#include "report/document.hpp"
#include "report/json.hpp"
#include "report/launch/job_change.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/drawn_plans.hpp"

namespace job_change_law_spec {

using forecast::Scenario;

namespace {

std::string word_of(report::Framework framework) {
  for (const auto& [word, each] : report::framework_names)
    if (each == framework) return word;
  return {};
}

// The plan and the batch of another drawn scenario of the same model and as many GPUs, now and then
// in its precision; nothing: none was drawn.
std::optional<Scenario> changed_scenario(const Scenario& was, const tests::Range& range,
                                         tests::Draw& draw) {
  for (int tries = 0; tries < 40; ++tries) try {
      const auto other = tests::drawn(range, draw);
      if (other.cluster.gpus != was.cluster.gpus) continue;
      auto is = was;
      is.plan = other.plan;
      is.training.global_batch = other.training.global_batch;
      if (draw.number({0, 0, 0, 1}) == 1) is.training.precision = other.training.precision;
      return is;
    } catch (const scenarios::Error&) {
      continue;  // no framework can run this plan
    }
  return {};
}

// Returns the scenario of the job's text and of what no such text says: cluster and software, and,
// beside DeepSpeed's file, the model and its training.
Scenario read_back(const std::string& text, const std::string& file,
                   const scenarios::JobHints& hints, const Scenario& s,
                   report::Framework framework) {
  const auto document = nlohmann::json::parse(report::scenario_document(s).dump());
  std::vector<std::string> sets{"cluster=" + document.at("cluster").dump(),
                                "software=" + document.at("software").dump()};
  if (framework == report::Framework::deepspeed) {
    sets.push_back("model=" + document.at("model").dump());
    sets.push_back("training.sequence_length=" + std::to_string(s.training.sequence_length));
  }
  return scenarios::load_placed_scenario(scenarios::Source(file, text), sets, hints).value;
}

// The result of one change.
enum class Change { kept, told, impossible };

Change check_change(const Scenario& was, const Scenario& is, report::Framework framework) {
  const auto job = report::launch(was, framework);
  const scenarios::JobHints hints{word_of(framework),
                                  {"WORLD_SIZE=" + std::to_string(was.cluster.gpus)}};
  INFO("job: " << job.text << "\nasked: " << report::scenario_document(is).dump(2));
  try {
    const auto wanted = forecast::simulate(is);
    const auto changed = report::changed_job(job.text, job.name, hints, is);
    REQUIRE(changed);
    if (!changed->left.empty() || !changed->beside.empty() ||
        !changed->launch.not_expressed.empty())
      return Change::told;
    INFO("changed: " << changed->text);
    const auto back = read_back(changed->text, job.name, hints, is, framework);
    INFO("read back: " << report::scenario_document(back).dump(2));
    const auto forecast = forecast::simulate(back);
    CHECK(forecast.step.time.value == wanted.step.time.value);
    CHECK(forecast.memory.peak.value == wanted.memory.peak.value);
    return Change::kept;
  } catch (const scenarios::Error& wrong) {
    FAIL_CHECK(wrong.what());
  } catch (const std::invalid_argument&) {
  }
  return Change::impossible;  // the plan does not fit the model
}

}  // namespace

TEST_CASE("a changed job has the forecast of its plan, or a sentence says what is lost") {
  for (const auto& range : tests::drawn_ranges()) {
    tests::Draw draw(11);
    int kept = 0, told = 0;
    for (int i = 0; i < 120; ++i) {
      auto one = range;
      one.models = {range.models[static_cast<std::size_t>(i) % range.models.size()]};
      std::optional<Scenario> was;
      try {
        was = tests::drawn(one, draw);
      } catch (const scenarios::Error&) {
        continue;
      }
      if (!report::launch(*was, range.framework).not_expressed.empty()) continue;
      const auto is = changed_scenario(*was, one, draw);
      if (!is) continue;
      const auto change = check_change(*was, *is, range.framework);
      kept += change == Change::kept;
      told += change == Change::told;
    }
    INFO(word_of(range.framework) << ": " << kept << " kept, " << told << " told");
    CHECK(kept >= 5);
    CHECK(told >= 5);
  }
}

}  // namespace job_change_law_spec
