// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/swept_job.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/job_document.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 3> sizes{"cluster.nodes", "cluster.trays", "cluster.racks"};
constexpr std::size_t most_tried = 32;
constexpr int on_command_line = 1;  // a job's defaults follow from values of `--set`, so of an axis

void mark(Value& value) {
  value.set = on_command_line;
  for (auto& item : value.items) mark(item);
  for (auto& member : value.members) mark(member.value);
}

// Returns the values by SECTION.KEY, as JSON.
std::map<std::string, std::string> values_of(const Value& document) {
  std::map<std::string, std::string> values;
  for (const auto& section : document.members)
    for (const auto& member : section.value.members)
      values[section.key.text + "." + member.key.text] = json_of(member.value);
  return values;
}

// The job that a sweep varies, read anew under values of an axis.
class SweptJob {
 public:
  SweptJob(const Grid& grid, const std::filesystem::path& file, std::span<const std::string> sets,
           Texts& texts)
      : grid_(grid),
        sets_(sets),
        source_(file),
        text_(texts.of(file)),
        first_(open_document(text_, file.string(), file.parent_path(), {}, texts)),
        texts_(texts) {}

  bool is_job() const { return first_.job.has_value(); }

  // Whether the scenario that lies over the job says how many GPUs there are.
  bool says_gpus() const {
    const auto* cluster = first_.over.find("cluster");
    return cluster != nullptr && cluster->find("gpus") != nullptr;
  }

  // Whether an axis leads to the key, into it, or to its section.
  bool varied(const std::string& key) const {
    const auto names = axis_names(grid_);
    return std::ranges::any_of(names, [&](const auto& name) {
      return (name + ".").starts_with(key + ".") || (key + ".").starts_with(name + ".");
    });
  }

  // Returns the job's scenario under `--set`, and under the values at `index` of the axis if there
  // is one.
  Value derived(const Axis* axis = nullptr, std::size_t index = 0) const {
    Reading reading(source_.file.string(), grid_.folder, texts_);
    auto opened = first_;
    apply_sets(opened.document, sets_, reading);
    if (axis != nullptr) set_values(opened.document, *axis, index, reading);
    read_again(opened, text_, source_, sets_, {}, reading, nullptr);
    if (axis != nullptr) set_values(opened.document, *axis, index, reading);
    settle_size(opened.document);
    return std::move(opened.document);
  }

  // Adds the keys that the job gives otherwise than the grid's base under the values at `index` of
  // the axis.
  void add_followers(const Axis& axis, std::size_t index, std::set<std::string>& keys) const {
    const auto base = values_of(grid_.base);
    for (const auto& [key, value] : values_of(derived(&axis, index))) {
      const auto kept = base.find(key);
      const bool same = kept == base.end() ? value == "false" : value == kept->second;
      if (!same && key != "cluster.gpus" && !varied(key)) keys.insert(key);
    }
  }

 private:
  static void set_values(Value& document, const Axis& axis, std::size_t index, Reading& reading) {
    for (std::size_t path = 0; path < axis.paths.size(); ++path) {
      auto value = axis.values[index][path];
      mark(value);
      set_value(document, axis.paths[path], value, reading);
    }
  }

  const Grid& grid_;
  std::span<const std::string> sets_;
  Source source_;
  std::string text_;
  OpenedDocument first_;
  Texts& texts_;
};

std::string listed(const std::set<std::string>& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

void fit_to_job(Grid& grid, const std::filesystem::path& file, std::span<const std::string> sets,
                Texts& texts) {
  const SweptJob job(grid, file, sets, texts);
  if (!job.is_job()) return;
  grid.base = job.derived();
  for (const auto& axis : grid.axes) {
    std::set<std::string> keys;
    for (std::size_t i = 0; i < std::min(axis.values.size(), most_tried); ++i) try {
        job.add_followers(axis, i, keys);
      } catch (const Error&) {  // the points themselves say why
      }
    if (keys.empty()) continue;
    const auto paths = listed({axis.paths.begin(), axis.paths.end()});
    grid.notes.push_back(
        "in the job, " + listed(keys) + " would change with " + paths +
        ", but every point of this sweep has what the base has; to change it, too, "
        "list it with " +
        paths + " under together");
  }
  if (job.says_gpus()) return;
  if (std::ranges::any_of(sizes, [&](auto size) { return job.varied(std::string(size)); }))
    drop_gpus(grid.base);
}

}  // namespace scenarios
