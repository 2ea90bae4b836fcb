// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "forecast/accuracy/correction.hpp"
#include "scenarios/corrections_file.hpp"
#include "scenarios/similarity.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace corrections_file_spec {

namespace fs = std::filesystem;

namespace {

constexpr auto scenario =
    "model: llama3-8b\n"
    "cluster: {node: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 8192, global_batch: 64}\n"
    "plan: {tensor: 2}\n";

// A folder with a scenario file, removed at the end of the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / "stepcast_corrections_file";
  Folder() {
    fs::create_directories(path);
    std::ofstream(path / "run.yaml") << scenario;
    std::ofstream(path / "wrong.yaml") << "model: llama3-8b\n";
    std::ofstream(path / "broken.yaml") << "model: [llama3-8b\n";
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::vector<scenarios::MeasuredEntry> read(const std::string& text) const {
    return scenarios::read_corrections(text, "c.yaml", path);
  }
  // All complaints with their places, but for this folder's path.
  std::string complaints(const std::string& text) const {
    std::string all = "no complaint";
    try {
      read(text);
    } catch (const scenarios::Error& wrong) {
      all = wrong.what();
    }
    const auto folder = path.string() + "/";
    for (auto at = all.find(folder); at != all.npos; at = all.find(folder))
      all.erase(at, folder.size());
    return all;
  }
};

}  // namespace

TEST_CASE("a reading says which files it led to") {
  const Folder folder;
  const auto list = folder.path / "c.yaml", config = folder.path / "config.json";
  fs::copy_file(STEPCAST_SOURCE_DIR "/scenarios/examples/configs/llama3.1-70b.config.json", config,
                fs::copy_options::overwrite_existing);
  std::ofstream(folder.path / "run.yaml")
      << "model: {huggingface: config.json}\n"
         "cluster: {node: dgx-h100, nodes: 2}\n"
         "training: {sequence_length: 8192, global_batch: 64}\n";
  std::ofstream(list) << "- {scenario: run.yaml, measured: 12.3 s}\n";
  scenarios::Files read;
  scenarios::load_corrections(list, &read);
  CHECK(read == scenarios::Files{list, config, folder.path / "run.yaml"});
}

TEST_CASE("a list of measured steps names scenario files, or holds scenarios") {
  const Folder folder;
  const auto entries = folder.read(R"(
- {scenario: run.yaml, measured: 12.3 s, source: my log of Tuesday}
- scenario: run.yaml
  set: {plan.tensor: 4, training.global_batch: 128}
  measured: 950 ms
  noise: 0.05
- name: mine
  measured: 7.5
  scenario:
    model: llama3-8b
    cluster: {node: dgx-h100, gpus: 8}
    training: {sequence_length: 4096, global_batch: 8}
)");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "run.yaml");
  CHECK(entries[0].measured == units::Seconds{12.3});
  CHECK(entries[0].noise == forecast::usual_noise);
  CHECK(entries[0].scenario.plan.tensor == 2);
  CHECK(entries[1].name == "run.yaml, plan.tensor 4, training.global_batch 128");
  CHECK(entries[1].scenario.plan.tensor == 4);
  CHECK(entries[1].scenario.training.global_batch == 128);
  CHECK(entries[1].measured == units::Seconds{0.95});
  CHECK(entries[1].noise == 0.05);
  CHECK(entries[2].name == "mine");
  CHECK(entries[2].measured == units::Seconds{7.5});  // seconds, as it has no unit
  CHECK(entries[2].scenario.cluster.gpus == 8);
}

TEST_CASE("mistakes of an entry are named with their places, all in one run") {
  const Folder folder;
  CHECK(
      folder.complaints("- {scenario: run.yaml, measured: -3 s}\n"
                        "- {scenario: run.yaml, mesured: 3 s}\n"
                        "- {measured: 3 s}\n"
                        "- {scenario: run.yaml, measured: 3 GB}\n"
                        "- 12.3 s\n"
                        "- {scenario: run.yaml, measured: 3 s, noise: 2}\n") ==
      "c.yaml:1:34: 0.measured: -3 s is out of range; expected 1.00 us to 11.6 days: a step takes "
      "a "
      "while, and ends within days\n"
      "c.yaml:2:24: 1.mesured: unknown key; expected one of scenario, set, measured, noise, name, "
      "source; did you mean 'measured'?\n"
      "c.yaml:3:3: 2: missing key 'scenario'; a measured step is a scenario and the time that it "
      "took\n"
      "c.yaml:4:34: 3.measured: '3 GB' is a size, not a duration; write e.g. '5 us'\n"
      "c.yaml:5:3: 4: a single value where a map belongs\n"
      "c.yaml:6:46: 5.noise: 2 is out of range; expected 0.001 to 0.5: no measurement is the same "
      "again, nor of use if it is far off");
}

TEST_CASE("mistakes inside of a scenario have their place in its file") {
  const Folder folder;
  CHECK(folder.complaints("- {scenario: wrong.yaml, measured: 3 s}\n"
                          "- {scenario: none.yaml, measured: 3 s}\n"
                          "- {scenario: broken.yaml, measured: 3 s}\n"
                          "- {scenario: run.yaml, set: {plan.tensor: 3}, measured: 3 s}\n"
                          "- {scenario: {model: llama3-8b}, measured: 3 s}\n") ==
        "wrong.yaml:1:1: missing key 'cluster'; a scenario needs model, cluster and training\n"
        "wrong.yaml:1:1: missing key 'training'; a scenario needs model, cluster and training\n"
        "c.yaml:2:14: 1.scenario: 'none.yaml' cannot be read: no such file\n"
        "broken.yaml:2:1: this is not YAML: end of sequence flow not found\n"
        "c.yaml:4:29: 3.set: plan.tensor: 3 does not divide 32 heads: each rank computes whole "
        "heads; write a divisor, such as 2 or 4\n"
        "c.yaml:4:29: 3.set: plan.tensor: 3 does not divide ffn 14336: each rank computes an equal "
        "share of the MLP\n"
        "c.yaml:4:29: 3.set: plan.tensor: tensor 3 x pipeline 1 = 3 does not divide 16 GPUs: every "
        "replica takes that many\n"
        "c.yaml:5:14: 4.scenario: missing key 'cluster'; a scenario needs model, cluster and "
        "training\n"
        "c.yaml:5:14: 4.scenario: missing key 'training'; a scenario needs model, cluster and "
        "training");
}

TEST_CASE("a file that is no list of steps is refused with what to write") {
  const Folder folder;
  const std::string expected =
      "c.yaml:1:1: expected a list of measured steps: '- {scenario: FILE, measured: 12.3 s}'";
  CHECK(folder.complaints("scenario: run.yaml\nmeasured: 12.3 s\n") == expected);
  CHECK(folder.complaints("[]\n") == expected);
  CHECK(folder.complaints("12.3 s\n") == expected);
}

TEST_CASE("the schema of corrections has the reader's keys, and needs scenario and measured") {
  const auto schema = nlohmann::json::parse(scenarios::corrections_schema());
  CHECK(schema["type"] == "array");
  CHECK(schema["items"]["required"] == nlohmann::json::array({"scenario", "measured"}));
  CHECK(schema["items"]["additionalProperties"] == false);
  for (const auto* key : {"scenario", "set", "measured", "noise", "name", "source"})
    CHECK(schema["items"]["properties"].contains(key));
}

TEST_CASE("the program carries a similarity with a figure for every dimension") {
  const auto similarity = scenarios::catalog_similarity();
  CHECK(similarity.own > 0);
  CHECK(similarity.difference[0] > 0);  // difference between devices
}

TEST_CASE("a similarity without a figure, or with one that is none, is refused") {
  const auto wrong = tests::complaints_of(
      [] { scenarios::read_similarity("own: 1.5\ndifference: {devise: 1}\n", "l.yaml"); });
  CHECK(wrong.find("own: 1.5 is out of range") != wrong.npos);
  CHECK(wrong.find("difference.devise: unknown key") != wrong.npos);
  CHECK(tests::complaints_of([] { scenarios::read_similarity("own: 0.1\n", "l.yaml"); }) ==
        "missing key 'difference'; every dimension has its figure\n"
        "missing key 'doubling'; every dimension has its figure");
}

}  // namespace corrections_file_spec
