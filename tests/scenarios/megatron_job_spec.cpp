// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "scenarios/jobs/layer_pattern.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace megatron_job_spec {

using scenarios::Effect;
using tests::at;

namespace {

// A list of the sizes that every model needs, and of more arguments.
std::string list(const std::string& more) {
  return "# arguments\n--num-layers 12\n--hidden-size 512\n--num-attention-heads 8\n"
         "--seq-length 1024\n--global-batch-size 32\n--micro-batch-size 4\n--bf16\n" +
         more;
}

std::string value(const std::string& more, const std::string& path) {
  return at(tests::job(list(more)).document, path);
}

std::string refused(const std::string& more) {
  return tests::refusal([&] { tests::job(list(more)); });
}

// The value at `path` of the same list in fp16.
std::string half(const std::string& more, const std::string& path) {
  auto text = list(more);
  text.replace(text.find("--bf16"), 6, "--fp16");
  return at(tests::job(text).document, path);
}

// The effect of the argument called `name`: "read", "without effect: why", …
std::string judged(const std::string& more, const std::string& name) {
  const auto made = tests::job(list(more));
  for (const auto& argument : made.account.arguments)
    if (argument.text.starts_with(name))
      return std::string(word_of(argument.effect)) + (argument.why.empty() ? "" : ": ") +
             argument.why;
  return "not there";
}

}  // namespace

// Megatron Core's DistributedDataParallel has buffers of the parameters' type
// (grad_reduce_in_fp32), and so do golden values of memory in fp16.
TEST_CASE("gradients of fp16 take two bytes unless they are summed in fp32") {
  CHECK(half("", "software.gradient_precision") == "fp16");
  CHECK(half("", "software.gradient_bytes") == "2");
  const std::string wide = "--accumulate-allreduce-grads-in-fp32\n";
  CHECK(half(wide, "software.gradient_bytes").empty());
  CHECK(half(wide, "plan.gradient_precision") == "fp32");
  CHECK(value("", "software.gradient_bytes").empty());
}

TEST_CASE(
    "a vocabulary of a tokenizer that a fork names is asked for, as of any other than GPT-2's") {
  const auto vocabulary = [](const std::string& more) {
    const auto job = tests::job(list(more));
    return std::ranges::count(job.wanted, "model.vocab", &scenarios::WantedKey::path) == 1
               ? "asked for"
               : at(job.document, "model.vocab");
  };
  CHECK(vocabulary("") == "50257");
  CHECK(vocabulary("--tokenizer-type HuggingFaceTokenizer\n") == "asked for");
  CHECK(vocabulary("--patch-tokenizer-type Qwen2Tokenizer\n") == "asked for");
  CHECK(vocabulary("--patch-tokenizer-type Qwen2Tokenizer\n--vocab-size 152064\n") == "152064");
}

TEST_CASE("bf16 and fp16 exclude each other") {
  CHECK(refused("--fp16\n") ==
        "job:9:1: --fp16: --bf16 is given, too, and Megatron-LM takes one of them");
}

TEST_CASE("every Megatron-LM job of the tests is a scenario or is refused with a place") {
  std::size_t made = 0;
  for (const auto& file : tests::job_files(tests::megatron_folders())) {
    INFO(file);
    try {
      const auto job = scenarios::read_job(scenarios::read_file(file), file.filename(), {});
      REQUIRE(job);
      ++made;
      for (const auto& argument : job->account.arguments) {
        INFO(argument.text);
        CHECK((argument.effect != Effect::unknown || argument.text == "--help"));
      }
    } catch (const scenarios::Error& wrong) {
      for (const auto& one : wrong.complaints)
        CHECK(one.place.starts_with(file.filename().string()));
    }
  }
  CHECK(made == 77);
}

TEST_CASE("sizes that a Megatron-LM job leaves out follow from others") {
  CHECK(value("", "model.ffn") == "2048");
  CHECK(value("--swiglu", "model.ffn") == "1344");  // 512 x 8/3 = 1365.3, down to a multiple of 64
  CHECK(value("", "model.kv_heads") == "8");
  CHECK(value("--group-query-attention\n--num-query-groups 2", "model.kv_heads") == "2");
  CHECK(value("--num-query-groups 2", "model.kv_heads") == "8");  // no grouping
  CHECK(value("", "model.vocab") == "50257");
  CHECK(value("--tokenizer-type NullTokenizer\n--vocab-size 31999", "model.vocab") == "32000");
  CHECK(value("--padded-vocab-size 32256", "software.vocab_multiple") == "1");
  CHECK(value("--num-experts 8", "model.moe.top_k") == "2");
  CHECK(value("--num-experts 8", "software.moe_dispatcher") == "all-gather");
  CHECK(value("--num-experts 8\n--tensor-model-parallel-size 2", "plan.expert_tensor") == "2");
  CHECK(value("--multi-latent-attention", "model.attention.kv_lora_rank") == "32");
}

TEST_CASE("a misspelt argument of a job is named where the argument that it means is missing") {
  const auto job = tests::job(
      "--num-layers 12\n--hidden-size 512\n--num-atention-heads 8\n--seq-length 1024\n"
      "--global-batch-size 32\n--micro-batch-size 4\n--bf16\n");
  REQUIRE_FALSE(job.wanted.empty());
  CHECK(job.wanted.front().text ==
        "--num-atention-heads is unknown (did you mean --num-attention-heads?), and "
        "--num-attention-heads is not given; add --set model.heads=N");
  CHECK(job.wanted.front().at.line == 3);
  // The missing argument is another than the one that --seq-lenth means.
  const auto other =
      tests::job("--num-layers 12\n--hidden-size 512\n--seq-lenth 1024\n--global-batch-size 32\n");
  CHECK(other.wanted.front().text == "--num-attention-heads is not given; add --set model.heads=N");
}

TEST_CASE("a Megatron-LM job may be its arguments alone, one or more a line") {
  const auto job = tests::job(
      "--num-layers 12 --hidden-size 512 \\\n\n# heads\n  --num-attention-heads 8\n"
      "--seq-length 1024\n--global-batch-size 32\n--micro-batch-size 4\n--bf16\n");
  CHECK(at(job.document, "model.layers") == "12");
  CHECK(at(job.document, "model.hidden") == "512");
  CHECK(at(job.document, "model.heads") == "8");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(job.account.arguments.size() == 7);
  // argparse reads such a file with a word in each line, and comments are no sections in it.
  const auto words = tests::job(
      "--num-layers\n12\n--hidden-size\n512\n# variables\n--num-attention-heads\n8\n--seq-length\n"
      "1024\n--bf16\n");
  CHECK(at(words.document, "model.layers") == "12");
  CHECK(at(words.document, "model.heads") == "8");
  CHECK(at(words.document, "training.sequence_length") == "1024");
}

TEST_CASE("a command in one line may choose a number") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 512 "
      "--num-attention-heads 8 --seq-length 1024 --bf16 --micro-batch-size 1 "
      "--global-batch-size $((1 ? 64 : 8))\n");
  CHECK(at(job.document, "training.global_batch") == "64");
}

TEST_CASE("experts are in the layers that a Megatron-LM job names") {
  const std::string moe = "--num-experts 8\n--moe-layer-freq ";
  CHECK(value(moe + "'([0]*3+[1]*9)'", "model.moe.first_dense_layers") == "3");
  CHECK(value(moe + "'([0]*3+[1]*9)'", "model.moe.every") == "1");
  CHECK(value(moe + "2", "model.moe.every") == "2");
  CHECK(value(moe + "\"'([1]+[0])*6'\"", "model.moe.every") == "2");
  CHECK(refused(moe + "'([1]*3+[0]*9)'") ==
        "job:10:1: --moe-layer-freq ([1]*3+[0]*9): layers with experts follow no rule that can be "
        "forecast: dense ones first, then the first of every N");
}

// In core/transformer/moe/moe_utils.py groups mean nothing where a token may choose all of them.
TEST_CASE("groups of experts that a Megatron-LM job limits tokens to are its routing") {
  const std::string moe = "--num-experts 16\n";
  const std::string limited = moe + "--moe-router-num-groups 8\n--moe-router-group-topk 4";
  CHECK(value(limited, "training.routing.locality") == "group_limited");
  CHECK(value(limited, "training.routing.groups") == "8");
  CHECK(value(limited, "training.routing.top_groups") == "4");
  CHECK(value(moe + "--moe-router-num-groups 8", "training.routing.locality").empty());
  CHECK(value(moe + "--moe-router-num-groups 1\n--moe-router-group-topk 1",
              "training.routing.locality")
            .empty());
}

// In core/transformer/utils.py, is_layer_window_attention, the last of N layers looks all the way.
TEST_CASE("windows are in the layers that a Megatron-LM job names") {
  const std::string window = "--window-size 127,0\n";
  const std::string frequency = window + "--window-attn-skip-freq ";
  CHECK(value(window, "model.attention_window.size") == "127");
  CHECK(value(window, "model.attention_window.every") == "1");
  CHECK(value(frequency + "6", "model.attention_window.full_every") == "6");
  CHECK(value(frequency + "'([1]*5+[0]*1)*2'", "model.attention_window.full_every") == "6");
  CHECK(value(frequency + "'([1]+[0])*6'", "model.attention_window.every") == "2");
  CHECK_THAT(refused(frequency + "'([0]+[1])*6'"), STEPCAST_HOLDS("or a list such as"));
}

TEST_CASE("stages of a Megatron-LM job have the layers that it names") {
  const std::string four = "--pipeline-model-parallel-size 4\n";
  CHECK(value(four, "plan.schedule") == "1f1b");
  CHECK(value(four + "--num-layers-per-virtual-pipeline-stage 1", "plan.virtual_stages") == "3");
  CHECK(value(four + "--num-virtual-stages-per-pipeline-rank 3", "plan.schedule") == "interleaved");
  CHECK(value(four + "--decoder-first-pipeline-num-layers 2\n--decoder-last-pipeline-num-layers 2",
              "plan.layers_per_stage") == "2 4 4 2");
  CHECK(value(four + "--pipeline-model-parallel-layout 'Et*2|(t*4|)*2,ttL'",
              "plan.layers_per_stage") == "2 4 4 2");
  CHECK(
      value("--num-layers 6\n" + four +
                "--account-for-embedding-in-pipeline-split\n--account-for-loss-in-pipeline-split\n"
                "--num-layers-per-virtual-pipeline-stage 1",
            "plan.layers_per_stage") == "0 1 1 1 1 1 1 0");
}

TEST_CASE("shared experts are given by their width, or by number and as wide as the others") {
  const std::string experts = "--num-experts 8\n--moe-ffn-hidden-size 64\n";
  const auto shared = [&](const std::string& more, const std::string& key) {
    return value(experts + more, "model.moe." + key);
  };
  CHECK(shared("--moe-shared-expert-intermediate-size 128", "shared_ffn") == "128");
  CHECK(shared("--shared-moe-ffn-hidden-size 128", "shared_ffn") == "128");
  CHECK(shared("--shared-moe-ffn-hidden-size 128", "shared_experts") == "1");
  CHECK(shared("--num-shared-experts 2", "shared_experts") == "2");
  CHECK(shared("--num-shared-experts 2", "shared_ffn").empty());
}

TEST_CASE("recomputation of a Megatron-LM job is a scenario's") {
  CHECK(value("--recompute-activations", "plan.recompute.selective") == "core_attn");
  CHECK(value("--moe-grouped-gemm\n--recompute-granularity selective\n"
              "--recompute-modules mlp moe_act",
              "plan.recompute.selective") == "mlp moe_act");
  CHECK(value("--recompute-granularity full\n--recompute-method uniform\n--recompute-num-layers 1",
              "plan.recompute") == "full");
  CHECK(value("--recompute-granularity full\n--recompute-method uniform\n--recompute-num-layers 2",
              "plan.recompute.checkpoint_every") == "2");
  CHECK(value("--recompute-granularity full\n--recompute-method block\n--recompute-num-layers 2",
              "plan.recompute.full_layers") == "2");
}

// Megatron-LM 2.4 to 2.6, megatron/arguments.py, recomputes one layer at a time unless a job says
// otherwise.
TEST_CASE("older arguments of recomputation are read like their successors") {
  const std::string method = "--activations-checkpoint-method ";
  const std::string layers = "\n--activations-checkpoint-num-layers ";
  CHECK(value(method + "uniform", "plan.recompute") == "full");
  CHECK(value(method + "uniform" + layers + "2", "plan.recompute.checkpoint_every") == "2");
  CHECK(value(method + "block" + layers + "3", "plan.recompute.full_layers") == "3");
  CHECK(value("--checkpoint-activations", "plan.recompute") == "full");
  CHECK(value("--checkpoint-activations\n--checkpoint-num-layers 4",
              "plan.recompute.checkpoint_every") == "4");
  CHECK(judged(method +
                   "uniform\n--tensor-model-parallel-size 2\n--distribute-checkpointed-activations",
               "--distribute-checkpointed-activations") ==
        "not modelled: kept inputs are divided over tensor ranks; the forecast keeps them whole");
  CHECK(refused(method + "every") ==
        "job:9:1: --activations-checkpoint-method every: expected uniform or block");
}

TEST_CASE("sharding of a Megatron-LM job is a ZeRO stage") {
  CHECK(value("", "plan.zero") == "0");
  CHECK(value("--use-distributed-optimizer", "plan.zero") == "1");
  CHECK(value("--use-megatron-fsdp", "plan.zero") == "3");
  CHECK(value("--use-megatron-fsdp\n--data-parallel-sharding-strategy optim_grads", "plan.zero") ==
        "2");
  CHECK(value("--deepspeed\n--zero-stage 2", "plan.zero") == "2");
}

TEST_CASE(
    "the last of a flag that is given twice holds, and the other is said to be without effect") {
  CHECK(value("--hidden-size 64", "model.hidden") == "64");
  CHECK(judged("--hidden-size 64", "--hidden-size 512") ==
        "without effect: given again further down, where it holds");
}

TEST_CASE("every argument of a Megatron-LM job is accounted for") {
  CHECK(judged("--swiglu", "--swiglu") == "read");
  CHECK(judged("--log-interval 1", "--log-interval") ==
        "without effect: what is logged and traced");
  CHECK(judged("--sequence-parallel", "--sequence-parallel") ==
        "without effect: nothing here depends on it");  // the tensor degree is 1
  CHECK(judged("--deterministic-mode", "--deterministic-mode") ==
        "not modelled: deterministic kernels are slower, above all attention backward");
  CHECK(judged("--swiglus", "--swiglus") == "unknown: did you mean --swiglu?");
}

TEST_CASE("variables that a Megatron-LM job sets for its processes are accounted for") {
  const auto made = tests::job(
      "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\n  NCCL_ALGO: Ring\n  ARTIFACTS: x\n"
      "MODEL_ARGS:\n  --num-layers: 2\n");
  const auto& all = made.account.arguments;
  REQUIRE(all.size() == 4);
  CHECK(all[1].text == "ENV_VARS.CUDA_DEVICE_MAX_CONNECTIONS 1");
  CHECK(all[1].effect == Effect::none);
  CHECK(all[2].effect == Effect::not_modelled);
  CHECK(all[3].effect == Effect::none);
}

TEST_CASE("mistakes in a Megatron-LM job are told with their place") {
  CHECK(refused("--tensor-model-parallel-size two") ==
        "job:9:1: --tensor-model-parallel-size two: 'two' is not a whole number from 0 to "
        "1099511627776");
  CHECK(refused("--micro-batch-size") == "job:9:1: --micro-batch-size: a value is missing");
  CHECK(refused("--perform-rl-step") ==
        "job:9:1: --perform-rl-step: a step of reinforcement learning generates text before it "
        "trains");
  CHECK(refused("--pipeline-model-parallel-size 4\n--num-layers-per-virtual-pipeline-stage 2") ==
        "job:10:1: --num-layers-per-virtual-pipeline-stage 2: 12 layers do not fall into stages of "
        "2 on 4 pipeline ranks");
  CHECK(refused("--fp8-format hybrid\n--fp8-recipe custom") ==
        "job:10:1: --fp8-recipe custom: expected delayed, tensorwise, blockwise or mxfp8");
}

TEST_CASE("a value stands where its argument does, and says which it came from") {
  const auto made = tests::job(list("--untie-embeddings-and-output-weights"));
  const auto* layers = made.document.find("model")->find("layers");
  CHECK(layers->line == 2);
  const auto text = scenarios::scenario_text(made);
  CHECK(text.find("layers: 12                                # --num-layers 12") != text.npos);
  CHECK(text.find("ffn: 2048                                 # without --ffn-hidden-size: 4 x "
                  "hidden") != text.npos);
  CHECK(text.find("# cluster.node: a job does not say which machine") != text.npos);
}

TEST_CASE("GPUs of a job are those that its launcher starts, or WORLD_SIZE") {
  const auto launched = "# launcher\n--nproc_per_node 8\n--nnodes=4\n" + list("");
  CHECK(at(tests::job(launched).document, "cluster.gpus") == "32");
  CHECK(at(tests::job(launched, {"WORLD_SIZE=64"}).document, "cluster.gpus") == "64");
  // 64 GPUs for tensor 1 are 64 replicas of one sequence each, in two copies of 32 shards.
  const auto shared = tests::job(
      "torchrun pretrain_gpt.py --micro-batch-size 1 --use-distributed-optimizer "
      "--num-distributed-optimizer-instances 2\n",
      {"WORLD_SIZE=64"});
  CHECK(at(shared.document, "training.global_batch") == "64");
  CHECK(at(shared.document, "plan.shard_group") == "32");
  CHECK(at(tests::job(list("")).document, "cluster.gpus").empty());
  // torchrun starts the processes of one node unless it is told of more.
  CHECK(at(tests::job("# launcher\n--nproc-per-node 8\n" + list("")).document, "cluster.gpus") ==
        "8");
  CHECK(at(tests::job("# launcher\n--nproc-per-node 8\n--nnodes $N\n" + list("")).document,
           "cluster.gpus")
            .empty());
}

TEST_CASE("layers and stages are read from the texts that Megatron-LM takes") {
  using scenarios::layer_list;
  using scenarios::stage_layout;
  CHECK(layer_list("([0]*1+[1]*2)") == std::vector{0, 1, 1});
  CHECK(layer_list("[0,1]*2") == std::vector{0, 1, 0, 1});
  CHECK(layer_list("(([1]))") == std::vector{1});
  CHECK_FALSE(layer_list("[2]"));
  CHECK_FALSE(layer_list("[1]*99999"));
  CHECK_FALSE(layer_list("([1]"));
  CHECK(stage_layout("Et|(tt|)*2mL")->layers == std::vector<std::int64_t>{1, 2, 2, 0});
  CHECK(stage_layout("Et|tmmL")->predictions == 2);
  CHECK_FALSE(stage_layout("Et|tmmL")->apart);
  CHECK_FALSE(stage_layout("Et|tL")->apart);
  CHECK(stage_layout("Et|tm|L")->apart);
  CHECK(stage_layout("Et|tm|mL")->apart);
  CHECK(stage_layout("Et|L|m")->apart);
  CHECK(stage_layout("Et\\|\\(tt\\|\\)*2L")->layers == std::vector<std::int64_t>{1, 2, 2, 0});
  CHECK_FALSE(stage_layout("Ex|L"));
  CHECK_FALSE(stage_layout("'Et|tL'"));  // a shell takes no quotes out of a variable's text
}

TEST_CASE("a module that predicts on another stage than the loss is not modelled") {
  const auto effect = [](const std::string& layout) {
    const auto argument = "--pipeline-model-parallel-layout " + layout;
    return tests::effect_of(
        tests::job(
            std::string(
                "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 3 --hidden-size 1024 "
                "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 "
                "--micro-batch-size 1 --global-batch-size 8 --bf16 --mtp-num-layers 1 "
                "--pipeline-model-parallel-size 2 "
                "--pipeline-model-parallel-layout '") +
            layout + "'\n"),
        argument);
  };
  CHECK(effect("Et|t|t|mL") == scenarios::Effect::read);
  CHECK(effect("Et|t|tm|L") == scenarios::Effect::not_modelled);
}

// --- Arguments of all files, each changed alone.

namespace {

struct Changeable {
  std::string file, text, argument;
  bool read = false;
};

// The arguments of files that have one argument a line, so that a line can be changed.
std::vector<Changeable> changeable_arguments() {
  std::vector<Changeable> all;
  for (const auto& file : tests::job_files({"megatron_functional_tests"})) {
    const auto text = scenarios::read_file(file);
    try {
      const auto made = scenarios::read_job(text, "job", {});
      for (const auto& one : made->account.arguments)
        if (one.effect == Effect::read || one.effect == Effect::none)
          all.push_back({file.filename(), text, one.text, one.effect == Effect::read});
    } catch (const scenarios::Error&) {  // the file is refused as it stands
    }
  }
  return all;
}

// The text with another value of the argument: a whole number larger by one, 0.3 for a fraction, a
// flag removed. Empty if the value is a word.
std::string changed(const Changeable& one_argument) {
  const auto name = one_argument.argument.substr(0, one_argument.argument.find(' '));
  const auto begin = one_argument.text.find("  " + name + ":");
  if (begin == one_argument.text.npos) return {};
  const auto end = std::min(one_argument.text.find('\n', begin), one_argument.text.size());
  const auto space = one_argument.argument.find(' ');
  if (space == one_argument.argument.npos) {
    auto text = one_argument.text;
    return text.replace(begin, end - begin, "");
  }
  const auto value = one_argument.argument.substr(space + 1);
  const bool whole = value.find_first_not_of("0123456789") == value.npos;
  if (!whole && value != "0.0" && value != "0.1") return {};
  auto text = one_argument.text;
  return text.replace(begin, end - begin,
                      "  " + name + ": " + (whole ? std::to_string(std::stoi(value) + 1) : "0.3"));
}

std::string scenario_of(const std::string& text) {
  try {
    auto made = *scenarios::read_job(text, "job", {});
    made.comments.clear();
    return scenarios::scenario_text(made);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
}

std::size_t try_all(bool read) {
  std::size_t tried = 0;
  for (const auto& one_argument : changeable_arguments()) {
    if (one_argument.read != read) continue;
    const auto text = changed(one_argument);
    if (text.empty()) continue;
    ++tried;
    INFO(one_argument.file << ": " << one_argument.argument);
    CHECK((scenario_of(text) != scenario_of(one_argument.text)) == read);
  }
  return tried;
}

}  // namespace

TEST_CASE("changing an argument that is read changes the scenario") { CHECK(try_all(true) > 1000); }

TEST_CASE("changing an argument without effect changes no byte of the scenario") {
  CHECK(try_all(false) > 1000);
}

TEST_CASE("a tokenizer of a known model gives Megatron-LM's vocabulary, and a variable none") {
  const auto job = [](const std::string& more) {
    return tests::job(
        "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 64 "
        "--num-attention-heads 4 --seq-length 1024 --bf16 " +
            more,
        {"WORLD_SIZE=8"});
  };
  const std::string by_name = "--tokenizer-type HuggingFaceTokenizer --tokenizer-model ";
  const auto known = job(by_name + "meta-llama/Llama-3.1-8B");
  CHECK(at(known.document, "model.vocab") == "128256");
  for (const auto* path : {"$SOMEWHERE", "/a/b"}) {
    const auto asked = job(by_name + path);
    CHECK(at(asked.document, "model.vocab").empty());
    CHECK(tests::wanted(asked).find("model.vocab") != std::string::npos);
  }
}

TEST_CASE("Megatron-LM's YAML fuses swiglu by a key of its own") {
  // Fused is what the software does unless it is told.
  const auto fused = [](const std::string& activation, const std::string& keys) {
    const auto job = tests::job(
        "language_model:\n  num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n"
        "  activation_func: " +
            activation + "\n" + keys + "model_parallel:\n  tensor_model_parallel_size: 1\n",
        {"WORLD_SIZE=8"});
    return at(job.document, "software.fused_bias_activation");
  };
  CHECK(fused("swiglu", "  bias_activation_fusion: false\n  bias_swiglu_fusion: true\n").empty());
  CHECK(fused("swiglu", "  bias_activation_fusion: true\n  bias_swiglu_fusion: false\n") ==
        "false");
  CHECK(fused("gelu", "  bias_activation_fusion: true\n  bias_swiglu_fusion: false\n").empty());
}

}  // namespace megatron_job_spec
