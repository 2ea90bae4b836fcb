// SPDX-License-Identifier: Apache-2.0
#include "report/launch/engine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "report/launch/text_lines.hpp"

namespace report {
namespace {

using scenarios::JobScenario;
using scenarios::JudgedArgument;

// A key of DeepSpeed's file, and the argument of the script that says the same.
struct EngineKey {
  std::string_view name, argument;
  std::string_view plan;  // the key of the plan that follows
  // Its last part with the quotes of JSON.
  std::string quoted() const { return fmt::format("\"{}\"", name.substr(name.rfind('.') + 1)); }
};

constexpr std::array<EngineKey, 4> engine_keys{
    {{"train_micro_batch_size_per_gpu", "--micro-batch-size", "micro_batch"},
     {"train_batch_size", "--global-batch-size", "training.global_batch"},
     {"gradient_accumulation_steps", "", "micro_batch"},
     {"zero_optimization.stage", "--zero-stage", "zero"}}};

constexpr std::string_view names_file = "--deepspeed_config";

const JudgedArgument* last_of(const JobScenario& job, std::string_view name) {
  const auto& all = job.account.arguments;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const JudgedArgument& one) {
    return std::string_view(one.text).substr(0, one.text.find(' ')) == name;
  });
  return found == all.rend() ? nullptr : &*found;
}

// Returns the value that counts; empty: the job does not give the argument.
std::string value_of(const JobScenario& job, std::string_view name) {
  const auto* argument = last_of(job, name);
  const auto blank = argument == nullptr ? std::string::npos : argument->text.find(' ');
  return blank == std::string::npos ? std::string() : argument->text.substr(blank + 1);
}

bool in_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Returns the name in "$NAME" or "${NAME}", with or without quotes; empty: the value is another.
std::string_view variable_in(std::string_view value) {
  if (value.size() > 1 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  if (!value.starts_with('$')) return {};
  value.remove_prefix(1);
  if (value.starts_with('{') && value.ends_with('}')) value = value.substr(1, value.size() - 2);
  return std::ranges::all_of(value, in_name) ? value : std::string_view();
}

// Whether the variable whose name is at `at` stands there for the argument's value, or for the
// key's in lines that make a file: of JSON, or of `sed`.
bool stands_for(std::string_view text, std::size_t at, const EngineKey& key) {
  auto before = text.substr(0, at);
  if (before.ends_with('{')) before.remove_suffix(1);
  if (!before.ends_with('$')) return false;
  const auto line = text.substr(line_begin(text, at), line_end(text, at) - line_begin(text, at));
  if (line.find(key.quoted()) != line.npos || line.find("sed ") != line.npos) return true;
  before.remove_suffix(1);
  const auto last = before.find_last_not_of(" \t=\"'");
  return before.substr(0, last == before.npos ? 0 : last + 1).ends_with(key.argument);
}

// Returns where the variable is set, if that is once, to a number, and it is used for nothing but
// the argument and the key.
std::optional<TextRange> lone_assignment(std::string_view text, std::string_view variable,
                                         const EngineKey& key) {
  const auto set = assignments_of(text, variable);
  if (variable.empty() || set.size() != 1) return {};
  const auto [begin, end] = set.front();
  if (!is_number(text.substr(begin, end - begin))) return {};
  for (auto at = text.find(variable); at != text.npos; at = text.find(variable, at + 1)) {
    const auto behind = at + variable.size();
    const bool whole =
        (at == 0 || !in_name(text[at - 1])) && (behind == text.size() || !in_name(text[behind]));
    const bool assigned = behind < begin && begin - behind <= 2;
    if (whole && !assigned && !is_comment(text, at) && !stands_for(text, at, key)) return {};
  }
  return set.front();
}

// Returns the text with the key's values in JSON replaced, wherever it stands.
std::string with_key(std::string text, const EngineKey& key, const std::string& value) {
  const auto name = key.quoted();
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto colon = text.find_first_not_of(blanks, at + name.size());
    if (colon == text.npos || text[colon] != ':' || is_comment(text, at)) continue;
    const auto begin = std::min(text.find_first_not_of(blanks, colon + 1), text.size());
    auto end = std::min(text.find_first_of(",\r\n", begin), text.size());
    if (const auto brace = text.find('}', begin); brace < end && text[begin] != '$') end = brace;
    while (end > begin && blanks.find(text[end - 1]) != blanks.npos) --end;
    text.replace(begin, end - begin, value);
  }
  return text;
}

// One key of the file while the script changes.
class KeyChange {
 public:
  KeyChange(std::string& text, const ChangedScript& script, const EngineKey& key,
            std::string wanted)
      : text_(text), script_(script), key_(key), wanted_(std::move(wanted)) {}

  bool through_variable();
  bool in_both_places() { return accept(with_key(text_, key_, wanted_)); }

 private:
  // Takes the text if it says the same in both places, and all else as before.
  bool accept(std::string text);

  std::string& text_;
  const ChangedScript& script_;
  const EngineKey& key_;
  std::string wanted_;
};

bool KeyChange::accept(std::string text) {
  if (text == text_) return false;
  const auto before = script_.read(text_), read = script_.read(text);
  if (!before || !read) return false;
  const auto in_file = value_of(*read, key_.name);
  if (!in_file.empty() && in_file != wanted_) return false;
  for (const auto& one : before->account.arguments) {
    const auto name = std::string_view(one.text).substr(0, one.text.find(' '));
    if (name != key_.name && value_of(*before, name) != value_of(*read, name)) return false;
  }
  text_ = std::move(text);
  return true;
}

bool KeyChange::through_variable() {
  const std::string argument(key_.argument);
  const auto value = script_value(script_.text, argument).value_or("");
  auto text = edited_script(text_, {{argument, value}}, script_.chosen);
  const auto set = lone_assignment(text, variable_in(value), key_);
  if (!set) return false;
  text.replace(set->begin, set->end - set->begin, wanted_);
  return accept(std::move(text));
}

std::string file_of(const JudgedArgument& key) {
  auto place = key.place;
  for (int i = 0; i < 2; ++i) place.resize(std::min(place.rfind(':'), place.size()));
  return place;
}

std::string told_of(const EngineKey& key, const JudgedArgument* in_file, const std::string& path,
                    const std::string& wanted) {
  if (in_file == nullptr)
    return fmt::format("{}: {} of DeepSpeed's file must become {}, too", path, key.name, wanted);
  const auto value = in_file->text.substr(in_file->text.find(' ') + 1);
  if (key.argument.empty())
    return fmt::format("{}: {} is {} there, and the changed job's batch makes {}",
                       file_of(*in_file), key.name, value, wanted);
  return fmt::format("{}: {} is {} there, and {} of the changed script is {}", file_of(*in_file),
                     key.name, value, key.argument, wanted);
}

}  // namespace

std::vector<Lost> change_engine_file(std::string& text, const ChangedScript& script,
                                     std::int64_t microbatches) {
  std::vector<Lost> told;
  const auto path = value_of(script.now, names_file);
  if (path.empty()) return told;
  const auto known = std::ranges::any_of(
      engine_keys, [&](const EngineKey& key) { return last_of(script.now, key.name) != nullptr; });
  for (const auto& key : engine_keys) {
    const auto* in_file = last_of(script.now, key.name);
    const auto there = value_of(script.now, key.name);
    const bool counted = key.argument.empty();
    const auto wanted = counted ? std::to_string(microbatches) : value_of(script.now, key.argument);
    const bool changed = counted ? text != script.text && in_file != nullptr
                                 : wanted != value_of(script.was, key.argument);
    if (!changed || !is_number(wanted) || (in_file == nullptr && known)) continue;
    if (in_file != nullptr && (there == wanted || !is_number(there))) continue;
    KeyChange change(text, script, key, wanted);
    if (!counted && change.through_variable()) continue;
    if (in_file != nullptr && change.in_both_places()) continue;
    told.push_back({std::string(key.plan), told_of(key, in_file, path, wanted)});
  }
  return told;
}

}  // namespace report
