// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/keyed_job.hpp"

#include <algorithm>
#include <utility>

namespace scenarios {
namespace {

void add_words(const Value& value, std::vector<ShellWord>& words) {
  if (value.kind == Value::Kind::scalar)
    words.push_back({value.text, {}, {value.line, value.column, 0}});
  for (const auto& item : value.items) add_words(item, words);
}

void add_null(const std::string& name, const Value& key, FrameworkJob& job) {
  JobArgument argument{name, {}, {key.line, key.column, 0}};
  argument.text = name + " null";
  argument.off = true;
  job.arguments.push_back(std::move(argument));
}

void add_all(const Value& map, const std::string& path, bool nulls, FrameworkJob& job) {
  for (const auto& [key, value] : map.members) {
    const auto name = path + (path.empty() ? "" : ".") + key.text;
    if (value.kind == Value::Kind::map) {
      add_all(value, name, nulls, job);
      continue;
    }
    const bool of_maps = std::ranges::any_of(
        value.items, [](const Value& item) { return item.kind == Value::Kind::map; });
    for (const auto& item : value.items)
      if (of_maps) add_all(item, name + "[]", nulls, job);
    if (nulls && value.kind == Value::Kind::null) add_null(name, key, job);
    if (of_maps || value.kind == Value::Kind::null) continue;
    JobArgument argument{name, {}, {key.line, key.column, 0}};
    for (const auto& item : value.items) {
      const auto before = argument.values.size();
      add_words(item, argument.values);
      if (item.kind == Value::Kind::list) argument.parts.push_back(argument.values.size() - before);
    }
    if (value.kind == Value::Kind::scalar) add_words(value, argument.values);
    job.arguments.push_back(std::move(argument));
  }
}

}  // namespace

FrameworkJob keyed_job(const Value& document, bool nulls) {
  FrameworkJob job;
  add_all(document, {}, nulls, job);
  return job;
}

}  // namespace scenarios
