// SPDX-License-Identifier: Apache-2.0
// Published measurements of training runs, each beside the scenario that describes the run.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"
#include "scenarios/documents/cursor.hpp"

namespace scenarios {

// The place of a memory measurement: the fullest device of all, or the first or last pipeline
// stage.
enum class MemoryStage { fullest, first, last };

struct PublishedRow {
  std::string id;
  std::optional<forecast::Scenario> scenario;  // nothing: see the reason
  std::string unsupported_reason;
  double measured_step_time_s;  // not a number: none was published
  std::string time_from;        // how the time was derived
  bool time_counts = false;     // fit for judging time forecasts
  double measured_tflops;       // TFLOP/s per GPU by the source's own count; not a number: none
  bool relative_only = false;   // to be compared with other rows of the set only
  double measured_bytes;        // not a number: none was published
  std::string memory_kind;      // allocated, reserved, device, unstated
  bool fitted = true;           // some figure of its devices is fitted: see mark_fitted
  MemoryStage memory_stage = MemoryStage::fullest;
  bool memory_approximate = false;  // printed in whole gigabytes, say
  bool out_of_memory = false;       // the run did not fit
  // Seconds by name: forward, backward_input, backward_weight of one stage and microbatch;
  // layer.forward, layer.backward of one layer.
  std::vector<std::pair<std::string, double>> pass_times_s;
  std::string device, precision, model, scale, parallelism;  // the groups that it belongs to
  std::vector<std::string> assumed;                          // what the source does not state
  std::shared_ptr<const Value> run;  // the scenario as written; null where there is none
};

struct Dataset {
  std::string name, source;
  bool tuned = false;  // its source gives each plan as the best, or the recommended, of its run
  std::string added;   // when it joined the others: "2026-11"; empty: one of the first
  std::vector<PublishedRow> rows;  // every row of the file, those beyond any scenario last
};

// Reads one data set; paths in it start from `folder`. Throws Error with every mistake if the file
// is no data set; a row whose scenario cannot be read is kept, with the reason.
Dataset read_dataset(std::string_view text, const std::string& file_name,
                     const std::filesystem::path& folder = {});

// Reads one data set from a file; its paths start from the file's folder.
Dataset load_dataset(const std::filesystem::path& file);

// The names of the folder's data sets, sorted: "NAME" for NAME.yaml. Throws Error if it is none.
std::vector<std::string> dataset_names(const std::filesystem::path& folder);

// Reads several data sets at once, sharing the common parts of rows. An empty list of names means
// all. `read` receives their files and those that their rows name.
std::vector<Dataset> load_datasets(const std::filesystem::path& folder,
                                   std::vector<std::string> names = {}, Files* read = nullptr);

// Returns the row's scenario with these entries in place of the catalog's; `named` receives the
// names of all entries that it rests on ("software/megatron-core"). The row must have a scenario.
// Throws Error as load_scenario does.
forecast::Scenario read_again(const PublishedRow& row, const Entries& entries,
                              std::set<std::string>* named = nullptr);

}  // namespace scenarios
