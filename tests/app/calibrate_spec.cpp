// SPDX-License-Identifier: Apache-2.0
// `stepcast calibrate` as a user meets it.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scenarios/scenario_file.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace calibrate_spec {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::stepcast;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder of this test's own, removed at its end.
struct Scratch {
  explicit Scratch(const std::string& name) : path(fs::temp_directory_path() / name) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Scratch() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  fs::path path;
};

const std::string few =
    "datasets: [megatron_readme_2020_09, {name: mt_nlg_530b}]\n"
    "parameters:\n"
    "  - {file: software/megatron-2021.yaml, key: launch_forward, unit: us, start: 40, low: 5,\n"
    "     high: 100, width: 0.5, meaning: host time of a kernel}\n"
    "  - {file: devices/a100-80gb-sxm.yaml, key: efficiency.memory, start: 0.6, low: 0.5,\n"
    "     high: 0.95, width: 0.1, meaning: share of the bandwidth}\n";

}  // namespace

TEST_CASE("calibrate fits, writes the catalog's files, and writes the same bytes again") {
  const Scratch folder("stepcast_calibrate");
  const auto file = folder.write("few.yaml", few);
  const std::vector<std::string> command{"calibrate", "--parameters",       file,
                                         "--catalog", folder.path.string(), "--json"};
  auto with = [&](const std::string& threads) {
    auto all = command;
    all.insert(all.end(), {"--threads", threads});
    return stepcast(all);
  };
  const auto first = with("1");
  CAPTURE(first.err);
  REQUIRE(first.status == app::success);
  const auto document = json::parse(first.out);
  CHECK(document["after"].get<double>() < document["before"].get<double>());
  CHECK(document["left_out"].get<double>() >= document["after"].get<double>());
  CHECK(document["observations"] == 15);
  CHECK(document["files"] == json({"devices/a100-80gb-sxm.yaml", "software/megatron-2021.yaml"}));
  const auto device = read(folder.path / "devices/a100-80gb-sxm.yaml");
  CHECK_THAT(device, STEPCAST_HOLDS("# fitted by stepcast calibrate: efficiency.memory\n"));
  const auto second = with("2");  // reads the files of the first and starts where the first started
  CHECK(second.out == first.out);
  CHECK(read(folder.path / "devices/a100-80gb-sxm.yaml") == device);
}

TEST_CASE("a parameter acts on the runs that are based on its file and do not override it") {
  const Scratch folder("stepcast_calibrate_felt");
  // The base of MT-NLG's profile is megatron-2021, but it has a step overhead of its own and no
  // workspace.
  const std::string key = "start: 10, low: 5, high: 50, unit: UNIT, width: 0.5}\n";
  auto in = [&](const char* unit) {
    auto text = key;
    return text.replace(text.find("UNIT"), 4, unit);
  };
  const auto file = folder.write(
      "felt.yaml",
      "datasets: [mt_nlg_530b]\nparameters:\n"
      "  - {file: software/megatron-2021.yaml, key: step_overhead, " +
          in("ms") + "  - {file: software/megatron-2021.yaml, key: workspace, " + in("MiB"));
  const auto run = stepcast({"calibrate", "--parameters", file, "--only-print", "--json"});
  CAPTURE(run.err);
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["parameters"][0]["observations"] == 0);
  CHECK(document["parameters"][1]["observations"] == 3);
}

TEST_CASE("--only-print writes nothing") {
  const Scratch folder("stepcast_calibrate_print");
  const auto file = folder.write("few.yaml", few);
  const auto run = stepcast({"calibrate", "--parameters", file, "--only-print", "--catalog",
                             (folder.path / "catalog").string()});
  REQUIRE(run.status == app::success);
  CHECK_FALSE(fs::exists(folder.path / "catalog"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("launch_forward"));
  CHECK_THAT(run.out, STEPCAST_HOLDS("mean of the data sets"));
}

TEST_CASE("a data set that is not there, or lacks the compared figure, is a mistake") {
  const Scratch folder("stepcast_calibrate_wrong");
  auto wrong = few;
  wrong.replace(wrong.find("mt_nlg_530b"), 11, "mt_nlg_530c");
  auto run = stepcast({"calibrate", "--parameters", folder.write("a.yaml", wrong)});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("did you mean 'mt_nlg_530b'?"));
  wrong = few;
  wrong.replace(wrong.find("mt_nlg_530b"), 11, "mt_nlg_530b, measure: memory");
  run = stepcast({"calibrate", "--parameters", folder.write("b.yaml", wrong)});
  CHECK(run.status == app::wrong_input);
  CHECK(
      run.err ==
      "stepcast: data set mt_nlg_530b has no row with a measured memory that can be simulated and "
      "fitted to; leave it out of the calibration\n");
}

TEST_CASE("a fit takes tables of measured collectives as it takes runs") {
  const Scratch folder("stepcast_calibrate_collectives");
  const auto file = folder.write(
      "links.yaml",
      "datasets: [{name: h200_1x8_collectives_stas, measure: collectives}]\n"
      "parameters:\n"
      "  - {file: nodes/dgx-h100.yaml, key: nvlink.efficiency, start: 0.6, low: 0.3, high: 1,\n"
      "     width: 0.5, meaning: payload over specified bandwidth}\n");
  const auto run =
      stepcast({"calibrate", "--parameters", file, "--catalog", folder.path.string(), "--json"});
  CAPTURE(run.err);
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["datasets"][0]["measure"] == "collectives");
  CHECK(document["parameters"][0]["observations"] == 4);  // the base of H200 nodes is H100 nodes
  CHECK(document["before"].get<double>() > 0.1);
  CHECK(document["after"].get<double>() < 0.08);
  CHECK_THAT(read(folder.path / "nodes/dgx-h100.yaml"), STEPCAST_HOLDS("efficiency: 0."));
}

// Each of five rows has a forward and a backward pass of a layer.
TEST_CASE("a fit takes measured passes as it takes steps") {
  const Scratch folder("stepcast_calibrate_passes");
  const auto file = folder.write(
      "passes.yaml",
      "datasets: [{name: korthikanti2022_table4_layer_ms, measure: passes}]\n"
      "parameters:\n"
      "  - {file: devices/a100-80gb-sxm.yaml, key: efficiency.memory, start: 0.5, low: 0.4,\n"
      "     high: 0.95, width: 0.5, meaning: share of the bandwidth}\n");
  const auto run = stepcast({"calibrate", "--parameters", file, "--only-print", "--json"});
  CAPTURE(run.err);
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["datasets"][0]["measure"] == "passes");
  CHECK(document["observations"] == 10);
  CHECK(document["after"].get<double>() < document["before"].get<double>());
}

TEST_CASE("a measured table becomes a device that a scenario can use") {
  const Scratch folder("stepcast_calibrate_kernels");
  const auto csv = folder.write("mine.csv",
                                "# device: My GPU\n# power: 350 W\n"
                                "kind,pass,batch,m,n,k,causal,implementation,efficiency\n"
                                "product,forward,1,4096,4096,4096,,,0.6\n"
                                "product,forward,1,8192,8192,8192,,,0.65\n"
                                "stream,copy,,,1000000,,,,0.06\nstream,add,,,1000000000,,,,0.8\n");
  const auto run = stepcast({"calibrate", "--kernels", csv, "--name", "my-gpu", "--base",
                             "h100-80gb-sxm", "--catalog", folder.path.string(), "--json"});
  CAPTURE(run.err);
  REQUIRE(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["parameters"].size() == 4);
  CHECK(read(folder.path / "my-gpu.csv") == read(csv));
  const auto yaml = read(folder.path / "my-gpu.yaml");
  CHECK_THAT(yaml, STEPCAST_HOLDS("base: h100-80gb-sxm\n"));
  std::ostringstream scenario;
  scenario << "model: llama3-8b\ntraining: {sequence_length: 2048, global_batch: 8}\n"
              "cluster:\n  nodes: 1\n  node:\n    base: dgx-h100\n    device:\n";
  std::string line;
  for (std::istringstream lines(yaml); std::getline(lines, line);)
    scenario << "      " << line << '\n';
  const auto file = folder.write("scenario.yaml", scenario.str());
  const auto& efficiency = scenarios::load_scenario(file).cluster.node.device.efficiency;
  CHECK(efficiency.products.size() == 2);
  CHECK(efficiency.memory == Approx(0.8).epsilon(0.02));
  CHECK(efficiency.measured_power.value == 350);  // the base has 700 W
  CHECK(efficiency.product_plateau < 0.75);
}

TEST_CASE("--kernels asks for a name, and tells every wrong line") {
  const Scratch folder("stepcast_calibrate_lines");
  const auto csv = folder.write("mine.csv",
                                "kind,pass,batch,m,n,k,causal,implementation,efficiency\n"
                                "gemm,,,,,,,,1\nstream,copy,,,x,,,,1\n");
  auto run = stepcast({"calibrate", "--kernels", csv});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err ==
        "stepcast: --kernels needs --name NAME, the name of the device, such as my-gpu\n");
  run = stepcast({"calibrate", "--kernels", csv, "--name", "mine"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err == csv + ":2:1: unknown kind 'gemm'; expected product, attention or stream\n" +
                       csv + ":3:15: n must be a positive number, not 'x'\n");
}

}  // namespace calibrate_spec
