// SPDX-License-Identifier: Apache-2.0
// Keys that no framework has: each of the four says so, by its name.
#include <map>

#include "tests/report/lost_keys.hpp"

namespace lost_by_all_spec {

using forecast::Scenario;
using report::Framework;
using report::Lost;

namespace {

const std::map<Framework, std::string> names{{Framework::megatron, "Megatron-LM"},
                                             {Framework::deepspeed, "DeepSpeed"},
                                             {Framework::torchtitan, "torchtitan"},
                                             {Framework::nanotron, "nanotron"}};

// A change, its key, and its sentence with NAME for the framework's name.
struct Change {
  void (*apply)(Scenario&);
  std::string key, sentence;
};

void check_named(const Scenario& before, const std::vector<Change>& changes,
                 const std::vector<Framework>& frameworks) {
  for (const auto framework : frameworks)
    for (const auto& [apply, key, sentence] : changes) {
      auto words = sentence;
      const auto at = words.find("NAME");
      REQUIRE(at != words.npos);
      words.replace(at, 4, names.at(framework));
      tests::check_lost(before, framework, {{apply, {Lost{key, words}}}});
    }
}

const std::vector<Framework> all{Framework::megatron, Framework::deepspeed, Framework::torchtitan,
                                 Framework::nanotron};

}  // namespace

TEST_CASE("what no framework has is named by each of them") {
  using namespace strategies;
  check_named(
      tests::plain_scenario("megatron-core"),
      {{[](Scenario& s) { s.software.kernels.loss_chunks = 4; }, "software.loss_chunks",
        "software.loss_chunks: NAME is written without; the logits of all tokens are in memory"},
       {[](Scenario& s) { s.plan.activation_compression = ActivationCompression::int8; },
        "activation_compression",
        "activation_compression int8: NAME keeps activations as they are computed"},
       {[](Scenario& s) { s.training.padding = 0.25; }, "training.padding",
        "training.padding 0.25: what NAME is fed decides it"},
       {[](Scenario& s) {
          s.plan.layer_tensor = 1;
          s.plan.micro_batch = 2;
          s.plan.layers = {{.from = 0, .to = 3, .tensor = 1}};
        },
        "layers", "layers with tensor 1: NAME divides all layers alike, by tensor 2"}},
      all);
}

TEST_CASE("what tokens do is no argument of any framework") {
  using namespace strategies;
  const auto mixture = tests::plain_scenario(
      "megatron-core", "mixtral-8x7b", "tensor: 2, sequence_parallel: true, expert: 8, zero: 1");
  check_named(
      mixture,
      {{[](Scenario& s) { s.training.routing.skew = Skew::power_law; }, "training.routing",
        "training.routing skew power_law: what NAME is fed and its router decide it"},
       {[](Scenario& s) {
          s.training.routing.skew = Skew::histogram;
          s.training.routing.shares = {8, 7, 6, 5, 4, 3, 2, 1};
        },
        "training.routing",
        "training.routing skew histogram: what NAME is fed and its router decide it"},
       {[](Scenario& s) { s.training.routing.locality = Locality::neighbours; }, "training.routing",
        "training.routing neighbours: a gate of benchmarks, which NAME lacks"}},
      all);
  // Groups of experts are Megatron-LM's flags.
  check_named(
      mixture,
      {{[](Scenario& s) {
          s.training.routing = {.locality = Locality::group_limited, .groups = 4, .top_groups = 2};
        },
        "training.routing", "training.routing group_limited: NAME leaves the router to the model"}},
      {Framework::deepspeed, Framework::torchtitan, Framework::nanotron});
}

TEST_CASE(
    "gradients are compressed by DeepSpeed alone, and master copies kept in 16 bit by Megatron") {
  using namespace strategies;
  const auto plain = tests::plain_scenario("megatron-core");
  check_named(
      plain,
      {{[](Scenario& s) { s.plan.gradient_compression = GradientCompression::onebit; },
        "gradient_compression", "gradient_compression onebit: NAME reduces gradients uncompressed"},
       {[](Scenario& s) { s.plan.gradient_compression = GradientCompression::fp8; },
        "gradient_compression", "gradient_compression fp8: NAME reduces gradients uncompressed"}},
      {Framework::megatron, Framework::torchtitan, Framework::nanotron});
  const auto narrow = [](Scenario& s) { s.plan.master_weights = units::Precision::fp16; };
  for (const auto& [word, framework] : report::framework_names) {  // in the word that users write
    if (framework == Framework::megatron) continue;
    tests::check_lost(plain, framework,
                      {{narrow,
                        {Lost{"master_weights", "master_weights fp16: " + std::string(word) +
                                                    " keeps them in fp32, or as wide as "
                                                    "gradients"}}}});
  }
}

TEST_CASE("other orders of ranks are refused where a framework has one, and its own is written") {
  using enum strategies::Degree;
  check_named(tests::plain_scenario("torchtitan"),
              {{[](Scenario& s) {
                  s.plan.rank_order = {tensor, context, expert, pipeline, data};
                },
                "rank_order",
                "rank_order tp-cp-ep-pp-dp: NAME places ranks as tp-cp-ep-dp-pp, which is written "
                "instead"}},
              {Framework::deepspeed, Framework::torchtitan});
  tests::check_lost(
      tests::plain_scenario("nanotron"), Framework::nanotron,
      {{[](Scenario& s) {
          s.plan.rank_order = {data, tensor, context, expert, pipeline};
        },
        {Lost{"rank_order",
              "rank_order dp-tp-cp-ep-pp: nanotron places ranks as tp-cp-dp-pp-ep, which is "
              "written instead"}}},
       // Degrees of one have no place.
       {[](Scenario& s) {
          s.plan.rank_order = {context, tensor, data, expert, pipeline};
        },
        {}}});
  tests::check_lost(
      tests::plain_scenario("megatron-core"), Framework::megatron,
      {{[](Scenario& s) {
          s.plan.rank_order = {tensor, context, expert, pipeline, data};
        },
        {},
        "--use-tp-pp-dp-mapping"},
       {[](Scenario& s) {
          s.plan.rank_order = {data, tensor, context, expert, pipeline};
        },
        {Lost{"rank_order",
              "rank_order dp-tp-cp-ep-pp: Megatron-LM places ranks as tp-cp-ep-dp-pp or "
              "tp-cp-ep-pp-dp; the first is written instead"}}}});
}

TEST_CASE("a last node that is not full is told with the processes that start on it") {
  const auto few = [](const std::string& gpus) {
    return scenarios::read_scenario(
        "model: llama3-8b\ncluster: {node: dgx-h100, gpus: " + gpus +
            "}\ntraining: {sequence_length: 4096, global_batch: 60}\nsoftware: megatron-core\n"
            "plan: {zero: 1}\n",
        "few");
  };
  for (const auto& [word, framework] : report::framework_names) {
    const auto sentences = report::sentences_of(report::launch(few("12"), framework).not_expressed);
    INFO(word);
    CHECK(std::ranges::count(sentences,
                             "12 GPUs: start 4 processes on the last node, 8 on the "
                             "others") == 1);
    for (const auto& one : report::launch(few("4"), framework).not_expressed)
      CHECK(one.sentence.find("last node") == one.sentence.npos);  // the only one
  }
}

TEST_CASE("a lost key names a key of the scenario, and nothing in its sentence breaks a line") {
  using strategies::Degree;
  auto s = tests::plain_scenario("megatron-core");
  s.plan.overlap = {false, true, true, true, true};
  s.plan.offload = {
      .optimizer = strategies::Offload::Tier::nvme, .gradients = true, .activations = true};
  s.plan.schedule = strategies::ScheduleKind::v_half;
  s.plan.virtual_stages = 2;
  s.plan.context_method = strategies::ContextMethod::ulysses;
  s.plan.rank_order = {Degree::data, Degree::tensor, Degree::context, Degree::expert,
                       Degree::pipeline};
  s.training.optimizer = strategies::Optimizer::sophia;
  s.training.precision = units::Precision::nvfp4;
  for (const auto& [word, framework] : report::framework_names) {
    const auto lost = report::launch(s, framework).not_expressed;
    INFO(word);
    CHECK(lost.size() >= 6);
    for (const auto& one : lost) {
      INFO(one.key << " | " << one.sentence);
      const bool counts = one.key == "cluster.gpus";  // "32 GPUs: …"
      CHECK((counts || one.sentence.starts_with(one.key.substr(0, one.key.find('.')))));
      CHECK(one.sentence.find('\n') == one.sentence.npos);
      CHECK_FALSE(one.sentence.ends_with('.'));
    }
  }
}

}  // namespace lost_by_all_spec
