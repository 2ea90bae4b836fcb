// SPDX-License-Identifier: Apache-2.0
// torchtitan's job holds degrees that its ParallelDims accepts, and batches that PyTorch's
// schedules take.
#include "report/launch/framework_limits.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace launch_torchtitan_spec {

using report::Framework;
using Lost = std::vector<std::string>;

namespace {

forecast::Scenario scenario(const std::string& model, const std::string& plan,
                            const std::string& batch = "128",
                            const std::string& precision = "bf16") {
  return scenarios::read_scenario("model: " + model +
                                      "\ncluster: {node: dgx-h100, nodes: 4}\ntraining: "
                                      "{sequence_length: 4096, global_batch: " +
                                      batch + ", precision: " + precision +
                                      "}\nsoftware: torchtitan\nplan: {" + plan + "}\n",
                                  "s");
}

// The degrees of 32 GPUs of Qwen3 with 128 experts.
struct Degrees {
  std::string replicate, shard, expert, expert_tensor;
  Lost beyond;

  explicit Degrees(const std::string& plan) {
    const auto s = scenario("qwen3-30b-a3b", plan);
    const auto text = report::launch(s, Framework::torchtitan).text;
    const auto value = [&](const std::string& key) {
      const auto at = text.find("\n" + key + " = ") + key.size() + 4;
      return text.substr(at, text.find('\n', at) - at);
    };
    replicate = value("data_parallel_replicate_degree");
    shard = value("data_parallel_shard_degree");
    expert = value("expert_parallel_degree");
    expert_tensor = value("expert_tensor_parallel_degree");
    beyond = report::beyond(s, Framework::torchtitan);
  }
};

}  // namespace

TEST_CASE("torchtitan's experts are divided over ranks that share states") {
  const Degrees sharded("zero: 3, expert: 8");
  CHECK(sharded.shard == "32");
  CHECK(sharded.expert == "8");
  CHECK(sharded.beyond.empty());
  const Degrees replicas("zero: 0, expert: 8");
  CHECK(replicas.shard == "8");
  CHECK(replicas.replicate == "4");
  CHECK(replicas.expert == "8");
  CHECK(replicas.beyond == Lost{"zero 0: torchtitan divides experts over ranks that share states; "
                                "FSDP shards over 8 of 32 replicas instead"});
}

TEST_CASE(
    "torchtitan's experts take all ranks of a sequence, and tensor ranks that hold them whole") {
  const Degrees context("zero: 3, context: 4, expert: 2");
  CHECK(context.expert == "4");
  CHECK(context.beyond == Lost{"expert 2: torchtitan divides experts over all 4 context ranks and "
                               "some of those that share states; 4 is written instead"});
  CHECK(Degrees("zero: 3, context: 4, expert: 8").beyond.empty());
  const std::string tensor = "zero: 3, tensor: 4, sequence_parallel: true, ";
  const Degrees whole(tensor + "expert: 2, expert_tensor: 1");
  CHECK(whole.expert == "4");
  CHECK(whole.expert_tensor == "1");
  CHECK(whole.beyond == Lost{"expert 2: torchtitan divides experts over all 1 context x 4 tensor "
                             "ranks and some of those that share states; 4 is written instead"});
  const Degrees divided(tensor + "expert: 2, expert_tensor: 4");
  CHECK(divided.expert == "2");
  CHECK(divided.expert_tensor == "4");
  CHECK(divided.beyond.empty());
}

TEST_CASE("a search for torchtitan has expert ranks under FSDP") {
  search::Question question;
  question.scenario = scenario("qwen3-30b-a3b", "recompute: full");
  question.space.recompute = false;
  const auto limited = report::within_limits(question, Framework::torchtitan);
  REQUIRE(limited.others.size() == 1);
  CHECK(limited.space.zero.listed == std::vector<std::int64_t>{3});
  CHECK(limited.space.expert.most > 1);
  CHECK(limited.others[0].space.zero.listed == std::vector<std::int64_t>{0});
  CHECK(limited.others[0].space.expert.most == 1);
}

TEST_CASE("PyTorch's interleaved schedule takes equal rounds of microbatches") {
  const auto interleaved = [](const std::string& batch) {
    return scenario("llama3-8b", "pipeline: 4, zero: 3, schedule: interleaved, virtual_stages: 2",
                    batch);
  };
  const auto schedule = [](const forecast::Scenario& s) {
    const auto text = report::launch(s, Framework::torchtitan).text;
    return golden::contains(text, "\"Interleaved1F1B\"") ? "Interleaved1F1B" : "1F1B";
  };
  const auto even = interleaved("64");    // 8 replicas of 8 microbatches: 2 rounds of 4
  const auto three = interleaved("24");   // 3 microbatches: one round
  const auto uneven = interleaved("72");  // 9 microbatches are no 2 rounds
  CHECK(schedule(even) == std::string("Interleaved1F1B"));
  CHECK(schedule(three) == std::string("Interleaved1F1B"));
  CHECK(report::beyond(even, Framework::torchtitan).empty());
  CHECK(schedule(uneven) == std::string("1F1B"));
  CHECK(report::beyond(uneven, Framework::torchtitan) ==
        Lost{"schedule interleaved: PyTorch takes 9 microbatches through 4 ranks in rounds, and "
             "refuses unequal ones; 1F1B with one stage per rank is written instead"});
  CHECK_THAT(report::launch(uneven, Framework::torchtitan).text,
             STEPCAST_HOLDS("\"layers.7\"],\n  [\"layers.8\""));  // 32 layers on 4 stages
}

TEST_CASE("PyTorch's 1F1B and GPipe refuse fewer microbatches than stages") {
  const auto beyond = [](const std::string& schedule, const std::string& batch) {
    return report::beyond(
        scenario("llama3-8b", "pipeline: 4, zero: 3, schedule: " + schedule, batch),
        Framework::torchtitan);
  };
  CHECK(beyond("1f1b", "16") ==
        Lost{"pipeline 4: PyTorch's 1F1B refuses 2 microbatches for 4 stages"});
  CHECK(beyond("gpipe", "8") ==
        Lost{"pipeline 4: PyTorch's GPipe refuses 1 microbatch for 4 stages"});
  CHECK(beyond("1f1b", "32").empty());
}

TEST_CASE("torchtitan divides no sequences of models with windows or sinks") {
  const auto limits = [](const std::string& model) {
    search::Question question;
    question.scenario = scenario(model, "zero: 3");
    return report::within_limits(question, Framework::torchtitan).space.context.most;
  };
  CHECK(limits("gpt-oss-120b") == 1);
  CHECK(limits("qwen3-30b-a3b") > 1);
}

}  // namespace launch_torchtitan_spec
