// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/value_meanings.hpp"

#include <algorithm>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"
#include "units/text.hpp"

namespace scenarios {

std::optional<JobArgument> flag_of_text(const JobArgument& key, std::string_view flag,
                                        const ArgumentTable& table) {
  const bool off = flag.starts_with('!');
  if (off) flag.remove_prefix(1);
  const auto equals = std::min(flag.find('='), flag.size());
  const auto* known = table.find(flag.substr(0, equals));
  if (known == nullptr) return {};
  const auto value = equals < flag.size() ? std::string(flag.substr(equals + 1)) : "true";
  auto argument = as_flag(key, *known, value);
  argument.off = off;
  return argument;
}

std::optional<std::vector<JobArgument>> flags_of_value(const JobArgument& key,
                                                       std::span<const ValueMeaning> meanings,
                                                       const ArgumentTable& table,
                                                       Complaints& complaints) {
  std::string expected;
  std::string_view flags;
  const auto value = units::lower_case(key.values.front().text);
  bool found = false;
  for (const auto& meaning : meanings) {
    if (meaning.key != key.name) continue;
    expected += (expected.empty() ? "" : ", ") + std::string(meaning.value);
    if (meaning.value != value) continue;
    found = true;
    flags = meaning.flags;
  }
  if (expected.empty()) return {};
  std::vector<JobArgument> all;
  if (!found) complaints.add(key.at, Complaint{{}, written(key) + ": expected " + expected, true});
  while (!flags.empty()) {
    const auto end = std::min(flags.find(' '), flags.size());
    if (auto one = flag_of_text(key, flags.substr(0, end), table)) all.push_back(std::move(*one));
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return all;
}

}  // namespace scenarios
