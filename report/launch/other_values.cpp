// SPDX-License-Identifier: Apache-2.0
#include "report/launch/other_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "plans/attention_choice.hpp"
#include "scenarios/documents/cursor.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/shown.hpp"
#include "scenarios/tables.hpp"

namespace report {
namespace {

using scenarios::Value;
using Texts = std::map<std::string, std::string>;

// Keys that the changed job has its own edits for, and names, which have no effect.
constexpr std::array<std::string_view, 7> not_compared{
    "model.name",           "model.base",    "model.max_sequence",
    "model.huggingface",    "software.base", "training.sequence_length",
    "training.global_batch"};

// Adds the values of the section by their paths; a list is one value.
void add_texts(const Value& value, const std::string& path, Texts& texts) {
  if (value.kind != Value::Kind::map) {
    texts[path] = value.kind == Value::Kind::scalar ? value.text : scenarios::json_of(value);
    return;
  }
  for (const auto& member : value.members)
    add_texts(member.value, path + "." + member.key.text, texts);
}

Texts texts_in(const Value& value, const std::string& section) {
  Texts texts;
  add_texts(value, section, texts);
  return texts;
}

// Whether the path is one of the keys, or in one.
bool is_in(const std::set<std::string>& keys, const std::string& path) {
  return std::ranges::any_of(
      keys, [&](const auto& key) { return path == key || path.starts_with(key + "."); });
}

// Adds keys that the section gives, and those of `also`, whose value, as `read` understands them,
// is not the asked one. Where it is but a part of a section, to which something is laid over the
// job, those of `also` are compared as they are spelled.
template <class Read>
void add_others(const scenarios::JobScenario& job, const std::string& section, const Value& asked,
                const std::set<std::string>& also, const Read& read, std::vector<Lost>& others) {
  const auto* given = job.document.find(section);
  if (given == nullptr) return;
  scenarios::Reading reading("", {});
  const auto understood = read(scenarios::Cursor(*given, section, reading));
  const bool part = reading.complains();
  const auto says = texts_in(*given, section);
  const auto has = part ? says : texts_in(understood, section);
  for (const auto& [path, wanted] : texts_in(asked, section)) {
    const bool said = says.contains(path), spoken = is_in(also, path);
    if (std::ranges::find(not_compared, path) != not_compared.end()) continue;
    if (part ? !spoken : !said && !spoken) continue;
    const auto is = has.find(path);
    if (is == has.end() || is->second == wanted) continue;
    others.push_back(
        {path, said ? fmt::format("{} {}: the changed job has {}", path, wanted, is->second)
                    : fmt::format("{} {}: nothing in the changed job says it", path, wanted)});
  }
}

}  // namespace

std::vector<Lost> other_values(const scenarios::JobScenario& job, const forecast::Scenario& asked,
                               const std::set<std::string>& also) {
  using scenarios::Cursor;
  using scenarios::shown;
  std::vector<Lost> others;
  add_others(
      job, "model", shown(asked.model), also,
      [](const Cursor& at) { return shown(scenarios::read_model(at)); }, others);
  add_others(
      job, "training", shown(asked.training), also,
      [](const Cursor& at) {
        strategies::Training training;
        scenarios::read_training(training, at);
        return shown(training);
      },
      others);
  add_others(
      job, "software", shown(asked.software), also,
      [&](const Cursor& at) {
        auto software = scenarios::read_software(at);
        auto& kernel = software.kernels.attention;
        kernel = strategies::attention_on(asked.cluster, kernel);
        return shown(software);
      },
      others);
  return others;
}

}  // namespace report
