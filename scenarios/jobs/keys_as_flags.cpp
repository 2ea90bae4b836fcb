// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/keys_as_flags.hpp"

#include <algorithm>
#include <array>

#include "scenarios/jobs/given.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

struct Target {
  const KnownArgument* flag = nullptr;
  bool opposite = false;
};

std::vector<Target> targets_of(const JobArgument& key, const ArgumentTable& table, bool all_dests) {
  std::vector<Target> targets;
  const auto* below = table.below();
  const auto* known = table.find_here(key.name);
  if (below == nullptr || key.stray) return targets;
  if (known == nullptr && all_dests)
    if (const auto* flag = below->find_dest(key.name)) targets.push_back({flag, false});
  for (auto names = known == nullptr ? std::string_view() : known->same_as; !names.empty();) {
    const auto end = std::min(names.find(' '), names.size());
    auto name = names.substr(0, end);
    const bool opposite = name.starts_with('!');
    if (opposite) name.remove_prefix(1);
    const auto* flag = below->find(name);
    if (flag == nullptr) flag = below->find_dest(name);
    if (flag != nullptr) targets.push_back({flag, opposite});
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return targets;
}

// Whether the value is the word for none, in Python or in YAML.
bool is_nothing(const JobArgument& key) {
  if (key.values.size() != 1 || !key.values.front().trouble.empty()) return false;
  const auto word = units::lower_case(key.values.front().text);
  return word.empty() || word == "none" || word == "null" || word == "~";
}

bool is_number(const ShellWord& word) {
  return word.trouble.empty() && !word.text.empty() &&
         word.text.find_first_not_of("0123456789") == word.text.npos;
}

// Joins several values into one list, "[0,1,1]", as a command line has it.
void join_values(JobArgument& argument) {
  std::string all;
  for (const auto& value : argument.values) all += (all.empty() ? "" : ",") + value.text;
  argument.values.front().text = "[" + all + "]";
  argument.values.resize(1);
}

}  // namespace

std::optional<bool> yes_or_no(const std::string& text) {
  const auto word = units::lower_case(text);
  constexpr std::array<std::string_view, 6> yes{"true", "yes", "on", "1", "t", "y"};
  constexpr std::array<std::string_view, 6> no{"false", "no", "off", "0", "f", "n"};
  if (std::ranges::find(yes, word) != yes.end()) return true;
  if (std::ranges::find(no, word) != no.end()) return false;
  return {};
}

JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, bool opposite) {
  auto argument = key;
  if (argument.text.empty()) argument.text = written(key);
  argument.name = flag.name;
  if (key.off || key.values.empty() || (flag.takes == '0' && is_nothing(key))) {
    argument.off = true;
    return argument;
  }
  const auto& first = key.values.front();
  auto wanted = first.trouble.empty() ? yes_or_no(first.text) : std::nullopt;
  if (!wanted && is_number(first)) wanted = true;  // a size turns on what has it
  if (flag.takes == '0') {
    argument.off = wanted.value_or(true) == (flag.negates != opposite);
    if (!wanted)
      argument.wrong =
          first.trouble.empty() ? "'" + first.text + "' is neither true nor false" : first.trouble;
    argument.values.clear();
  } else if (key.values.size() == 1 && wanted == false && first.text != "0") {
    argument.off = true;
  } else if (key.values.size() > 1 && flag.takes == '1') {
    join_values(argument);
  }
  return argument;
}

JobArgument as_flag(const JobArgument& key, const KnownArgument& flag, const std::string& value) {
  auto changed = key;
  changed.text = written(key);
  changed.values = {{value, {}, key.at}};
  changed.off = false;
  return as_flag(changed, flag);
}

std::vector<JobArgument> keys_as_flags(const std::vector<JobArgument>& keys,
                                       const ArgumentTable& table, bool all_dests) {
  std::vector<JobArgument> flags;
  for (const auto& key : keys) {
    const auto targets = targets_of(key, table, all_dests);
    if (targets.empty()) flags.push_back(key);
    for (const auto& target : targets) flags.push_back(as_flag(key, *target.flag, target.opposite));
  }
  return flags;
}

}  // namespace scenarios
