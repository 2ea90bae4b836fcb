// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/model_args.hpp"

#include <utility>

#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

Place place_of(const Value& value) { return {value.line, value.column, 0}; }

// Returns the words of a value: those of all items of a list, or the single value.
std::vector<ShellWord> values_of(const Value& value, const ShellVariables& variables) {
  if (value.kind == Value::Kind::list) {
    std::vector<ShellWord> all;
    for (const auto& item : value.items)
      for (auto& word : values_of(item, variables)) all.push_back(std::move(word));
    return all;
  }
  auto words = variables.expanded('"' + value.text + '"', place_of(value));
  if (words.empty()) words.push_back({{}, {}, place_of(value)});
  return words;
}

bool is_absent(const Value& value) {
  if (value.kind == Value::Kind::null) return true;
  return value.kind == Value::Kind::scalar &&
         (value.text.empty() ||
          (!value.quoted && (value.text == "false" || value.text == "False")));
}

bool is_flag(const Value& value) {
  return value.kind == Value::Kind::scalar && !value.quoted &&
         (value.text == "true" || value.text == "True");
}

}  // namespace

bool is_model_args(const Value& document) {
  const auto* arguments = document.find("MODEL_ARGS");
  return arguments != nullptr && arguments->kind == Value::Kind::map;
}

namespace {

// Adds the variables that the job sets for its processes, as arguments "ENV_VARS.NAME".
void add_environment(const Value& document, const ShellVariables& variables, FrameworkJob& job) {
  const auto* section = document.find("ENV_VARS");
  if (section == nullptr || section->kind != Value::Kind::map) return;
  for (const auto& [key, value] : section->members)
    job.arguments.push_back({"ENV_VARS." + key.text, values_of(value, variables), place_of(key)});
}

}  // namespace

FrameworkJob read_model_args(const Value& document, const ArgumentTable& table,
                             std::span<const std::string> env) {
  const ShellVariables variables(env);
  FrameworkJob job;
  const auto* arguments = document.find("MODEL_ARGS");
  if (arguments == nullptr) return job;
  for (const auto& [key, value] : arguments->members) {
    auto name = key.text;
    const bool adds = name.ends_with('+');
    if (adds) name.pop_back();
    const auto* known = table.find(name);
    if (is_absent(value) && !(known != nullptr && known->takes != '0' && value.text == "false"))
      continue;
    JobArgument argument{name, {}, place_of(key)};
    if (!is_flag(value) || (known != nullptr && known->takes == '1'))
      argument.values = values_of(value, variables);
    if (known != nullptr && known->takes == '0') argument.values.clear();
    job.arguments.push_back(std::move(argument));
  }
  add_environment(document, variables, job);
  return job;
}

}  // namespace scenarios
