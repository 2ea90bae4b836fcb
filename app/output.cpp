// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <thread>

#include "app/command.hpp"
#include "report/traces/kineto_trace.hpp"
#include "report/traces/trace.hpp"
#include "units/text.hpp"

namespace app {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Whether the locale names UTF-8; true if it names nothing, as most terminals know UTF-8.
bool speaks_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto locale = units::lower_case(environment(name));
    if (locale.empty()) continue;
    return locale.find("utf-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return true;
}

}  // namespace

unsigned threads_of(const Common& common) {
  return common.threads > 0 ? common.threads : std::max(1u, std::thread::hardware_concurrency());
}

void refuse_sets(const Common& common, const std::string& why) {
  if (!common.sets.empty())
    throw Mistake("--set " + common.sets.front() + ": it changes a key of a file; " + why);
}

void refuse_env(const Common& common, const std::string& file, bool job) {
  if (!job && !common.job.env.empty())
    throw Mistake("--env " + common.job.env.front() + ": " + file +
                  " is no job, and has no variables; change keys with --set");
}

void warn(const std::string& warning, const Common& common, Streams streams) {
  if (common.caller != nullptr) common.caller->warnings.push_back(warning);
  if (!common.quiet) streams.err << "warning: " << warning << '\n';
}

void check_told(Streams streams) {
  streams.out << std::flush;
  if (!streams.out) throw Mistake("cannot write the answer to standard output");
}

void deliver(const std::string& answer, const Common& common, Streams streams) {
  if (!common.output.empty()) return write_file(common.output, answer);
  streams.out << answer;
  check_told(streams);
}

void check_trace_name(const std::string& path) {
  if (path.empty() || path.ends_with(".json") || path.ends_with(".pftrace") || path.ends_with('/'))
    return;
  throw Mistake("--trace " + path +
                ": unknown format; end the name in .json (Chrome trace events), .pftrace "
                "(Perfetto) or / (a folder for PyTorch's tools)");
}

void check_snapshot_name(const std::string& path) {
  if (path.empty() || path.ends_with(".pickle") || path.ends_with(".pkl")) return;
  throw Mistake("--memory-snapshot " + path +
                ": a snapshot is written as a pickle, as pytorch.org/memory_viz reads it; end the "
                "name in .pickle or .pkl");
}

void check_report_name(const std::string& path) {
  if (path.empty() || path.ends_with(".html")) return;
  throw Mistake("--report " + path + ": a page is written as HTML; end the name in .html");
}

namespace {

// Writes the bytes to the file, or hands them to a caller who takes files.
void hand_over(const Common& common, const std::string& path, const std::string& bytes) {
  if (common.caller == nullptr || !common.caller->takes_files) return write_file(path, bytes);
  common.caller->files[path] = bytes;
}

}  // namespace

void write_report(const Common& common, const std::string& page) {
  hand_over(common, common.report, page);
}

void write_trace(const Common& common, const forecast::Timeline& timeline,
                 std::int64_t world_size) {
  const auto& path = common.trace;
  if (!path.ends_with('/'))
    return hand_over(common, path,
                     path.ends_with(".json") ? report::chrome_trace(timeline)
                                             : report::perfetto_trace(timeline));
  std::error_code wrong;
  std::filesystem::create_directories(path, wrong);
  if (wrong) throw Mistake("cannot make the folder '" + path + "'; " + wrong.message());
  for (const auto rank : report::ranks_of(timeline))
    write_file(path + "rank-" + std::to_string(rank) + ".json",
               report::kineto_trace(timeline, rank, world_size));
}

std::vector<std::string> simulate_command(const std::string& file, const Common& common) {
  std::vector<std::string> words{"stepcast", "simulate", file};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  for (const auto& set : common.sets) add("--set", set);
  add("--as", common.job.as);
  for (const auto& variable : common.job.env) add("--env", variable);
  add("--corrections", common.corrections);
  return words;
}

report::TextOptions text_options(Streams streams) {
  report::TextOptions options;
  const auto term = environment("TERM");
  if (const auto columns = std::atoi(environment("COLUMNS").c_str()); columns > 0)
    options.width = columns;
  else if (streams.columns > 0)
    options.width = streams.columns;
  options.unicode = term != "dumb" && speaks_unicode();
  options.colour = streams.terminal && term != "dumb" && environment("NO_COLOR").empty();
  return options;
}

}  // namespace app
