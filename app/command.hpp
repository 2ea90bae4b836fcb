// SPDX-License-Identifier: Apache-2.0
// Shared by all commands: requests, streams for answers, exit statuses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/files.hpp"
#include "forecast/forecast.hpp"
#include "report/style.hpp"
#include "scenarios/jobs/job.hpp"

namespace app {

// Exit statuses of the program.
inline constexpr int success = 0, no_answer = 1, wrong_input = 2, own_fault = 3, interrupted = 130;

// A mistake in the command line or in a file that it names.
struct Mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Options that hold on every command that runs something.
struct Common {
  std::vector<std::string> sets;
  bool json = false, quiet = false;
  std::string output;       // file; empty: standard output
  std::string trace;        // file; empty: none
  std::string report;       // page to write; empty: none
  std::string corrections;  // file of measured steps; empty: none
  unsigned threads = 0;
  scenarios::JobHints job;                 // how a job of a framework is read
  Caller* caller = nullptr;                // null: a person at a terminal
  std::vector<const void*> with_timeline;  // commands whose --trace writes one
};

struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;      // `out` is one
  bool err_terminal = false;  // `err` is one
  int columns = 0;            // width of the terminal; 0: not known
};

// The number of --threads; without it, one for each core.
unsigned threads_of(const Common& common);

// Throws Mistake if --set is given to a command that reads no keys: `why` says so.
void refuse_sets(const Common& common, const std::string& why);

// Throws Mistake if --env is given with files of which none is a job, and so none has variables.
void refuse_env(const Common& common, const std::string& file, bool job);

// Gives a warning to the caller and, without --quiet, to standard error.
void warn(const std::string& warning, const Common& common, Streams streams);

// Throws Mistake if writing to standard output failed.
void check_told(Streams streams);

// Writes an answer to --output, or to standard output. Throws Mistake if the file cannot be
// written.
void deliver(const std::string& answer, const Common& common, Streams streams);

// The ending of the file of --trace chooses its format: .json for Chrome trace events, .pftrace for
// Perfetto, / for a folder with a rank-N.json of every rank drawn, in the shape of PyTorch's
// profiler. `world_size`: the number of all ranks. Throws Mistake for any other ending.
void check_trace_name(const std::string& path);
void write_trace(const Common& common, const forecast::Timeline& timeline, std::int64_t world_size);

// A snapshot's name ends in .pickle or .pkl. Throws Mistake for any other ending.
void check_snapshot_name(const std::string& path);

// A page's name ends in .html. Throws Mistake for any other ending.
void check_report_name(const std::string& path);
void write_report(const Common& common, const std::string& page);

// The words of the command stepcast simulate FILE as given, without its options for outputs.
std::vector<std::string> simulate_command(const std::string& file, const Common& common);

// Width, Unicode and colour as the terminal allows (TERM, LC_ALL, LC_CTYPE, LANG, COLUMNS,
// NO_COLOR).
report::TextOptions text_options(Streams streams);

struct ScheduleRequest {
  std::string schedule;  // a name; or none, and
  std::string order;     // a file that holds the order
  int stages = 0, microbatches = 0, chunks = 1;
  double forward = 0, backward = 0, weight = 0, comm = 0;  // of `times`
  std::map<std::string, std::string> times;  // "--forward": a bare number, or a duration
  bool in_seconds = false;                   // durations
  bool has_weight = false;
  std::vector<std::string> slow;  // "STAGE=FACTOR"
};

// The size at which a fabric is shown.
struct FabricSize {
  int nodes = 32;
  std::string node;  // empty: one that the fabric is usual for
};

struct CalibrationRequest {
  std::string parameters;           // file; empty: the checkout's scenarios/calibration.yaml
  std::string data;                 // folder of published runs; empty: the checkout's
  std::string catalog;              // folder to write to; empty: the checkout's, or here
  bool only_print = false;          // write no catalog file
  std::string kernels, name, base;  // a measured kernel table, for a device entry instead
};

// A request to write a plan as a launch configuration.
struct Emission {
  std::string framework;  // a word of report::framework_names; empty: none is asked for
  std::string folder;     // for all files that it starts from; empty: the main one is printed
  bool diff = false;      // print how the job that was read changes; no framework is named then
};

struct SimulateRequest {
  std::string file, against;  // against: a scenario to compare with; empty: none
  std::string measured;       // time of a measured step; empty: none
  std::string snapshot;       // file for a snapshot of memory; empty: none
  std::string plan;           // "auto": one that is searched; empty: the scenario's
  bool full = false;
  Emission emission;
};

struct SearchRequest {
  std::string file;
  std::size_t top = 10;  // plans to report
  std::string within;    // FRAMEWORK[@VERSION] whose limits plans keep to; empty: none
  Emission emission;     // writes the best plan
};

// Asks why a run was slower than its forecast; one of measured and trace may be empty.
struct ExplainRequest {
  std::string file;
  std::string measured;  // time of a measured step
  std::string trace;     // a profiler's, or a folder of them
};

int simulate(const SimulateRequest& request, const Common& common, Streams streams);
int explain(const ExplainRequest& request, const Common& common, Streams streams);
// Simulates a scenario beside another one; --set holds for the first.
int compare(const std::string& file, const std::string& against, bool full, const Common& common,
            Streams streams);
int search(const SearchRequest& request, const Common& common, Streams streams);
// Recommends one of the options of a purchase file.
int purchase(const std::string& file, const Common& common, Streams streams);
std::string schedule_names();  // "gpipe, 1f1b, ..., dualpipe or dualpipe-v"
int schedule(const ScheduleRequest& request, const Common& common, Streams streams);
int catalog_list(const std::string& kind, const Common& common, Streams streams);
int catalog_show(const std::string& kind, const std::string& name, const FabricSize& size,
                 const Common& common, Streams streams);
int catalog_schema(const std::string& file, const Common& common, Streams streams);
struct ValidateRequest {
  std::vector<std::string> datasets;  // none: all
  std::string folder;                 // empty: where the program's own are
  std::string page;                   // HTML file to write; empty: none
  std::string intervals;              // YAML file of quantiles to write; empty: none
  std::string similarity;             // YAML file of similarity to write; empty: none
};
int validate(const ValidateRequest& request, const Common& common, Streams streams);
int calibrate(const CalibrationRequest& request, const Common& common, Streams streams);
// A device entry from request.kernels: NAME.yaml and NAME.csv in --catalog, or here.
int calibrate_kernels(const CalibrationRequest& request, const Common& common, Streams streams);
// Measured collectives: tables of scenarios/collectives, or of `folder`; none named: all.
int validate_collectives(std::vector<std::string> tables, const std::string& folder,
                         const Common& common, Streams streams);
// A profiler's trace, beside a forecast of the scenario `against`, if it is not empty.
int trace(const std::string& file, const std::string& against, const Common& common,
          Streams streams);
// Tuned plans of published runs beside those that searches find; --set limits the searches.
int validate_search(const std::vector<std::string>& datasets, const std::string& folder,
                    const Common& common, Streams streams);
// Each published run corrected by others of its data set; similarity_file: to write, empty: none.
int validate_corrections(const std::vector<std::string>& datasets, const std::string& folder,
                         const std::string& similarity_file, const Common& common, Streams streams);
int import_huggingface(const std::string& file, const Common& common, Streams streams);
// A job of that framework as a scenario.
int import_job(const std::string& framework, const std::string& file, const Common& common,
               Streams streams);
// A fabric; or, where a scenario is named, that with the measured tables over its fabric.
int import_nccl_tests(const std::string& file, const std::string& into, const Common& common,
                      Streams streams);

// Runs the whole program and returns its exit status. Never throws. `caller`: the program that runs
// it inside of itself; null: it is a process of its own.
int run(int argc, const char* const* argv, Streams streams, Caller* caller = nullptr);

}  // namespace app
