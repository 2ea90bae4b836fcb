// SPDX-License-Identifier: Apache-2.0
// Jobs that their framework would not start, because their arguments contradict each other or the
// number of GPUs.
#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace contradicting_job_spec {

using tests::at;

namespace {

std::string titan(const std::string& degrees) {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 1024\n"
         "local_batch_size = 2\n[parallelism]\n" +
         degrees + "\n";
}

std::string axolotl(const std::string& more) {
  return "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nsample_packing: true\n"
         "micro_batch_size: 2\nbf16: true\noptimizer: adamw_torch\nfsdp_version: 2\n" +
         more;
}

const std::string megatron =
    "torchrun pretrain_gpt.py --hidden-size 64 --num-attention-heads 4 --seq-length 1024 --bf16 ";

std::string on(const std::string& gpus, const std::string& text) {
  return tests::refusal([&] { tests::job(text, {"WORLD_SIZE=" + gpus}); });
}

forecast::Scenario loaded(const std::string& text, std::vector<std::string> sets,
                          std::vector<std::string> env = {}) {
  sets.insert(sets.begin(), "cluster.node=dgx-h100");
  return scenarios::load_placed_scenario(scenarios::Source("job", text), sets, {{}, std::move(env)})
      .value;
}

}  // namespace

TEST_CASE("degrees of torchtitan that do not make its GPUs are refused with both numbers") {
  const std::string eight = "data_parallel_shard_degree = 4\ntensor_parallel_degree = 2";
  CHECK(on("8", titan(eight)) == "accepted");
  CHECK(on("16", titan(eight)) ==
        "job:8:1: parallelism.data_parallel_shard_degree 4: all degrees make 8 ranks, which are "
        "not the 16 GPUs of --env WORLD_SIZE or of the launcher; the framework does not start. "
        "Write other degrees, or give another number of GPUs, such as --env WORLD_SIZE=8");
  const std::string rest = "tensor_parallel_degree = 4\npipeline_parallel_degree = 2";
  CHECK(on("16", titan(rest)) == "accepted");
  CHECK(on("12", titan("data_parallel_shard_degree = -1\n" + rest))
            .find("the other degrees make 8 ranks, which do not divide the 12 GPUs") !=
        std::string::npos);
  const auto started = tests::refusal([&] {
    tests::beside("NGPU=4\ntorchrun --nproc_per_node $NGPU -m torchtitan.train --config a.toml\n",
                  {{"a.toml", titan(eight)}});
  });
  CHECK(started.find("all degrees make 8 ranks, which are not the 4 GPUs") != std::string::npos);
}

TEST_CASE("where a scenario over the job changes its degrees, torchtitan's shards are the rest") {
  const auto job = titan("data_parallel_shard_degree = 8");
  CHECK(loaded(job, {}).training.global_batch == 16);  // 2 x 8
  CHECK(loaded(job, {"plan.tensor=2"}, {"WORLD_SIZE=8"}).training.global_batch == 8);
  CHECK(loaded(job, {"cluster.nodes=2"}).training.global_batch == 32);
}

TEST_CASE("sizes of axolotl and accelerate that do not make the GPUs are refused with both") {
  const std::string two = axolotl("dp_shard_size: 2\ntensor_parallel_size: 2\n");
  CHECK(on("8", two) == "accepted");
  CHECK(on("6", two) ==
        "job:8:1: dp_shard_size 2: its degrees make 4 ranks, which do not divide the 6 GPUs of "
        "--env WORLD_SIZE or of the launcher; the framework does not start. Write other degrees, "
        "or give another number of GPUs, such as --env WORLD_SIZE=4");
  CHECK(on("8", axolotl("dp_shard_size: 2\ndp_replicate_size: 2\ncontext_parallel_size: 2\n")) ==
        "accepted");
  CHECK(on("16", axolotl("dp_shard_size: 2\ndp_replicate_size: 2\ncontext_parallel_size: 2\n"))
            .find("its degrees make 8 ranks, which are not the 16 GPUs") != std::string::npos);
}

TEST_CASE("axolotl's files that name other weights, sizes or batches than are read are refused") {
  CHECK(tests::refused(axolotl("batch_size: 64\n")) == "accepted");
  CHECK(tests::refused(axolotl("batch_size: 64\ngradient_accumulation_steps: 2\n"))
            .find("batch_size 64: gradient_accumulation_steps decides it, too") !=
        std::string::npos);
  CHECK(tests::refused(axolotl("spectrum_top_fraction: 0.5\n"))
            .find("weights that stay as they are are not modelled") != std::string::npos);
  CHECK(tests::refused(axolotl("overrides_of_model_config: {num_hidden_layers: 8}\n"))
            .find("overrides_of_model_config.num_hidden_layers 8: it changes the model") !=
        std::string::npos);
  CHECK(tests::refused(axolotl("overrides_of_model_config: {rope_scaling: {factor: 8}}\n")) ==
        "accepted");
  const auto compiled = [](const std::string& how) {
    return at(tests::job(axolotl("torch_compile: " + how + "\n"), {"WORLD_SIZE=8"}).document,
              "software.compile");
  };
  CHECK(compiled("auto") == "true");
  CHECK(compiled("true") == "true");
  CHECK(compiled("false").empty());
}

TEST_CASE("replicas that axolotl is not told of are the GPUs that its shards leave") {
  const auto group = [](const std::string& more) {
    return at(tests::job(axolotl(more), {"WORLD_SIZE=8"}).document, "plan.shard_group");
  };
  CHECK(group("dp_shard_size: 4\n") == "4");
  CHECK(group("dp_shard_size: 2\ntensor_parallel_size: 2\n") == "2");
  CHECK(group("dp_shard_size: 8\n").empty());
}

TEST_CASE("Megatron-LM takes no layers that do not fall evenly on its stages") {
  const auto on_stages = [](const std::string& more) {
    return tests::refused(megatron + "--num-layers 30 --pipeline-model-parallel-size 4 " + more);
  };
  CHECK(on_stages("") ==
        "job:1:92: --num-layers 30: 30 layers do not divide over 4 stages (4 pipeline ranks x 1 "
        "virtual stages), with which Megatron-LM does not start; add "
        "--decoder-first-pipeline-num-layers N or --decoder-last-pipeline-num-layers N, or "
        "--pipeline-model-parallel-layout");
  CHECK(on_stages("--decoder-last-pipeline-num-layers 6") == "accepted");
  CHECK(on_stages("--pipeline-model-parallel-layout 'Et*8|t*8|t*7|t*7L'") == "accepted");
  const auto chunks = [](const std::string& layers) {
    return tests::refused(megatron + "--pipeline-model-parallel-size 4 --num-layers " + layers +
                          " --num-virtual-stages-per-pipeline-rank 2");
  };
  CHECK(chunks("32") == "accepted");
  CHECK(chunks("28").find("28 layers do not divide over 8 stages") != std::string::npos);
  CHECK(loaded(megatron + "--num-layers 32 --global-batch-size 80",
               {"plan.pipeline=5", "cluster.gpus=80"})
            .plan.pipeline == 5);
}

TEST_CASE(
    "Megatron-LM takes no two activations, and no gathers of parameters that nobody divides") {
  const std::string plain = megatron + "--num-layers 32 --global-batch-size 8 ";
  CHECK(tests::refused(plain + "--swiglu --squared-relu") ==
        "job:1:139: --squared-relu: --swiglu is another activation, and Megatron-LM does not start "
        "with both; leave one of them out");
  CHECK(tests::refused(plain + "--swiglu --quick-geglu").find("another activation") !=
        std::string::npos);
  CHECK(tests::refused(plain + "--squared-relu") == "accepted");
  CHECK(tests::refused(plain + "--overlap-param-gather") ==
        "job:1:130: --overlap-param-gather: without --use-distributed-optimizer every rank has all "
        "parameters, and Megatron-LM does not start; add that, or leave this out");
  for (const std::string divides :
       {"--use-distributed-optimizer", "--use-megatron-fsdp", "--optimizer dist_muon"})
    CHECK(tests::refused(plain + "--overlap-param-gather --overlap-grad-reduce " + divides) ==
          "accepted");
  const auto apart = plain + "--overlap-param-gather --use-distributed-optimizer";
  CHECK(tests::refused(apart) ==
        "job:1:130: --overlap-param-gather: without --overlap-grad-reduce Megatron-LM does not "
        "start; add that, or leave this out");
  const std::vector<std::string> reduced{"plan.overlap.data=true", "model.vocab=32000",
                                         "cluster.gpus=8"};
  CHECK(loaded(apart, reduced).plan.overlap.parameters);
  const std::vector<std::string> mended{"plan.zero=1", "model.vocab=32000", "cluster.gpus=8"};
  CHECK(loaded(plain + "--overlap-param-gather", mended).plan.overlap.parameters);
}

TEST_CASE("switches beside each other with which Megatron-LM does not start are refused") {
  const std::string plain = megatron + "--num-layers 32 ";
  const auto refused = [&](const std::string& more) {
    const auto text = tests::refused(plain + more);
    const auto begin = std::min(text.find("--"), text.size());
    return text == "accepted" ? text : text.substr(begin, text.find(": ", begin) - begin);
  };
  const std::string two = "--tensor-model-parallel-size 2 ",
                    parallel = two + "--sequence-parallel ";
  CHECK(refused(two + "--tp-comm-overlap") == "--tp-comm-overlap");
  CHECK(refused("--sequence-parallel --tp-comm-overlap") == "--tp-comm-overlap");
  CHECK(refused(parallel + "--tp-comm-overlap") == "accepted");

  const std::string offloads = "--cpu-offloading-num-layers 2 ";
  CHECK(refused(offloads) == "accepted");
  CHECK(refused(offloads + "--pipeline-model-parallel-size 2") == "--cpu-offloading-num-layers 2");
  CHECK(refused(offloads + "--recompute-activations") == "--cpu-offloading-num-layers 2");

  const std::string layers = "--recompute-num-layers 1",
                    selects = "--recompute-granularity selective ";
  CHECK(refused(selects) == "accepted");
  CHECK(refused(selects + "--recompute-method uniform") == "--recompute-method uniform");
  CHECK(refused(selects + layers) == layers);
  CHECK(refused("--recompute-activations " + layers) == layers);
  CHECK(refused("--recompute-granularity full --recompute-method uniform " + layers) == "accepted");

  const std::string four = "--pipeline-model-parallel-size 4 ",
                    chunk = "--num-layers-per-virtual-pipeline-stage 4";
  CHECK(refused(four + chunk) == "accepted");
  CHECK(refused(four + chunk + " --num-virtual-stages-per-pipeline-rank 2") == chunk);
  const std::string layout = "--pipeline-model-parallel-layout Et*8|t*8|t*8|t*8L";
  CHECK(refused(four + "--pipeline-model-parallel-layout 'Et*8|t*8|t*8|t*8L' " + chunk) == layout);

  const std::string schedule = "--step-batch-size-schedule 0:64";
  CHECK(refused(schedule) == "accepted");
  CHECK(refused(schedule + " --global-batch-size 64") == schedule);

  const std::string divides = "--distribute-saved-activations";
  const auto full =
      "--recompute-granularity full --recompute-method uniform " + layers + " " + divides + " ";
  CHECK(refused(full + two) == "accepted");
  CHECK(refused(full) == divides);
  CHECK(refused(full + parallel) == divides);
  CHECK(refused(selects + two + divides) == divides);
  CHECK(loaded(plain + "--global-batch-size 8 " + two + "--tp-comm-overlap",
               {"plan.sequence_parallel=true", "model.vocab=32000", "cluster.gpus=8"})
            .plan.sequence_parallel);
}

TEST_CASE("parts of Megatron-LM that need others are refused without them") {
  const std::string plain = megatron + "--num-layers 32 ";
  const auto refused = [&](const std::string& name, const std::string& rest) {
    const auto text = tests::refused(plain + name + " " + rest);
    return text.find(": " + name + ": Megatron-LM does not start with it here") != text.npos;
  };
  const std::string sends = "--moe-token-dispatcher-type alltoall ", experts = "--num-experts 8 ",
                    stages = "--pipeline-model-parallel-size 2 ";
  const std::string torch = "--use-torch-fsdp2", whole =
                                                     "--no-gradient-accumulation-fusion "
                                                     "--untie-embeddings-and-output-weights ";
  CHECK(!refused(torch, whole));
  CHECK(tests::at(tests::job(plain + torch + " " + whole).document, "software.copies_parameters") ==
        "true");
  CHECK(refused(torch, "--no-gradient-accumulation-fusion"));
  CHECK(refused(torch, whole + stages));
  CHECK(refused(torch, whole + "--use-distributed-optimizer"));
  const std::string host = "--optimizer-cpu-offload";
  CHECK(refused(host, ""));
  const std::string aware = "--use-precision-aware-optimizer",
                    divides = "--use-distributed-optimizer";
  CHECK(!refused(host, aware + " " + divides));
  CHECK(refused(aware, ""));
  CHECK(refused(aware, divides + " --optimizer sgd"));
  CHECK(!refused(aware, divides));
  const std::string sums = aware + " " + divides + " --main-grads-dtype bf16 ";
  CHECK(tests::refused(plain + sums).find("--main-grads-dtype") == std::string::npos);
  CHECK(tests::refused(plain + sums + "--accumulate-allreduce-grads-in-fp32")
            .find("--main-grads-dtype bf16: Megatron-LM does not start with it here: "
                  "--accumulate-allreduce-grads-in-fp32 asks for fp32") != std::string::npos);
  for (const std::string type :
       {"--exp-avg-dtype", "--exp-avg-sq-dtype", "--main-grads-dtype", "--main-params-dtype"}) {
    CHECK(tests::refused(plain + type + " bf16").find("without " + aware) != std::string::npos);
    CHECK(tests::refused(plain + type + " fp32").find(type) == std::string::npos);
  }
  const std::string overlap = "--overlap-moe-expert-parallel-comm";
  CHECK(refused(overlap, experts));
  CHECK(!refused(overlap, experts + sends));
  CHECK(refused(overlap, experts + sends + stages));
  CHECK(!refused(overlap, experts + sends + stages + "--num-virtual-stages-per-pipeline-rank 2"));
  CHECK(refused(overlap, experts + sends + "--recompute-granularity full"));
  const std::string pads = "--moe-pad-expert-input-to-capacity",
                    capacity = "--moe-expert-capacity-factor 1.0";
  CHECK(refused(pads, experts + sends));
  CHECK(!refused(pads, experts + sends + capacity));
  CHECK(refused(capacity, experts));
  CHECK(!refused(capacity, experts + sends));
  const std::string shared = "--moe-shared-expert-overlap",
                    size = "--moe-shared-expert-intermediate-size 64 ";
  CHECK(refused(shared, experts + size));
  CHECK(!refused(shared, experts + size + sends));
  const std::string activation = "--recompute-modules moe_act";
  CHECK(refused(activation, experts + "--recompute-granularity selective"));
  CHECK(!refused(activation, experts + "--recompute-granularity selective --moe-grouped-gemm"));
  const std::string predicts = "--mtp-num-layers 1";
  CHECK(refused(predicts, "--position-embedding-type learned_absolute"));
  CHECK(!refused(predicts, "--position-embedding-type rope"));
  CHECK(refused("--encoder-seq-length 1024", ""));
  CHECK(refused("--attention-backend local", ""));
  CHECK(!refused("--attention-backend local", "--spec local"));
}

TEST_CASE("programs of Megatron-LM that do not train are refused") {
  const auto refused = [](const std::string& program) {
    return tests::refused(
        "torchrun " + program +
        " --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64");
  };
  const std::string why = ": it is no training, which the forecast is of";
  for (const std::string name :
       {"run_text_generation_server.py", "gpt_static_inference.py", "preprocess_data.py"})
    CHECK(refused("examples/" + name) == "job:1:1: " + name + why);
  CHECK(refused("tasks/main.py --task WIKITEXT103") == "job:1:1: main.py" + why);
  CHECK(refused("main.py") == "accepted");
  CHECK(refused("train_rl.py").find("reinforcement learning") != std::string::npos);
}

TEST_CASE("older releases of Megatron-LM give the embedding a stage of its own") {
  const auto per_stage = [](const std::string& more) {
    return at(tests::job(megatron + "--standalone-embedding-stage " + more).document,
              "plan.layers_per_stage");
  };
  CHECK(per_stage("--num-layers 30 --pipeline-model-parallel-size 4") == "0 10 10 10");
  CHECK(per_stage("--num-layers 12 --pipeline-model-parallel-size 3 "
                  "--num-layers-per-virtual-pipeline-stage 3") == "0 3 3 0 3 3");
  CHECK(tests::refused(megatron + "--standalone-embedding-stage --num-layers 32 "
                                  "--pipeline-model-parallel-size 4")
            .find("32 layers do not divide over the other 3 stages") != std::string::npos);
}

TEST_CASE("layers that a rule of their own divides give one complaint") {
  const auto text = tests::refused(megatron +
                                   "--num-layers 30 --pipeline-model-parallel-size 4 "
                                   "--decoder-first-pipeline-num-layers 5");
  CHECK(text.find("the other layers do not fall evenly on the other stages") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("no framework on Megatron-LM takes sequences beyond its learned positions") {
  const std::string job = megatron + "--num-layers 4 --max-position-embeddings 512";
  const auto text = tests::refused(job);
  CHECK(text ==
        "job:1:107: --max-position-embeddings 512: sequences of 1024 tokens are longer than that, "
        "with which the framework does not start; write at least 1024");
  CHECK(tests::refused(job + " --position-embedding-type rope") == text);
  CHECK(tests::refused(megatron + "--num-layers 4 --max-position-embeddings 1024") == "accepted");
}

TEST_CASE("a value over a job mends what its framework refuses") {
  const std::string job = megatron +
                          "--num-layers 30 --pipeline-model-parallel-size 4 "
                          "--vocab-size 3200 --global-batch-size 64";
  const std::vector<std::string> env{"WORLD_SIZE=8"};
  CHECK_THROWS_AS(loaded(job, {}, env), scenarios::Error);
  CHECK(loaded(job, {"plan.pipeline=2"}, env).plan.pipeline == 2);
  CHECK(loaded(job, {"plan.layers_per_stage=[8,7,7,8]"}, env).plan.layers_per_stage.size() == 4);
  CHECK(loaded(job, {"model.layers=32"}, env).plan.pipeline == 4);
  CHECK_THROWS_AS(loaded(job, {"cluster.nodes=2"}), scenarios::Error);
  CHECK_THROWS_AS(loaded(job, {"plan.tensor=2"}, env), scenarios::Error);
  const std::string longer = megatron +
                             "--num-layers 4 --max-position-embeddings 512 --vocab-size 3200 "
                             "--global-batch-size 64";
  CHECK_THROWS_AS(loaded(longer, {}, env), scenarios::Error);
  CHECK_THROWS_AS(loaded(longer, {"training.sequence_length=768"}, env), scenarios::Error);
  CHECK(loaded(longer, {"training.sequence_length=512"}, env).training.sequence_length == 512);
  CHECK(loaded(longer, {"model.max_sequence=1024"}, env).training.sequence_length == 1024);
  const auto uneven = titan("data_parallel_shard_degree = 8");
  CHECK_THROWS_AS(loaded(uneven, {}, {"WORLD_SIZE=16"}), scenarios::Error);
  CHECK(loaded(uneven, {"plan.tensor=2"}, {"WORLD_SIZE=16"}).training.global_batch == 16);
}

TEST_CASE("keys that are given twice beside a job are told") {
  const auto read = [](const std::string& text) {
    return tests::refusal([&] {
      scenarios::load_placed_scenario(scenarios::Source("s.yaml", text), {}, {{}, {}});
    });
  };
  CHECK(
      read("job: train.sh\nplan: {tensor: 1, tensor: 2}\ncluster: {nodes: 1}\nplan: {zero: 1}\n") ==
      "s.yaml:2:19: plan.tensor: given twice, first on line 2; keep one of them\n"
      "s.yaml:4:1: plan: given twice, first on line 2; keep one of them");
  CHECK(read("job: {file: a.sh, file: b.sh}\n") ==
        "s.yaml:1:19: job.file: given twice, first on line 1; keep one of them");
}

TEST_CASE("a script with a quote that has no end is refused with its place") {
  const auto told = [](const std::string& text) {
    return tests::refused("#!/bin/bash\n" + text + "\n" + megatron + "--num-layers 4\n");
  };
  constexpr auto why =
      ": the quote or bracket that begins here has no end, with which a shell does not run the "
      "script; close it";
  CHECK(told("echo \"start") == "job:2:6" + std::string(why));
  CHECK(told("echo it's") == "job:2:8" + std::string(why));
  CHECK(told("X=${Y:-1") == "job:2:3" + std::string(why));
  CHECK(told("X=\"${Y:-it's}\"") == "job:2:3" + std::string(why));
  CHECK(told(std::string("echo \0", 6)) == "accepted");
  for (const auto* whole :
       {"# it's", "echo \"it's\"", "echo it\\'s", "X=$'it\\'s'", "X=\"$(echo \"it's\")\"",
        "X=\"${Y:-it\\'s}\"", "X=$(cat <<'EOF'\nit's\nEOF\n)", "cat <<EOF\nit's\nEOF",
        "X=$(date  # it's now\n)"})
    CHECK(told(whole) == "accepted");
}

TEST_CASE("files that a script writes are read, and what only a shell can tell of them is said") {
  const auto job = [](const std::string& stage) {
    return "cat <<EOF > ds.json\n{\"zero_optimization\": {\"stage\": " + stage +
           "}, \"bf16\": {\"enabled\": \"auto\"}}\nEOF\n"
           "deepspeed --num_gpus 8 train.py --deepspeed ./ds.json --model_name_or_path "
           "Qwen/Qwen3-8B --per_device_train_batch_size 1 --max_seq_length 64 --bf16\n";
  };
  CHECK(at(tests::job(job("2")).document, "plan.zero") == "2");
  CHECK(at(tests::job("STAGE=3\n" + job("$STAGE")).document, "plan.zero") == "3");
  CHECK(tests::refusal([&] { tests::job(job("$STAGE")); }) ==
        "job:1:1: ./ds.json: the script writes this file, and only a shell can tell what it holds: "
        "STAGE has "
        "no value in this file; add --env STAGE=VALUE");
}

TEST_CASE("a file that a script writes under a condition, twice, or edits is not taken as known") {
  const auto told = [](const std::string& before, const std::string& behind = "") {
    const std::string job =
        before + "cat <<EOF > ds.json\n{\"zero_optimization\": {\"stage\": 2}}\nEOF\n" + behind +
        "deepspeed --num_gpus 8 train.py --deepspeed ds.json --model_name_or_path "
        "Qwen/Qwen3-8B --per_device_train_batch_size 1 --max_seq_length 64 --bf16\n";
    const auto said = tests::refusal([&] {
      tests::beside(job, {{"ds.json", "{\"zero_optimization\": {\"stage\": 3}}"}});
    });
    return said.substr(said.find("holds: ") == said.npos ? 0 : said.find("holds: ") + 7);
  };
  CHECK(told("") == "accepted");
  CHECK(told("[ -f other.json ] || ") == "it is written under a condition or in a loop in line 1");
  CHECK(told("", "cat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 1}}\nEOF\n") ==
        "it is written once more in line 4");
  CHECK(told("", "sed -i 's/2/1/' ds.json\n") == "sed changes it in line 4");
  CHECK(told("", "echo '{}' >> ./ds.json\n") == "echo changes it in line 4");
  CHECK(told("", "cp other.json ds.json\n") == "cp changes it in line 4");
  CHECK(told("", "echo '{}' | tee ds.json\n") == "tee changes it in line 4");
  CHECK(told("", "sed -i 's/2/1/' other.json\necho done > log\n") == "accepted");
}

TEST_CASE("what a script adds to a file stands behind the file's own text") {
  const auto job = tests::beside(
      "cat <<EOF >> cfg.yaml\nper_device_train_batch_size: 4\nEOF\nllamafactory-cli train "
      "cfg.yaml\n",
      {{"cfg.yaml",
        "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: 1024\n"
        "bf16: true\n"}});
  CHECK(at(job.document, "plan.micro_batch") == "4");
}

TEST_CASE("accelerate's precision and another one in DeepSpeed's file exclude each other") {
  const auto told = [](const std::string& half) {
    return tests::refusal([&] {
      tests::beside(
          "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\n"
          "deepspeed_config: {deepspeed_config_file: ds.json}\n",
          {{"ds.json",
            "{\"zero_optimization\": {\"stage\": 3},\n\"bf16\": {\"enabled\": "
            "\"auto\"},\n\"fp16\": {\"enabled\": " +
                half + "}}"}});
    });
  };
  CHECK(told("\"auto\"") == "accepted");
  CHECK(told("true") ==
        "ds.json:3:10: fp16.enabled true: mixed_precision is bf16, with which accelerate does not "
        "start; write \"auto\" or false");
}

TEST_CASE("a script that sources itself without end is refused") {
  const std::string text = "#!/bin/bash\nsource self.sh\n" + megatron + "--num-layers 4\n";
  CHECK(
      tests::refusal([&] {
        tests::beside(text, {{"self.sh", text}});
      })
          .find("job:2:8: arguments that only a shell can tell: the script sources itself without "
                "end") != std::string::npos);
  const auto once = "#!/bin/bash\nif [ -z \"${ONCE:-}\" ]; then ONCE=1; source self.sh; fi\n" +
                    megatron + "--num-layers 4\n";
  CHECK(tests::refusal([&] { tests::beside(once, {{"self.sh", once}}); }) == "accepted");
}

TEST_CASE("a condition that nobody knows is asked for by every framework") {
  const auto run = [](const std::string& batch) {
    return "  torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B "
           "--per_device_train_batch_size " +
           batch + " --max_seq_length 64 --bf16\n";
  };
  CHECK(tests::refusal([&] {
          tests::job("#!/bin/bash\nif [ -f x ]; then\n" + run("1") + "else\n" + run("2") + "fi\n");
        }).find("both start a training, and a condition that is not known") != std::string::npos);
}

TEST_CASE("Megatron-LM interleaves chunks on two pipeline ranks or more, with overlap on two") {
  const auto said = [](const std::string& pipeline, const std::string& more = {}) {
    return on("8", megatron + "--num-layers 8 --num-layers-per-virtual-pipeline-stage 1 " +
                       "--pipeline-model-parallel-size " + pipeline + " " + more);
  };
  CHECK(said("2") == "accepted");
  CHECK(said("4", "--no-overlap-p2p-communication") == "accepted");
  CHECK_THAT(said("1"), STEPCAST_HOLDS("a pipeline of one rank has no chunks to interleave"));
  CHECK_THAT(said("2", "--no-overlap-p2p-communication"),
             STEPCAST_HOLDS("two pipeline ranks with chunks need overlapped transfers"));
}

TEST_CASE("a job of reinforcement learning is refused, whose step has other defaults") {
  CHECK_THAT(on("8", megatron + "--num-layers 8 --rollout-batch-size 128"),
             STEPCAST_HOLDS("--rollout-batch-size 128: a job of reinforcement learning"));
}

TEST_CASE("Muon beside fp16 is refused, and so is a program that converts checkpoints") {
  const std::string sizes =
      " --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 64 "
      "--max-position-embeddings 64 --micro-batch-size 1 --global-batch-size 8 --optimizer muon ";
  const auto refused = [&](const std::string& program, const std::string& type) {
    return tests::refused("torchrun --nproc-per-node 8 " + program + sizes + type + "\n");
  };
  CHECK(refused("pretrain_gpt.py", "--fp16").find("Muon does not run with --fp16") !=
        std::string::npos);
  CHECK(refused("pretrain_gpt.py", "--bf16") == "accepted");
  CHECK(refused("tools/checkpoint/convert.py", "--bf16").find("it is no training") !=
        std::string::npos);
}

}  // namespace contradicting_job_spec
