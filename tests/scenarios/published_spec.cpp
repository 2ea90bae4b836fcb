// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "scenarios/documents/error.hpp"
#include "scenarios/fitted_devices.hpp"
#include "scenarios/published.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/checks.hpp"

namespace published_spec {

namespace {
const auto folder = std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios/published";
}

TEST_CASE("every published row appears, readable or with the reason why not") {
  const auto datasets = scenarios::load_datasets(folder);
  CHECK(datasets.size() == 40);
  std::size_t rows = 0, readable = 0, well_formed = 0;
  for (const auto& dataset : datasets) {
    CHECK_FALSE(dataset.source.empty());
    for (const auto& row : dataset.rows) {
      CAPTURE(dataset.name, row.id, row.unsupported_reason);
      ++rows;
      readable += row.scenario ? 1 : 0;
      well_formed += row.scenario || row.unsupported_reason.find(" yet; ") != std::string::npos;
      CHECK_FALSE(row.id.empty());
      CHECK(row.scenario.has_value() == row.unsupported_reason.empty());
    }
  }
  CHECK(rows == 2128);         // 2072 with a scenario and 56 that none describes
  CHECK(well_formed == 2072);  // a mistake in a row has other words than a missing feature
  CHECK(readable == 2072);     // by the strategies of this version
}

TEST_CASE("a row keeps its measurement and the kind of judgement") {
  const auto dataset = scenarios::load_dataset(folder / "bigscience_1b3_v100.yaml");
  const auto& row = dataset.rows.front();
  CHECK(dataset.name == "bigscience_1b3_v100");
  CHECK(row.id == "bs_1b3_V100-32GB_ck_tp1_pp1_mb1");
  CHECK(row.measured_step_time_s == 29.0);
  CHECK(row.time_counts);
  CHECK(row.measured_bytes == 16777216000.0);
  CHECK(row.memory_kind == "device");
  CHECK(row.memory_approximate);
  CHECK(row.device == "V100");
  REQUIRE(row.scenario);
  CHECK(row.scenario->plan.data == 8);
  CHECK(row.scenario->cluster.node.gpus == 4);
}

TEST_CASE("passes of one layer are kept beside a time that was not measured") {
  const auto dataset = scenarios::load_dataset(folder / "korthikanti2022_table4_layer_ms.yaml");
  const auto& row = dataset.rows.front();
  CHECK(std::isnan(row.measured_step_time_s));
  REQUIRE(row.pass_times_s.size() == 2);
  CHECK(row.pass_times_s[0] == std::pair<std::string, double>{"layer.forward", 0.0077});
}

TEST_CASE("runs that did not fit are marked") {
  std::size_t overflowed = 0;
  for (const auto& dataset : scenarios::load_datasets(folder, {"bloom_176b_topology_benchmarks"}))
    for (const auto& row : dataset.rows) overflowed += row.out_of_memory ? 1 : 0;
  CHECK(overflowed > 0);
}

TEST_CASE("a data set says whose memory was measured if it is not that of the fullest device") {
  using scenarios::MemoryStage;
  const auto stage_of = [](const char* file) {
    return scenarios::load_dataset(folder / file).rows[0].memory_stage;
  };
  CHECK(stage_of("megatron_lm_golden_small.yaml") == MemoryStage::last);
  CHECK(stage_of("bigscience_1b3_v100.yaml") == MemoryStage::first);
  CHECK(stage_of("bloom_176b_topology_benchmarks.yaml") == MemoryStage::fullest);
  const auto file = std::filesystem::temp_directory_path() / "stepcast_memory_stage.yaml";
  std::ofstream(file) << "memory_stage: second\nrows: []\n";
  CHECK_THROWS_WITH(scenarios::load_dataset(file),
                    file.string() +
                        ":1:15: memory_stage is 'first' or 'last' where that pipeline stage was "
                        "measured; leave it out for the fullest device");
  std::filesystem::remove(file);
}

TEST_CASE("a data set says when it joined the others, if it was none of the first") {
  const auto read = [](const std::string& head) {
    return scenarios::read_dataset(head + "rows: []\n", "set.yaml").added;
  };
  CHECK(read("") == "");
  CHECK(read("added: 2026-11\n") == "2026-11");
  CHECK_THROWS_WITH(read("added: lately\n"), "set.yaml:1:8: added is a month such as 2026-11");
}

TEST_CASE("a rate by the source's own count is kept for rows that are compared with each other") {
  const auto dataset = scenarios::load_dataset(folder / "maxtext_gpu.yaml");
  const auto& row = dataset.rows.front();
  CHECK(row.relative_only);
  CHECK(row.measured_tflops == 492);
  CHECK(std::isnan(row.measured_step_time_s));
  CHECK_FALSE(row.time_counts);
}

TEST_CASE("a device is fitted if a figure of it is, or of the entry that it starts from") {
  const auto with = [](const std::string& file, const std::string& key) {
    return scenarios::read_calibration("datasets: [a]\nparameters: [{file: " + file + ", key: " +
                                           key + ", start: 0.5, low: 0.1, high: 1, width: 0.1}]\n",
                                       "calibration.yaml");
  };
  const auto h100 = with("devices/h100-80gb-sxm.yaml", "efficiency.memory");
  CHECK(scenarios::fits_device(h100, "h100-80gb-sxm"));
  CHECK(scenarios::fits_device(h100, "h200-sxm"));  // an H100 with other memory
  CHECK_FALSE(scenarios::fits_device(h100, "a100-80gb-sxm"));
  CHECK_FALSE(scenarios::fits_device(h100, "device"));  // no device has this name
  CHECK(scenarios::fits_device(with("software/fsdp.yaml", "interference"), "mi300x"));
  auto sets = scenarios::load_datasets(folder, {"torchao_float8_training", "maxtext_gpu"});
  scenarios::mark_fitted(sets, h100);
  for (const auto& set : sets)
    for (const auto& row : set.rows) {
      CAPTURE(row.id);
      CHECK(row.fitted == (!row.scenario || row.device == "H100" || row.device == "H200"));
    }
}

TEST_CASE("published runs are forecast alike with all microbatches played and with some left out") {
  unsigned runs = 0, jumped = 0;
  for (const auto& dataset : scenarios::load_datasets(folder))
    for (const auto& row : dataset.rows) {
      if (!row.scenario || ++runs % tests::fewer != 0) continue;
      INFO(dataset.name << ", " << row.id);
      const auto quick = forecast::simulate(*row.scenario);
      tests::check_same(quick, forecast::simulate(*row.scenario, {.jump = false}));
      jumped += quick.simulation.microbatches_played < quick.step.microbatches ? 1 : 0;
    }
  INFO(jumped << " of " << runs << " runs");
  CHECK(jumped > 200 / tests::fewer);
}

TEST_CASE("an unknown data set is answered with the nearest") {
  CHECK_THROWS_WITH(scenarios::load_datasets(folder, {"mt_nlg_53b"}),
                    STEPCAST_HOLDS("did you mean 'mt_nlg_530b'?"));
  CHECK_THROWS_AS(scenarios::dataset_names(folder / "none"), scenarios::Error);
}

}  // namespace published_spec
