// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "scenarios/calibration.hpp"
#include "scenarios/catalog.hpp"
#include "scenarios/documents/edit.hpp"
#include "scenarios/measured/collective_tables.hpp"
#include "scenarios/published.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace calibration_spec {

namespace {

using scenarios::Calibration;

// A calibration laid out as calibration.yaml is, with `parameter` as the second of two.
std::string text_with(const std::string& parameter) {
  return "datasets: [mt_nlg_530b, {name: megatron_sc21_table1, every: 2}]\n"
         "parameters:\n"
         "  - {file: software/nemo.yaml, key: step_overhead, unit: ms, start: 5, low: 1, high: "
         "50,\n"
         "     width: 1, meaning: host time}\n"
         "  - " +
         parameter + "\n";
}

std::string complaint_of(const std::string& parameter) {
  try {
    scenarios::read_calibration(text_with(parameter), "c.yaml");
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "no complaint";
}

const std::string plain_key =
    "{file: devices/b200.yaml, key: efficiency.memory, start: 0.75, low: 0.4, high: 0.95, width: "
    "0.1, scale: unit}";

}  // namespace

TEST_CASE("a calibration says which figures are fitted, between which bounds, and to which runs") {
  const auto calibration = scenarios::read_calibration(text_with(plain_key), "c.yaml");
  REQUIRE(calibration.sets.size() == 2);
  CHECK(calibration.sets[0].name == "mt_nlg_530b");
  CHECK(calibration.sets[1].every == 2);
  CHECK(calibration.sets[1].measure == scenarios::CalibrationSet::Measure::time);
  REQUIRE(calibration.keys.size() == 2);
  CHECK(calibration.keys[0].unit == "ms");
  CHECK(calibration.keys[0].logarithmic);
  CHECK(calibration.keys[1].key == "efficiency.memory");
  CHECK(calibration.keys[1].high == 0.95);
  CHECK_FALSE(calibration.keys[1].logarithmic);
}

TEST_CASE("the calibration of the checkout can be read, and names known data sets") {
  const auto folder = std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios";
  const auto calibration = scenarios::load_calibration(folder / "calibration.yaml");
  const auto runs = scenarios::dataset_names(folder / "published");
  const auto tables = scenarios::collective_table_names(folder / "collectives");
  for (const auto& set : calibration.sets) {
    CAPTURE(set.name);
    const bool collectives = set.measure == scenarios::CalibrationSet::Measure::collectives;
    const auto& known = collectives ? tables : runs;
    CHECK(std::ranges::find(known, set.name) != known.end());
  }
  std::map<std::string, int> numbers;  // the most parameters of a device, a fabric and a profile
  for (const auto& key : calibration.keys) {
    CAPTURE(key.file, key.key);
    CHECK_FALSE(key.meaning.empty());
    ++numbers[key.file];
  }
  for (const auto& [file, count] : numbers) {
    CAPTURE(file, count);
    CHECK(count <= (file.starts_with("devices/") ? 12 : file.starts_with("software/") ? 8 : 6));
  }
}

TEST_CASE("a data set counts once for each thing that is measured") {
  const auto text = [](const std::string& sets) {
    return "datasets: [" + sets + "]\nparameters: [" + plain_key + "]\n";
  };
  CHECK(scenarios::read_calibration(text("a, {name: a, measure: memory}"), "c.yaml").sets.size() ==
        2);
  CHECK_THROWS_WITH(scenarios::read_calibration(text("a, a"), "c.yaml"),
                    "c.yaml:1:15: datasets.1: 'a' is listed twice; keep one, or it counts double");
}

TEST_CASE("a mistake in a calibration is told with its place and its remedy") {
  CHECK(complaint_of("{file: software/nemoo.yaml, key: step_overhead, start: 5, low: 1, high: 9, "
                     "width: 1}") ==
        "c.yaml:5:12: parameters.1.file: the catalog has no 'software/nemoo.yaml'; expected a path "
        "such as 'software/nemo.yaml'; did you mean 'software/nemo.yaml'?");
  const auto misspelt = complaint_of(
      "{file: software/nemo.yaml, key: step_overhed, unit: ms, start: 5, low: 1, high: 9, width: "
      "1}");
  CHECK_THAT(misspelt, STEPCAST_HOLDS("c.yaml:5:37: parameters.1.key: the catalog does not take "
                                      "it: step_overhed: unknown key; expected one of "));
  CHECK_THAT(misspelt, STEPCAST_HOLDS("; did you mean 'step_overhead'?"));
  CHECK_THAT(complaint_of("{file: devices/b200.yaml, key: efficiency.memory, unit: us, start: 0.7, "
                          "low: 0.5, high: 0.9, width: 1}"),
             STEPCAST_HOLDS("parameters.1.start: the catalog does not take it: efficiency.memory"));
  CHECK(complaint_of("{file: devices/b200.yaml, key: efficiency.memory, start: 0.7, low: 0.9, "
                     "high: 0.5, width: 1}") ==
        "c.yaml:5:72: parameters.1.low: the least value must be below the largest, 0.5");
  CHECK(complaint_of("{file: devices/b200.yaml, key: efficiency.memory, start: 0.3, low: 0.5, "
                     "high: 0.9, width: 1}") ==
        "c.yaml:5:62: parameters.1.start: must lie between low and high, 0.5 and 0.9");
  CHECK(complaint_of("{file: software/nemo.yaml, key: interference, start: 0.1, low: 0, high: 0.5, "
                     "width: 0.1}") ==
        "c.yaml:5:68: parameters.1.low: a logarithm needs values above zero; raise low, or write "
        "scale: unit");
  CHECK(
      complaint_of("{file: software/nemo.yaml, key: step_overhead, unit: ms, start: 5, low: 1, "
                   "high: 9, width: 1}") ==
      "c.yaml:5:5: parameters.1: 'step_overhead' of software/nemo.yaml is listed twice; keep one");
  const auto bare = complaint_of("{file: devices/b200.yaml, kee: efficiency.memory}");
  CHECK_THAT(bare, STEPCAST_HOLDS("c.yaml:5:5: parameters.1: missing key 'width'; a parameter "
                                  "needs file, key, start, low, high and width\n"));
  CHECK_THAT(bare, STEPCAST_HOLDS("parameters.1.kee: unknown key; expected one of file, key, unit, "
                                  "meaning, start, low, high, width, scale; did you mean 'key'?"));
}

TEST_CASE("rounding keeps three digits") {
  CHECK(scenarios::rounded(0.123456) == 0.123);
  CHECK(scenarios::rounded(98765) == 98800);
  CHECK(scenarios::rounded(40) == 40);
  CHECK(scenarios::exact_text({.unit = "us"}, scenarios::rounded(0.0012345)) == "0.00123 us");
  CHECK(scenarios::exact_text({}, 0.75) == "0.75");
}

TEST_CASE("a value is replaced where it stands, and all else stays") {
  const std::string file =
      "# a remark\n"
      "base: x  # of whom\n"
      "efficiency: {memory: 0.75, kernel_gap: 4 us}  # shares\n"
      "nvlink:\n"
      "  bandwidth: 1 GB/s\n"
      "last: 3\n";
  CHECK(scenarios::with_value(file, "f", "last", "4") == file.substr(0, file.size() - 2) + "4\n");
  CHECK_THAT(scenarios::with_value(file, "f", "efficiency.memory", "0.8"),
             STEPCAST_HOLDS("efficiency: {memory: 0.8, kernel_gap: 4 us}  # shares\n"));
  CHECK_THAT(scenarios::with_value(file, "f", "efficiency.clock", "0.9"),
             STEPCAST_HOLDS("{memory: 0.75, kernel_gap: 4 us, clock: 0.9}  # shares\n"));
  CHECK_THAT(scenarios::with_value(file, "f", "nvlink.latency", "1 us"),
             STEPCAST_HOLDS("nvlink:\n  bandwidth: 1 GB/s\n  latency: 1 us\nlast: 3\n"));
  CHECK(scenarios::with_value(file, "f", "new.key", "1") == file + "new: {key: 1}\n");
  CHECK_THAT(scenarios::with_value(file, "f", "base", "y"), STEPCAST_HOLDS("base: y  # of whom\n"));
  CHECK_THROWS_WITH(scenarios::with_value(file, "f", "nvlink", "1"),
                    "f:5:3: nvlink: expected a plain value, which a fitted one can replace");
}

TEST_CASE("a fitted file says so once, and no longer claims to be from memory") {
  const std::string file = "base: x\nfrom_memory: [a, b, c]\na: 1\n";
  const std::vector<std::string> keys{"a", "c"};
  const auto once = scenarios::with_origin(file, keys);
  CHECK(once == "# fitted by stepcast calibrate: a, c\nbase: x\nfrom_memory: [b]\na: 1\n");
  CHECK(scenarios::with_origin(once, keys) == once);
  const std::vector<std::string> all{"a", "b", "c"};
  CHECK(scenarios::with_origin(file, all) ==
        "# fitted by stepcast calibrate: a, b, c\nbase: x\na: 1\n");
}

TEST_CASE("a fitted value reaches entries based on the file, but no value that overrides it") {
  Calibration calibration;
  calibration.keys = {{.file = "software/megatron-core.yaml",
                       .key = "interference",
                       .start = 0.15,
                       .low = 0,
                       .high = 1,
                       .width = 1},
                      {.file = "devices/a100-80gb-sxm.yaml", .key = "efficiency.memory"}};
  scenarios::FittedCatalog catalog(calibration, "");
  const auto entries = catalog.entries({0.37, 0.61});
  const auto read = [&](const std::string& software) {
    const auto document = scenarios::parse_yaml(
        "model: llama3-8b\ncluster: {node: dgx-a100-80gb, nodes: 1}\n"
        "training: {sequence_length: 2048, global_batch: 8}\n" +
            software,
        "f.yaml");
    scenarios::Reading reading("f.yaml", {}, entries);
    return scenarios::read_document(document, reading);
  };
  CHECK(read("software: megatron-core").software.interference == 0.37);
  CHECK(read("").software.interference == 0.37);                    // the default software
  CHECK(read("software: nanotron").software.interference == 0.37);  // has it as its base
  CHECK(read("software: {compile: true}").software.interference == 0.37);
  CHECK(read("software: {base: nemo, interference: 0.2}").software.interference == 0.2);
  CHECK(read("software: fsdp").software.interference ==
        scenarios::catalog_software("fsdp").interference);  // has its own
  CHECK(read("").cluster.node.device.efficiency.memory == 0.61);
  CHECK(read("").cluster.node.device.efficiency.kernel_gap ==
        scenarios::catalog_device("a100-80gb-sxm").efficiency.kernel_gap);
}

TEST_CASE("a published row is read again with other figures in the catalog") {
  const auto dataset = scenarios::load_dataset(std::filesystem::path(STEPCAST_SOURCE_DIR) /
                                               "scenarios/published/mt_nlg_530b.yaml");
  const auto& row = dataset.rows.front();
  std::set<std::string> named;
  const auto again = scenarios::read_again(row, {}, &named);
  CHECK(again == *row.scenario);
  CHECK(named.contains("software/megatron-deepspeed"));
  CHECK(named.contains("software/megatron-2021"));  // the former's base
  CHECK(named.contains("device/a100-80gb-sxm"));
  CHECK_FALSE(named.contains("software/nemo"));
}

}  // namespace calibration_spec
