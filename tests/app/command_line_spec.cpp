// SPDX-License-Identifier: Apache-2.0
// The program as a user meets it: its output, its errors and its exit status.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "scenarios/foreign/memory_snapshot.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace command_line_spec {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::stepcast;

const std::string gpt3 = "scenarios/examples/gpt3-175b-1024-a100.yaml";
const std::string small = "scenarios/examples/dialogpt-large-8gpu.yaml";

// A file of this test's own, removed at its end.
struct Scratch {
  explicit Scratch(const std::string& name) : path(fs::temp_directory_path() / name) {
    fs::remove_all(path);
  }
  ~Scratch() { fs::remove_all(path); }
  void write(const std::string& text) const { std::ofstream(path) << text; }
  fs::path path;
};

double sum_of(const json& object) {
  double sum = 0;
  for (const auto& [key, value] : object.items()) sum += value.get<double>();
  return sum;
}

}  // namespace

TEST_CASE("simulate --json prints one document with the contract's keys, and nothing else") {
  const auto run = stepcast({"simulate", gpt3, "--json"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  for (const char* key : {"stepcast", "scenario", "step", "time", "pipeline", "layer", "memory",
                          "critical_path", "network", "simulation"})
    CHECK(document.contains(key));
  CHECK(sum_of(document["time"]) ==
        Approx(document["step"]["time_s"].get<double>()).epsilon(1e-12));
  CHECK(document["pipeline"]["stages"].size() == 16);
  CHECK(document["memory"]["stages"].size() == 16);
  CHECK(document["simulation"]["ranks"] == 1024);
}

TEST_CASE("--set is refused by commands that read no keys, --env where nothing has variables") {
  const auto refused = [](std::vector<std::string> command) {
    const auto run = stepcast(command);
    CHECK(run.out.empty());
    return run.status == app::wrong_input ? run.err : "accepted";
  };
  const std::string keyless = "stepcast: --set a=b: it changes a key of a file; ";
  CHECK(refused({"schedule", "--schedule", "1f1b", "--stages", "2", "--microbatches", "2",
                 "--forward", "1", "--backward", "2", "--set", "a=b"}) ==
        keyless + "a schedule is played from the times of its options\n");
  for (const std::string what : {"list", "schema"})
    CHECK(refused({"catalog", what, "--set", "a=b"}) ==
          keyless + "entries of the catalog are shown as they are\n");
  CHECK(refused({"import", "huggingface", "config.json", "--set", "a=b"}) ==
        keyless + "change those of the entry that is printed\n");
  for (const std::string what : {"status", "export"})
    CHECK(refused({"sweep", what, "store.sqlite", "--set", "a=b"}) ==
          keyless + "the points of a store have theirs\n");
  const std::string variableless = " is no job, and has no variables; change keys with --set\n";
  CHECK(refused({"simulate", small, "--env", "TP=2"}) ==
        "stepcast: --env TP=2: " + small + variableless);
  CHECK(refused({"search", small, "--env", "TP=2"}) ==
        "stepcast: --env TP=2: " + small + variableless);
  CHECK(refused({"simulate", small, "--against", gpt3, "--env", "TP=2"}) ==
        "stepcast: --env TP=2: " + small + variableless);
  CHECK(refused({"import", "huggingface", "config.json", "--env", "TP=2"}) ==
        "stepcast: --env TP=2: config.json" + variableless);
  const std::string purchase = "scenarios/examples/purchase-llama3-70b.yaml";
  CHECK(refused({"open", purchase, "--only-write", "--env", "TP=2"}) ==
        "stepcast: --env TP=2: " + purchase + variableless);
}

// The 144 GPUs are 2 x 72; 128 GPUs are one rack and 56 GPUs of another.
TEST_CASE("a rack that is one node is called a rack, with the GPUs that it has") {
  const Scratch file("stepcast_racks.yaml");
  const auto run = [&](const std::string& cluster) {
    file.write("model: gpt2-xl\ntraining: {sequence_length: 1024, global_batch: 1152}\ncluster: " +
               cluster + "\n");
    return stepcast({"simulate", file.path.string(), "--quiet"}).out;
  };
  CHECK_THAT(
      run("{node: gb200-nvl72, nodes: 2}"),
      STEPCAST_HOLDS("on 144 GPUs (gb200)") &&
          STEPCAST_HOLDS("  144 GPUs in 36 trays of 4 in 2 racks; NVLink ends at the rack (72 "
                         "GPUs)\n"));
  const auto half = run("{node: gb200-nvl72, gpus: 128}");
  CHECK_THAT(half, STEPCAST_HOLDS("  128 GPUs in 32 trays of 4 in 2 racks; NVLink ends at the rack "
                                  "(72 GPUs, 56 in the last); 4 of\n  36 trays stay empty\n"));
  CHECK(run("{node: gb200-nvl72, trays: 32}") == half);
  CHECK(run("{node: gb200-nvl72, racks: 2}") == run("{node: gb200-nvl72, nodes: 2}"));
  CHECK_THAT(run("{node: gb200-nvl72, trays: 32, racks: 2}"),
             STEPCAST_HOLDS("  128 GPUs in 32 trays of 4 in 2 racks; NVLink ends at the rack (64 "
                            "GPUs); 4 of 36 trays stay empty\n"));
  CHECK(run("{node: gb200-nvl72, trays: 32, racks: 2}") ==
        run("{node: {base: gb200-nvl72, gpus: 64}, nodes: 2}"));
  CHECK_THAT(run("{node: dgx-h100, nodes: 16}"), !STEPCAST_HOLDS("rack"));
}

TEST_CASE("the resolved scenario fed back gives the same forecast") {
  const auto first = json::parse(stepcast({"simulate", small, "--json"}).out);
  const Scratch file("stepcast_resolved.yaml");
  file.write(first["scenario"].dump());
  const auto second = json::parse(stepcast({"simulate", file.path.string(), "--json"}).out);
  CHECK(first["step"] == second["step"]);
  CHECK(first["memory"] == second["memory"]);
}

TEST_CASE("--full gives the same answer from every rank") {
  auto folded = json::parse(stepcast({"simulate", small, "--json"}).out);
  auto full = json::parse(stepcast({"simulate", small, "--json", "--full"}).out);
  CHECK(full["simulation"]["ranks_simulated"] == 8);
  for (auto* answer : {&folded, &full}) {
    answer->erase("simulation");
    answer->at("network").erase("links");  // folded: one link of each class; full: every link
  }
  CHECK(folded == full);
}

TEST_CASE("the human report fits a screen") {
  const auto run = stepcast({"simulate", gpt3});
  REQUIRE(run.status == app::success);
  CHECK(std::ranges::count(run.out, '\n') <= 59);
  CHECK(run.out.find("published 30.8 s") != std::string::npos);
}

TEST_CASE("--set changes the scenario, and its measurement is no longer shown beside it") {
  const auto run = stepcast({"simulate", gpt3, "--set", "plan.micro_batch=2"});
  REQUIRE(run.status == app::success);
  CHECK(run.out.find("micro-batch 2") != std::string::npos);
  CHECK(run.out.find("published") == std::string::npos);
}

TEST_CASE("a plan that does not fit is forecast all the same: exit 0 and a warning") {
  const auto run = stepcast({"simulate", gpt3, "--json", "--set", "cluster.memory_fraction=0.1"});
  CHECK(run.status == app::success);
  CHECK_FALSE(json::parse(run.out)["memory"]["fits"].get<bool>());
  CHECK(run.err.find("warning: stage 0 needs") != std::string::npos);
}

TEST_CASE("--output writes a file and nothing on standard output") {
  const Scratch file("stepcast_output.json");
  const auto run = stepcast({"simulate", small, "--json", "--output", file.path.string()});
  CHECK(run.status == app::success);
  CHECK(run.out.empty());
  std::ifstream written(file.path);
  CHECK(json::parse(written).contains("step"));
}

TEST_CASE("--trace writes Chrome events or Perfetto by the name's ending") {
  const Scratch chrome("stepcast_trace.json"), perfetto("stepcast_trace.pftrace");
  CHECK(stepcast({"simulate", small, "--trace", chrome.path.string()}).status == app::success);
  CHECK(stepcast({"simulate", small, "--trace", perfetto.path.string()}).status == app::success);
  std::ifstream written(chrome.path);
  CHECK(json::parse(written).contains("traceEvents"));
  CHECK(fs::file_size(perfetto.path) > 100);
}

TEST_CASE("--memory-snapshot writes a snapshot that is read as one") {
  const Scratch file("stepcast_memory.pickle");
  REQUIRE(stepcast({"simulate", small, "--memory-snapshot", file.path.string()}).status ==
          app::success);
  const auto snapshot = scenarios::load_memory_snapshot(file.path);
  REQUIRE(snapshot.devices.size() == 1);
  CHECK(snapshot.devices[0].events > 100);
  CHECK(snapshot.devices[0].out_of_memory == 0);
  CHECK(snapshot.devices[0].most_reserved >= snapshot.devices[0].most_requested);
  const auto told = stepcast({"trace", file.path.string(), "--against", small, "--json"});
  REQUIRE(told.status == app::success);
  const auto document = json::parse(told.out);
  CHECK(document["devices"][0]["most_requested_bytes"] ==
        document["against"]["memory"]["peak_allocated_bytes"]);
}

TEST_CASE("schedule prints the contract's document: 1F1B on 4 stages, 8 microbatches") {
  const auto run = stepcast({"schedule", "--schedule", "1f1b", "--stages", "4", "--microbatches",
                             "8", "--forward", "1", "--backward", "2", "--json"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["makespan"] == 33);  // (8 + 3) x 3
  CHECK(document["span"] == 33);
  CHECK(document["bubble_fraction"].get<double>() == Approx(9.0 / 33));
  CHECK(document["bubble_fraction_max_stage"].get<double>() == Approx(9.0 / 33));
  CHECK(document["stages"].size() == 4);
  CHECK(document["stages"][0]["peak_in_flight"] == 4);
  CHECK(document["operations"].size() == 64);
}

TEST_CASE("schedule splits the backward: ZB-H1 on 4 stages loses (p-1)(F+B-W)") {
  const auto run = stepcast({"schedule", "--schedule", "zb-h1", "--stages", "4", "--microbatches",
                             "8", "--forward", "1", "--backward", "1", "--weight", "1", "--json"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["makespan"] == 27);  // 8 x 3 + 3
  CHECK(document["operations"].size() == 96);
  CHECK(document["operations"][4]["pass"] == "B");
  CHECK(document["operations"][5]["pass"] == "W");
}

TEST_CASE("schedule counts the work of a DualPipe pair once; V schedules have two chunks unasked") {
  const auto pairs =
      stepcast({"schedule", "--schedule", "dualpipe", "--stages", "4", "--microbatches", "8",
                "--forward", "1", "--backward", "1", "--weight", "1", "--json"});
  const auto document = json::parse(pairs.out);
  CHECK(document["makespan"] == 26);  // 8 x 3 + 2
  CHECK(document["stages"][0]["work"] == 24);
  CHECK(document["stages"][0]["peak_in_flight"] == 5);
  const auto v = stepcast({"schedule", "--schedule", "v-min", "--stages", "4", "--microbatches",
                           "8", "--forward", "1", "--backward", "1", "--weight", "1", "--json"});
  CHECK(json::parse(v.out)["stages"][0]["peak_in_flight"].get<double>() <= 2);
}

TEST_CASE("schedule takes fractions, latency and a slow stage") {
  const auto run = stepcast({"schedule", "--schedule", "gpipe", "--stages", "2", "--microbatches",
                             "1", "--forward", "0.3", "--backward", "0.5", "--comm", "0.1",
                             "--slow", "1=2", "--json"});
  REQUIRE(run.status == app::success);
  // Stage 0 ends at 0.3, the wire takes 0.1, the next passes end 0.6 and 1.0 later, then the wire
  // takes 0.1 and a pass 0.5.
  CHECK(json::parse(run.out)["makespan"].get<double>() == Approx(2.6).epsilon(1e-12));
}

TEST_CASE("schedule takes durations, and says where a unit is missing") {
  const auto run = [](const std::string& forward, const std::string& backward,
                      std::vector<std::string> more = {}) {
    std::vector<std::string> words{"schedule", "--schedule",     "1f1b",   "--stages",
                                   "4",        "--microbatches", "8",      "--forward",
                                   forward,    "--backward",     backward, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return stepcast(words);
  };
  // (8 + 4 - 1) x 3 ms.
  CHECK(json::parse(run("1ms", "2 ms").out)["makespan"].get<double>() == Approx(0.033));
  CHECK(json::parse(run("1ms", "2000us", {"--comm", "0"}).out)["makespan"].get<double>() ==
        Approx(0.033));
  auto as_text = stepcast({"schedule", "--schedule", "1f1b", "--stages", "4", "--microbatches", "8",
                           "--forward", "1ms", "--backward", "2ms"});
  CHECK_THAT(as_text.out, STEPCAST_HOLDS("makespan 33.0 ms, longest stage's own span 33.0 ms\n"));
  CHECK(run("1ms", "2").err ==
        "stepcast: --forward 1ms: it has a unit and --backward 2 has none; give all times a unit, "
        "or none of them\n");
  CHECK(run("1 GB", "2").err ==
        "stepcast: --forward 1 GB: expected a number, 0 or more, or a duration such as 1.5ms\n");
}

TEST_CASE("schedule --order refuses --chunks, which the file has") {
  const auto run =
      stepcast({"schedule", "--order", "-", "--chunks", "2", "--forward", "1", "--backward", "2"});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("--chunks"));
}

TEST_CASE("catalog lists, shows and describes") {
  const auto list = json::parse(stepcast({"catalog", "list", "--json"}).out);
  CHECK(list.size() == 5);
  const auto model = json::parse(stepcast({"catalog", "show", "model", "gpt3-175b", "--json"}).out);
  CHECK(model["parameters"] == 174'615'846'912);
  CHECK(model["active_parameters"] == model["parameters"]);
  CHECK(stepcast({"catalog", "show", "device", "a100-80gb-sxm"}).out.find("\nsource:") !=
        std::string::npos);
  CHECK(json::parse(stepcast({"catalog", "schema"}).out).contains("$schema"));
}

TEST_CASE("validate takes no --set, and nobody takes 40,000 threads") {
  const auto run = stepcast({"validate", "mt_nlg_530b", "--set", "plan.tensor=4"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err ==
        "stepcast: --set changes a scenario; validate forecasts the published ones as they are\n");
  CHECK(stepcast({"validate", "mt_nlg_530b", "--threads", "40000"}).status == app::wrong_input);
}

TEST_CASE("validate prints measured, predicted and error for every supported row") {
  const auto run =
      stepcast({"validate", "megatron_sc21_table1", "korthikanti2022_table5", "--json", "--quiet"});
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["rows"] == 9);
  CHECK(document["unsupported"] == 0);
  for (const auto& dataset : document["datasets"])
    for (const auto& row : dataset["rows"]) {
      INFO(row["id"]);
      CHECK(row["status"] == "ok");
      CHECK(std::abs(row["error"].get<double>()) <= 0.10);
    }
  CHECK(document["mape"].get<double>() < 0.06);
}

TEST_CASE("validation does not depend on the number of threads") {
  const auto one = stepcast({"validate", "zero_bubble_table4", "--json", "--threads", "1"});
  const auto two = stepcast({"validate", "zero_bubble_table4", "--json", "--threads", "3"});
  CHECK(one.out == two.out);
}

TEST_CASE("--against shows the changed keys and the effect of each change alone") {
  const std::vector<std::string> asked{"simulate", small,         "--set",     "plan.micro_batch=2",
                                       "--set",    "plan.zero=1", "--against", small};
  const auto text = stepcast(asked);
  REQUIRE(text.status == app::success);
  CHECK_THAT(text.out, STEPCAST_HOLDS("plan.micro_batch"));
  CHECK_THAT(text.out, STEPCAST_HOLDS("together"));
  auto with_json = asked;
  with_json.push_back("--json");
  const auto document = json::parse(stepcast(with_json).out);
  const auto alone = json::parse(stepcast({"simulate", small, "--json"}).out);
  CHECK(document["against"]["step"] == alone["step"]);
  // Each effect is that of its own --set.
  for (const auto& effect : document["against"]["effects"]) {
    if (effect["of"] != "plan.zero") continue;
    const auto one =
        json::parse(stepcast({"simulate", small, "--set", "plan.zero=1", "--json"}).out);
    CHECK(effect["step_time_s"] == one["step"]["time_s"]);
    CHECK(effect["peak_bytes"] == one["memory"]["peak_bytes"]);
  }
  CHECK(stepcast({"simulate", small, "--against", "no-such.yaml"}).status == app::wrong_input);
}

TEST_CASE("a trace that ends in / is a folder with a file per rank for PyTorch's tools") {
  const Scratch folder("stepcast_kineto");
  const auto run = stepcast({"simulate", small, "--json", "--trace", folder.path.string() + "/"});
  REQUIRE(run.status == app::success);
  std::ifstream file(folder.path / "rank-0.json");
  const auto trace = json::parse(file);
  CHECK(trace["distributedInfo"]["rank"] == 0);
  CHECK(trace["distributedInfo"]["world_size"] == 8);
}

TEST_CASE(
    "a trace that the program wrote, read as a profiler's, gives the times that were forecast") {
  const Scratch folder("stepcast_round_trip");
  const auto forecast = json::parse(
      stepcast({"simulate", small, "--json", "--trace", folder.path.string() + "/"}).out);
  const auto file = (folder.path / "rank-0.json").string();
  const auto run = stepcast({"trace", file, "--against", small, "--json"});
  REQUIRE(run.status == app::success);
  const auto read = json::parse(run.out);
  CHECK(read["world_size"] == 8);
  CHECK(read["step"]["time_s"].get<double>() ==
        Approx(forecast["step"]["time_s"].get<double>()).epsilon(1e-6));
  CHECK(read["time"]["data_comm_s"].get<double>() ==
        Approx(forecast["time"]["data_comm_s"].get<double>()).epsilon(1e-3));
  CHECK(read["against"]["step"]["time_s"] == forecast["step"]["time_s"]);
  CHECK(stepcast({"trace", file}).out.find("ProfilerStep") == std::string::npos);  // one step
  CHECK(stepcast({"trace", small}).err.find(small + ":1:1: this is no JSON") == 0);
  CHECK(stepcast({"trace", file, "--set", "plan.tensor=2"}).status == app::wrong_input);
}

TEST_CASE("mistakes exit with 2 and say which value to write") {
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Case> cases{
      {{"simulate", "no-such-file.yaml"}, "no-such-file.yaml: "},
      {{"simulate", "scenarios"}, "scenarios: "},
      {{"simulate", gpt3, "--set", "plan.tensor=7"}, "--set 1: plan.tensor: "},
      {{"simulate", gpt3, "--set", "plan.tensr=8"}, "did you mean 'tensor'?"},
      {{"simulate", gpt3, "--trace", "trace.txt"},
       "--trace trace.txt: unknown format; end the name in .json (Chrome trace events), .pftrace "
       "(Perfetto)"},
      {{"simulate", small, "--memory-snapshot", "m.json"},
       "--memory-snapshot m.json: a snapshot is written as a pickle, as pytorch.org/memory_viz "
       "reads it; end the name in .pickle or .pkl"},
      {{"simulate", small, "--output", "/no/such/folder/out.json"}, "cannot write"},
      {{"simulate"}, "scenario is required"},
      {{"simulate", gpt3, "--jsn"}, "unknown option '--jsn'; did you mean '--json'?"},
      {{"simulte", gpt3}, "unknown command 'simulte'; did you mean 'simulate'?"},
      {{}, "A subcommand is required"},
      {{"schedule", "--schedule", "1f2b", "--stages", "2", "--microbatches", "2", "--forward", "1",
        "--backward", "1"},
       "--schedule 1f2b: unknown schedule; choose gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-v, "
       "v-half, "
       "v-min, dualpipe or dualpipe-v"},
      {{"schedule", "--schedule", "dualpipe", "--stages", "3", "--microbatches", "8", "--forward",
        "1", "--backward", "1"},
       "dualpipe needs an even number of stages"},
      {{"schedule", "--schedule", "zb-v", "--stages", "2", "--microbatches", "8", "--chunks", "3",
        "--forward", "1", "--backward", "1"},
       "the V schedules run two chunks per stage, not 3"},
      {{"schedule", "--schedule", "1f1b", "--stages", "0", "--microbatches", "2", "--forward", "1",
        "--backward", "1"},
       "--stages: 0 is out of range; expected 1 to 1,000,000"},
      {{"schedule", "--schedule", "1f1b", "--stages", "1000000000", "--microbatches", "4",
        "--forward", "1", "--backward", "1"},
       "--stages: 1000000000 is out of range; expected 1 to 1,000,000"},
      {{"schedule", "--schedule", "1f1b", "--stages", "9999", "--microbatches", "9999", "--forward",
        "1", "--backward", "1"},
       "at most 2 million are simulated"},
      {{"schedule", "--schedule", "1f1b", "--stages", "2", "--microbatches", "2", "--forward", "1",
        "--backward", "1", "--slow", "2=1.5"},
       "--slow 2=1.5: write STAGE=FACTOR, with a stage from 0 to 1"},
      {{"schedule", "--schedule", "gpipe", "--stages", "2", "--microbatches", "2", "--chunks", "2",
        "--forward", "1", "--backward", "1"},
       "only --schedule interleaved runs several chunks per stage"},
      {{"schedule", "--schedule", "gpipe", "--stages", "2", "--microbatches", "2", "--forward",
        "nan", "--backward", "1"},
       "--forward nan: expected a number, 0 or more, or a duration such as 1.5ms"},
      {{"catalog", "show", "model", "gpt3-175"}, "did you mean 'gpt3-175b'?"},
      {{"catalog", "show", "modle", "gpt3-175b"}, "unknown kind 'modle'"},
      {{"validate", "megatron_sc21"}, "unknown data set 'megatron_sc21'"},
      {{"validate", "korthikanti"},
       "did you mean 'korthikanti2022_table4_layer_ms' or 'korthikanti2022_table5'?"},
      {{"simulate", small, "--plan", "autp"},
       "unknown value 'autp'; expected auto; did you mean 'auto'?"},
      {{"search", small, "--emit", "megatrn"},
       "expected one of megatron, deepspeed, torchtitan, nanotron; did you mean 'megatron'?"},
      {{"schedule", "--schedule", "zbh1", "--stages", "2", "--microbatches", "2", "--forward", "1",
        "--backward", "1"},
       "did you mean 'zb-h1'?"},
      {{"trace", "scenarios/examples"},
       "is a directory; expected a file; the traces of several ranks are for stepcast explain "
       "SCENARIO --trace scenarios/examples"},
      {{"simulate", "scenarios/examples/purchase-llama3-70b.yaml"},
       "this is a purchase, not a scenario; give it to stepcast purchase"},
      {{"simulate", "scenarios/examples/sweeps/gpt3-175b-a100.yaml"},
       "this is a sweep, not a scenario; give it to stepcast sweep"},
      {{"validate", "--data", "no-such-folder"}, "the folder of published runs is not there"},
      {{"import", "huggingface", "no-such.json"}, "no-such.json"},
      {{"import", "onnx", "model.onnx"}, "import onnx: unknown format; expected huggingface"},
  };
  for (const auto& [arguments, says] : cases) {
    const auto run = stepcast(arguments);
    INFO(run.err);
    CHECK(run.status == app::wrong_input);
    CHECK(run.out.empty());
    CHECK(run.err.find(says) != std::string::npos);
  }
}

TEST_CASE("a schedule of weight-gradient passes without their time is warned of") {
  const auto run = [](const std::string& schedule, const std::string& weight) {
    return stepcast({"schedule", "--schedule", schedule, "--stages", "2", "--microbatches", "4",
                     "--forward", "1", "--backward", "2", "--weight", weight})
        .err;
  };
  CHECK_THAT(run("zb-h1", "0"),
             STEPCAST_HOLDS("warning: zb-h1 fills bubbles with passes of weight gradients"));
  CHECK(run("zb-h1", "1").empty());
  CHECK(run("1f1b", "0").empty());
}

TEST_CASE("help exits with 0 and shows an example") {
  for (const char* command : {"simulate", "schedule", "validate", "catalog", "import"}) {
    const auto run = stepcast({command, "--help"});
    CHECK(run.status == app::success);
    CHECK(run.out.find("Example:") != std::string::npos);
  }
  CHECK(stepcast({"--version"}).status == app::success);
}

// A command is made alone where the line names it, and with all others for completion.
TEST_CASE("each command of the help answers to its name, with the options that completion has") {
  const auto help = stepcast({"--help"}).out, completion = stepcast({"completion", "bash"}).out;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::string line;
  int commands = 0, options = 0;
  for (std::getline(lines, line); std::getline(lines, line);) {
    if (line.size() < 3 || line[2] == ' ') continue;
    const auto name = line.substr(2, line.find(' ', 2) - 2);
    INFO(name);
    const auto run = stepcast({name, "--help"});
    CHECK(run.status == app::success);
    const auto known = completion.find("'stepcast " + name + "') list='");
    REQUIRE(known != std::string::npos);
    const auto words = completion.substr(known, completion.find('\n', known) - known) + ' ';
    ++commands;
    for (auto at = run.out.find("\n  --"); at != std::string::npos;
         at = run.out.find("\n  --", at + 1)) {
      const auto end = run.out.find_first_of(" ,\n", at + 3);
      CHECK_THAT(words, STEPCAST_HOLDS(run.out.substr(at + 3, end - at - 3)));
      ++options;
    }
  }
  CHECK(commands == 14);
  CHECK(options > 60);
}

TEST_CASE("a Hugging Face config becomes a model entry") {
  const auto run = stepcast(
      {"import", "huggingface", "scenarios/examples/configs/llama3.1-70b.config.json", "--json"});
  REQUIRE(run.status == app::success);
  CHECK(json::parse(run.out)["parameters"] == 70'553'706'496);
}

// The model has 671,026,419,200 parameters, of which its embedding has 129,280·7168; its prediction
// module has 11,610,068,224 more.
TEST_CASE(
    "an imported mixture says its active parameters, and those that its prediction module adds") {
  const auto run = stepcast({"import", "huggingface", "tests/scenarios/configs/deepseek-v3.json"});
  REQUIRE(run.status == app::success);
  CHECK_THAT(
      run.out,
      STEPCAST_HOLDS("# parameters: 671026.4 million, embedding and head included\n"
                     "# active parameters: 37552.3 million for a token, of which the embedding is "
                     "926.7\n"
                     "# prediction modules: 1, with 11610.1 million parameters beside these\n"));
  const auto dense =
      stepcast({"import", "huggingface", "tests/scenarios/configs/llama3.1-8b.json"});
  CHECK_THAT(dense.out, !STEPCAST_HOLDS("# active") && !STEPCAST_HOLDS("# prediction"));
}

TEST_CASE("schedule plays an order written by hand, and names the cell that it cannot read") {
  const auto file = std::filesystem::temp_directory_path() / "stepcast_order.csv";
  const auto with = [&](const std::string& text) {
    std::ofstream(file) << text;
    return stepcast(
        {"schedule", "--order", file.string(), "--forward", "1", "--backward", "2", "--json"});
  };
  // 1F1B on two stages with two microbatches takes (2 + 1) x (1 + 2) ticks.
  const auto run = with("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  REQUIRE(run.status == app::success);
  CHECK(json::parse(run.out)["makespan"] == 9);
  const auto wrong = with("0F0,0X1\n");
  CHECK(wrong.status == app::wrong_input);
  CHECK_THAT(wrong.err, STEPCAST_HOLDS("0X1"));
  std::filesystem::remove(file);
}

}  // namespace command_line_spec
