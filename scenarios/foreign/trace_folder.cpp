// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/trace_folder.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/profiler_trace.hpp"

namespace scenarios {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_traces = 1024;

std::vector<std::string> traces_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto name = at->path().filename().string();
    if ((name.ends_with(".json") || name.ends_with(".json.gz")) && !name.starts_with('.'))
      files.push_back(at->path().string());
  }
  const auto place = folder.string() + ":1:1";
  if (failed) throw Error({{place, "cannot be read: " + failed.message()}});
  if (files.empty())
    throw Error({{place,
                  "no trace in this folder; expected files of torch.profiler, one a rank, "
                  "that end in .json or .json.gz"}});
  if (files.size() > most_traces)
    throw Error({{place, std::to_string(files.size()) + " traces; at most " +
                             std::to_string(most_traces) + " are read: keep those of some ranks"}});
  std::ranges::sort(files);
  return files;
}

void check_ranks(const TracedRanks& traced) {
  std::vector<Complaint> wrong;
  std::map<std::int64_t, std::string> of_rank;
  for (std::size_t i = 0; i < traced.profiles.size(); ++i) {
    const auto& profile = traced.profiles[i];
    const auto place = traced.files[i] + ":1:1";
    if (!profile.rank) {
      if (traced.profiles.size() > 1)
        wrong.push_back(
            {place, "no distributedInfo with a rank: whose trace this is, is not said"});
      continue;
    }
    const auto [found, fresh] = of_rank.try_emplace(*profile.rank, traced.files[i]);
    if (!fresh)
      wrong.push_back({place, "rank " + std::to_string(*profile.rank) + " is that of " +
                                  found->second + " too; keep one trace of each rank"});
    const auto& first = traced.profiles.front().world_size;
    if (profile.world_size && first && *profile.world_size != *first)
      wrong.push_back({place, "a run of " + std::to_string(*profile.world_size) + " ranks beside " +
                                  "one of " + std::to_string(*first) + " in " +
                                  traced.files.front() + "; keep the traces of one run"});
  }
  if (!wrong.empty()) throw Error(std::move(wrong));
}

}  // namespace

TracedRanks load_profiler_traces(const fs::path& file_or_folder) {
  std::error_code ignored;
  TracedRanks traced;
  traced.files = fs::is_directory(file_or_folder, ignored)
                     ? traces_in(file_or_folder)
                     : std::vector<std::string>{file_or_folder.string()};
  std::vector<Complaint> wrong;
  for (const auto& file : traced.files) {
    try {
      traced.profiles.push_back(load_profiler_trace(file));
    } catch (const Error& error) {
      wrong.insert(wrong.end(), error.complaints.begin(), error.complaints.end());
    }
  }
  if (!wrong.empty()) throw Error(std::move(wrong));
  check_ranks(traced);
  return traced;
}

}  // namespace scenarios
