// SPDX-License-Identifier: Apache-2.0
// The plans that a framework can run, as a space to search: those that launch() writes without a
// sentence.
#include <algorithm>

#include "report/launch/framework_limits.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace framework_limits_spec {

using report::Framework;
using strategies::Recompute;
using strategies::ScheduleKind;

namespace {

search::Question question(const std::string& plan = {}) {
  search::Question asked;
  asked.scenario = scenarios::read_scenario(
      "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 2}\ntraining: {sequence_length: 4096, "
      "global_batch: 64}\nplan: {" +
          plan + "}\n",
      "s");
  return asked;
}

std::vector<Recompute::Kind> ways(const search::Question& limited) {
  std::vector<Recompute::Kind> kinds{limited.scenario.plan.recompute.kind};
  for (const auto& other : limited.others) kinds.push_back(other.scenario.plan.recompute.kind);
  return kinds;
}

}  // namespace

TEST_CASE("launch() writes the schedules, stages of ZeRO and ways to recompute of a space") {
  using enum ScheduleKind;
  using enum Recompute::Kind;
  const auto megatron = report::within_limits(question(), Framework::megatron);
  CHECK(megatron.space.schedules == std::vector{one_f_one_b, interleaved});
  CHECK(megatron.space.zero.listed == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(ways(megatron) == std::vector{none, selective, full});
  CHECK_FALSE(megatron.space.recompute);
  CHECK(megatron.space.partition);
  const auto titan = report::within_limits(question(), Framework::torchtitan);
  CHECK(titan.space.schedules == std::vector{gpipe, one_f_one_b, interleaved, zb_v, dualpipe_v});
  CHECK(titan.space.zero.listed == std::vector<std::int64_t>{3});
  CHECK(titan.space.sequence_parallel == true);
  CHECK(ways(titan) == std::vector{none, per_op, full, none, per_op, full});
  const auto nanotron = report::within_limits(question(), Framework::nanotron);
  CHECK(nanotron.space.schedules == std::vector{gpipe, one_f_one_b});
  CHECK(nanotron.space.zero.listed == std::vector<std::int64_t>{0, 1});
  CHECK_FALSE(nanotron.space.partition);
  CHECK(ways(nanotron) == std::vector{none, full});
  const auto deepspeed = report::within_limits(question(), Framework::deepspeed);
  CHECK(deepspeed.space.pipeline.most == 1);  // the limit of the training script
  CHECK(ways(deepspeed) == std::vector{none, full, none, full});  // ZeRO 0 to 2, and 3
}

TEST_CASE("a plan that the scenario's own software does not run is warned of, with the reason") {
  const auto words = [](const std::string& plan, const std::string& software) {
    const auto text =
        "model: llama3-8b\ncluster: {node: dgx-h100, nodes: 2}\n"
        "training: {sequence_length: 4096, global_batch: 64}\nsoftware: " +
        software + "\nplan: {" + plan + "}\n";
    return report::not_run_words(scenarios::read_scenario(text, "s"));
  };
  const std::string dual = "pipeline: 4, schedule: zb-v, virtual_stages: 2";
  for (const std::string software : {"megatron-core", "nanotron"}) {
    CHECK(words("pipeline: 4, schedule: 1f1b", software).empty());
    const auto said = words(dual, software);
    CHECK(said.starts_with("software " + software + " does not run this plan as it is forecast: "));
    CHECK(said.find("zb-v") != said.npos);
  }
  CHECK(words(dual, "torchtitan").find("zb-v") == std::string::npos);  // which has that schedule
  CHECK(words("zero: 1", "torchtitan").find("does not run this plan") != std::string::npos);
  CHECK(words("zero: 2", "nanotron").find("does not run this plan") != std::string::npos);
  CHECK(words("zero: 2", "megatron-core").empty());
  // Chunks, schedules and stages of ZeRO alone are looked at, and frameworks that files exist for.
  CHECK(words("pipeline: 2, layers_per_stage: [15, 17]", "nanotron").empty());
  CHECK(words(dual, "fsdp").empty());
}

TEST_CASE("schedules whose transfers a framework cannot run as the plan says are not searched") {
  const auto schedules = [](const std::string& overlap) {
    auto asked = question("overlap: {pipeline: " + overlap + "}");
    return report::within_limits(asked, Framework::megatron).space.schedules;
  };
  using enum ScheduleKind;
  CHECK(schedules("true") == std::vector{interleaved});
  CHECK(schedules("false") == std::vector{one_f_one_b, interleaved});
  auto asked = question("overlap: {pipeline: true}");
  asked.space.schedules = {one_f_one_b};
  const auto alone = report::within_limits(asked, Framework::megatron);
  CHECK(alone.space.schedules == std::vector{one_f_one_b});
  CHECK(alone.space.pipeline.most == 1);
  // Those of torchtitan wait, whatever the software of the scenario does.
  asked = question();
  asked.scenario.software.overlap_pipeline = true;
  const auto titan = report::within_limits(asked, Framework::torchtitan);
  CHECK(titan.scenario.plan.overlap.pipeline == false);
  CHECK(titan.space.schedules == std::vector{gpipe, one_f_one_b, interleaved, zb_v, dualpipe_v});
  // Megatron's own profile lets transfers of virtual stages alone run beside computation.
  asked = question();
  asked.scenario.software.overlap_pipeline = asked.scenario.software.overlaps_chunks_alone = true;
  CHECK(report::within_limits(asked, Framework::megatron).space.schedules ==
        std::vector{one_f_one_b, interleaved});
}

TEST_CASE("a question's own limits narrow those of a framework") {
  auto asked = question();
  asked.space.schedules = {ScheduleKind::zb_v, ScheduleKind::interleaved};
  asked.space.zero.listed = {1, 2};
  asked.space.recompute = false;
  asked.scenario.plan.recompute = {Recompute::Kind::full};
  const auto limited = report::within_limits(asked, Framework::megatron);
  CHECK(limited.space.schedules == std::vector{ScheduleKind::interleaved});
  CHECK(limited.space.zero.listed == std::vector<std::int64_t>{1, 2});
  CHECK(ways(limited) == std::vector{Recompute::Kind::full});
}

TEST_CASE("torchtitan's replicas without FSDP are searched on neither tensor nor pipeline ranks") {
  const auto limits = [](search::Question asked) {
    return report::within_limits(asked, Framework::torchtitan);
  };
  const auto titan = limits(question());
  REQUIRE(titan.others.size() == 5);
  const auto& replicas = titan.others.back().space;
  CHECK(replicas.zero.listed == std::vector<std::int64_t>{0});
  CHECK(replicas.tensor.most == 1);
  CHECK(replicas.pipeline.most == 1);
  CHECK(titan.space.tensor.most > 1);
  auto wide = question();
  wide.scenario.training.precision = units::Precision::fp32;
  CHECK(limits(wide).space.zero.listed == std::vector<std::int64_t>{3});
  auto divided = question();
  divided.space.tensor.listed = {2};
  CHECK(limits(divided).others.size() == 2);
  const auto sentences = [](const std::string& plan) {
    return report::beyond(question("sequence_parallel: true, zero: 0, " + plan).scenario,
                          Framework::torchtitan);
  };
  using Lost = std::vector<std::string>;
  CHECK(sentences("tensor: 2") ==
        Lost{"zero 0: where FSDP divides nothing torchtitan has replicas on neither tensor nor "
             "pipeline ranks, and refuses to start"});
  CHECK(sentences("tensor: 8, pipeline: 2") ==
        Lost{"zero 0: where FSDP divides nothing torchtitan's tensor and pipeline ranks compute in "
             "float32, not in bf16"});
}

TEST_CASE("a search for a change of a job of Megatron-DeepSpeed has what that program has") {
  auto asked = question();
  scenarios::JobAccount job;
  job.fork = true;
  const auto changed = report::within_limits(asked, Framework::megatron, &job);
  for (const auto& space : {changed.space, changed.others.back().space}) {
    CHECK(space.schedules == std::vector{ScheduleKind::one_f_one_b});
    CHECK(space.virtual_stages.most == 1);
    CHECK(space.context.most == 1);
    CHECK_FALSE(space.partition);
  }
  asked.scenario.plan.context_method = strategies::ContextMethod::ulysses;
  CHECK(report::within_limits(asked, Framework::megatron, &job).space.context.most > 1);
  job.fork = false;
  CHECK(report::within_limits(asked, Framework::megatron, &job).space.schedules.size() == 2);
}

TEST_CASE("a plan is beyond a framework where a sentence speaks of the plan, not of the model") {
  const auto plain = question("tensor: 2, zero: 1").scenario;
  CHECK(report::beyond(plain, Framework::nanotron).empty());
  CHECK(report::beyond(plain, Framework::megatron).empty());
  const auto sharded = report::beyond(question("zero: 3").scenario, Framework::nanotron);
  REQUIRE(sharded.size() == 1);
  CHECK_THAT(sharded.front(), STEPCAST_HOLDS("zero 3: nanotron divides optimizer states only"));
}

}  // namespace framework_limits_spec
