// SPDX-License-Identifier: Apache-2.0
// Overrides of a Primus job, each as the key of a scenario that it means.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace primus_values_spec {

namespace {

// A job of this model with more overrides, one a line.
std::string text_of(const std::string& model, const std::string& overrides) {
  std::string lines;
  for (std::size_t begin = 0; begin < overrides.size();) {
    const auto end = std::min(overrides.find('\n', begin), overrides.size());
    lines += "      " + overrides.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return "exp_name: e\nmodules:\n  pre_trainer:\n    framework: megatron\n    config: "
         "pre_trainer.yaml\n    model: " +
         model + "\n    overrides:\n      seq_length: 4096\n" + lines;
}
// The same of Llama 3 8B, which has 32 layers.
std::string text(const std::string& overrides) { return text_of("llama3_8B.yaml", overrides); }

const std::vector<std::string> ranks{"WORLD_SIZE=64"};
const std::string four = "pipeline_model_parallel_size: 4\n";

}  // namespace

TEST_CASE("stages of a Primus job have the layers of its list") {
  const std::string list = four + "decoder_pipeline_manual_split_list: ";
  tests::check_values(
      {{four, "plan.layers_per_stage", ""},
       {list + "[7, 9, 9, 7]", "plan.layers_per_stage", "7 9 9 7"},
       {list + "[7, 9, 9, 7]", "plan.schedule", "1f1b"},
       {list + "[3, 4, 4, 4, 4, 4, 4, 5]", "plan.layers_per_stage", "3 4 4 4 4 4 4 5"},
       {list + "[3, 4, 4, 4, 4, 4, 4, 5]", "plan.schedule", "interleaved"},
       {list + "[3, 4, 4, 4, 4, 4, 4, 5]", "plan.virtual_stages", "2"}},
      text, ranks);
  const char* why = "expected the layers of every stage, 32 on a multiple of 4";
  tests::check_refusals({{list + "[7, 9, 9, 8]", why}, {list + "[16, 8, 8]", why}}, text, ranks);
}

TEST_CASE("schedules without bubbles of a Primus job are those of its two patches") {
  const std::string patch = four + "patch_zero_bubble: true\n";
  const std::string v = patch + "zero_bubble_v_schedule: true\nzero_bubble_v_schedule_mem_setup: ";
  const std::string own = four + "patch_primus_pipeline: true\npp_algorithm: ";
  tests::check_values({{patch, "plan.schedule", "zb-h1"},
                       {v + "zb", "plan.schedule", "zb-v"},
                       {v + "zb", "plan.virtual_stages", "2"},
                       {own + "1f1b", "plan.schedule", "1f1b"},
                       {own + "zero-bubble", "plan.schedule", "zb-h1"},
                       {own + "zbv-formatted", "plan.schedule", "zb-v"},
                       {own + "zbv-formatted", "plan.virtual_stages", "2"},
                       {four + "patch_zero_bubble: false", "plan.schedule", "1f1b"},
                       {four + "pp_algorithm: zero-bubble", "plan.schedule", "1f1b"},
                       {"patch_zero_bubble: true", "plan.schedule", ""}},  // one stage
                      text, ranks);
  tests::check_refusals({{v + "half", "schedules of half or least memory are not modelled"},
                         {v + "min", "schedules of half or least memory are not modelled"},
                         {own + "v-half", "this schedule is not modelled; expected 1f1b"}},
                        text, ranks);
}

TEST_CASE("layers that a Primus job recomputes are listed by their number") {
  const auto job = tests::job(text("recompute_layer_ids: [0, 5, 31]"), ranks);
  std::string layers;
  for (const auto& row : job.document.find("plan")->find("layers")->items)
    layers += row.find("from")->text + "-" + row.find("to")->text + ":" +
              row.find("recompute")->text + " ";
  CHECK(layers == "0-0:full 5-5:full 31-31:full ");
}

TEST_CASE("kernels of Primus are switched on together, and only for what the model has") {
  const std::string turbo = "enable_primus_turbo: true\nuse_turbo_deepep: true\n";
  const auto experts = [](const std::string& more) {
    return text_of("mixtral_8x7B_v0.1.yaml", "expert_model_parallel_size: 8\n" + more);
  };
  tests::check_values({{turbo, "software.moe_dispatcher", "deepep"},
                       {"use_turbo_deepep: true", "software.moe_dispatcher", "all-to-all"}},
                      experts, ranks);
  tests::check_values({{turbo, "software.moe_dispatcher", ""},
                       {"torch_compile: {enable: true}", "software.compile", "true"},
                       {"torch_compile: {enable: false}", "software.compile", ""},
                       {"enable_fused_linear_ce: true", "software.fused_cross_entropy", "true"},
                       {"enable_fused_linear_ce: true", "software.loss_chunks", "liger"}},
                      text, ranks);
}

TEST_CASE("a Primus job of another framework or kind of model is refused by its word") {
  CHECK(tests::refusal([] {
          tests::job("modules:\n  pre_trainer:\n    framework: maxtext\n    overrides: {a: 1}\n",
                     ranks);
        }) == "job:1:1: framework maxtext: expected megatron, torchtitan or megatron_bridge");
  tests::check_refusals({{"model_type: mamba", "state-space layers are not modelled"}}, text,
                        ranks);
  CHECK(tests::refusal([] { tests::job(text_of("no_such.yaml", ""), ranks); })
            .find("primus/configs/models/megatron/no_such.yaml stands neither beside the job nor "
                  "above it") != std::string::npos);
}

}  // namespace primus_values_spec
