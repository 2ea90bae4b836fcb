// SPDX-License-Identifier: Apache-2.0
// Launch configurations: their form, and that they drop no part of a plan in silence.
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "report/document.hpp"
#include "report/json.hpp"
#include "report/launch/launch.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/launch_scenarios.hpp"

namespace launch_spec {

using forecast::Scenario;
using report::Framework;
using strategies::Plan;

namespace {

std::string whole_text(const report::Launch& launch) {
  std::string text = launch.text + "\nnot expressed:\n";
  for (const auto& lost : launch.not_expressed) text += "- " + lost.sentence + "\n";
  if (!launch.undecided.empty()) text += "not in the scenario:\n";
  for (const auto& sentence : launch.undecided) text += "- " + sentence + "\n";
  if (!launch.elsewhere.empty()) text += "in another file:\n";
  for (const auto& sentence : launch.elsewhere) text += "- " + sentence + "\n";
  for (const auto& file : launch.beside) text += "\n" + file.name + ":\n" + file.text;
  return text;
}

void check_goldens(const std::string& name, const Scenario& scenario) {
  for (const auto& [word, framework] : report::framework_names)
    golden::check("launch_" + name + "_" + word + ".txt",
                  whole_text(report::launch(scenario, framework)));
}

bool names(const std::vector<std::string>& sentences, const std::string& key) {
  return std::ranges::any_of(sentences, [&](const auto& one) { return one.starts_with(key); });
}

}  // namespace

TEST_CASE("a small plan in the words of four frameworks") {
  check_goldens("toy", examples::scenario());
}

TEST_CASE("a GPT-3 of interleaved, uneven stages in the words of four frameworks") {
  check_goldens("gpt3", examples::interleaved_gpt3());
}

TEST_CASE("DeepSeek-V3 in the words of four frameworks") {
  check_goldens("deepseek", examples::dualpipe_deepseek());
}

TEST_CASE("a name cannot break out of its comment") {
  auto s = examples::scenario();
  s.name = "two\nlines; rm -rf /";
  for (const auto& [word, framework] : report::framework_names) {
    const auto text = report::launch(s, framework).text;
    INFO(word << '\n' << text);
    CHECK_FALSE(golden::contains(text, "\nlines"));
  }
}

TEST_CASE("a plan that does not fit its model is refused") {
  auto s = examples::scenario();
  s.plan.layers_per_stage = {1, 1};
  for (const auto& [word, framework] : report::framework_names) {
    INFO(word);
    CHECK_THROWS_AS(report::launch(s, framework), std::invalid_argument);
  }
}

// --- Each key of a plan.

namespace {

struct Change {
  std::string key;
  std::function<void(Scenario&)> apply;
};

std::vector<Change> changes() {
  using namespace strategies;
  const auto in_plan = [](auto change) { return [=](Scenario& s) { change(s.plan); }; };
  using Kind = Recompute::Kind;
  using Tier = Offload::Tier;
  return {
      {"tensor", in_plan([](Plan& p) { p.tensor = 4, p.data = 2; })},
      {"pipeline", in_plan([](Plan& p) { p.pipeline = 2, p.data = 8; })},
      {"data", in_plan([](Plan& p) { p.data = 8, p.context = 1; })},
      {"context", in_plan([](Plan& p) { p.context = 4, p.data = 2; })},
      {"expert", in_plan([](Plan& p) { p.expert = 4; })},
      {"expert_tensor", in_plan([](Plan& p) { p.expert_tensor = 1; })},
      {"context_method", in_plan([](Plan& p) { p.context_method = ContextMethod::ulysses; })},
      {"context_method", in_plan([](Plan& p) { p.context_method = ContextMethod::all_gather; })},
      {"sequence_parallel", in_plan([](Plan& p) { p.sequence_parallel = false; })},
      {"micro_batch", in_plan([](Plan& p) { p.micro_batch = 2; })},
      {"schedule", in_plan([](Plan& p) { p.schedule = ScheduleKind::gpipe; })},
      {"schedule", in_plan([](Plan& p) { p.schedule = ScheduleKind::zb_h1; })},
      {"schedule", in_plan([](Plan& p) { p.schedule = ScheduleKind::zb_h2; })},
      {"schedule", in_plan([](Plan& p) { p.schedule = ScheduleKind::dualpipe; })},
      {"virtual_stages",
       in_plan([](Plan& p) { p.schedule = ScheduleKind::interleaved, p.virtual_stages = 2; })},
      {"schedule", in_plan([](Plan& p) { p.schedule = ScheduleKind::zb_v, p.virtual_stages = 2; })},
      {"schedule",
       in_plan([](Plan& p) { p.schedule = ScheduleKind::v_half, p.virtual_stages = 2; })},
      {"schedule",
       in_plan([](Plan& p) { p.schedule = ScheduleKind::v_min, p.virtual_stages = 2; })},
      {"schedule",
       in_plan([](Plan& p) { p.schedule = ScheduleKind::dualpipe_v, p.virtual_stages = 2; })},
      {"layers_per_stage", in_plan([](Plan& p) {
         p.layers_per_stage = {3, 5, 5, 3};
       })},
      {"zero", in_plan([](Plan& p) { p.zero = 0; })},
      {"zero", in_plan([](Plan& p) { p.zero = 2; })},
      {"zero", in_plan([](Plan& p) { p.zero = 3; })},
      {"shard_group", in_plan([](Plan& p) { p.shard_group = ShardGroup::node; })},
      {"recompute", in_plan([](Plan& p) { p.recompute.kind = Kind::selective; })},
      {"recompute", in_plan([](Plan& p) { p.recompute.kind = Kind::full; })},
      {"recompute", in_plan([](Plan& p) { p.recompute.kind = Kind::per_op; })},
      {"recompute", in_plan([](Plan& p) {
         p.recompute = {Kind::full_layers, 2, {}};
       })},
      {"recompute", in_plan([](Plan& p) {
         p.recompute = {Kind::modules, 0, {Module::mlp}};
       })},
      {"recompute", in_plan([](Plan& p) {
         p.recompute = {Kind::full, 0, {}, {2}};
       })},
      {"recompute", in_plan([](Plan& p) {
         p.recompute_of_stage = {{Kind::full}, {}, {}, {}};
       })},
      {"layers", in_plan([](Plan& p) {
         p.layers = {{3, 4, strategies::Recompute{Kind::full}}};
       })},
      {"layers", in_plan([](Plan& p) {
         p.layers = {{3, 4, {}, 1}};
         p.layer_tensor = 1;
       })},
      {"offload", in_plan([](Plan& p) { p.offload.optimizer = Tier::cpu; })},
      {"offload", in_plan([](Plan& p) { p.offload.optimizer = Tier::nvme; })},
      {"offload", in_plan([](Plan& p) { p.offload.gradients = true; })},
      {"offload", in_plan([](Plan& p) { p.offload.parameters = Tier::cpu; })},
      {"offload", in_plan([](Plan& p) { p.offload.activations = true; })},
      {"offload", in_plan([](Plan& p) {
         p.offload.activations = true, p.offload.activation_modules = {Module::core_attn};
       })},
      {"overlap", in_plan([](Plan& p) { p.overlap.data = false; })},
      {"overlap", in_plan([](Plan& p) { p.overlap.tensor = true; })},
      {"overlap", in_plan([](Plan& p) { p.overlap.pipeline = true; })},
      {"overlap", in_plan([](Plan& p) { p.overlap.parameters = true; })},
      {"overlap", in_plan([](Plan& p) { p.overlap.expert = true; })},
      {"gradient_precision",
       in_plan([](Plan& p) { p.gradient_precision = units::Precision::bf16; })},
      {"master_weights", in_plan([](Plan& p) { p.master_weights = units::Precision::bf16; })},
      {"bucket", in_plan([](Plan& p) { p.bucket = units::Bytes{1e6}; })},
      {"bucket", in_plan([](Plan& p) { p.gather_bucket = units::Bytes{1e6}; })},
      {"gradient_compression",
       in_plan([](Plan& p) { p.gradient_compression = GradientCompression::onebit; })},
      {"gradient_compression",
       in_plan([](Plan& p) { p.gradient_compression = GradientCompression::fp8; })},
      {"activation_compression",
       in_plan([](Plan& p) { p.activation_compression = ActivationCompression::int8; })},
      {"rank_order", in_plan([](Plan& p) {
         p.rank_order = {Degree::tensor, Degree::context, Degree::expert, Degree::pipeline,
                         Degree::data};
       })},
      {"rank_order", in_plan([](Plan& p) {
         p.rank_order = {Degree::data, Degree::tensor, Degree::context, Degree::expert,
                         Degree::pipeline};
       })},
  };
}

// Changes that have an effect under ZeRO-3 only, which DeepSpeed has without a pipeline.
std::vector<Change> changes_under_zero_3() {
  return {
      {"reshard_after_forward", [](Scenario& s) { s.plan.reshard_after_forward = false; }},
      {"wrap", [](Scenario& s) { s.plan.wrap.layers = 0; }},
      {"wrap", [](Scenario& s) { s.plan.wrap.layers = 2; }},
      {"overlap", [](Scenario& s) { s.plan.overlap.parameters = false; }},
      {"offload", [](Scenario& s) { s.plan.offload.optimizer = strategies::Offload::Tier::nvme; }}};
}

// Whether one list has a sentence with this word that the other lacks.
bool differ_about(const std::string& key, const std::vector<std::string>& a,
                  const std::vector<std::string>& b) {
  const auto has_more = [&](const auto& one, const auto& other) {
    return std::ranges::any_of(one, [&](const std::string& sentence) {
      return golden::contains(sentence, key) && std::ranges::find(other, sentence) == other.end();
    });
  };
  return has_more(a, b) || has_more(b, a);
}

void check_changes(const Scenario& before, const std::vector<Change>& all) {
  for (const auto& [word, framework] : report::framework_names)
    for (const auto& [key, apply] : all) {
      auto after = before;
      apply(after);
      const auto was = report::launch(before, framework), is = report::launch(after, framework);
      INFO(word << ": " << key << '\n' << whole_text(is));
      CHECK((was.text != is.text || differ_about(key, report::sentences_of(was.not_expressed),
                                                 report::sentences_of(is.not_expressed))));
    }
}

}  // namespace

TEST_CASE("no key of a plan is dropped in silence") {
  check_changes(examples::everything_at_once(), changes());
  auto sharded = examples::everything_at_once();
  sharded.plan.pipeline = 1;
  sharded.plan.data = 16;
  sharded.plan.zero = 3;
  check_changes(sharded, changes_under_zero_3());
}

TEST_CASE("every key of a plan is among those tried") {
  std::set<std::string> tried;
  for (const auto& change : changes()) tried.insert(change.key);
  for (const auto& change : changes_under_zero_3()) tried.insert(change.key);
  auto s = examples::everything_at_once();
  s.plan.layers_per_stage = {4, 4, 4, 4};
  s.plan.layers = {{0, 0, strategies::Recompute{}}};
  const auto scenario = nlohmann::json::parse(report::scenario_document(s).dump(2));
  for (const auto& [key, value] : scenario.at("plan").items()) {
    INFO(key);
    CHECK(tried.contains(key));
  }
}

TEST_CASE("training that a framework does not have is named") {
  using strategies::Optimizer;
  using units::Precision;
  for (const auto& [word, framework] : report::framework_names) {
    auto s = examples::scenario();
    const auto was = report::launch(s, framework);
    for (const auto optimizer :
         {Optimizer::adam, Optimizer::lamb, Optimizer::adafactor, Optimizer::sophia,
          Optimizer::muon, Optimizer::sgd, Optimizer::onebit_adam}) {
      s.training.optimizer = optimizer;
      const auto is = report::launch(s, framework);
      INFO(word << '\n' << whole_text(is));
      CHECK((is.text != was.text ||
             names(report::sentences_of(is.not_expressed), "training.optimizer")));
    }
    s = examples::scenario();
    for (const auto precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::fp8,
                                 Precision::mxfp8, Precision::nvfp4}) {
      s.training.precision = precision;
      const auto is = report::launch(s, framework);
      INFO(word << '\n' << whole_text(is));
      CHECK((is.text != was.text ||
             names(report::sentences_of(is.not_expressed), "training.precision")));
    }
  }
}

TEST_CASE("weights in 8 bit alone are Megatron's flag, and named where a framework lacks it") {
  using units::Precision;
  auto s = examples::scenario();
  s.software.narrow_weights = true;
  s.plan.zero = 1;
  for (const auto precision : {Precision::bf16, Precision::fp8, Precision::mxfp8})
    for (const auto& [word, framework] : report::framework_names) {
      s.training.precision = precision;
      const auto launch = report::launch(s, framework);
      INFO(word);
      const bool flag = launch.text.find("--fp8-param-gather") != std::string::npos;
      const bool effect = precision != Precision::bf16;
      CHECK(flag == (effect && framework == report::Framework::megatron));
      CHECK(names(report::sentences_of(launch.not_expressed), "software.narrow_weights") ==
            (effect && !flag));
    }
}

TEST_CASE("a key without effect is not spoken of") {
  auto s = examples::scenario();
  s.plan = {};
  s.cluster.gpus = 1;
  s.model.multi_token_prediction = 0;
  for (const auto& [word, framework] : report::framework_names) {
    auto other = s;
    other.plan.context_method = strategies::ContextMethod::ulysses;
    other.plan.wrap.layers = 0;
    other.plan.shard_group = strategies::ShardGroup::node;
    other.plan.rank_order = {strategies::Degree::pipeline, strategies::Degree::data,
                             strategies::Degree::expert, strategies::Degree::context,
                             strategies::Degree::tensor};
    INFO(word);
    CHECK(report::launch(other, framework) == report::launch(s, framework));
  }
}

// --- The nearest setting that a framework has.

namespace {

struct Nearest {
  Framework framework;
  std::function<void(Scenario&)> apply;
  std::string written, sentence;
};

}  // namespace

TEST_CASE("a setting that a framework lacks becomes the nearest one that it has, and a sentence") {
  using namespace strategies;
  using Kind = Recompute::Kind;
  const std::vector<Nearest> cases{
      {Framework::megatron, [](Scenario& s) { s.plan.schedule = ScheduleKind::zb_h1; },
       "--pipeline-model-parallel-size 4",
       "schedule zb-h1: Megatron-LM has 1f1b and interleaved; 1f1b is written instead, whose ranks "
       "wait longer"},
      {Framework::megatron,
       [](Scenario& s) { s.training.optimizer = Optimizer::muon, s.plan.zero = 2; },
       "--optimizer dist_muon",
       "zero 2: Megatron-LM's distributed Muon divides optimizer states by whole tensors, and "
       "neither gradients nor parameters; --optimizer dist_muon is written instead"},
      {Framework::megatron, [](Scenario& s) { s.plan.zero = 3; },
       "--data-parallel-sharding-strategy optim_grads_params", ""},
      {Framework::megatron, [](Scenario& s) { s.plan.shard_group = ShardGroup::node; },
       "--num-distributed-optimizer-instances 2", ""},
      {Framework::megatron, [](Scenario& s) { s.plan.offload.optimizer = Offload::Tier::nvme; },
       "--optimizer-cpu-offload",
       "offload.optimizer nvme: Megatron-LM offloads to host memory, which is written instead"},
      {Framework::deepspeed, [](Scenario& s) { s.plan.zero = 3; }, "\"stage\": 1",
       "zero 3: DeepSpeed shards no more than optimizer states in a pipeline; 1 is written "
       "instead"},
      {Framework::deepspeed,
       [](Scenario& s) {
         s.plan.zero = 0;
         s.plan.gradient_compression = GradientCompression::onebit;
       },
       "\"type\": \"OneBitAdam\"",
       "training.optimizer adamw: DeepSpeed compresses to one bit in an optimizer of its own, "
       "OneBitAdam, which is written instead"},
      // The bytes of gradients in the profile are those of 16-bit training.
      {Framework::deepspeed,
       [](Scenario& s) {
         s.training.precision = units::Precision::fp32;
         s.software.gradient_precision = units::Precision::bf16;
       },
       "\"communication_data_type\": \"fp32\"", ""},
      {Framework::torchtitan,
       [](Scenario& s) {
         s.plan.recompute = {Kind::full_layers, 2, {}};
       },
       "mode = \"selective\"\nselective_ac_option = \"2\"",
       "recompute: the plan recomputes stages 0-3: 2 of 4 layers whole; torchtitan has one choice "
       "for all layers, and one of 2 layers of each rank whole is written instead, no less "
       "anywhere"},
      {Framework::torchtitan,
       [](Scenario& s) {
         s.plan.layers = {{0, 3, strategies::Recompute{Kind::full}}};
       },
       "mode = \"full\"",
       "recompute: the plan recomputes stage 0: all layers whole; stages 1-3: nothing; torchtitan "
       "has one choice for all layers, and all layers whole is written instead, no less anywhere"},
      {Framework::torchtitan, [](Scenario& s) { s.plan.recompute.kind = Kind::per_op; },
       "selective_ac_option = \"op\"", ""},
      {Framework::torchtitan,
       [](Scenario& s) { s.plan.schedule = ScheduleKind::v_min, s.plan.virtual_stages = 2; },
       "pipeline_parallel_schedule = \"ZBVZeroBubble\"",
       "schedule v-min: PyTorch has no such schedule; ZBVZeroBubble is written instead, which "
       "keeps "
       "more activations"},
      {Framework::nanotron, [](Scenario& s) { s.plan.schedule = ScheduleKind::gpipe; },
       "pp_engine: afab", ""},
      {Framework::nanotron, [](Scenario& s) { s.plan.recompute.kind = Kind::selective; },
       "recompute_layer: true",
       "recompute: the plan recomputes core_attn of all layers; nanotron recomputes all layers "
       "whole or nothing, and all layers whole is written instead"},
  };
  for (const auto& [framework, apply, written, sentence] : cases) {
    auto s = examples::everything_at_once();
    const auto before = report::launch(s, framework);
    apply(s);
    const auto launch = report::launch(s, framework);
    INFO(whole_text(launch));
    CHECK_THAT(launch.text, STEPCAST_HOLDS(written));
    if (sentence.empty())
      CHECK(launch.not_expressed.size() <= before.not_expressed.size());
    else
      CHECK(names(report::sentences_of(launch.not_expressed), sentence));
  }
}

}  // namespace launch_spec
