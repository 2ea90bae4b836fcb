// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/argument_table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/jobs/table_files.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::pair<std::string_view, Effect>, 4> effect_words{
    {{"read", Effect::read},
     {"none", Effect::none},
     {"not", Effect::not_modelled},
     {"refused", Effect::refused}}};

// The part of the line up to the next separator, which is taken off.
std::string_view take(std::string_view& line, char separator) {
  const auto end = std::min(line.find(separator), line.size());
  const auto part = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return part;
}

Effect effect_of(std::string_view word) {
  const auto* found =
      std::ranges::find(effect_words, word, [](const auto& known) { return known.first; });
  if (found == effect_words.end())
    throw std::logic_error("table of arguments: '" + std::string(word) + "' is no effect");
  return found->second;
}

}  // namespace

std::string_view word_of(Effect effect) {
  switch (effect) {
    case Effect::read:
      return "read";
    case Effect::none:
      return "without effect";
    case Effect::not_modelled:
    case Effect::refused:
      return "not modelled";
    case Effect::unknown:
      break;
  }
  return "unknown";
}

ArgumentTable::ArgumentTable(std::string_view text) {
  std::map<std::string_view, std::string_view> reasons;
  while (!text.empty()) {
    auto line = take(text, '\n');
    if (line.empty() || line.starts_with('#')) continue;
    const auto name = take(line, ',');
    if (name.starts_with('@')) {
      reasons[name] = line;
      continue;
    }
    KnownArgument known{name, {}, '1', {}, Effect::unknown, {}, false};
    for (auto aliases = take(line, ','); !aliases.empty();)
      known.aliases.push_back(take(aliases, ' '));
    const auto takes = take(line, ',');
    if (takes.size() != 1) throw std::logic_error("table of arguments: " + std::string(name));
    known.takes = takes.front();
    known.dest = take(line, ',');
    known.effect = effect_of(take(line, ','));
    const auto shared = reasons.find(line);
    known.why = shared == reasons.end() ? line : shared->second;
    known.repeats = name.ends_with('*') || name.find("[]") != name.npos;
    by_name_[name] = all_.size();
    for (const auto alias : known.aliases) by_name_[alias] = all_.size();
    all_.push_back(std::move(known));
  }
}

const KnownArgument* ArgumentTable::find(std::string_view name) const {
  auto found = by_name_.find(name);
  for (auto dot = name.rfind('.'); found == by_name_.end() && dot != name.npos && dot > 0;
       dot = name.rfind('.', dot - 1))
    found = by_name_.find(std::string(name.substr(0, dot)) + ".*");
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

std::string ArgumentTable::nearest_to(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, index] : by_name_) names.push_back(known);
  return nearest(name, names);
}

const ArgumentTable& arguments_of(std::string_view table) {
  static const auto tables = [] {
    std::map<std::string_view, ArgumentTable> made;
    for (const auto& file : job_table_files())
      if (!file.table.ends_with("_models")) made.emplace(file.table, ArgumentTable(file.text));
    return made;
  }();
  return tables.at(table);
}

}  // namespace scenarios
