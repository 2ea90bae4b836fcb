// SPDX-License-Identifier: Apache-2.0
// Kinds of files that jobs of a framework come as, beside those of its usual scripts.
#include <string>

#include "scenarios/job_document.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace job_classes_spec {

using scenarios::Effect;
using tests::at;
using tests::effect_of;
using tests::refused;
using tests::wanted;

namespace {

std::string opened(const std::string& text) {
  return tests::refusal([&] {
    scenarios::Texts texts;
    scenarios::open_document(text, "job", {}, {}, texts);
  });
}

const std::string megatron =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 "
    "--num-attention-heads 4 --seq-length 64 --vocab-size 9 --max-position-embeddings 64 "
    "--micro-batch-size 1 --global-batch-size 8 --bf16";

}  // namespace

TEST_CASE("a configuration of --yaml-cfg is a job of Megatron-LM") {
  const auto job = tests::job(
      "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\n"
      "  activation_func: swiglu\n  add_bias_linear: False\n  fp8: null\n  normalization: RMSNorm\n"
      "model_parallel:\n  tensor_model_parallel_size: 2\n  sequence_parallel: True\n  bf16: True\n"
      "micro_batch_size: 2\nglobal_batch_size: 128\nseq_length: 2048\n"
      "max_position_embeddings: 4096\nvocab_size: 32000\nposition_embedding_type: rope\n"
      "async_tensor_model_parallel_allreduce: True\n"
      "use_distributed_optimizer: True\nuntie_embeddings_and_output_weights: True\nlr: 4.e-5\n");
  CHECK(job.account.framework == "megatron");
  CHECK(at(job.document, "model.layers") == "24");
  CHECK(at(job.document, "model.activation") == "swiglu");
  CHECK(at(job.document, "model.biases") == "false");
  CHECK(at(job.document, "model.norm") == "rmsnorm");
  CHECK(at(job.document, "model.position") == "rope");
  CHECK(at(job.document, "model.tied_embeddings") == "false");
  CHECK(at(job.document, "plan.tensor") == "2");
  CHECK(at(job.document, "plan.sequence_parallel") == "true");
  CHECK(at(job.document, "plan.zero") == "1");
  CHECK(at(job.document, "training.precision") == "bf16");
  CHECK(at(job.document, "training.global_batch") == "128");
  for (const auto& one : job.account.arguments) {
    INFO(one.text);
    CHECK(one.effect != Effect::unknown);
  }
}

TEST_CASE("weights that are kept in 8 bit alone are read, and that they travel so is not") {
  const auto job = tests::job(megatron + " --fp8-format hybrid --fp8-param-gather\n");
  CHECK(at(job.document, "software.narrow_weights") == "true");
  CHECK(effect_of(job, "--fp8-param-gather") == Effect::not_modelled);
  CHECK(at(tests::job(megatron + " --fp8-format hybrid\n").document, "software.narrow_weights")
            .empty());
  CHECK(at(tests::job(megatron + " --fp8-param-gather\n").document, "software.narrow_weights")
            .empty());
}

TEST_CASE("the performance scripts of Megatron-Bridge are overrides of a recipe") {
  const auto job = tests::job(
      "python scripts/performance/setup_experiment.py -a me -p batch -m llama3 -mr 70b -ng 64 -gn "
      "8 "
      "-g h100 -c fp8_cs -tp 4 -pp 8 -vp 5 -cp 1 -mb 1 -gb 128\n");
  CHECK(job.account.framework == "megatron-bridge");
  CHECK(at(job.document, "cluster.gpus") == "64");
  CHECK(at(job.document, "model.layers") == "80");
  CHECK(at(job.document, "training.precision") == "fp8");
  CHECK(at(job.document, "training.fp8_recipe") == "tensorwise");
  CHECK(at(job.document, "training.global_batch") == "128");
  CHECK(at(job.document, "plan.tensor") == "4");
  CHECK(at(job.document, "plan.sequence_parallel") == "true");
  CHECK(at(job.document, "plan.virtual_stages") == "5");
  CHECK(at(job.document, "software.narrow_weights") == "true");
  CHECK(wanted(job) == "training.sequence_length cluster.node");
  CHECK(wanted(
            tests::job("python setup_experiment.py -m llama3 -s 8b -ng 8 -c bf16 -mb 1 -gb 8\n")) ==
        "training.sequence_length plan.tensor plan.pipeline plan.context cluster.node");
}

TEST_CASE("the script that Megatron-Bridge's performance scripts start has their options") {
  const std::string options =
      " -g h100 -ng 256 -c bf16 -tp 2 -pp 8 -vp 4 -ep 32 -cp 1 -mb 1 -gb 2048\n";
  for (const std::string program : {"scripts/performance/run_script.py", "run_script.py"}) {
    const auto job = tests::job("python " + program + " -m qwen -mr qwen3_235b_a22b" + options);
    CHECK(job.account.framework == "megatron-bridge");
    CHECK(at(job.document, "cluster.gpus") == "256");
    CHECK(at(job.document, "plan.expert") == "32");
  }
  CHECK_THROWS_AS(tests::job("python run_script.py -m qwen" + options), scenarios::Error);
}

TEST_CASE("options of a performance script that change the run are read, refused or unknown") {
  const std::string script = "python setup_experiment.py -m llama3 -s 8b -ng 8 -mb 1 -gb 8 ";
  const auto job =
      tests::job(script + "-c fp8 -fr mx model.num_layers=4 --tensor_paralel 8 -l x\n");
  CHECK(at(job.document, "training.precision") == "mxfp8");
  CHECK(at(job.document, "model.layers") == "4");
  CHECK(effect_of(job, "--tensor_paralel 8") == Effect::unknown);
  CHECK(effect_of(job, "-l x") == Effect::none);
  CHECK(refused(script + "-c bf16 -t lora\n").find("only adapters are trained") !=
        std::string::npos);
}

TEST_CASE("a script that names itself, or another that names it, is no job") {
  const auto names = [](const std::string& file) { return "python train.py " + file + "\n"; };
  const scenarios::JobFiles files = [&](const std::string& name) -> std::optional<std::string> {
    return names(name == "a.yaml" ? "b.yaml" : "a.yaml");
  };
  for (const auto* file : {"a.yaml", "b.yaml"})
    CHECK_THROWS_WITH(scenarios::read_job(names(file), "a.yaml", {}, files),
                      STEPCAST_HOLDS("train.py is no program of a framework that is known"));
}

TEST_CASE("the first command of a launcher is the job, whatever is run behind it") {
  const std::string one =
      "torchrun --nproc_per_node 8 --nnodes 2 train.py job.yaml\npython convert.py --out x\n";
  CHECK_THROWS_WITH(scenarios::read_job(one, "run.sh", {}, {}),
                    STEPCAST_HOLDS("train.py is given job.yaml, which is not beside this file"));
}

TEST_CASE("DeepSpeed that is only switched on has its stage in the training script") {
  const std::string chat =
      "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-13b --deepspeed "
      "--per_device_train_batch_size 8 --max_seq_len 1_024";
  CHECK(wanted(tests::job(chat + "\n")).find("plan.zero") != std::string::npos);
  const auto job = tests::job(chat + " --zero_stage 3\n");
  CHECK(at(job.document, "plan.zero") == "3");
  CHECK(at(job.document, "software.base") == "deepspeed");
  CHECK(at(job.document, "training.sequence_length") == "1024");
}

TEST_CASE("a padded vocabulary is that of the model") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
      "--global-batch-size 8 --tokenizer-type PretrainedFromHF --pad-vocab-size-to 250880\n");
  CHECK(at(job.document, "model.vocab") == "250880");
  CHECK(at(job.document, "software.vocab_multiple") == "1");
}

TEST_CASE("microbatches of torchtitan 0.1 divide the local batch") {
  const auto job = tests::job(
      "[model]\nname = \"llama3\"\nflavor = \"70B\"\n[training]\nbatch_size = 8\nseq_len = 64\n"
      "[experimental]\npipeline_parallel_degree = 2\npipeline_parallel_microbatches = 4\n",
      {"WORLD_SIZE=8"});
  CHECK(at(job.document, "plan.micro_batch") == "2");
}

TEST_CASE("torchtitan's keys of conversions are without effect where none is made") {
  const std::string text =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
      "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\nfilter_fqns = "
      "[\"output\"]\n";
  const auto plain = tests::job(text, {"WORLD_SIZE=8"});
  const auto* gathered = "quantize.linear.float8.enable_fsdp_float8_all_gather true";
  CHECK(effect_of(plain, gathered) == Effect::none);
  CHECK(effect_of(plain, "quantize.linear.float8.filter_fqns output") == Effect::none);
  auto converted = text;
  converted.insert(converted.find("[training]"), "converters = [\"quantize.linear.float8\"]\n");
  CHECK(effect_of(tests::job(converted, {"WORLD_SIZE=8"}), gathered) == Effect::not_modelled);
}

TEST_CASE("variables before run_train.sh say the model and the run of torchtitan") {
  const auto job = tests::job(
      "NGPU=8 MODULE=llama3 CONFIG=llama3_8b ./run_train.sh --training.local_batch_size 2 "
      "--parallelism.tensor_parallel_degree 2\n");
  CHECK(at(job.document, "model.layers") == "32");
  CHECK(at(job.document, "cluster.gpus") == "8");
  CHECK(at(job.document, "training.global_batch") == "8");  // 2 x 4 data-parallel ranks
}

TEST_CASE("a document of another program is refused in one sentence") {
  CHECK(opened("run_name: a\nseed: 1\nmodel: {d_model: 4}\n")
            .starts_with(
                "job:1:1: this is neither a scenario nor a job of a framework that is known; "
                "expected a scenario, or a job of megatron, torchtitan"));
  CHECK(opened("model: {_component_: torchtune.models.llama3}\nbatch_size: 2\n")
            .starts_with("job:1:1: it is a job of torchtune, which is not read; expected"));
  CHECK(opened("base_config: \"base.yml\"\nici_fsdp_parallelism: 8\n")
            .starts_with("job:1:1: it is a job of MaxText, which is not read; expected"));
  CHECK(opened("tokenizer_dir: a\noptimizer: {class_path: torch.optim.AdamW}\n")
            .starts_with("job:1:1: it is a job of LitGPT, which is not read; expected"));
  CHECK(opened("model_type: llama\narchitectures: [LlamaForCausalLM]\nhidden_size: 64\n")
            .starts_with("job:1:1: this is a model of Hugging Face, without a job: write model: "
                         "{huggingface: job} into a scenario"));
  CHECK(opened("modell: {}\ncluster: {}\n") == "accepted");  // a scenario with a mistyped key
}

TEST_CASE("what is off, or as the forecast has it, is no lack of the forecast") {
  const auto full = tests::job(megatron + " --position-embedding-type rope --rotary-percent 1.0");
  CHECK(effect_of(full, "--rotary-percent 1.0") == Effect::none);
  const auto half = tests::job(megatron + " --position-embedding-type rope --rotary-percent 0.5");
  CHECK(effect_of(half, "--rotary-percent 0.5") == Effect::not_modelled);
  const auto speed = tests::job(
      R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "zero_optimization":
          {"stage": 2, "contiguous_gradients": false, "reduce_scatter": false}})",
      {"WORLD_SIZE=8"});
  CHECK(effect_of(speed, "zero_optimization.contiguous_gradients false") == Effect::none);
  CHECK(effect_of(speed, "zero_optimization.reduce_scatter false") == Effect::not_modelled);
  const auto usual = tests::job(
      R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "zero_optimization":
          {"stage": 2, "contiguous_gradients": true, "reduce_scatter": true}})",
      {"WORLD_SIZE=8"});
  CHECK(effect_of(usual, "zero_optimization.contiguous_gradients true") == Effect::not_modelled);
  CHECK(effect_of(usual, "zero_optimization.reduce_scatter true") == Effect::none);
}

}  // namespace job_classes_spec
