// SPDX-License-Identifier: Apache-2.0
// A launch configuration, read back as a job, has the forecast of its plan.
#include <map>
#include <string>

#include "forecast/forecast.hpp"
#include "report/json.hpp"
#include "scenarios/documents/error.hpp"
#include "tests/catch.hpp"
#include "tests/report/drawn_plans.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/launch_plans.hpp"
#include "tests/report/read_back.hpp"

namespace launch_round_trip_spec {

using forecast::Scenario;
using report::Framework;
using tests::read_back;

namespace {

// Whether the framework can run the plan; if so, checks that the launch configuration has the same
// forecast.
bool check_round_trip(const Scenario& s, Framework framework) {
  const auto launch = report::launch(s, framework);
  if (!launch.not_expressed.empty()) return false;
  INFO(launch.text << "\n" << report::scenario_document(s).dump(2));
  try {
    const auto back = read_back(launch, s, framework);
    INFO("read back: " << report::scenario_document(back).dump(2));
    const auto was = forecast::simulate(s), is = forecast::simulate(back);
    CHECK(is.step.time.value == was.step.time.value);
    CHECK(is.memory.peak.value == was.memory.peak.value);
    CHECK(is.step.model_flops.value == was.step.model_flops.value);
  } catch (const scenarios::Error& wrong) {
    FAIL_CHECK(wrong.what());
  } catch (const std::invalid_argument& wrong) {
    FAIL_CHECK(wrong.what());
  }
  return true;
}

}  // namespace

TEST_CASE("the launch configuration of a framework has the forecast of its plan") {
  std::map<Framework, int> run;
  for (const auto& plan : tests::launch_plans())
    for (const auto& [word, framework] : report::framework_names) {
      INFO(word << ": " << plan.kind);
      run[framework] += check_round_trip(plan.scenario(), framework);
    }
  CHECK(run[Framework::megatron] >= 8);
  CHECK(run[Framework::deepspeed] >= 2);
  CHECK(run[Framework::torchtitan] >= 2);
  CHECK(run[Framework::nanotron] >= 1);
}

TEST_CASE("a plan of 1F1B whose transfers wait comes back from Megatron-LM's script as it was") {
  auto s = tests::launch_plans()[1].scenario();
  s.plan.overlap.pipeline = false;
  CHECK(check_round_trip(s, Framework::megatron));
}

TEST_CASE("Megatron-LM interleaves on two pipeline ranks with overlapped transfers alone") {
  const auto left_out = [](const std::string& pipeline, const std::string& overlap) {
    const auto s = scenarios::read_scenario(
        "model: {base: llama2-7b, layers: 8}\ncluster: {node: dgx-h100, nodes: 1}\n"
        "training: {sequence_length: 1024, global_batch: 16}\nsoftware: megatron-core\nplan: "
        "{schedule: interleaved, virtual_stages: 2, pipeline: " +
            pipeline + ", overlap: {pipeline: " + overlap + "}}\n",
        "s");
    return report::sentences_of(report::launch(s, Framework::megatron).not_expressed);
  };
  CHECK(left_out("2", "true").empty());
  CHECK(left_out("4", "false").empty());
  CHECK(left_out("2", "false") ==
        std::vector<std::string>{
            "overlap.pipeline false: on two pipeline ranks Megatron-LM interleaves only with "
            "transfers beside computation, which is written instead"});
}

TEST_CASE("drawn plans that a framework can run come back from what it is started with") {
  for (const auto& range : tests::drawn_ranges()) {
    tests::Draw draw(7);
    int ran = 0, pipelined = 0, refused = 0;
    for (int i = 0; i < 200; ++i) {
      try {
        const auto s = tests::drawn(range, draw);
        const bool runs = check_round_trip(s, range.framework);
        ran += runs;
        pipelined += runs && s.plan.pipeline > 1;
      } catch (const scenarios::Error&) {
        ++refused;  // no framework can run this plan
      }
    }
    INFO(static_cast<int>(range.framework) << ": " << ran << " run, " << refused << " refused");
    CHECK(ran >= 20);
    if (range.pipelines.size() > 1) CHECK(pipelined >= 5);
  }
}

}  // namespace launch_round_trip_spec
