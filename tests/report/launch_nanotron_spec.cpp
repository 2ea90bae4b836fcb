// SPDX-License-Identifier: Apache-2.0
// nanotron's file holds what nanotron asks for before it starts; key heads are whole in all
// frameworks but Megatron-LM.
#include "report/launch/framework_limits.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace launch_nanotron_spec {

using report::Framework;
using Lost = std::vector<std::string>;

namespace {

forecast::Scenario scenario(const std::string& plan) {
  return scenarios::read_scenario(
      "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 4}\ntraining: {sequence_length: 4096, "
      "global_batch: 128}\nsoftware: nanotron\nplan: {" +
          plan + "}\n",
      "s");
}

}  // namespace

TEST_CASE("nanotron starts on tokens drawn at random") {
  CHECK_THAT(report::launch(scenario("zero: 1"), Framework::nanotron).text,
             STEPCAST_HOLDS("\ndata_stages: [{data: {dataset: null, "));
}

TEST_CASE("nanotron takes fewer microbatches than its 1f1b wants all forward first") {
  const auto few = scenario("pipeline: 8, micro_batch: 16");  // 2 microbatches of 4 replicas
  CHECK_THAT(report::launch(few, Framework::nanotron).text, STEPCAST_HOLDS("pp_engine: afab\n"));
  CHECK(report::beyond(few, Framework::nanotron) ==
        Lost{"schedule 1f1b: nanotron's wants 7 microbatches for 8 pipeline ranks; afab (gpipe) is "
             "written instead"});
  const auto enough = scenario("pipeline: 8, micro_batch: 4");  // 8 microbatches
  CHECK_THAT(report::launch(enough, Framework::nanotron).text, STEPCAST_HOLDS("pp_engine: 1f1b\n"));
  CHECK(report::beyond(enough, Framework::nanotron).empty());
}

TEST_CASE("tensor ranks have whole key heads but in Megatron-LM, which copies them") {
  const auto about_tensor = [](const std::string& plan, Framework framework) {
    auto sentences = report::beyond(scenario(plan), framework);
    std::erase_if(sentences, [](const auto& one) { return !one.starts_with("tensor "); });
    return sentences;
  };
  const std::string copies = "tensor: 16, zero: 1", whole = "tensor: 8, zero: 1";  // of 8 key heads
  CHECK(about_tensor(copies, Framework::nanotron) ==
        Lost{"tensor 16: nanotron divides key heads whole, and does not run with 8 of 32"});
  CHECK(about_tensor(copies, Framework::torchtitan).size() == 1);
  CHECK(about_tensor(copies, Framework::deepspeed).size() == 1);
  CHECK(about_tensor(copies, Framework::megatron).empty());
  for (const auto& [word, framework] : report::framework_names) {
    INFO(word);
    CHECK(about_tensor(whole, framework).empty());
    search::Question question;
    question.scenario = scenario("zero: 1");
    const auto most = report::within_limits(question, framework).space.tensor.most;
    CHECK((most == 8) == (framework != Framework::megatron));
  }
}

}  // namespace launch_nanotron_spec
