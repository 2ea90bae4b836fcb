// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/documents/toml.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace torchtitan_job_spec {

using tests::at;

namespace {

std::string toml(const std::string& parallelism, const std::string& more = {}) {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
         "local_batch_size = 2\n[parallelism]\n" +
         parallelism + "\n" + more;
}

std::string value(const std::string& text, const std::string& path) {
  return at(tests::job(text, {"WORLD_SIZE=64"}).document, path);
}

std::string refused(const std::string& text) {
  return tests::refusal([&] { tests::job(text); });
}

}  // namespace

TEST_CASE("whole numbers of TOML are read in all their bases") {
  const auto number = [](const std::string& text) {
    return scenarios::parse_toml("a = " + text + "\n", "f.toml").find("a")->text;
  };
  CHECK(number("0x1F") == "31");
  CHECK(number("0o17") == "15");
  CHECK(number("0b1_01") == "5");
  CHECK(number("+2") == "2");
  CHECK(number("+2.5") == "2.5");
  CHECK(number("+inf") == "+inf");
  CHECK(number("0x") == "0x");
  CHECK(number("\"0x2\"") == "0x2");
  CHECK(value(toml("tensor_parallel_degree = 0x8"), "plan.tensor") == "8");
}

TEST_CASE("every torchtitan job of the tests is a scenario or is refused with a place") {
  for (const auto& file : tests::job_files({"torchtitan"})) {
    INFO(file);
    try {
      const auto job =
          scenarios::read_job(scenarios::read_file(file), file.filename(), {{}, {"WORLD_SIZE=64"}});
      REQUIRE(job);
      CHECK(job->account.framework == "torchtitan");
      for (const auto& argument : job->account.arguments) {
        INFO(argument.text);
        CHECK(argument.effect != scenarios::Effect::unknown);
      }
    } catch (const scenarios::Error& wrong) {
      const auto& text = wrong.complaints.front().text;
      CHECK(
          (text.find("a diffusion model is not modelled") != std::string::npos ||
           text.find("all degrees make 2 ranks, which are not the 64 GPUs") != std::string::npos));
    }
  }
}

TEST_CASE("a flavor of torchtitan has the sizes of its model") {
  CHECK(value(toml(""), "model.ffn") == "14336");  // 8/3 x 4096 x 1.3, up to a multiple of 1024
  CHECK(value(toml(""), "model.kv_heads") == "8");
  CHECK(value("[model]\nname = \"qwen3\"\nflavor = \"30B-A3B\"\n[training]\nseq_len = 1\n",
              "model.moe.experts") == "128");
}

TEST_CASE("torchtitan's batch is that of all data-parallel ranks") {
  CHECK(value(toml("tensor_parallel_degree = 8"), "training.global_batch") == "16");  // 64 / 8 x 2
  CHECK(value(toml("data_parallel_shard_degree = 32\ndata_parallel_replicate_degree = 2"),
              "training.global_batch") == "128");
  CHECK(value(toml(""), "plan.micro_batch") == "2");
  CHECK(value(toml("pipeline_parallel_degree = 2"), "plan.micro_batch") == "1");
  const auto unknown = tests::job(toml(""));
  CHECK(unknown.wanted.front().path == "training.global_batch");
}

TEST_CASE("a batch of torchtitan that no step has is refused as it is written") {
  CHECK(tests::refused("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
                       "local_batch_size = 1000000000000\n") ==
        "job:6:1: training.local_batch_size 1000000000000: a step would have 1000000000000 x 1 x 8 "
        "sequences; write a smaller batch, such as 1");
}

TEST_CASE("a pipeline of torchtitan that drains several times a step is not modelled") {
  const auto piped = [](const std::string& global, const std::string& local = "2") {
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
           "local_batch_size = " +
           local + "\nglobal_batch_size = " + global +
           "\n[parallelism]\npipeline_parallel_degree = 4\ntensor_parallel_degree = 8\n";
  };
  const auto local = [](const std::string& text, const std::vector<std::string>& env) {
    for (const auto& one : tests::job(text, env).account.arguments)
      if (one.text.starts_with("training.local_batch_size")) return one;
    return scenarios::JudgedArgument{};
  };
  const std::vector<std::string> gpus{"WORLD_SIZE=64"};  // of two replicas
  CHECK(local(piped("4"), gpus).effect == scenarios::Effect::read);
  CHECK(local(piped("-1"), gpus).effect == scenarios::Effect::read);
  const auto drains = local(piped("64"), gpus);
  CHECK(drains.effect == scenarios::Effect::not_modelled);
  CHECK(drains.why ==
        "the pipeline takes 2 sequences of a replica at once and drains 16 times a step; the "
        "forecast, which drains once, is too fast");
  CHECK(local(piped("64"), {}).why.starts_with("how often the pipeline drains"));
  const auto wrong = tests::refusal([&] { tests::job(piped("6"), gpus); });
  CHECK_THAT(wrong, STEPCAST_HOLDS("6: it is no multiple of the 4 sequences"));
  CHECK(value(toml("tensor_parallel_degree = 8"), "plan.micro_batch") == "2");
}

TEST_CASE(
    "torchtitan does not start with replicas on tensor or pipeline ranks that FSDP is not on") {
  const auto on = [](const std::string& degrees) {
    return tests::refusal([&] { value(toml(degrees), "plan.zero"); });
  };
  const std::string replicas = "data_parallel_shard_degree = 1\ndata_parallel_replicate_degree = ";
  CHECK_THAT(on(replicas + "32\npipeline_parallel_degree = 2"),
             STEPCAST_HOLDS("parallelism.data_parallel_replicate_degree 32: where FSDP divides "
                            "nothing (data_parallel_shard_degree 1) torchtitan has replicas on "
                            "neither tensor nor pipeline ranks, and refuses to start; write 1"));
  CHECK_THAT(on(replicas + "16\ntensor_parallel_degree = 4"), STEPCAST_HOLDS("refuses to start"));
  CHECK(on(replicas + "64") == "accepted");
  CHECK(on(replicas + "8\ntensor_parallel_degree = 4\ncontext_parallel_degree = 2") ==
        "accepted");  // FSDP over the ranks of a sequence
  CHECK(on("data_parallel_shard_degree = 2\ndata_parallel_replicate_degree = 8\n"
           "tensor_parallel_degree = 4") == "accepted");
}

TEST_CASE(
    "without FSDP torchtitan's tensor and pipeline ranks compute in the type of the weights") {
  const auto precision = [](const std::string& degrees, const std::string& dtype = {}) {
    auto text = toml(degrees);
    if (!dtype.empty()) text.insert(text.find("[parallelism]"), "dtype = \"" + dtype + "\"\n");
    return value(text, "training.precision");
  };
  const std::string alone = "data_parallel_shard_degree = 1\n";
  CHECK(precision(alone + "tensor_parallel_degree = 64") == "fp32");
  CHECK(precision(alone + "tensor_parallel_degree = 64", "bfloat16") == "bf16");
  CHECK(precision(alone + "data_parallel_replicate_degree = 64") == "bf16");  // by autocast
  CHECK(precision(alone + "tensor_parallel_degree = 32\ncontext_parallel_degree = 2") == "bf16");
  CHECK(precision("tensor_parallel_degree = 8") == "bf16");
  CHECK(precision("tensor_parallel_degree = 8", "float32") == "bf16");
  const auto converted = tests::job(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"float8\"]\n[parallelism]\n"
      "data_parallel_shard_degree = 1\ntensor_parallel_degree = 8\n");
  CHECK(at(converted.document, "training.precision") == "fp8");
  CHECK(tests::effect_of(converted, "model.converters float8") == scenarios::Effect::not_modelled);
}

TEST_CASE("torchtitan shards parameters unless one rank holds them") {
  CHECK(value(toml(""), "plan.zero") == "3");
  CHECK(value(toml("data_parallel_shard_degree = 1\ntensor_parallel_degree = 64"), "plan.zero") ==
        "0");
  CHECK(value(toml(""), "plan.reshard_after_forward") == "true");
  CHECK(value(toml("pipeline_parallel_degree = 2"), "plan.reshard_after_forward") == "false");
}

TEST_CASE("embedding and head count as layers when torchtitan cuts a model") {
  // 32 + 2 layers over 4 stages are 9, 9, 8, 8; the first and the last stage give up one.
  CHECK(value(toml("pipeline_parallel_degree = 4"), "plan.layers_per_stage") == "8 9 8 7");
  const auto interleaved = toml(
      "pipeline_parallel_degree = 4\n"
      "pipeline_parallel_schedule = \"Interleaved1F1B\"\n");
  CHECK(value(interleaved, "plan.virtual_stages") == "2");
  CHECK(value(interleaved, "plan.schedule") == "interleaved");
}

TEST_CASE("torchtitan cuts a model into the stages of the schedule that lies over the job") {
  // 32 + 2 layers over 8 stages are 5, 5, 4, …; the first and the last stage give up one.
  const auto over = [](std::map<std::string, std::string, std::less<>> values) {
    scenarios::JobHints hints{"", {"WORLD_SIZE=64"}};
    hints.over.values = std::move(values);
    hints.over.values["plan.pipeline"] = "4";
    return at(scenarios::read_job(toml(""), "job", hints)->document, "plan.layers_per_stage");
  };
  CHECK(over({}) == "8 9 8 7");
  CHECK(over({{"plan.schedule", "interleaved"}}) == "4 5 4 4 4 4 4 3");
  CHECK(over({{"plan.schedule", "interleaved"}, {"plan.virtual_stages", "2"}}) ==
        "4 5 4 4 4 4 4 3");
  CHECK(over({{"plan.schedule", "gpipe"}}) == "8 9 8 7");
}

TEST_CASE("stages of torchtitan are the layers that their modules name") {
  const auto parts = [](const std::string& schedule, const std::string& lists) {
    return "[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nseq_len = 64\n"
           "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"" +
           schedule + "\"\nmodule_fqns_per_model_part = " + lists + "\n";
  };
  const std::string uneven =
      "[\n[\"tok_embeddings\", \"layers.0\"],\n[\"layers.1\", \"layers.2\", "
      "\"layers.3\", \"layers.4\", \"layers.5\", \"norm\", \"output\"]]";
  CHECK(value(parts("1F1B", uneven), "plan.layers_per_stage") == "1 5");
  CHECK(value(parts("1F1B", uneven), "plan.virtual_stages").empty());
  const std::string four =
      "[[\"tok_embeddings\"], [\"layers.0\", \"layers.1\", \"layers.2\"], [\"layers.3\", "
      "\"layers.4\", \"layers.5\"], [\"norm\", \"output\"]]";
  CHECK(value(parts("Interleaved1F1B", four), "plan.layers_per_stage") == "0 3 3 0");
  CHECK(value(parts("Interleaved1F1B", four), "plan.virtual_stages") == "2");
  CHECK(value(parts("ZBVZeroBubble", four), "plan.schedule") == "zb-v");
  const auto wrong = [&](const std::string& schedule, const std::string& lists) {
    const auto text = refused(parts(schedule, lists));
    const std::string before = "job:9:1: parallelism.module_fqns_per_model_part ";
    CHECK(text.starts_with(before));
    return text.substr(text.rfind(": ") + 2);
  };
  CHECK(wrong("1F1B", four) == "4 stages do not fit 2 pipeline ranks under this schedule");
  CHECK(wrong("1F1B", "[\"layers.0\", \"layers.1\"]") ==
        "expected a list of names of modules for every stage");
  CHECK(wrong("1F1B", "[[\"layers.0\"], [\"layers.2\"]]") ==
        "'layers.2' stands where layers.1 is expected");
  CHECK(wrong("1F1B", "[[\"layers.0\"], [\"layers.1\"]]") == "it has 2 layers of 6");
  CHECK(wrong("1F1B", "[[\"norm\"], [\"layers.0\"]]") ==
        "the head is forecast in the last stage, and stands in another");
}

TEST_CASE("the layers at which torchtitan's stages begin make the stages") {
  const auto points = [](const std::string& schedule, const std::string& list) {
    return "[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nseq_len = 64\n"
           "[experimental]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"" +
           schedule + "\"\npipeline_parallel_split_points = " + list + "\n";
  };
  CHECK(value(points("1F1B", "[\"layers.2\"]"), "plan.layers_per_stage") == "2 4");
  const std::string three = "[\"layers.1\", \"layers.3\", \"layers.5\"]";
  CHECK(value(points("Interleaved1F1B", three), "plan.layers_per_stage") == "1 2 2 1");
  CHECK(value(points("Interleaved1F1B", three), "plan.virtual_stages") == "2");
  CHECK(value(points("1F1B", "[]"), "plan.layers_per_stage") == "3 3");
  const auto wrong = [&](const std::string& list) { return refused(points("1F1B", list)); };
  CHECK_THAT(wrong(three), STEPCAST_HOLDS("4 stages do not fit 2 pipeline ranks"));
  CHECK_THAT(wrong("[\"norm\"]"), STEPCAST_HOLDS("'norm' is no layer; expected names such as"));
  CHECK_THAT(wrong("[\"layers.6\"]"), STEPCAST_HOLDS("'layers.6' is no later layer of 6"));
  CHECK_THAT(wrong("[\"layers.0\"]"), STEPCAST_HOLDS("'layers.0' is no later layer of 6"));
}

TEST_CASE("the shards of one replica of torchtitan are a shard group") {
  const auto group = [](const std::string& degrees) {
    return value(toml(degrees), "plan.shard_group");
  };
  const std::string four = "data_parallel_replicate_degree = 4\n";
  CHECK(group(four + "data_parallel_shard_degree = 16") == "16");
  CHECK(group(four) == "16");  // of 64 GPUs
  CHECK(group(four + "context_parallel_degree = 2\ndata_parallel_shard_degree = 8") == "16");
  CHECK(group(four + "tensor_parallel_degree = 4") == "4");
  CHECK(group("data_parallel_shard_degree = 64").empty());
  for (const auto& one : tests::job(toml(four)).account.arguments)
    if (one.text.starts_with("parallelism.data_parallel_replicate_degree"))
      CHECK(one.why.starts_with("how many GPUs there are is not known"));
}

TEST_CASE("where all degrees of torchtitan are given, the GPUs are their product") {
  const auto alone = [](const std::string& degrees, const std::string& path) {
    return at(tests::job(toml(degrees)).document, path);
  };
  const std::string given =
      "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 4\n"
      "tensor_parallel_degree = 2\n";
  CHECK(alone(given, "cluster.gpus") == "16");
  CHECK(alone(given, "training.global_batch") == "16");  // 2 x 8 data-parallel ranks
  CHECK(alone("tensor_parallel_degree = 2", "cluster.gpus").empty());
  CHECK(alone(given, "model.name") == "llama3 8B");
}

TEST_CASE("torchtitan recomputes every second layer unless it is told otherwise") {
  const auto made = tests::job(toml(""), {"WORLD_SIZE=8"});
  const auto& layers = made.document.find("plan")->find("layers")->items;
  REQUIRE(layers.size() == 16);
  CHECK(at(layers.front(), "from") == "1");
  CHECK(value(toml("", "[activation_checkpoint]\nmode = \"full\"\n"), "plan.recompute") == "full");
  CHECK(value(toml("", "[activation_checkpoint]\nselective_ac_option = \"op\"\n"),
              "plan.recompute") == "per-op");
}

TEST_CASE("precision and compiler of a torchtitan job are a scenario's") {
  CHECK(value(toml(""), "training.precision") == "bf16");
  CHECK(value(toml("", "[float8]\nrecipe_name = \"rowwise\"\n"), "training.precision") == "bf16");
  const auto fp8 =
      "[model]\nflavor = \"8B\"\nconverters = [\"float8\"]\n"
      "[float8]\nrecipe_name = \"rowwise\"\n[compile]\nenable = true\n";
  CHECK(value(fp8, "training.precision") == "fp8");
  CHECK(value(fp8, "training.fp8_recipe") == "rowwise");
  CHECK(value(fp8, "software.compile") == "true");
  CHECK(value(toml("", "[compile]\nenable = true\ncomponents = [\"loss\"]\n"),
              "software.compile") == "false");
}

TEST_CASE("mistakes in a torchtitan job are told with their place") {
  CHECK(refused(toml("pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"LoopedBFS\"")) ==
        "job:9:1: parallelism.pipeline_parallel_schedule LoopedBFS: this schedule is not modelled; "
        "expected 1F1B, GPipe, Interleaved1F1B, ZBVZeroBubble or DualPipeV");
  CHECK(refused(toml("tensor_parallel_degree = \"x\"")) ==
        "job:8:1: parallelism.tensor_parallel_degree x: 'x' is not a whole number from 0 to "
        "1099511627776");
}

TEST_CASE("TOML is read as its specification has it") {
  const auto read = [](const std::string& text, const std::string& path) {
    return at(scenarios::parse_toml(text, "f"), path);
  };
  CHECK(read("a.b = 1_000", "a.b") == "1000");
  CHECK(read("[t.u]\nx = 'a\\b'", "t.u.x") == "a\\b");
  CHECK(read("x = \"a\\\"b\\tc\"", "x") == "a\"b\tc");
  CHECK(read("x = \"\"\"\na\nb\"\"\"", "x") == "a\nb");
  CHECK(read("x = [1, 2, # two\n 3,]", "x") == "1 2 3");
  CHECK(read("x = {a = 1, b.c = true}", "x.b.c") == "true");
  CHECK(read("[[l]]\nx = 1", "l.x") == "1");
  const auto wrong = [](const std::string& text) {
    return tests::refusal([&] { scenarios::parse_toml(text, "f"); });
  };
  CHECK(wrong("a = 1\na = 2") == "f:2:5: this is not TOML: 'a' is given twice");
  CHECK(wrong("a = 'x") == "f:1:7: this is not TOML: the text does not end");
  CHECK(wrong("a 1") == "f:1:3: this is not TOML: expected key = value");
  CHECK(wrong("[a\n") == "f:1:3: this is not TOML: expected ]");
}

TEST_CASE("a command of torchtitan's module has dotted arguments over the file that it names") {
  const auto files = [](const std::string& name) -> std::optional<std::string> {
    if (name != "llama3_8b.toml") return {};
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
           "local_batch_size = 1\n";
  };
  const auto job = scenarios::read_job(
      "torchrun --nproc_per_node 8 --nnodes 4 -m torchtitan.train --job.config_file llama3_8b.toml "
      "--training.seq_len 4096 --parallelism.tensor-parallel-degree=2 --compile.enable\n",
      "job", {}, files);
  REQUIRE(job);
  CHECK(at(job->document, "cluster.gpus") == "32");
  CHECK(at(job->document, "model.layers") == "32");
  CHECK(at(job->document, "training.sequence_length") == "4096");
  CHECK(at(job->document, "training.global_batch") == "16");  // 1 x 32 / 2 GPUs
  CHECK(at(job->document, "plan.tensor") == "2");
  CHECK(at(job->document, "software.compile") == "true");
}

TEST_CASE("a module and a configuration of the newest torchtitan name a model of its registry") {
  const auto job = tests::job(
      "torchrun --nproc_per_node 8 --nnodes 1 -m torchtitan.train --module llama3 --config "
      "llama3_8b --training.seq_len 4096 --parallelism.tensor_parallel_degree 2\n");
  CHECK(job.account.framework == "torchtitan");
  CHECK(at(job.document, "model.ffn") == "14336");
  CHECK(tests::effect_of(job, "--config llama3_8b") == scenarios::Effect::not_modelled);
  CHECK(tests::wanted(job).starts_with("plan.micro_batch training.global_batch"));
}

TEST_CASE(
    "what torchtitan's registry says beside the model is asked for, unless the command does") {
  const std::string start =
      "torchrun --nproc_per_node 8 -m torchtitan.train --module llama3 --config llama3_8b "
      "--parallelism.tensor_parallel_degree 2 ";
  const auto job = tests::job(start + "--compile.enable\n");
  CHECK(at(job.document, "training.sequence_length").empty());
  CHECK(job.wanted.front().path == "training.sequence_length");
  CHECK(job.wanted.front().text ==
        "it stands in the function llama3_8b of torchtitan's registry, which is not read; add "
        "--set training.sequence_length=N");
  const auto said = tests::job(start + "--training.seq_len 4096 --training.local_batch_size 1\n");
  CHECK(at(said.document, "training.global_batch") == "4");
  CHECK(tests::wanted(said) == "cluster.node");
}

TEST_CASE("torchtitan's own script is given its file and its GPUs by variables") {
  const auto read = [](const std::string& text) {
    return tests::beside(text, {{"./a.toml", toml("tensor_parallel_degree = 2")},
                                {"a.toml", toml("tensor_parallel_degree = 2")}});
  };
  for (const std::string text :
       {"NGPU=4 CONFIG_FILE=./a.toml ./run_train.sh\n",
        "NGPU=4 CONFIG_FILE=a.toml bash run_train.sh",
        "export NGPU=4\nCONFIG_FILE=a.toml ./run_train.sh\n",
        "#!/bin/bash\nexport NGPU=4\nexport CONFIG_FILE=a.toml\n./run_train.sh\n"}) {
    INFO(text);
    const auto job = read(text);
    CHECK(job.account.framework == "torchtitan");
    CHECK(at(job.document, "cluster.gpus") == "4");
    CHECK(at(job.document, "training.sequence_length") == "8192");
  }
  const auto changed = read("NGPU=4 CONFIG_FILE=a.toml ./run_train.sh --training.seq_len 4096\n");
  CHECK(at(changed.document, "training.sequence_length") == "4096");
  CHECK(at(changed.document, "training.global_batch") == "4");  // 2 x 4 / 2
  CHECK(tests::wanted(read("NGPU=4\nCONFIG_FILE=a.toml ./run_train.sh\n")).find("cluster.nodes") !=
        std::string::npos);  // which the script does not see
}

TEST_CASE("asynchronous tensor parallelism needs the compiler") {
  const std::string degrees = "tensor_parallel_degree = 2\nenable_async_tensor_parallel = true";
  CHECK(refused(toml(degrees))
            .find("job:9:1: parallelism.enable_async_tensor_parallel true: the "
                  "compiler overlaps it") == 0);
  CHECK(refused(toml(degrees, "[compile]\nenable = true\n")) == "accepted");
  CHECK(refused(toml("enable_async_tensor_parallel = true")) == "accepted");  // of one rank
}

TEST_CASE("TOML may begin with a mark of its byte order") {
  CHECK(value("\xEF\xBB\xBF" + toml("tensor_parallel_degree = 8"), "plan.tensor") == "8");
}

TEST_CASE("torchtitan's first files have all degrees beside the training") {
  const auto first = [](const std::string& path) {
    return value(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 1\nseq_len = 8192\n"
        "data_parallel_degree = -1\ntensor_parallel_degree = 2\npipeline_parallel_degree = 4\n",
        path);
  };
  CHECK(first("plan.pipeline") == "4");
  CHECK(first("plan.tensor") == "2");
  CHECK(first("plan.zero") == "3");
}

TEST_CASE("a switch of torchtitan's command is on alone, or by true in any case") {
  const auto command = [](const std::string& more, const std::string& path) {
    return at(tests::job("torchrun --nproc_per_node 8 -m torchtitan.train --model.name llama3 "
                         "--model.flavor 8B " +
                         more + "\n")
                  .document,
              path);
  };
  CHECK(command("--compile.enable", "software.compile") == "true");
  CHECK(command("--compile.enable True", "software.compile") == "true");
  CHECK(command("--compile.enable False", "software.compile") == "false");
  CHECK(command("--compile.enable --compile.components model,loss", "software.compile") == "true");
  CHECK(command("--compile.enable --compile.components loss", "software.compile") == "false");
  CHECK(command("--training.enable_cpu_offload True", "plan.offload.optimizer") == "cpu");
}

}  // namespace torchtitan_job_spec
