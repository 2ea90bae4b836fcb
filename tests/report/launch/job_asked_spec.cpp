// SPDX-License-Identifier: Apache-2.0
// Jobs changed to the plan that `--set` lays over them.
#include "report/launch/job_change.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace job_asked_spec {

namespace {

using Sets = std::vector<std::string>;
using Sentences = std::vector<std::string>;

// Four nodes of eight GPUs, 128 sequences a step: micro-batches of one on 16 replicas.
const std::string head =
    "#!/bin/bash\n"
    "#SBATCH --nodes=4\n"
    "#SBATCH --gpus-per-node=8\n";
const std::string command =
    "srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py --num-layers 32 "
    "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
    "--tokenizer-type NullTokenizer --vocab-size 32000 --bf16 --micro-batch-size 1 "
    "--global-batch-size 128";

std::string with(const std::string& more, const std::string& before = "") {
  return head + before + command + " --tensor-model-parallel-size 2" + more + "\n";
}

report::ChangedJob asked(const std::string& text, const std::string& file, Sets sets,
                         const scenarios::JobHints& hints = {}) {
  sets.push_back("cluster.node=dgx-h100");
  const auto placed =
      scenarios::load_placed_scenario(scenarios::Source(file, text), sets, hints).value;
  auto changed = report::changed_job(text, file, hints, placed);
  REQUIRE(changed);
  return *changed;
}

// The text of a script under the plan, all keys of which it has.
std::string script_under(const std::string& text, const Sets& sets) {
  const auto changed = asked(text, "train.sh", sets);
  INFO(changed.diff);
  CHECK(changed.left == Sentences{});
  return changed.text;
}

bool gives(const std::string& text, const std::string& name) {
  return text.find(" " + name + " ") != text.npos || text.find(" " + name + "\n") != text.npos;
}

bool tells(const Sentences& sentences, const std::string& beginning) {
  return std::ranges::any_of(sentences,
                             [&](const std::string& one) { return one.starts_with(beginning); });
}

}  // namespace

TEST_CASE("a script gets the arguments of every key of the plan that Megatron-LM has") {
  const auto plain = with("");
  const auto offloaded = script_under(plain, {"plan.offload.optimizer=cpu", "plan.zero=1"});
  for (const auto* name : {"--optimizer-cpu-offload", "--use-precision-aware-optimizer",
                           "--use-distributed-optimizer"})
    CHECK(gives(offloaded, name));
  CHECK(gives(script_under(plain, {"plan.gradient_precision=bf16"}), "--grad-reduce-in-bf16"));
  CHECK(gives(script_under(plain, {"plan.overlap.data=true"}), "--overlap-grad-reduce"));
  CHECK(gives(script_under(plain, {"plan.zero=1", "plan.master_weights=fp16"}),
              "--main-params-dtype fp16"));
  CHECK(gives(script_under(plain, {"plan.bucket=100000000"}), "--ddp-bucket-size 25000000"));
  // 16 replicas on 4 nodes: 4 instances, each divided over the 4 replicas of a node.
  CHECK(gives(script_under(plain, {"plan.zero=1", "plan.shard_group=node"}),
              "--num-distributed-optimizer-instances 4"));
  const auto longer = script_under(plain, {"training.sequence_length=8192"});
  CHECK(gives(longer, "--seq-length 8192"));
  CHECK(gives(longer, "--max-position-embeddings 8192"));
  CHECK(gives(script_under(plain, {"training.sequence_length=2048"}),
              "--max-position-embeddings 4096"));
}

TEST_CASE("keys of the plan that no argument can say are told, and those that the job says not") {
  const auto free = asked(with(""), "train.sh", {"plan.overlap.tensor=false"});
  CHECK(free.diff.empty());
  CHECK(tells(report::sentences_of(free.launch.not_expressed), "overlap.tensor false"));
  const auto bf16 = asked(
      "{\"bf16\": {\"enabled\": true, \"bf16_master_weights_and_grads\": "
      "true}, \"train_batch_size\": 32, \"train_micro_batch_size_per_gpu\": 1}",
      "ds.json", {"model=llama3-8b", "training.sequence_length=4096", "plan.zero=1"},
      {"", {"WORLD_SIZE=8"}});
  CHECK_FALSE(tells(report::sentences_of(bf16.launch.not_expressed), "master_weights"));
  CHECK_THAT(bf16.text, STEPCAST_HOLDS("\"bf16_master_weights_and_grads\": true"));
}

TEST_CASE("a number of nodes changes where the script says it plainly") {
  CHECK(script_under(with(""), {"cluster.nodes=8"}) ==
        "#!/bin/bash\n#SBATCH --nodes=8\n#SBATCH --gpus-per-node=8\n" +
            with("").substr(head.size()));
  const auto torchrun = "NNODES=4  # --nodes=4\ntorchrun --nproc_per_node 8 --nnodes $NNODES" +
                        command.substr(command.find(" pretrain")) +
                        " --tensor-model-parallel-size 2\n";
  CHECK(script_under(torchrun, {"cluster.nodes=2"}) ==
        "NNODES=2  # --nodes=4\n" + std::string(torchrun).substr(22));
  const auto computed =
      asked("torchrun --nproc_per_node 8 --nnodes $((2 * 2))" +
                command.substr(command.find(" pretrain")) + " --tensor-model-parallel-size 2\n",
            "train.sh", {"cluster.nodes=8"});
  CHECK(computed.diff.empty());
  CHECK(computed.beside ==
        Sentences{"cluster: the script starts 32 processes, and the plan is for 64 GPUs; change "
                  "its number of nodes, or of processes on each"});
}

TEST_CASE("an argument without which Megatron-LM would not start goes with what it stands on") {
  const auto goes = [](const std::string& more, const Sets& sets, const std::string& name) {
    INFO(more);
    const auto text = asked(with(more), "train.sh", sets).text;
    CHECK(gives(with(more), name));
    CHECK_FALSE(gives(text, name));
  };
  goes(" --sequence-parallel --tp-comm-overlap", {"plan.tensor=1", "plan.sequence_parallel=false"},
       "--tp-comm-overlap");
  const std::string whole =
      " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 "
      "--distribute-saved-activations";
  goes(whole, {"plan.recompute=none"}, "--distribute-saved-activations");
  goes(whole, {"plan.recompute=selective"}, "--distribute-saved-activations");
  goes(whole, {"plan.sequence_parallel=true"}, "--distribute-saved-activations");
  const std::string groups = "--microbatch-group-size-per-virtual-pipeline-stage 2";
  const std::string chunks =
      " --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 ";
  goes(chunks + groups, {"plan.pipeline=4"}, groups);  // of fewer microbatches than four ranks
  const std::string nested =
      " --context-parallel-size 4 --cp-comm-type a2a+p2p --hierarchical-context-parallel-sizes 2 2";
  goes(nested, {"plan.context=2"}, "--hierarchical-context-parallel-sizes 2 2");
  goes(nested, {"plan.context=2"}, "--cp-comm-type a2a+p2p");
  goes(" --fp8-format hybrid --fp8-param-gather --use-distributed-optimizer", {"plan.zero=0"},
       "--fp8-param-gather");
  const std::string ahead =
      " --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather";
  goes(ahead, {"plan.zero=0"}, "--overlap-param-gather");
  goes(ahead, {"plan.zero=0"}, "--use-distributed-optimizer");
  goes(" --cpu-offloading-num-layers 4", {"plan.pipeline=2"}, "--cpu-offloading-num-layers 4");
  goes(" --cpu-offloading-num-layers 4", {"plan.recompute=full"}, "--cpu-offloading-num-layers 4");
  CHECK(gives(asked(with(nested), "train.sh", {"plan.micro_batch=2"}).text,
              "--hierarchical-context-parallel-sizes 2 2"));
}

TEST_CASE("exchanges of experts run beside computation only where Megatron-LM has it") {
  const std::string experts =
      head + "export CUDA_DEVICE_MAX_CONNECTIONS=8\n" + command +
      " --num-experts 8 --moe-router-topk 2 --moe-grouped-gemm --disable-bias-linear "
      "--moe-token-dispatcher-type alltoall --expert-model-parallel-size 8 "
      "--overlap-moe-expert-parallel-comm\n";
  for (const auto* set : {"plan.recompute=full", "plan.pipeline=2"}) {
    const auto changed = asked(experts, "train.sh", {set});
    CHECK_FALSE(gives(changed.text, "--overlap-moe-expert-parallel-comm"));
    CHECK(tells(report::sentences_of(changed.launch.not_expressed),
                "overlap.expert true: Megatron-LM refuses it"));
  }
  // Any number of queues will do beside them.
  const auto kept = asked(experts, "train.sh", {"plan.tensor=2", "plan.sequence_parallel=true"});
  CHECK(gives(kept.text, "--overlap-moe-expert-parallel-comm"));
  CHECK_THAT(kept.text, STEPCAST_HOLDS("CUDA_DEVICE_MAX_CONNECTIONS=8\n"));
}

TEST_CASE("PyTorch's FSDP makes room for Megatron's in a pipeline, and asks for no queue") {
  const auto sharded = head + command +
                       " --use-torch-fsdp2 --no-gradient-accumulation-fusion "
                       "--untie-embeddings-and-output-weights\n";
  const auto piped = asked(sharded, "train.sh", {"plan.pipeline=2"}).text;
  CHECK_FALSE(gives(piped, "--use-torch-fsdp2"));
  CHECK(gives(piped, "--use-megatron-fsdp"));
  CHECK(gives(piped, "--ckpt-format fsdp_dtensor"));
  const auto divided = asked(sharded, "train.sh", {"plan.tensor=2"});
  CHECK(gives(divided.text, "--use-torch-fsdp2"));
  CHECK(divided.beside.empty());
}

TEST_CASE("a layout of stages has no quotes inside of a text that becomes words") {
  const Sets four{"plan.pipeline=4", "plan.layers_per_stage=[7,8,9,8]"};
  const std::string two = "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2";
  const std::string run = command.substr(command.find("torchrun"));
  const std::string launch =
      "torchrun --nproc_per_node 8 --nnodes 4" + run.substr(run.find(" pretrain"));
  const std::string layout = "--pipeline-model-parallel-layout ", value = "Et*7|t*8|t*9|t*8L";
  const auto written = [&](const std::string& text) {
    const auto changed = script_under(text, four);
    const auto at = changed.find(layout);
    REQUIRE(at != changed.npos);
    return changed.substr(at + layout.size(), changed.find('\n', at) - at - layout.size());
  };
  CHECK(written("ARGS=\"" + two + "\"\n" + launch + " $ARGS\n") == value + "\"");
  CHECK(written("ARGS='" + two + "'\n" + launch + " $ARGS\n") == value + "'");
  CHECK(written("srun bash -c '" + launch + " " + two + "'\n") == "\"" + value + "\"'");
  CHECK(written("srun bash -c \"" + launch + " " + two + "\"\n") == "'" + value + "'\"");
  CHECK(written("RUN=\"" + launch + " " + two + "\"\neval $RUN\n") == "'" + value + "'\"");
  CHECK(written(launch + " " + two + "\n") == "'" + value + "'");
}

TEST_CASE("a layout of stages is quoted for each shell that reads it") {
  const Sets two{"plan.pipeline=2", "plan.layers_per_stage=[17,15]"};
  const std::string value = "'Et*17|t*15L'";
  const auto model = command.substr(command.find("--num-layers"));
  const std::string launch = "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py ";
  const auto layout_of = [&](const std::string& text) {
    const auto changed = asked(text, "train.sh", two);
    INFO(changed.diff);
    CHECK(changed.left == Sentences{});
    CHECK(changed.beside == Sentences{});
    const std::string name = "--pipeline-model-parallel-layout ";
    const auto at = changed.text.find(name);
    REQUIRE(at != changed.text.npos);
    CHECK(changed.text.find(name, at + 1) == changed.text.npos);
    return changed.text.substr(at + name.size(), value.size() + 2);
  };
  // Text behind the bar, and arguments that a cut command lacks, follow from no default.
  const auto args =
      "ARGS=\"--tensor-model-parallel-size 2 \\\n  --pipeline-model-parallel-size 2 "
      "\\\n  " +
      model + "\"\n";
  const auto queues = std::string("export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
  CHECK(layout_of(queues + args + "RUN=\"" + launch + "$ARGS\"\neval ${RUN}\n") == value + " \\");
  CHECK(layout_of(queues + args + "RUN=\"" + launch + "$ARGS --lr 1\"\neval $RUN\n") ==
        value + " \\");
  CHECK(layout_of(queues + args + "srun bash -c \"" + launch + "$ARGS\"\n") == value + " \\");
  const auto added = queues + "OPTS=()\nadd() { OPTS+=(\"$@\"); }\nadd " + model +
                     "\nadd --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2\n";
  const auto asks = added + "RUN=\"cd /opt; " + launch + "${OPTS[*]}\"\nsh -c \"$RUN\"\n";
  CHECK(layout_of(asks) == "\"" + value + "\"");
  CHECK(layout_of(added + launch + "\"${OPTS[@]}\"\n").starts_with(value));
}

TEST_CASE("the sizes of DeepSpeed's batch change together") {
  const std::string json =
      "{\n  \"fp16\": {\"enabled\": true},\n  \"train_batch_size\": 256,\n"
      "  \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 2\n}\n";
  const Sets model{"model=llama3-8b", "training.sequence_length=4096"};
  const auto under = [&](const std::string& set) {
    auto sets = model;
    sets.push_back(set);
    return asked(json, "ds.json", sets, {"", {"WORLD_SIZE=32"}});
  };
  const auto two = under("plan.micro_batch=2");
  CHECK_THAT(two.text, STEPCAST_HOLDS("\"train_batch_size\": 256,\n"));
  CHECK_THAT(two.text, STEPCAST_HOLDS("\"train_micro_batch_size_per_gpu\": 2,\n"));
  CHECK_THAT(two.text, STEPCAST_HOLDS("\"gradient_accumulation_steps\": 4\n"));
  // The training script has the pipeline: 8 replicas of 4 stages.
  const auto piped = under("plan.pipeline=4");
  CHECK_THAT(piped.text, STEPCAST_HOLDS("\"gradient_accumulation_steps\": 8\n"));
  CHECK(
      tells(report::sentences_of(piped.launch.not_expressed), "pipeline 4 with layers_per_stage"));
}

TEST_CASE("DeepSpeed's JSON gets states on the host, and groups of shards") {
  const std::string json =
      "{\n  \"bf16\": {\"enabled\": true},\n  \"zero_optimization\": {\"stage\": 2},\n"
      "  \"train_batch_size\": 256,\n  \"train_micro_batch_size_per_gpu\": 4\n}\n";
  const auto under = [&](const Sets& sets) {
    auto all = sets;
    all.insert(all.end(), {"model=llama3-8b", "training.sequence_length=4096"});
    return asked(json, "ds.json", all, {"", {"WORLD_SIZE=32"}});
  };
  const auto host = under({"plan.offload.optimizer=cpu"});
  CHECK_THAT(host.text, STEPCAST_HOLDS("\"offload_optimizer\": {\"device\": \"cpu\"}"));
  CHECK(tells(report::sentences_of(host.launch.not_expressed), "offload.gradients none"));
  CHECK_THAT(under({"plan.zero=3", "plan.shard_group=node"}).text,
             STEPCAST_HOLDS("\"mics_shard_size\": 8"));
  const auto buckets = under({"plan.bucket=100000000"});  // of two bytes each
  CHECK_THAT(buckets.text, STEPCAST_HOLDS("\"reduce_bucket_size\": 50000000"));
  CHECK(buckets.text.find("data_types") == std::string::npos);
}

TEST_CASE("a job of Megatron-DeepSpeed offloads in its own words, and gets none of Megatron-LM") {
  const std::string job =
      "deepspeed --num_gpus 8 --num_nodes 4 pretrain_gpt.py \\\n    --num-layers 8 --hidden-size "
      "1024 --num-attention-heads 16 --vocab-size 32000 \\\n    --seq-length 2048 "
      "--max-position-embeddings 2048 \\\n    --micro-batch-size 1 --global-batch-size 32 "
      "\\\n    --bf16 --deepspeed --zero-stage 1 --no-pipeline-parallel --lr 3e-4\n";
  CHECK(gives(script_under(job, {"plan.offload.optimizer=cpu"}), "--cpu-optimizer"));
  CHECK_THAT(script_under(job, {"cluster.nodes=2"}), STEPCAST_HOLDS("--num_nodes 2 "));
  const auto narrow = asked(job, "train.sh", {"plan.master_weights=fp16"});
  CHECK(narrow.diff.empty());
  CHECK(narrow.left == Sentences{"plan.master_weights"});
}

TEST_CASE("torchtitan's file keeps what it says of all ranks, and gets chunks and offloading") {
  const std::string toml =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 8\n"
      "global_batch_size = 256\nseq_len = 2048\n[parallelism]\ndata_parallel_shard_degree = -1\n"
      "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = true\n";
  const auto under = [&](const Sets& sets) {
    return asked(toml, "job.toml", sets, {"", {"WORLD_SIZE=32"}});
  };
  const auto chunks =
      under({"plan.pipeline=4", "plan.schedule=interleaved", "plan.virtual_stages=2"});
  CHECK(chunks.left == Sentences{});
  CHECK_THAT(chunks.text, STEPCAST_HOLDS("pipeline_parallel_schedule = \"Interleaved1F1B\"\n"));
  CHECK_THAT(chunks.text, STEPCAST_HOLDS("\ndata_parallel_shard_degree = -1\n"));
  const auto host = under({"plan.offload.optimizer=cpu", "plan.zero=3"});
  CHECK_THAT(host.text, STEPCAST_HOLDS("enable_cpu_offload = true\n"));
  CHECK(tells(report::sentences_of(host.launch.not_expressed),
              "offload.optimizer cpu: torchtitan has"));
}

TEST_CASE("a job's change says what the framework makes of a value that the file has") {
  const auto toml = [](const std::string& model, const std::string& degrees) {
    return "[model]\n" + model +
           "[training]\nlocal_batch_size = 1\nglobal_batch_size = 16\n"
           "seq_len = 8192\n[parallelism]\n" +
           degrees + "[activation_checkpoint]\nmode = \"full\"\n[compile]\nenable = true\n";
  };
  const auto under = [](const std::string& text, const std::string& file, const Sets& sets) {
    return asked(text, file, sets, {"", {"WORLD_SIZE=8"}});
  };
  const auto llama = toml("name = \"llama3\"\nflavor = \"8B\"\n",
                          "data_parallel_shard_degree = -1\ntensor_parallel_degree = 4\n");
  const auto replicas = under(llama, "job.toml", {"plan.zero=0"});
  CHECK_THAT(replicas.text, STEPCAST_HOLDS("data_parallel_replicate_degree = 2\n"));
  CHECK(tells(report::sentences_of(replicas.launch.not_expressed),
              "zero 0: where FSDP divides nothing torchtitan has replicas on neither tensor nor "
              "pipeline ranks, and refuses to start"));
  // Four tensor ranks of two stages: one replica.
  const auto wide =
      under(llama, "job.toml", {"plan.zero=0", "plan.pipeline=2", "training.precision=bf16"});
  CHECK(tells(report::sentences_of(wide.launch.not_expressed),
              "zero 0: where FSDP divides nothing torchtitan's tensor and pipeline ranks compute "
              "in float32, not in bf16"));
  CHECK(wide.beside == Sentences{"training.precision bf16: the changed job has fp32"});
  const auto sinks =
      under(toml("name = \"gpt_oss\"\nflavor = \"120b\"\n", "data_parallel_shard_degree = -1\n"),
            "job.toml", {"plan.context=2", "plan.context_method=all-gather"});
  CHECK_THAT(sinks.text, STEPCAST_HOLDS("context_parallel_degree = 2\n"));
  CHECK(tells(report::sentences_of(sinks.launch.not_expressed),
              "context_method all-gather: torchtitan divides no sequences of models with windows"));
  auto script = with("");
  script.replace(script.find(" --bf16"), 7, "");  // 32 bit is the default
  const auto divided = asked(script, "train.sh", {"plan.context=2", "plan.context_method=ring"});
  CHECK_THAT(divided.text, STEPCAST_HOLDS("--context-parallel-size 2"));
  CHECK(tells(report::sentences_of(divided.launch.not_expressed),
              "context_method ring: Transformer Engine has no attention in fp32"));
}

TEST_CASE("a change says which values beside the plan the job still has otherwise") {
  const auto narrow = asked(with(""), "train.sh", {"training.precision=fp16"});
  CHECK(narrow.beside == Sentences{"training.precision fp16: the changed job has bf16"});
  const auto deeper = asked(with(""), "train.sh", {"model.layers=48"});
  CHECK(deeper.beside == Sentences{"model.layers 48: the changed job has 32"});
  CHECK(asked(with(""), "train.sh", {"plan.zero=1"}).beside == Sentences{});
}

TEST_CASE("nanotron's file gets no degree of experts that there are not") {
  const std::string yaml =
      "model:\n  dtype: bfloat16\n  model_config:\n    num_hidden_layers: 8\n    hidden_size: "
      "1024\n    num_attention_heads: 16\n    intermediate_size: 2816\n    vocab_size: 32000\n"
      "    max_position_embeddings: 2048\nparallelism:\n  dp: 8\n  pp: 1\n  tp: 1\ntokens:\n"
      "  batch_accumulation_per_replica: 4\n  micro_batch_size: 1\n  sequence_length: 2048\n"
      "optimizer:\n  zero_stage: 0\n";
  const auto two = asked(yaml, "config.yaml", {"plan.micro_batch=2"}).text;
  CHECK_THAT(two, STEPCAST_HOLDS("micro_batch_size: 2\n"));
  CHECK(two.find("expert") == two.npos);
}

TEST_CASE("a file of torchtitan changes in the words of its own release") {
  const std::string model =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[activation_checkpoint]\nmode = "
      "\"full\"\n\n";
  const auto under = [](const std::string& text, const Sets& sets) {
    return asked(text, "job.toml", sets, {"", {"WORLD_SIZE=32"}});
  };
  // The batch of a rank had another name when degrees had those of today.
  const auto middle = model +
                      "[training]\nbatch_size = 8\nseq_len = 2048\n\n[parallelism]\n"
                      "data_parallel_shard_degree = -1\ntensor_parallel_degree = 8\n";
  const auto one =
      under(middle, {"plan.tensor=1", "plan.micro_batch=1", "training.global_batch=32"});
  CHECK(one.left == Sentences{});
  CHECK_THAT(one.text, STEPCAST_HOLDS("[training]\nbatch_size = 1\nseq_len"));
  CHECK_THAT(one.text, STEPCAST_HOLDS("tensor_parallel_degree = 1\n"));
  // Degrees were of [training] and of [experimental].
  const auto older =
      model +
      "[training]\nbatch_size = 2\nseq_len = 2048\ndata_parallel_replicate_degree = 1\n"
      "data_parallel_shard_degree = -1\ntensor_parallel_degree = 8  # of a node\n\n[experimental]\n"
      "context_parallel_degree = 1\npipeline_parallel_degree = 1\n";
  const auto divided =
      under(older, {"plan.tensor=4", "plan.context=2", "plan.context_method=all-gather"});
  CHECK(divided.left == Sentences{});
  CHECK(divided.text.find("[parallelism]") == divided.text.npos);
  CHECK_THAT(divided.text, STEPCAST_HOLDS("\ndata_parallel_shard_degree = -1\n"));
  CHECK_THAT(divided.text, STEPCAST_HOLDS("\ndata_parallel_replicate_degree = 1\n"));
  CHECK_THAT(divided.text, STEPCAST_HOLDS("\ntensor_parallel_degree = 4  # of a node\n\n[exper"));
  CHECK_THAT(divided.text, STEPCAST_HOLDS("\ncontext_parallel_degree = 2\n"));
  CHECK_THAT(divided.text, STEPCAST_HOLDS("\nbatch_size = 2\nseq_len"));
  // 8 sequences in two batches of one on 4 replicas are summed by later releases alone.
  const auto summed = under(older, {"plan.micro_batch=1"});
  CHECK(summed.text.find("global_batch_size") == summed.text.npos);
  CHECK(summed.left == Sentences{"training.global_batch"});
  CHECK(tells(summed.beside,
              "training.global_batch_size: the release with the other keys of this "
              "file has no such key"));
}

TEST_CASE("keys outside of the plan that no change writes are told of the changed job alone") {
  const std::string fork =
      "deepspeed --num_gpus 8 --num_nodes 4 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
      "--num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --max-position-embeddings "
      "2048 --micro-batch-size 1 --global-batch-size 64 --bf16 --deepspeed --zero-stage 1 "
      "--no-pipeline-parallel --position-embedding-type ";
  const auto kept = asked(fork + "alibi\n", "train.sh", {"plan.micro_batch=2"});
  CHECK(report::sentences_of(kept.launch.not_expressed) == Sentences{});
  CHECK(kept.beside == Sentences{});
  const auto other = asked(fork + "learned_absolute\n", "train.sh", {"model.position=alibi"});
  CHECK(report::sentences_of(other.launch.not_expressed) == Sentences{});
  CHECK(other.beside == Sentences{"model.position alibi: the changed job has learned"});
  const auto relu = asked(with(""), "train.sh", {"model.activation=relu"});
  CHECK(report::sentences_of(relu.launch.not_expressed) == Sentences{});
  REQUIRE(relu.beside.size() == 1);
  CHECK(relu.beside.front() == "model.activation relu: the changed job has gelu");
  // The effect of the new plan on a key that the job keeps is told, and nothing is written for it.
  const auto ring = asked(with(" --attention-backend unfused"), "train.sh",
                          {"plan.context=2", "plan.context_method=ring"});
  CHECK(tells(report::sentences_of(ring.launch.not_expressed),
              "software.attention unfused: Transformer Engine divides no sequences for it; the "
              "changed job has it still"));
  const auto wide =
      asked(with(" --attention-backend fused", "").replace(with("").find("--bf16"), 6, ""),
            "train.sh", {"plan.micro_batch=2"});
  CHECK(report::sentences_of(wide.launch.not_expressed) == Sentences{});  // as before the change
}

}  // namespace job_asked_spec
