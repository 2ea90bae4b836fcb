// SPDX-License-Identifier: Apache-2.0
// The text and the JSON about plans that a search found, or did not find.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/search/recompute_words.hpp"
#include "report/search/search.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/search_reports.hpp"

namespace search_spec {

using namespace units::literals;
using strategies::Recompute;
using strategies::ScheduleKind;

namespace {

search::Question question() {
  search::Question question{.scenario = examples::scenario()};
  question.scenario.plan = {};
  return question;
}

search::Ranked ranked(const strategies::Plan& plan, units::Seconds time, units::Bytes peak) {
  search::Ranked one{plan, examples::forecast(), time - 0.5_s};
  auto& step = one.forecast.step;
  step.time = time;
  step.time_low = 0.875 * time;
  step.time_high = 1.25 * time;
  step.tokens_per_second = step.tokens / time.value;
  step.tokens_per_second_per_gpu = step.tokens_per_second / 16;
  step.mfu = 2.5 / time.value;
  one.forecast.memory.peak = peak;
  return one;
}

// A plan of four layers on two stages: one layer, which is recomputed whole, and three, two of
// which are recomputed in part.
search::Ranked uneven() {
  strategies::Plan plan;
  plan.tensor = 2;
  plan.sequence_parallel = true;
  plan.pipeline = 2;
  plan.data = 4;
  plan.zero = 1;
  plan.layers_per_stage = {1, 3};
  plan.layers = {{0, 0, Recompute{Recompute::Kind::full, 0, {}}},
                 {2, 3, Recompute{Recompute::Kind::modules, 0, {strategies::Module::layernorm}}}};
  return ranked(plan, 8.0_s, 40.0_GiB);
}
search::Ranked split_backward() {
  strategies::Plan plan;
  plan.pipeline = 4;
  plan.data = 4;
  plan.micro_batch = 2;
  plan.schedule = ScheduleKind::zb_h1;
  return ranked(plan, 8.5_s, 50.0_GiB);
}
search::Ranked sharded() {
  strategies::Plan plan;
  plan.data = 16;
  plan.zero = 3;
  plan.recompute.kind = Recompute::Kind::full;
  return ranked(plan, 12.0_s, 10.0_GiB);
}

search::Answer answer() {
  search::Answer answer;
  answer.plans = {uneven(), split_backward(), sharded()};
  answer.pareto = {uneven(), sharded()};
  answer.space = {.enumerated = 12345,
                  .pruned_by_memory = 2000,
                  .pruned_by_bound = 9000,
                  .evaluated = 1345,
                  .simulated = 2222};
  answer.lower_bound = 8.0_s;
  answer.optimal = true;
  return answer;
}

search::Outcome outcome() { return {question(), answer()}; }

search::Why why() {
  return {.path = {{forecast::StepPart::compute, 5.0_s},
                   {forecast::StepPart::tensor_comm, 2.0_s},
                   {forecast::StepPart::data_comm, 1.0_s}},
          .exposed = {{forecast::StepPart::compute, 6.0_s},
                      {forecast::StepPart::bubble, 1.0_s},
                      {forecast::StepPart::recompute, 0.5_s},
                      {forecast::StepPart::data_comm, 0.25_s},
                      {forecast::StepPart::optimizer, 0.125_s},
                      {forecast::StepPart::other, 0.125_s}},
          .runner = search::Runner{1,
                                   0.5_s,
                                   {{forecast::StepPart::bubble, 0.75_s},
                                    {forecast::StepPart::tensor_comm, -1 * 0.25_s}}},
          .helps = {{search::Resource::flops, 0.5_s, 0.0625},
                    {search::Resource::node_links, 0.016_s, 0.002},
                    {search::Resource::network, {}, 0},
                    {search::Resource::memory_bandwidth, -1 * 0.08_s, -0.01}},
          .memory_changes = {{-0.2, {}},
                             {-0.1, 8.8_s},
                             {0.1, 8.0_s},
                             {0.2, 8.0_s},
                             {0.3, 7.6_s},
                             {0.4, 7.6_s},
                             {0.5, 7.6_s}}};
}

// The outcome of sizes: on one node nothing fits, two nodes are too slow, three divide nothing.
search::Outcome smallest_cluster() {
  auto found = outcome();
  found.question.objective = {search::Objective::Kind::smallest_cluster, 1500, {}};
  const auto tried = [](std::int64_t nodes, units::Seconds time, bool enough) {
    forecast::Step step{.time = time, .tokens = 16000, .useful_tokens = 16000};
    step.tokens_per_second = 16000 / time.value;
    return search::Tried{nodes, true, step, {2e-6, units::Money{3e-6}}, enough};
  };
  found.tried = {
      {.size = 1, .possible = true}, tried(2, 16.0_s, false), {.size = 3}, tried(4, 8.0_s, true)};
  found.chosen = 3;
  return found;
}

}  // namespace

TEST_CASE("the report on a search is the golden one, in Unicode and in ASCII, at any width") {
  report::TextOptions options;
  golden::check("search.txt", report::search_text(outcome(), why(), options));
  options.unicode = false;
  const auto ascii = report::search_text(outcome(), why(), options);
  CHECK(std::ranges::all_of(ascii, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  options.width = 60;
  golden::check("search_narrow.txt", report::search_text(outcome(), why(), options));
}

TEST_CASE("the document of a search is the golden one") {
  golden::check("search.json",
                tests::search_json(outcome(), {.why = why(), .wall = 0.25_s}, "1.2.3"));
}

TEST_CASE("the launch configuration of a framework is a field of the document") {
  using nlohmann::json;
  const auto document =
      json::parse(tests::search_json(outcome(), {.why = why(), .emitted = "--tp 2"}));
  CHECK(document["emitted"] == "--tp 2");
  CHECK(document["best"] == document["plans"][0]);
}

TEST_CASE("without a plan the document has none, and says by how much the smallest misses") {
  using nlohmann::json;
  search::Answer none;
  none.space.enumerated = none.space.pruned_by_memory = 7;
  none.misfit = search::Misfit{uneven().plan, 94.0_GiB, 80.0_GiB};
  const auto document = json::parse(tests::search_json({question(), none}));
  CHECK(document["plans"] == json::array());
  CHECK(document["best"] == nullptr);
  CHECK(document["proof"] ==
        json({{"optimal", false}, {"lower_bound_s", nullptr}, {"gap", nullptr}}));
  CHECK(document["misfit"]["needed_bytes"] == 94 * (1LL << 30));
  CHECK(document["misfit"]["plan"]["tensor"] == 2);
}

TEST_CASE("the best plan's chance to fit is said as that of a simulated plan") {
  auto found = outcome();
  auto& memory = found.answer.plans.front().forecast.memory;
  memory.fit_chance = 0.875;
  const auto text = [&] { return report::search_text(found, why(), {}); };
  CHECK_THAT(text(), STEPCAST_HOLDS("40.0 GiB of 80.0 GiB on stage 0: fits with 88 %"));
  memory.fits = false;
  memory.fit_chance = 0.14;
  CHECK_THAT(text(), STEPCAST_HOLDS("on stage 0: DOES NOT FIT, but for a chance of 14 %"));
  const auto best = nlohmann::json::parse(tests::search_json(found, {.why = why()}))["best"];
  CHECK(best["fits"] == false);
  CHECK(best["fit_chance"] == 0.14);
}

TEST_CASE("a proof that is not finished says how far it is") {
  auto partly = answer();
  partly.optimal = false;
  partly.lower_bound = 7.95_s;
  partly.gap = 0.05 / 8;
  partly.interrupted = true;
  partly.space.pruned_by_bound = 8000;
  report::TextOptions wide;
  wide.width = 200;
  const auto text = report::search_text({question(), partly}, why(), wide);
  // 0.625 %, rounded up
  CHECK_THAT(text, STEPCAST_HOLDS("stopped early; proved: none of the 12,345 plans in the space is "
                                  "faster than 7.95 s, so the best is at most 0.7 % from optimal"));
  CHECK_THAT(text, STEPCAST_HOLDS(", 1,000 undecided"));
}

TEST_CASE("the recomputation of stages is counted, and equal stages are one") {
  strategies::Plan plan;
  plan.pipeline = 4;
  const auto words = [&](std::int64_t layers) {
    auto model = examples::scenario().model;
    model.layers = layers;
    return report::words_of(report::recomputed_by_stage(model, plan)) + " | " +
           report::short_words(model, plan);
  };
  CHECK(words(4) == "nothing | none");
  CHECK(words(6) == "nothing | none");  // stages have one or two layers
  plan.recompute = {Recompute::Kind::full, 0, {}, {2}};
  CHECK(words(8) == "full in 1 of 2 layers, full with input in 1 | full 4, full with input 4");
  plan.recompute = {Recompute::Kind::full};
  CHECK(words(4) == "full in its layer | full");
  CHECK(words(8) == "full in all 2 layers | full");
  plan.recompute = {Recompute::Kind::full_layers, 1, {}};
  CHECK(words(8) == "full in 1 of 2 layers | full 4");
  plan.recompute = {};
  plan.layers = {{0, 5, Recompute{Recompute::Kind::full, 0, {}}},
                 {6, 6, Recompute{Recompute::Kind::selective, 0, {}}},
                 {8, 8, Recompute{Recompute::Kind::per_op, 0, {}}}};
  CHECK(words(16) ==
        "stage 0: full in all 4 layers; stage 1: full in 2 of 4 layers, core_attn in 1; stage 2: "
        "per-op in 1 of 4 layers; stage 3: nothing | full 6, core_attn 1, per-op 1");
  // Chunks go down the stages and up again, so stage 0 holds the first and the last four of 32
  // layers.
  plan.schedule = ScheduleKind::zb_v;
  plan.virtual_stages = 2;
  plan.layers = {{28, 31, Recompute{Recompute::Kind::full, 0, {}}}};
  CHECK(words(32) == "stage 0: full in 4 of 8 layers; stages 1-3: nothing | full 4");
  // Layer 0 is in both copies of the model.
  plan.schedule = ScheduleKind::dualpipe;
  plan.virtual_stages = 1;
  plan.layers = {{0, 0, Recompute{Recompute::Kind::full, 0, {}}}};
  CHECK(words(4) ==
        "stage 0: full in 1 of 2 layers; stages 1-2: nothing; stage 3: full in 1 of 2 layers | "
        "full 1");
}

TEST_CASE("where nothing fits, the smallest plan says which limit to relax") {
  auto asked = question();
  search::Answer none;
  none.space.enumerated = 7;
  none.misfit = search::Misfit{uneven().plan, 94.0_GiB, 80.0_GiB};
  CHECK(report::no_plan_text({asked, none}) ==
        "nothing fits: the smallest plan, tensor 2 with sequence, pipeline 2 (1f1b), data 4, "
        "micro-batch 1, ZeRO 1, needs 94.0 GiB of the 80.0 GiB that each GPU has for it, 14.0 GiB "
        "too much; take more GPUs or larger ones, or move states to the host with plan.offload");
  search::Alternative offloading{asked.scenario, asked.space};
  offloading.scenario.plan.offload.optimizer = strategies::Offload::Tier::cpu;
  asked.others = {offloading};  // tried, and not advised
  CHECK_THAT(report::no_plan_text({asked, none}),
             STEPCAST_HOLDS("take more GPUs or larger ones, or offload gradients, parameters or "
                            "activations, too"));
  auto& offload = asked.others[0].scenario.plan.offload;
  offload.gradients = offload.activations = true;
  offload.parameters = strategies::Offload::Tier::nvme;
  CHECK(report::no_plan_text({asked, none}).ends_with("take more GPUs or larger ones"));
  asked.others.clear();
  none.misfit->node = "a node keeps 3.00 TiB in host memory of 2.00 TiB; offload less";
  CHECK(report::no_plan_text({asked, none}).ends_with("plan.offload; " + none.misfit->node));
  none.misfit->needed = 70.0_GiB;  // of 80
  CHECK(report::no_plan_text({asked, none}) ==
        "nothing fits: under the smallest plan, tensor 2 with sequence, pipeline 2 (1f1b), data 4, "
        "micro-batch 1, ZeRO 1, " +
            none.misfit->node);
  none.misfit = search::Misfit{uneven().plan, 94.0_GiB, 80.0_GiB};
  asked.space.tensor.most = 4;
  asked.space.schedules = {ScheduleKind::gpipe};
  CHECK_THAT(report::no_plan_text({asked, none}),
             STEPCAST_HOLDS("too much; leave tensor or schedule open; take more GPUs"));
  asked.memory_headroom = 0.2;  // 20 of 100 GiB
  CHECK_THAT(report::no_plan_text({asked, none}),
             STEPCAST_HOLDS("needs 94.0 GiB of the 80.0 GiB that each GPU has for it; write "
                            "search.memory_headroom: 0.06 or less"));
  none.misfit->needed = 194.0_GiB;
  CHECK_THAT(report::no_plan_text({asked, none}), !STEPCAST_HOLDS("memory_headroom"));
  none.misfit->capacity = 0.1_GiB;
  CHECK_THAT(report::no_plan_text({asked, none}),
             STEPCAST_HOLDS("weights, gradients and optimizer states alone fill"));
  none.misfit.reset();
  none.interrupted = true;
  const std::string stopped = "stopped before any plan was found that fits: ",
                    fewer = ", or fix keys of plan, so that there are fewer to look through";
  CHECK(report::no_plan_text({asked, none}) == stopped + "let it run longer" + fewer);
  none.space.enumerated = 0;  // stopped before degrees were listed
  asked.time_limit = 45.0_s;
  CHECK(report::no_plan_text({asked, none}) ==
        stopped + "write a search.time_limit above 45.0 s" + fewer);
}

TEST_CASE("where no plan is possible, the limits that leave none are named") {
  auto asked = question();
  CHECK(report::no_plan_text({asked, {}}) ==
        "no plan is possible: no degrees multiply to 16 GPUs and divide the model and 16 "
        "sequences; change the number of GPUs or training.global_batch");
  asked.space.tensor.listed = {3};
  CHECK(report::no_plan_text({asked, {}}) ==
        "no plan is possible: no degrees multiply to 16 GPUs and divide the model and 16 "
        "sequences as asked; there are some if tensor is left open");
  asked.space.data.listed = {5};
  CHECK_THAT(report::no_plan_text({asked, {}}),
             STEPCAST_HOLDS("; not even with one of tensor or data left open: loosen several"));
}

TEST_CASE("where the batch lacks a factor of the GPUs, a batch is named that has it") {
  auto asked = question();
  asked.scenario.cluster.gpus = 72;
  asked.space.pipeline.listed = {1};
  CHECK(report::no_plan_text({asked, {}}) ==
        "no plan is possible: no degrees multiply to 72 GPUs and divide the model and 16 sequences "
        "as asked; change training.global_batch (a batch of 18 has the factor 9 that 16 lacks)");
}

TEST_CASE("the report on a search for a cluster is the golden one, and says which were tried") {
  report::TextOptions options;
  const auto text = report::search_text(smallest_cluster(), why(), options);
  golden::check("search_cluster.txt", text.substr(0, text.find("The best plan")));
  CHECK_THAT(text, STEPCAST_HOLDS("give the scenario cluster.nodes: 4 and\nplan:"));
  const auto document =
      nlohmann::json::parse(tests::search_json(smallest_cluster(), {.why = why()}));
  const auto& objective = document["objective"];
  CHECK(objective["kind"] == "smallest_cluster");
  CHECK(objective["key"] == "cluster.nodes");
  CHECK(objective["value"] == 4);
  CHECK(objective["rate_tokens_per_s"] == 1500);
  REQUIRE(objective["tried"].size() == 4);
  CHECK(objective["tried"][0]["step_time_s"] == nullptr);
  CHECK(objective["tried"][1]["tokens_per_s"] == 1000);
  CHECK(objective["tried"][1]["enough"] == false);
  CHECK(objective["tried"][3]["usd_per_token"] == 3e-6);
}

TEST_CASE("clusters that are too slow are named with the fastest") {
  auto found = smallest_cluster();
  found.chosen.reset();
  found.question.objective.rate = 1e6;
  CHECK(report::no_plan_text(found) ==
        "too slow: of 1, 2, 3 and 4 nodes, the fastest are 4, with 2,000 of the 1,000,000 tokens/s "
        "that are asked for; ask for less, or try more nodes with search.nodes");
}

TEST_CASE("where the plan is the only one, or the search was stopped, the reasons say so") {
  auto short_why = why();
  short_why.runner.reset();
  short_why.memory_changes.clear();
  report::TextOptions wide;
  wide.width = 200;
  const auto text = report::search_text(outcome(), short_why, wide);
  CHECK_THAT(text, STEPCAST_HOLDS("there is no plan of other degrees to compare with"));
  CHECK_THAT(text, STEPCAST_HOLDS("not looked at, as the search was stopped"));
}

TEST_CASE("progress is a line") {
  CHECK(report::search_progress({.enumerated = 12345, .open = 678}) == "678 of 12,345 plans open");
  CHECK(report::search_progress({12345, 678, 8.0_s, 7.5_s}) ==
        "678 of 12,345 plans open, best 8.00 s, at least 7.50 s");
}

TEST_CASE("plans of alternatives say in which keys they differ") {
  auto out = outcome();
  auto other = search::Alternative{out.question.scenario, {}};
  other.scenario.training.precision = units::Precision::fp8;
  out.question.others.push_back(other);
  out.answer.plans[0].alternative = 1;
  out.answer.plans[1].plan.offload.optimizer = strategies::Offload::Tier::nvme;
  out.answer.plans[1].plan.offload.gradients = true;
  out.answer.plans[2].plan.shard_group = strategies::ShardGroup::node;
  const auto text = report::search_text(out, why(), {.width = 160});
  CHECK_THAT(text, STEPCAST_HOLDS("shards  offload                   precision"));
  CHECK_THAT(text, STEPCAST_HOLDS("  all                               fp8 "));
  CHECK_THAT(text, STEPCAST_HOLDS("  all     optimizer nvme+gradients  bf16"));
  CHECK_THAT(text, STEPCAST_HOLDS("  node                              bf16"));
  const auto document = nlohmann::json::parse(tests::search_json(out));
  CHECK(document["plans"][0]["precision"] == "fp8");
  CHECK(document["plans"][1]["precision"] == "bf16");
  CHECK(document["scenario"]["training"]["precision"] == "fp8");
}

}  // namespace search_spec
