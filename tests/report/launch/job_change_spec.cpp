// SPDX-License-Identifier: Apache-2.0
// Jobs changed where their arguments stand: every other line is byte for byte as it was.
#include <set>
#include <sstream>

#include "report/launch/job_change.hpp"
#include "report/launch/text_diff.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace job_change_spec {

namespace {

// A Llama of 8 layers under this plan on a node of eight GPUs.
forecast::Scenario scenario(const std::string& plan, const std::string& software,
                            const std::string& model =
                                "{layers: 8, hidden: 1024, heads: 16, ffn: 2816, vocab: 32000, "
                                "activation: swiglu, norm: rmsnorm, position: rope, biases: false, "
                                "tied_embeddings: false, dropout: 0}") {
  return scenarios::read_scenario(
      "model: " + model +
          "\ncluster: {node: dgx-h100, nodes: 1}\ntraining: {sequence_length: "
          "2048, global_batch: 32}\nplan: {" +
          plan + "}\nsoftware: " + software + "\n",
      "s");
}

report::ChangedJob change(const std::string& text, const std::string& file,
                          const forecast::Scenario& to) {
  auto changed = report::changed_job(text, file, {}, to);
  REQUIRE(changed);
  INFO(changed->diff << changed->text);
  CHECK(changed->left.empty());
  return *changed;
}

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

// The lines of the first text that the second does not have.
std::set<std::string> lost(const std::string& before, const std::string& after) {
  const auto had = lines_of(before), has = lines_of(after);
  std::set<std::string> gone;
  for (const auto& line : had)
    if (has.count(line) < had.count(line)) gone.insert(line);
  return gone;
}

const std::string script =
    "#!/bin/bash\n"
    "# --tensor-model-parallel-size 8 was slower\n"
    "TP=4   # of eight\n"
    "MODEL_ARGS=(\n"
    "    --num-layers 8 --hidden-size 1024\n"
    "    --num-attention-heads 16 --ffn-hidden-size 2816 --swiglu\n"
    "    --normalization RMSNorm --position-embedding-type rope --disable-bias-linear\n"
    "    --untie-embeddings-and-output-weights --attention-dropout 0 --hidden-dropout 0\n"
    "    --vocab-size 32000 --seq-length 2048 --max-position-embeddings 2048\n"
    ")\n"
    "torchrun --nproc-per-node 8 --nnodes 1 pretrain_gpt.py \\\n"
    "    \"${MODEL_ARGS[@]}\" \\\n"
    "    --tensor-model-parallel-size $TP \\\n"
    "    --sequence-parallel \\\n"
    "    --micro-batch-size 1 \\\n"
    "    --global-batch-size 32 \\\n"
    "    --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 \\\n"
    "    --bf16   --lr 3e-4 \\\n"
    "    --save /checkpoints/of mine\n";

}  // namespace

TEST_CASE("arguments of a script change in their places, and no other line does") {
  const auto changed =
      change(script, "train.sh",
             scenario("pipeline: 2, micro_batch: 2, schedule: 1f1b, zero: 1", "megatron-core"));
  CHECK(lost(script, changed.text) ==
        std::set<std::string>{"    --tensor-model-parallel-size $TP \\",
                              "    --sequence-parallel \\", "    --micro-batch-size 1 \\",
                              "    --recompute-granularity full --recompute-method uniform "
                              "--recompute-num-layers 1 \\"});
  CHECK_THAT(changed.text, STEPCAST_HOLDS("    --tensor-model-parallel-size 1 \\\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("    --pipeline-model-parallel-size 2 \\\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("    --use-distributed-optimizer \\\n"));
  CHECK_THAT(changed.diff, STEPCAST_HOLDS("--- a/train.sh\n+++ b/train.sh\n@@ -"));
  CHECK_THAT(changed.diff, STEPCAST_HOLDS("\n-    --micro-batch-size 1 \\\n"));
  CHECK_THAT(changed.diff, STEPCAST_HOLDS("\n+    --micro-batch-size 2 \\\n"));
}

TEST_CASE("a job that runs the plan already is left as it is") {
  const auto changed =
      change(script, "train.sh",
             scenario("tensor: 4, sequence_parallel: true, recompute: full, overlap: {data: false}",
                      "megatron-core"));
  CHECK(changed.text == script);
  CHECK(changed.diff.empty());
}

namespace {

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  REQUIRE(at != text.npos);
  return text.replace(at, part.size(), by);
}

const std::string four = "    --tensor-model-parallel-size $TP \\\n";
const std::string eight = "--tensor-model-parallel-size 8";

// The job's text once it runs with two GPUs for each tensor.
std::string halved(const std::string& text) {
  return change(
             text, "train.sh",
             scenario("tensor: 2, sequence_parallel: true, recompute: full, overlap: {data: false}",
                      "megatron-core"))
      .text;
}

}  // namespace

TEST_CASE("the argument by which a script goes changes, and no other text with its name") {
  const auto two = replaced(script, "$TP", "2");
  for (const auto& behind :
       {"echo \"ran " + eight + " before\"\n", "echo " + eight + "\n",
        "printf '%s' " + eight + "\n", "cat <<EOF\nusage: " + eight + "\nEOF\n",
        "python eval.py " + eight + "\n", "if false; then\n  MORE=\"" + eight + "\"\nfi\n",
        ": \"" + eight + "\"\n", "exit 0\n" + replaced(script, "$TP", "8")}) {
    INFO(behind);
    CHECK(halved(script + behind) == two + behind);
  }
  const auto before = "if [ \"$1\" = eval ]; then\n  torchrun eval.py " + eight + "\n  exit\nfi\n";
  CHECK(halved(before + script) == before + two);
  for (const auto& more : {"  # not " + eight + "\n", " " + eight + "\n"}) {
    const auto with = [&](const std::string& text) {
      return replaced(text, "--swiglu\n", "--swiglu" + more);
    };
    CHECK(halved(with(script)) == with(two));
  }
  const auto named = [](const std::string& text) {
    return replaced(text, "--bf16", "--wandb-exp-name \"a " + eight + " b\" --bf16");
  };
  CHECK(halved(named(script)) == named(two));
}

TEST_CASE("an argument in a variable changes where the value that counts is set") {
  const auto sets = [](const std::string& how) {
    return how + replaced(script, four, "    $B $A \\\n");
  };
  const std::string cases =
      "B= S=a\ncase $S in\n  a) A=\"--tensor-model-parallel-size 4\";;\n  b) A=\"" + eight +
      "\";;\nesac\n";
  const std::string branches =
      "B=\nif [ 1 = 1 ]; then A=\"--tensor-model-parallel-size 4\"; else A=\"" + eight + "\"; fi\n";
  const std::string order = "A=\"--tensor-model-parallel-size 4\"\nB=\"" + eight + "\"\n";
  for (const auto& how : {cases, branches, order})
    CHECK(halved(sets(how)) == sets(replaced(how, "size 4", "size 2")));
}

TEST_CASE("an argument that other text alone names is new to the command") {
  const std::string said = "echo --pipeline-model-parallel-size 2 --use-distributed-optimizer\n";
  const auto changed =
      change(script + said, "train.sh",
             scenario("tensor: 2, pipeline: 2, sequence_parallel: true, zero: 1, recompute: full, "
                      "schedule: 1f1b",
                      "megatron-core"));
  CHECK(changed.text.ends_with("of mine\n" + said));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("    --pipeline-model-parallel-size 2 \\\n"));
}

TEST_CASE("an argument whose value stands nowhere beside it is told and left") {
  const auto split = replaced(script, four, "    --tensor-model-parallel-size \\\n    $TP \\\n");
  const auto changed = report::changed_job(
      split, "train.sh", {},
      scenario("tensor: 2, sequence_parallel: true, recompute: full, overlap: {data: false}",
               "megatron-core"));
  REQUIRE(changed);
  CHECK(changed->text == split);
  CHECK(changed->left == std::vector<std::string>{"plan.tensor"});
}

// The software of a script that says nothing of it, on the GPUs of these scenarios.
namespace {
constexpr const char* on_hopper = "{base: megatron-core, attention: fused}";
}  // namespace

TEST_CASE("a script is read with the files that it names, and keeps them") {
  const auto sourced = "source ./env.sh\n" + replaced(script, "TP=4   # of eight\n", "");
  const scenarios::JobFiles files = [](const std::string& path) -> std::optional<std::string> {
    return path == "./env.sh" || path == "env.sh" ? std::optional("TP=4\n") : std::nullopt;
  };
  const auto to =
      scenario("tensor: 2, sequence_parallel: true, recompute: full, overlap: {data: false}",
               "megatron-core");
  const auto changed = report::changed_job(sourced, "train.sh", {}, to, files);
  REQUIRE(changed);
  CHECK(changed->text == replaced(sourced, "$TP", "2"));
  CHECK(changed->left.empty());
}

TEST_CASE("a script that turns Megatron-FSDP on or off has what Megatron-LM wants beside it") {
  const auto with = [](const std::string& queues, const std::string& more) {
    return "export CUDA_DEVICE_MAX_CONNECTIONS=" + queues + "  # see the guide\n" +
           script.substr(0, script.find("    --bf16")) + more +
           script.substr(script.find("    --bf16"));
  };
  const auto sharded = scenario("zero: 3, micro_batch: 1, recompute: full", on_hopper);
  const auto divided =
      scenario("tensor: 4, sequence_parallel: true, zero: 1, recompute: full", on_hopper);
  const auto on = change(with("1", "    --ckpt-format torch_dist \\\n"), "train.sh", sharded);
  CHECK_THAT(on.text, STEPCAST_HOLDS("    --use-megatron-fsdp \\\n"));
  CHECK_THAT(on.text, STEPCAST_HOLDS("    --ckpt-format fsdp_dtensor \\\n"));
  CHECK_THAT(on.text, STEPCAST_HOLDS("export CUDA_DEVICE_MAX_CONNECTIONS=8  # see the guide\n"));
  CHECK(on.beside.empty());
  const auto added = change(with("1", ""), "train.sh", sharded);
  CHECK_THAT(added.text, STEPCAST_HOLDS("    --ckpt-format fsdp_dtensor"));
  const auto back =
      change(with("8",
                  "    --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
                  "\\\n    --ckpt-format fsdp_dtensor \\\n    --init-model-with-meta-device "
                  "\\\n    --outer-dp-sharding-strategy optim \\\n"),
             "train.sh", divided);
  for (const auto* gone : {"fsdp", "--ckpt-format", "--init-model-with-meta-device", "--outer-dp"})
    CHECK(back.text.find(gone) == std::string::npos);
  CHECK_THAT(back.text, STEPCAST_HOLDS("CUDA_DEVICE_MAX_CONNECTIONS=1  # see the guide\n"));
}

TEST_CASE("queues that a script of Megatron-LM sets by no number of its own are told") {
  const auto sharded = scenario("zero: 3, micro_batch: 1, recompute: full", on_hopper);
  const auto sentences = [&](const std::string& before, const forecast::Scenario& to) {
    return change(before + script, "train.sh", to).beside;
  };
  CHECK(sentences("", sharded).empty());
  CHECK(sentences("# CUDA_DEVICE_MAX_CONNECTIONS=1\n", sharded).empty());
  CHECK(sentences("export CUDA_DEVICE_MAX_CONNECTIONS=${QUEUES:-1}\n", sharded) ==
        std::vector<std::string>{
            "CUDA_DEVICE_MAX_CONNECTIONS: Megatron-FSDP does not start where it is 1"});
  const auto whole = script.substr(0, script.find("    --tensor")) +
                     script.substr(script.find("    --micro-batch"));
  const auto divided =
      scenario("tensor: 4, sequence_parallel: true, zero: 0, recompute: full", on_hopper);
  const auto told = change(whole, "train.sh", divided).beside;
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), STEPCAST_HOLDS("before Blackwell Megatron-LM starts with tensor"));
  const std::string queues = "export CUDA_DEVICE_MAX_CONNECTIONS=";
  for (const auto* one : {"${QUEUES:-1}", "\"${CUDA_DEVICE_MAX_CONNECTIONS:-1}\"", "${QUEUES-1}"})
    CHECK(change(queues + one + "\n" + whole, "train.sh", divided).beside.empty());
  for (const auto* other : {"${QUEUES:-8}", "${QUEUES}", "$(queues)"})
    CHECK(change(queues + other + "\n" + whole, "train.sh", divided).beside == told);
}

TEST_CASE("queues that a file beside a script sets are those of the script") {
  const auto sourced = "source ./env.sh\n" + replaced(script, "TP=4   # of eight\n", "");
  const auto whole = sourced.substr(0, sourced.find("    --tensor")) +
                     sourced.substr(sourced.find("    --micro-batch"));
  const auto divided =
      scenario("tensor: 4, sequence_parallel: true, zero: 0, recompute: full", on_hopper);
  const auto told_beside = [&](const std::string& queues) {
    const scenarios::JobFiles files = [&](const std::string&) {
      return std::optional("export NCCL_DEBUG=WARN CUDA_DEVICE_MAX_CONNECTIONS=" + queues + "\n");
    };
    const auto changed = report::changed_job(whole, "train.sh", {}, divided, files);
    REQUIRE(changed);
    return changed->beside.size();
  };
  CHECK(told_beside("1") == 0);
  CHECK(told_beside("8") == 1);
}

TEST_CASE("a job of Megatron-DeepSpeed changes in its own words") {
  const std::string job =
      "deepspeed --num_gpus 8 pretrain_gpt.py \\\n"
      "    --num-layers 8 --hidden-size 1024 --num-attention-heads 16 --vocab-size 32000 \\\n"
      "    --seq-length 2048 --max-position-embeddings 2048 \\\n"
      "    --tensor-model-parallel-size 1 \\\n"
      "    --micro-batch-size 1 --global-batch-size 32 \\\n"
      "    --bf16 \\\n"
      "    --deepspeed --zero-stage 1 \\\n"
      "    --no-pipeline-parallel \\\n"
      "    --lr 3e-4\n";
  const auto model =
      "{layers: 8, hidden: 1024, heads: 16, ffn: 4096, vocab: 32000, activation: gelu, norm: "
      "layernorm, position: learned, biases: true, tied_embeddings: true}";
  const auto to = [&](const std::string& plan) {
    return scenario(plan, "megatron-deepspeed-bf16", model);
  };
  const auto changed =
      change(job, "train.sh",
             to("tensor: 2, context: 2, context_method: ulysses, zero: 2, recompute: full"));
  for (const auto* line :
       {"--tensor-model-parallel-size 2", "--ds-sequence-parallel-size 2", "--zero-stage 2",
        "--checkpoint-activations", "--deepspeed-activation-checkpointing", "--bf16 \\"})
    CHECK_THAT(changed.text, STEPCAST_HOLDS(line));
  for (const auto* other : {"--use-", "--context-parallel-size", "--recompute-", "--cp-comm"})
    CHECK(changed.text.find(other) == std::string::npos);
  const auto back = change(changed.text, "train.sh", to("pipeline: 2, zero: 1"));
  for (const auto* other : {"--checkpoint-activations", "--deepspeed-activation-checkpointing",
                            "--no-pipeline-parallel", "--zero-stage 2"})
    CHECK(back.text.find(other) == std::string::npos);
  const auto ring =
      report::changed_job(job, "train.sh", {}, to("context: 2, context_method: ring, zero: 1"));
  REQUIRE(ring);
  CHECK(ring->left == std::vector<std::string>{"plan.context"});
}

TEST_CASE("keys of TOML change in their places") {
  const std::string job =
      "# mine\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nlocal_batch_size = 1  # "
      "each\nglobal_batch_size = 32\nseq_len = 2048\n\n[parallelism]\ndata_parallel_shard_degree = "
      "-1\ntensor_parallel_degree = 2   # inside of a node\n\n[activation_checkpoint]\nmode = "
      "\"full\"\n[compile]\nenable = true\n";
  const auto changed = change(
      job, "job.toml",
      scenario("tensor: 4, sequence_parallel: true, micro_batch: 2, zero: 3, recompute: per-op",
               "torchtitan", "llama3-8b"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("tensor_parallel_degree = 4   # inside of a node\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("local_batch_size = 2  # each\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("mode = \"selective\"\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("selective_ac_option = \"op\"\n"));
  CHECK(lost(job, changed.text) ==
        std::set<std::string>{"local_batch_size = 1  # each",
                              "tensor_parallel_degree = 2   # inside of a node",
                              "mode = \"full\""});
}

TEST_CASE("stages of torchtitan change to those of the plan") {
  const std::string job =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nlocal_batch_size = "
      "8\nseq_len = 2048\n\n[parallelism]\npipeline_parallel_degree = 2\n\n"
      "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = true\n";
  const auto changed = change(job, "job.toml",
                              scenario("pipeline: 4, schedule: interleaved, virtual_stages: 2, "
                                       "layers_per_stage: [3, 4, 4, 5, 4, 4, 4, 4], zero: 3, "
                                       "reshard_after_forward: false, recompute: full",
                                       "torchtitan", "llama3-8b"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("pipeline_parallel_degree = 4\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("pipeline_parallel_schedule = \"Interleaved1F1B\"\n"));
  CHECK_THAT(changed.text,
             STEPCAST_HOLDS("[\"tok_embeddings\", \"layers.0\", \"layers.1\", \"layers.2\"]"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("local_batch_size = 16\n"));  // of two replicas
  CHECK(changed.launch.not_expressed.empty());
  const scenarios::JobHints over{{}, {"WORLD_SIZE=8"}};
  CHECK(scenarios::read_job(changed.text, "job.toml", over));  // torchtitan starts with it
}

TEST_CASE("the local batch of torchtitan's pipeline is all microbatches of the plan's step") {
  const auto job = [](const std::string& batch) {
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\n" + batch +
           "global_batch_size = 32\nseq_len = 2048\n\n[parallelism]\n"
           "pipeline_parallel_degree = 2\n\n[activation_checkpoint]\nmode = \"full\"\n"
           "[compile]\nenable = true\n";
  };
  const auto piped = scenario(
      "pipeline: 2, zero: 3, reshard_after_forward: false, recompute: full, layers_per_stage: [16, "
      "16]",
      "torchtitan", "llama3-8b");
  const auto changed = change(job("local_batch_size = 2  # mine\n"), "job.toml", piped);
  CHECK_THAT(changed.text, STEPCAST_HOLDS("\nlocal_batch_size = 8  # mine\n"));  // 32 / 4 replicas
  CHECK_THAT(changed.text, STEPCAST_HOLDS("\nglobal_batch_size = 32\n"));
  CHECK(change(job("local_batch_size = 8\n"), "job.toml", piped).diff.empty());
  CHECK(change(job(""), "job.toml", piped).diff.empty());  // 8 is the default
}

TEST_CASE("degrees of torchtitan that another number of GPUs contradicts change with it") {
  const std::string job =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 4\nseq_len = "
      "2048\n[parallelism]\ndata_parallel_shard_degree = 2\n[compile]\nenable = true\n"
      "[activation_checkpoint]\nmode = \"none\"\n";
  const auto changed =
      change(job, "job.toml", scenario("zero: 3, micro_batch: 4", "torchtitan", "llama3-8b"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("data_parallel_shard_degree = 8\n"));  // of 8 GPUs
}

TEST_CASE("layers that torchtitan recomputes unless it is told otherwise are told otherwise") {
  const std::string job =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = "
      "4\nseq_len = 2048\n[compile]\nenable = true\n";
  const auto changed =
      change(job, "job.toml", scenario("zero: 3, micro_batch: 4", "torchtitan", "llama3-8b"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("[activation_checkpoint]\nmode = \"none\"\n"));
}

TEST_CASE("keys of DeepSpeed's JSON change in their places") {
  const std::string job =
      "{\n  // tuned in May\n  \"train_batch_size\": 32,\n  \"train_micro_batch_size_per_gpu\": "
      "1,\n  \"bf16\": { \"enabled\": true },\n  \"zero_optimization\": {\n    \"stage\": 3,\n    "
      "\"overlap_comm\": true\n  }\n}\n";
  const auto changed =
      change(job, "ds_config.json", scenario("micro_batch: 4, zero: 1", "deepspeed"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("  \"train_micro_batch_size_per_gpu\": 4,\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("    \"stage\": 1,\n"));
  CHECK(lost(job, changed.text) ==
        std::set<std::string>{"  \"train_micro_batch_size_per_gpu\": 1,", "    \"stage\": 3,"});
}

TEST_CASE("keys of nanotron's YAML change in their places") {
  const std::string job =
      "model:\n  dtype: bfloat16\n  model_config:\n    num_hidden_layers: 8\n    hidden_size: "
      "1024\n    num_attention_heads: 16\n    intermediate_size: 2816\n    vocab_size: 32000\n    "
      "max_position_embeddings: 2048\nparallelism:\n  dp: 8   # all\n  pp: 1\n  tp: 1\n  "
      "recompute_layer: true\ntokens:\n  batch_accumulation_per_replica: 4\n  micro_batch_size: "
      "1\n  sequence_length: 2048\noptimizer:\n  zero_stage: 0\n";
  const auto changed =
      change(job, "config.yaml",
             scenario("pipeline: 2, schedule: 1f1b, micro_batch: 2, zero: 1", "nanotron"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("  dp: 4   # all\n  pp: 2\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("  zero_stage: 1\n"));
  CHECK_THAT(changed.text, STEPCAST_HOLDS("  pp_engine: 1f1b\n"));
  CHECK_FALSE(lost(job, changed.text).contains("tokens:"));
}

TEST_CASE("nanotron does not communicate under products whose sums are not scattered") {
  const auto job = [](const std::string& mode) {
    return "model:\n  dtype: bfloat16\n  model_config:\n    num_hidden_layers: 8\n    hidden_size: "
           "1024\n    num_attention_heads: 16\n    intermediate_size: 2816\n    vocab_size: "
           "32000\n    max_position_embeddings: 2048\nparallelism:\n  dp: 4\n  pp: 1\n  tp: 2\n" +
           mode +
           "tokens:\n  batch_accumulation_per_replica: 8\n  micro_batch_size: 1\n  "
           "sequence_length: 2048\noptimizer:\n  accumulate_grad_in_fp32: true\n  zero_stage: 0\n";
  };
  const std::string scatters = "  tp_linear_async_communication: true\n  tp_mode: REDUCE_SCATTER\n";
  const auto sums = scenario("tensor: 2, zero: 0", "nanotron");
  const auto changed = change(job(scatters), "config.yaml", sums);
  CHECK(changed.text == job("  tp_linear_async_communication: false\n  tp_mode: ALL_REDUCE\n"));
  const auto kept =
      scenario("tensor: 2, sequence_parallel: true, zero: 0, overlap: {tensor: true}", "nanotron");
  CHECK(change(job(scatters), "config.yaml", kept).text == job(scatters));
}

TEST_CASE("a job whose arguments stand in another file, or in no file of ours, is not changed") {
  const auto of = [](const std::string& framework, const std::string& text) {
    scenarios::JobAccount account;
    account.framework = framework;
    return report::why_unchangeable(account, text);
  };
  CHECK(of("megatron", script).empty());
  CHECK(of("torchtitan", "[model]\nname = \"llama3\"\n").empty());
  CHECK(of("torchtitan", "torchrun -m torchtitan.train --job.config_file job.toml\n")
            .starts_with("the arguments stand in a file that it names"));
  CHECK(of("deepspeed", "deepspeed train.py --deepspeed_config ds.json\n")
            .starts_with("the arguments stand in a file"));
  CHECK(of("gpt-neox", "{}") == "its framework has no launch configurations");
}

TEST_CASE("a diff is unified, with three lines of context") {
  CHECK(report::unified_diff("a\nb\n", "a\nb\n", "f").empty());
  CHECK(
      report::unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "f") ==
      "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  CHECK(report::unified_diff("x\n", "x\ny", "f") ==
        "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n x\n+y\n\\ No newline at end of file\n");
}

}  // namespace job_change_spec
