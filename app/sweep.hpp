// SPDX-License-Identifier: Apache-2.0
// Shared by the commands of sweeps.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/corrections.hpp"
#include "app/stopping.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "report/sweep/sweep.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "store/store.hpp"

namespace app {

struct SweepRequest {
  std::string file;
  std::string store;  // empty: in the current folder, named after the file
  std::string csv;    // empty: none
  std::string shard;  // "3/20"; empty: all
  std::string emit;   // "slurm"; empty: run it
  int shards = 0;     // parts of a script; 0: as many as take `minutes` each
  double minutes = 5;
  bool repair = false;  // a damaged store
};

struct StoresRequest {
  std::vector<std::string> stores;
  std::string into;  // merge: the store to make; empty: named after the shards
  std::string csv;   // export: empty: standard output
  // plot
  std::string figure, along, by;
  std::string against;       // figure to the right; empty: the values along the axis
  std::string where;         // condition that points meet; empty: all
  bool relative = false;     // to the first of each line
  std::vector<double> band;  // its two ends; none: no band
};

int sweep(const SweepRequest& request, const Common& common, Streams streams);
int sweep_status(const StoresRequest& request, const Common& common, Streams streams);
int sweep_export(const StoresRequest& request, const Common& common, Streams streams);
int sweep_merge(const StoresRequest& request, const Common& common, Streams streams);
int sweep_plot(const StoresRequest& request, const Common& common, Streams streams);

// The script of a job array that runs every shard.
int emit_slurm(const SweepRequest& request, const scenarios::Grid& grid, const Common& common,
               const std::optional<Correcting>& correcting, Streams streams);

// Values along the axes as texts, made once.
class Labels {
 public:
  explicit Labels(const scenarios::Grid& grid);

  std::vector<std::string> values(std::int64_t position) const;  // JSON, of every varied path
  std::string object(std::int64_t position) const;               // {"plan.tensor": 8, …}

 private:
  const scenarios::Grid* grid_;
  std::vector<std::vector<std::vector<std::string>>> values_;  // by axis, index, path
  std::vector<std::vector<std::string>> members_;              // by axis, index: "a": 1, "b": 2
};

// Returns the identity of a sweep. Points that other measured steps correct, or none, belong to
// another sweep.
store::Identity identity_of(const scenarios::Grid& grid, const store::Shard& shard,
                            std::int64_t points, const std::optional<Correcting>& correcting);
bool is_corrected(const store::Identity& identity);
std::vector<store::Column> figure_columns();
report::SweepFacts facts_of(const scenarios::Grid& grid);

// The store that the command names, or its default; shards have names derived from it.
std::filesystem::path store_of(const SweepRequest& request);
// The store as an output that is added to; `option`: as it was given, empty where it was not.
Output store_output(const std::string& option, const std::filesystem::path& store);

// Throws Mistake unless the text is "i/N" with 0 ≤ i ≤ N; 0 stands for N, for those who count from
// zero.
store::Shard parse_shard(const std::string& text);
std::filesystem::path shard_file(const std::filesystem::path& store, const store::Shard& shard);

// Answers points of a grid, one after the other. One for each thread.
class Answering {
 public:
  // `known`: sorted ids of points that need no answer. `orders` may serve several threads.
  Answering(const scenarios::Grid& grid, const Labels& labels,
            const std::vector<std::string>& known, const forecast::Intervals& intervals,
            const std::optional<Correcting>& correcting, const Stopping& stopping,
            strategies::KnownOrders& orders);
  // Returns the row of a point, with an empty status if the point is known; nothing if the user
  // stopped it.
  std::optional<store::Row> answer(std::int64_t position);

 private:
  bool name(store::Row& row, const std::string& question) const;
  void simulate(store::Row& row);
  void search(store::Row& row);

  const scenarios::Grid& grid_;
  const Labels& labels_;
  const std::vector<std::string>& known_;
  const forecast::Intervals& intervals_;
  const std::optional<Correcting>& correcting_;
  const Stopping& stopping_;
  scenarios::PointReader reader_;
  strategies::KnownOrders& orders_;
  std::string salt_;
};

// The points in a sweep's stores, as rows in the order of their axes' values.
class StoredSweep {
 public:
  // Throws store::Error, or Mistake where they are of different sweeps.
  explicit StoredSweep(const std::vector<std::string>& files);
  explicit StoredSweep(store::Store store);

  const scenarios::Grid& grid() const { return grid_; }
  const std::vector<store::Store>& stores() const { return stores_; }
  std::optional<report::SweepRow> row(std::int64_t position) const;
  report::SweepSummary summary() const;  // over all stores
  // Returns the reasons why no point is fine; nothing if one is fine, or if there is no point yet.
  std::optional<report::NothingOk> nothing_ok() const;
  void write_json(std::ostream& out, bool stopped = false) const;
  void write_csv(std::ostream& out) const;

 private:
  void check_alike(const std::vector<std::string>& files) const;
  report::SweepFacts facts() const;
  std::vector<store::Store> stores_;
  scenarios::Grid grid_;
  Labels labels_;
};

// The page of the points in the stores.
std::string page_of(const StoredSweep& rows);

// Streams an answer to --output, whole or not at all, or to standard output.
void deliver_stream(const std::function<void(std::ostream&)>& write, const std::string& file,
                    Streams streams);

}  // namespace app
