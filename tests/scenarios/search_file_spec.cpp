// SPDX-License-Identifier: Apache-2.0
// A scenario as a question to the search: keys that are fixed, limited or left open.
#include "scenarios/document.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/search_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace search_file_spec {

using search::Space;
using search::Values;
using strategies::Recompute;
using strategies::ScheduleKind;
using tests::Sets;

namespace {

constexpr auto llama = R"(
model: llama3-70b
cluster: {node: dgx-h100, nodes: 16}
training: {sequence_length: 8192, global_batch: 128}
)";
constexpr auto mixture = R"(
model: deepseek-v3
cluster: {node: dgx-h800, nodes: 16}
training: {sequence_length: 4096, global_batch: 128}
)";

search::Question ask(const std::string& text, const Sets& sets = {}) {
  return scenarios::read_question(text, "f.yaml", sets);
}
Space space(const Sets& sets) { return ask(llama, sets).space; }

std::string complaint(const Sets& sets, const std::string& text = llama) {
  return tests::complaints_of([&] { ask(text, sets); });
}

const std::string bound_text =
    "' is no bound; expected '<= 64', '>= 8', '4 .. 64' or '>= 2, <= 16', or one number, or a list "
    "of them";

}  // namespace

TEST_CASE("without a plan everything is open") {
  const auto question = ask(llama);
  CHECK(question.space == Space{});
  CHECK(question.gap == 0);
  CHECK(question.memory_headroom == search::usual_headroom);
  CHECK_FALSE(question.time_limit);
  CHECK(question.scenario.plan == strategies::Plan{});
  CHECK(question.scenario.name == "llama3-70b on 128 GPUs of dgx-h100");
}

TEST_CASE("degrees are limited by a number, a list or bounds") {
  CHECK(space({"search.tensor=4"}).tensor == Values{.listed = {4}});
  CHECK(space({"search.tensor=[8, 1, 8, 2]"}).tensor == Values{.listed = {1, 2, 8}});
  CHECK(space({"search.pipeline=\"<= 64\""}).pipeline == Values{.most = 64});
  CHECK(space({"search.pipeline=\"<=64\""}).pipeline == Values{.most = 64});
  CHECK(space({"search.data=\">= 8\""}).data == Values{.least = 8});
  CHECK(space({"search.zero=1 .. 2"}).zero == Values{.least = 1, .most = 2});
  CHECK(space({"search.micro_batch=\">= 2, <= 16\""}).micro_batch ==
        Values{.least = 2, .most = 16});
  CHECK(space({"search.context=1e3"}).context == Values{.listed = {1000}});
}

TEST_CASE("schedules, sequence parallelism, recomputation and partition are limited by words") {
  CHECK(space({"search.schedule=zb-h1"}).schedules == std::vector{ScheduleKind::zb_h1});
  CHECK(space({"search.schedule=[interleaved, 1f1b]"}).schedules ==
        std::vector{ScheduleKind::one_f_one_b, ScheduleKind::interleaved});
  CHECK(space({"search.sequence_parallel=true"}).sequence_parallel == true);
  CHECK(space({"search.sequence_parallel=[false]"}).sequence_parallel == false);
  CHECK_FALSE(space({"search.sequence_parallel=[false, true]"}).sequence_parallel);
  CHECK(space({"search.recompute=optimal"}) == Space{});
  CHECK(space({"search.recompute=[optimal]"}) == Space{});
  CHECK(space({"search.recompute=[none, {selective: [mlp]}]"}).recompute_ways ==
        std::vector<Recompute>{{}, {Recompute::Kind::modules, 0, {strategies::Module::mlp}}});
  CHECK(space({"search.recompute=full"}).recompute);  // of every layer
  CHECK(space({"search.partition=optimal"}).partition);
  CHECK_FALSE(space({"search.partition=even"}).partition);
  CHECK_FALSE(space({"search.partition=optimal"}).chunks);
  CHECK(space({"search.partition=chunks"}).chunks);
  CHECK(space({"search.partition=chunks"}).partition);
  CHECK(space({"search.recompute=optimal"}).further_ways.empty());
  CHECK(space({"search.recompute=[optimal, per-op]"}).further_ways ==
        std::vector<Recompute>{{Recompute::Kind::per_op}});
  CHECK(space({"search.recompute=[optimal, per-op]"}).recompute_ways.empty());
  CHECK(space({"search.recompute=[none, per-op]"}).recompute_ways.size() == 2);
}

TEST_CASE("a search ends by gap or time, and may leave memory free") {
  const auto question = ask(llama, {"search.gap=0.01", "search.time_limit=2 minutes",
                                    "search.memory_headroom=0.1", "search.objective=step_time"});
  CHECK(question.gap == 0.01);
  CHECK(question.time_limit == units::Seconds{120});
  CHECK(question.memory_headroom == 0.1);
}

TEST_CASE("keys that the plan gives are fixed") {
  const auto question =
      ask(llama, {"plan={tensor: 8, sequence_parallel: true, schedule: interleaved, zero: 1, "
                  "recompute: full, overlap: {data: true}, bucket: 1e8}",
                  "search.tensor=[4, 8]", "search.zero=\"<= 1\"", "search.schedule=interleaved",
                  "search.recompute=[full, none]"});
  const auto& space = question.space;
  CHECK(space.tensor == Values{.listed = {8}});
  CHECK(space.zero == Values{.listed = {1}});
  CHECK(space.pipeline == Values{});
  CHECK(space.sequence_parallel == true);
  CHECK(space.schedules == std::vector{ScheduleKind::interleaved});
  CHECK_FALSE(space.recompute);
  CHECK(space.recompute_ways.empty());
  CHECK(space.partition);
  CHECK(question.scenario.plan.recompute.kind == Recompute::Kind::full);
  CHECK(question.scenario.plan.overlap.data == true);
  CHECK(question.scenario.plan.bucket == units::Bytes{1e8});
}

TEST_CASE("rows of layers are ways to run a layer beside all others") {
  const Recompute rows{Recompute::Kind::full, 0, {}, {2}};
  const auto listed = space({"search.recompute=[none, {checkpoint_every: 2}]"});
  CHECK(listed.recompute_ways == std::vector<Recompute>{{}, rows});
  const auto all = space({"search.recompute=[optimal, {checkpoint_every: 2}, full]"});
  CHECK(all.recompute_ways.empty());
  CHECK(all.further_ways == std::vector<Recompute>{rows});
}

TEST_CASE("recompute: optimal leaves the choice to the search") {
  CHECK(ask(llama, {"plan.recompute=optimal"}).space == Space{});
  CHECK(complaint({"plan.recompute=[optimal, full]"}) ==
        "plan.recompute.0: optimal is chosen by `stepcast search`; run that, or write none, "
        "selective, full, per-op, {full_layers: N}, {checkpoint_every: K} or {selective: [module, "
        "...]}");
}

TEST_CASE("layers of stages are fixed where the stages are") {
  const auto question = ask(
      llama, {"plan={pipeline: 4, schedule: 1f1b, layers_per_stage: [21, 20, 20, 19], recompute: "
              "[full, full, none, none]}"});
  CHECK_FALSE(question.space.partition);
  CHECK_FALSE(question.space.recompute);
  CHECK(complaint({"plan.layers_per_stage=[40, 40]"}) ==
        "plan.layers_per_stage: has an entry for each virtual stage, but their number is left to "
        "the search; give plan.pipeline too, or leave this out");
  CHECK(complaint({"plan={pipeline: 2, recompute: [full, none]}"}) ==
        "plan.recompute: has an entry for each virtual stage, but their number is left to the "
        "search; give plan.schedule too, or leave this out");
  CHECK(complaint({"plan={pipeline: 2, schedule: interleaved, layers_per_stage: [40, 40]}"}) ==
        "plan.layers_per_stage: has an entry for each virtual stage, but their number is left to "
        "the search; give plan.virtual_stages too, or leave this out");
  CHECK(complaint({"plan={pipeline: 2, schedule: 1f1b, layers_per_stage: [40, 41]}"}) ==
        "plan.layers_per_stage: the entries sum to 81, but the model has 80 layers");
  CHECK(complaint({"plan={pipeline: 2, schedule: zb-v, recompute: [full, none]}"}) ==
        "plan.recompute: 2 entries; expected one per virtual stage: pipeline 2 x virtual_stages 2 "
        "= 4");
}

TEST_CASE("stages may be two more than layers, where the ends may hold the embedding or the head") {
  // With 80 layers on 82 stages two stages hold none.
  CHECK(space({"plan={pipeline: 41, virtual_stages: 2, schedule: interleaved}", "cluster.nodes=41"})
            .virtual_stages.listed == std::vector<std::int64_t>{2});
  CHECK(complaint({"plan={pipeline: 83, schedule: 1f1b}", "cluster.nodes=83"}) ==
        "plan.pipeline: 83 ranks x 1 virtual stages = 83 stages for 80 layers: each needs one; "
        "empty stages are written in layers_per_stage");
  CHECK(complaint({"plan={pipeline: 41, virtual_stages: 2, schedule: interleaved}",
                   "cluster.nodes=41", "search.partition=even"}) ==
        "plan.pipeline: 41 ranks x 2 virtual stages = 82 stages for 80 layers: each needs one; "
        "empty stages are written in layers_per_stage");
}

TEST_CASE("a search opens what FSDP gathers at once, as it goes with one stage of ZeRO alone") {
  auto run = scenarios::parse_yaml("plan: {zero: 3, wrap: model, bucket: 100 MB}", "f.yaml");
  scenarios::open_plan(run);
  CHECK(run.find("plan")->find("wrap") == nullptr);
  CHECK(run.find("plan")->find("bucket") != nullptr);
}

TEST_CASE("states off the device, whole wraps and compression limit ZeRO as they must") {
  CHECK(space({"plan.offload={optimizer: cpu, gradients: cpu}"}).zero == Values{.least = 2});
  CHECK(space({"plan.offload={optimizer: cpu, parameters: cpu}"}).zero == Values{.least = 3});
  CHECK(space({"plan.wrap=model"}).zero == Values{.least = 3});
  CHECK(space({"plan.gradient_compression=onebit"}).zero == Values{.most = 1});
  CHECK(complaint({"plan={zero: 1, wrap: model}"}) ==
        "plan.wrap: parameters are gathered with zero: 3 only, not 1; write zero: 3 or leave wrap "
        "out");
  CHECK(complaint({"plan.offload={optimizer: cpu}", "training.optimizer=muon"}) ==
        "plan.offload: the host updates with adamw, adam or sgd, not muon; write one of them as "
        "training.optimizer or leave optimizer out");
}

TEST_CASE("a plan that the search rules out is an error that names both places") {
  const auto text = std::string(llama) + "plan: {tensor: 8}\nsearch: {tensor: [1, 2]}\n";
  try {
    ask(text);
    FAIL("it was accepted");
  } catch (const scenarios::Error& wrong) {
    CHECK(std::string(wrong.what()) ==
          "f.yaml:6:18: search.tensor: does not allow 8, which plan.tensor (line 5) fixes; write "
          "it here too, or leave one of them out");
  }
  const auto both = [](const std::string& key, const std::string& plan, const std::string& search) {
    return complaint({"plan." + key + "=" + plan, "search." + key + "=" + search});
  };
  const std::string rest = " (--set 1) fixes; write it here too, or leave one of them out";
  CHECK(both("zero", "3", "\"<= 1\"") == "search.zero: does not allow 3, which plan.zero" + rest);
  CHECK(both("sequence_parallel", "true", "false") ==
        "search.sequence_parallel: does not allow true, which plan.sequence_parallel" + rest);
  CHECK(both("schedule", "zb-h1", "[1f1b, gpipe]") ==
        "search.schedule: does not allow zb-h1, which plan.schedule" + rest);
  CHECK(both("recompute", "full", "[none, selective]") ==
        "search.recompute: does not allow what is recomputed, which plan.recompute" + rest);
  CHECK(both("recompute", "full", "optimal") == "no complaint");
  CHECK(complaint({"plan.layers=[{from: 0, to: 3, recompute: full}]", "search.recompute=full"}) ==
        "search.recompute: nothing is left to choose: plan.layers (--set 1) fixes what single "
        "layers recompute; leave one of them out");
  CHECK(complaint({"plan={pipeline: 2, schedule: 1f1b, layers_per_stage: [40, 40]}",
                   "search.partition=even"}) ==
        "search.partition: nothing is left to choose: plan.layers_per_stage (--set 1) fixes the "
        "layers of each stage; leave one of them out");
}

TEST_CASE("values of a search that mean nothing are refused") {
  CHECK(complaint({"search.tensor=few"}) == "search.tensor: 'few" + bound_text);
  CHECK(complaint({"search.tensor=\"< 8\""}) == "search.tensor: '< 8" + bound_text);
  CHECK(complaint({"search.tensor=\">= 2,\""}) == "search.tensor: '>= 2," + bound_text);
  CHECK(complaint({"search.tensor=8 .. 2"}) ==
        "search.tensor: '8 .. 2' leaves no value; expected some of 1 to 1,000,000");
  CHECK(complaint({"search.zero=\">= 4\""}) ==
        "search.zero: '>= 4' leaves no value; expected some of 0 to 3");
  CHECK(complaint({"search.tensor=[1, 2.5]"}) == "search.tensor.1: '2.5' is not a whole number");
  CHECK(complaint({"search.tensor=[]"}) ==
        "search.tensor: a list of 0 values; expected 1 to 10,000");
  CHECK(complaint({"search.tensor={from: 1}"}) ==
        "search.tensor: a map where a whole number or a list or text belongs");
  CHECK(complaint({"search.zero=4"}) ==
        "search.zero: 4 is out of range; expected 0 to 3: 0 nothing, 1 optimizer states, 2 and "
        "gradients, 3 and parameters");
  CHECK(complaint({"search.schedule=[1f1b, 1f1b]"}) ==
        "search.schedule.1: '1f1b' stands there twice; keep one of them");
  CHECK(complaint({"search.schedule=zb-h3"}) ==
        "search.schedule: unknown value 'zb-h3'; expected one of gpipe, 1f1b, interleaved, zb-h1, "
        "zb-h2, zb-v, v-half, v-min, dualpipe, dualpipe-v; did you mean 'zb-h1'?");
  CHECK(complaint({"search.recompute=[none, {full_layers: 2}]"}) ==
        "search.recompute.1: full_layers counts layers, and a search chooses layer by layer; write "
        "full");
  CHECK(complaint({"search.recompute={selective: [moe_act]}"}) ==
        "search.recompute: moe_act: the model is dense; leave it out");
  CHECK(complaint({"search.gap=1.5"}) ==
        "search.gap: 1.5 is out of range; expected 0 to 1: a share of the step time");
  CHECK(complaint({"search.time_limit=0"}) ==
        "search.time_limit: 0 is out of range; expected 1.00 ms to 347 days: a millisecond to a "
        "year");
  CHECK(complaint({"search.tensr=8"}).starts_with("search.tensr: unknown key; expected one of"));
}

TEST_CASE("alternatives are scenarios of their own: every combination, the first values first") {
  const auto question = ask(llama, {"search.precision=[bf16, fp8]",
                                    "search.offload=[none, {optimizer: cpu, gradients: cpu}]"});
  REQUIRE(question.others.size() == 3);
  using units::Precision;
  const auto is = [&](std::size_t i, Precision precision, bool offloaded) {
    const auto& scenario = question.scenario_of(i);
    return scenario.training.precision == precision &&
           scenario.plan.offload.gradients == offloaded &&
           (i == 0 ? question.space : question.others[i - 1].space).zero ==
               (offloaded ? Values{.least = 2} : Values{});
  };
  CHECK(is(0, Precision::bf16, false));
  CHECK(is(1, Precision::bf16, true));
  CHECK(is(2, Precision::fp8, false));
  CHECK(is(3, Precision::fp8, true));
  CHECK(ask(llama, {"search.precision=fp8"}).scenario.training.precision == Precision::fp8);
  CHECK(ask(llama, {"search.precision=fp8"}).others.empty());
  const auto compressed = ask(llama, {"search.gradient_compression=[none, onebit]"});
  REQUIRE(compressed.others.size() == 1);
  CHECK(compressed.others[0].space.zero == Values{.most = 1});
}

TEST_CASE("a recipe of fp8 is of the alternatives in fp8 alone") {
  const auto question = ask(llama, {"training.precision=fp8", "training.fp8_recipe=blockwise",
                                    "search.precision=[bf16, fp8]"});
  REQUIRE(question.others.size() == 1);
  CHECK(question.scenario.training.fp8_recipe == strategies::Fp8Recipe::delayed);
  CHECK(question.others[0].scenario.training.fp8_recipe == strategies::Fp8Recipe::blockwise);
}

TEST_CASE("groups of shards within nodes differ from others where something is sharded") {
  const auto question = ask(llama, {"search.shard_group=[all, node]"});
  REQUIRE(question.others.size() == 1);
  CHECK(question.space.zero == Values{});
  CHECK(question.others[0].scenario.plan.shard_group == strategies::ShardGroup::node);
  CHECK(question.others[0].space.zero == Values{.least = 1});
  CHECK(ask(llama, {"search.shard_group=node"}).space.zero == Values{});
  const auto numbered = ask(llama, {"search.shard_group=[all, 2]"});
  CHECK(numbered.others[0].scenario.plan.shard_group == strategies::ShardGroup::of(2));
  CHECK(numbered.others[0].space.zero == Values{.least = 1});
}

TEST_CASE("an alternative is judged as if it stood where it is meant for") {
  CHECK(complaint({"search.offload=[none, {gradients: cpu}]"}) ==
        "plan.offload: gradients on the host are read by an optimizer that is there; write "
        "optimizer: cpu beside them or leave gradients out");
  CHECK(complaint({"search.precision=[bf16, nvfp4]"})
            .starts_with("training.precision: h100-80gb-sxm has no rate for nvfp4; "));
  CHECK(complaint({"search.precision=[bf15]"}).starts_with("search.precision"));
  CHECK(complaint({"search.offload=[none, {optimizer: disk}]"}).starts_with("search.offload"));
  CHECK(complaint({"search.offload=none", "plan.offload={optimizer: cpu}"}) ==
        "search.offload: plan.offload says what every plan has; leave one of them out");
  CHECK(complaint({"search.precision=[bf16, fp16]", "training.precision=fp8"}) ==
        "search.precision: training.precision says what every plan has; leave one of them out, or "
        "write its value here too");
}

TEST_CASE("degrees that single layers may have are searched where they are named") {
  CHECK(ask(llama, {}).space.layer_tensor.most == 0);
  CHECK(ask(llama, {"search.layers={tensor: [4, 2]}"}).space.layer_tensor.listed ==
        std::vector<std::int64_t>{2, 4});
  CHECK(ask(llama, {"search.layers={tensor: '>= 2'}"}).space.layer_tensor.least == 2);
  CHECK(complaint({"search.layers=[{from: 0, to: 3, tensor: [1, 2]}]"}) ==
        "search.layers: a list where a map belongs; its key is tensor");
  CHECK(complaint(
            {"plan.tensor=8", "plan.micro_batch=2", "plan.layers=[{from: 0, to: 3, tensor: 4}]"}) ==
        "plan.layers: a search chooses which layers have another tensor degree; leave that out, "
        "and write search: {layers: {tensor: [4]}}");
}

TEST_CASE("a search may be for a cluster, a batch or a sequence") {
  using enum search::Objective::Kind;
  CHECK(ask(llama).objective == search::Objective{});
  CHECK(ask(llama, {"search.objective=largest_batch"}).objective.kind == largest_batch);
  CHECK(ask(llama, {"search.objective=largest_sequence"}).objective.kind == largest_sequence);
  const auto asked = ask(llama, {"search={objective: smallest_cluster, rate: 500e3 tokens/s, "
                                 "nodes: \"<= 64\"}"})
                         .objective;
  CHECK(asked == search::Objective{smallest_cluster, 500e3, {.most = 64}});
  const auto cheap = ask(llama, {"search={objective: cost, rate: 2e6, nodes: [4, 2]}"}).objective;
  CHECK(cheap == search::Objective{cost, 2e6, {.listed = {2, 4}}});
}

TEST_CASE("an objective that does not fit the scenario is refused") {
  CHECK(complaint({"search.objective=fastest"}) ==
        "search.objective: unknown value 'fastest'; expected one of step_time, smallest_cluster, "
        "cost, largest_batch, largest_sequence");
  CHECK(complaint({"search={objective: cost, rate: fast}"}) ==
        "search.rate: 'fast' is no rate; write e.g. '500e3 tokens/s'");
  CHECK(complaint({"search={objective: cost, rate: 0 tokens/s}"}) ==
        "search.rate: 0 is out of range; expected 0.001 to 1e+15: tokens per second");
  const std::string limits =
      ": limits clusters, and the objective compares none; write objective: smallest_cluster or "
      "cost, or leave this out";
  CHECK(complaint({"search.rate=1e6"}) == "search.rate" + limits);
  CHECK(complaint({"search={objective: largest_batch, nodes: 4}"}) == "search.nodes" + limits);
  CHECK(complaint({"search.objective=cost", "cluster.stragglers=[{gpus: [3], slowdown: 1.5}]"}) ==
        "search.objective: cost tries other numbers of nodes, but cluster names single GPUs or "
        "links; leave stragglers and degraded_links out");
}

TEST_CASE("a single value that can never work is refused, a combination is not") {
  const auto plan = [](const std::string& map) { return complaint({"plan=" + map}); };
  CHECK(plan("{tensor: 3}") ==
        "plan.tensor: tensor 3 does not divide 128 GPUs: the degrees of a plan multiply to them\n"
        "plan.tensor: 3 does not divide 64 heads: each rank computes whole heads; write a "
        "divisor, such as 2 or 4\n"
        "plan.tensor: 3 does not divide ffn 28672: each rank computes an equal share of the MLP");
  CHECK(plan("{tensor: 8, data: 32}") ==
        "plan.data: tensor 8 x data 32 = 256 does not divide 128 GPUs: the degrees of a plan "
        "multiply to them");
  CHECK(plan("{tensor: 8, context: 1, pipeline: 4, data: 2}") ==
        "plan.data: tensor 8 x pipeline 4 x data 2 = 64, but the cluster has 128 GPUs; write data: "
        "4 or leave it out");
  CHECK_THAT(plan("{tensor: 4, context: 1000000, data: 1000000}"),
             STEPCAST_HOLDS("plan.context: tensor 4 x context 1000000 = 4000000 does not divide "
                            "128 GPUs"));
  CHECK(plan("{micro_batch: 3}") ==
        "plan.micro_batch: micro_batch 3 does not divide global_batch 128: every replica runs "
        "whole microbatches");
  CHECK(plan("{micro_batch: 64, data: 4}") ==
        "plan.data: micro_batch 64 x data 4 = 256 does not divide global_batch 128: every replica "
        "runs "
        "whole microbatches");
  CHECK(plan("{pipeline: 128}") ==
        "plan.pipeline: 128 ranks for 80 layers: each needs one, but for the first and the last");
  CHECK(plan("{pipeline: 128, schedule: zb-h1}") ==
        "plan.pipeline: 128 ranks x 1 virtual stages = 128 stages for 80 layers: each needs one; "
        "empty stages are written in layers_per_stage");
  CHECK(plan("{expert: 2}") ==
        "plan.expert: 2 for a dense model: there are no experts to spread; write 1");
  CHECK(plan("{schedule: 1f1b, virtual_stages: 2}") ==
        "plan.virtual_stages: 2 needs schedule: interleaved, the only one that runs any number of "
        "chunks per rank; write 1 or change the schedule");
  CHECK(plan("{virtual_stages: 3}") == "no complaint");
  CHECK(plan("{zero: 3, schedule: zb-v}") == "no complaint");
  const auto context = complaint({"plan.context=128", "training.sequence_length=8000"});
  CHECK(context ==
        "plan.context: 128 cuts a sequence into 256 pieces, two for each rank so that causal work "
        "is even, but sequence_length is 8000; write another degree, or 7936 or 8192 tokens");
}

TEST_CASE("the experts of a question are judged by themselves") {
  const auto plan = [](const std::string& map) { return complaint({"plan=" + map}, mixture); };
  CHECK(plan("{tensor: 8}") == "no complaint");  // whatever divides the experts
  CHECK(plan("{expert: 48}") ==
        "plan.expert: 48 does not divide 256 experts: each rank holds whole experts; write a "
        "divisor, such as 32 or 64");
  CHECK(plan("{expert_tensor: 3}") ==
        "plan.expert_tensor: 3 does not divide expert_ffn 2048: each rank computes an equal share "
        "of an expert; write a divisor, such as 2 or 4");
  CHECK(plan("{expert: 64}") == "no complaint");
}

TEST_CASE("simulate checks the section that it does not use") {
  CHECK(tests::complaint({"search={tensor: [1, 2], time_limit: 60 s}"}) == "no complaint");
  CHECK(tests::complaint({"search.tensor=few"}) == "search.tensor: 'few" + bound_text);
}

}  // namespace search_file_spec
