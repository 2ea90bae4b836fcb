// SPDX-License-Identifier: Apache-2.0
// Makes sure that a command overwrites no file that it reads, and writes no file twice.
#include <algorithm>
#include <array>
#include <system_error>

#include "app/command.hpp"
#include "app/files.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

bool is_rank(const fs::path& file) {
  const auto name = file.filename().string();
  return name.starts_with("rank-") && name.ends_with(".json");
}

[[noreturn]] void refuse(const Output& output, const fs::path& file, const std::string& what) {
  throw Mistake(output.option + " " + output.path + " would overwrite '" + file.string() + "', " +
                what + "; name another file");
}

}  // namespace

Outputs::Outputs(const Common& common, const std::vector<Output>& others) {
  if (common.caller != nullptr && common.caller->takes_files) return;
  common.trace.ends_with('/') ? add_trace(common.trace) : add({"--trace", common.trace});
  for (const auto& other : others) add(other);
  add({"--report", common.report});
  add({"--output", common.output});
}

void Outputs::add(const Output& output) {
  if (output.path.empty()) return;
  check_writable(output.path);
  if (const auto* same = at(output.path))
    throw Mistake(same->option + " " + same->path + " and " + output.option + " " + output.path +
                  " are one file; name two");
  const auto place = identity_of(output.path);
  if (place) written_.push_back({output, *place});
  if (output.store && !place)
    throw Mistake(output.option + " " + output.path + ": a store is a plain file; name another");
}

// Files that already exist in the folder may be links to other files.
void Outputs::add_trace(const std::string& path) {
  std::error_code wrong;
  if (!fs::exists(path.substr(0, path.size() - 1), wrong)) return;
  const auto folder = identity_of_folder(path);
  if (!folder) throw Mistake("--trace " + path + ": is no folder; name another");
  ranks_ = {{"--trace", path}, *folder};
  for (const auto& entry : fs::directory_iterator(path, wrong)) {
    if (!is_rank(entry.path())) continue;
    check_writable(entry.path().string());
    if (const auto place = identity_of(entry.path())) written_.push_back({ranks_->output, *place});
  }
}

const Output* Outputs::at(const fs::path& file) const {
  const auto place = identity_of(file);
  if (!place) return nullptr;
  const auto found = std::ranges::find(written_, *place, &Written::place);
  if (found != written_.end()) return &found->output;
  const bool rank =
      ranks_ && is_rank(file) && identity_of_folder(file.parent_path()) == ranks_->place;
  return rank ? &ranks_->output : nullptr;
}

void Outputs::spare(const std::vector<fs::path>& read) const {
  for (const auto& file : read)
    if (const auto* output = at(file)) refuse(*output, file, "which this command reads");
}

void Outputs::spare_store(const fs::path& store) const {
  constexpr std::array suffixes{"",      "-wal",      "-shm",      "-journal",
                                ".part", ".part-wal", ".part-shm", ".part-journal"};
  std::error_code wrong;
  auto file = fs::weakly_canonical(store, wrong);  // SQLite follows links, and writes there
  if (wrong) file = store;
  for (const std::string suffix : suffixes) {
    const auto one = file.string() + suffix;
    const auto* output = at(one);
    if (output == nullptr || (output->store && suffix.empty())) continue;
    if (suffix.empty()) refuse(*output, store, "a store of this command");
    refuse(*output, one, "which belongs to a store of this command");
  }
}

}  // namespace app
