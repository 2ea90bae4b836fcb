// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/argument_table.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/jobs/table_files.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::pair<std::string_view, Effect>, 5> effect_words{
    {{"read", Effect::read},
     {"none", Effect::none},
     {"not", Effect::not_modelled},
     {"off", Effect::not_modelled},
     {"refused", Effect::refused}}};

// Takes the part of the line up to the next separator off the line, and returns it.
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

// Returns the argument `name` from the rest of its line in a table.
KnownArgument argument_of(std::string_view name, std::string_view line) {
  KnownArgument known{name, {}, '1', {}, Effect::unknown, {}, false, false, false, {}};
  for (auto aliases = take(line, ','); !aliases.empty();)
    known.aliases.push_back(take(aliases, ' '));
  const auto takes = take(line, ',');
  if (takes.size() > 1) throw std::logic_error("table of arguments: " + std::string(name));
  if (!takes.empty()) known.takes = takes.front();
  known.dest = take(line, ',');
  const auto effect = take(line, ',');
  if (effect == "as") {
    known.effect = Effect::read;
    known.same_as = known.dest.empty() ? name.substr(name.rfind('.') + 1) : known.dest;
    known.dest = {};
  } else {
    known.effect = effect_of(effect);
    known.usually_on = effect == "off";
  }
  known.negates = known.dest.starts_with('!');
  if (known.negates) known.dest.remove_prefix(1);
  known.why = line;
  known.repeats = name.ends_with('*') || name.find("[]") != name.npos;
  return known;
}

// Returns "num_layers" for "--num-layers".
std::string underscored(std::string_view name) {
  auto dest = std::string(name.substr(name.starts_with("--") ? 2 : 0));
  std::ranges::replace(dest, '-', '_');
  return dest;
}

std::string dest_of(const KnownArgument& known) {
  return known.dest.empty() ? underscored(known.name) : std::string(known.dest);
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

ArgumentTable::ArgumentTable(std::string_view text, const ArgumentTable* below) : below_(below) {
  std::map<std::string_view, std::string_view> reasons;
  while (!text.empty()) {
    auto line = take(text, '\n');
    if (line.empty() || line.starts_with('#') || line.starts_with('&')) continue;
    const auto name = take(line, ',');
    if (name.starts_with('@')) {
      reasons[name] = line;
      continue;
    }
    auto known = argument_of(name, line);
    const auto shared = reasons.find(known.why);
    if (shared != reasons.end()) known.why = shared->second;
    by_name_[name] = all_.size();
    for (const auto alias : known.aliases) by_name_[alias] = all_.size();
    by_dest_.try_emplace(dest_of(known), all_.size());
    if (!known.negates) by_dest_.try_emplace(underscored(known.name), all_.size());
    all_.push_back(std::move(known));
  }
}

const KnownArgument* ArgumentTable::find_here(std::string_view name) const {
  auto found = by_name_.find(name);
  for (auto dot = name.rfind('.'); found == by_name_.end() && dot != name.npos && dot > 0;
       dot = name.rfind('.', dot - 1))
    found = by_name_.find(std::string(name.substr(0, dot)) + ".*");
  if (found == by_name_.end() && name.starts_with("--"))  // a key on a command line
    found = by_name_.find(underscored(name));
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

const KnownArgument* ArgumentTable::find(std::string_view name) const {
  const auto* here = find_here(name);
  return here == nullptr && below_ != nullptr ? below_->find(name) : here;
}

std::vector<const KnownArgument*> ArgumentTable::beginning(std::string_view prefix) const {
  std::vector<const KnownArgument*> found;
  for (auto at = by_name_.lower_bound(prefix); at != by_name_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (std::ranges::find(found, &all_[at->second]) == found.end())
      found.push_back(&all_[at->second]);
  }
  return found;
}

const KnownArgument* ArgumentTable::find_dest(std::string_view dest) const {
  const auto found = by_dest_.find(dest);
  return found == by_dest_.end() ? nullptr : &all_[found->second];
}

std::string ArgumentTable::nearest_to(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, index] : by_name_) names.push_back(known);
  const bool flag = name.starts_with('-');
  if (below_ != nullptr && !flag)
    for (const auto& [dest, index] : below_->by_dest_) names.push_back(dest);
  return nearest(name, names);
}

const ArgumentTable& arguments_of(std::string_view table) {
  static std::map<std::string, ArgumentTable, std::less<>> made;
  static std::recursive_mutex making;
  const std::scoped_lock alone(making);
  if (const auto found = made.find(table); found != made.end()) return found->second;
  const auto plus = table.find('+');
  const auto files = job_table_files();
  const auto file = std::ranges::find(files, table.substr(0, plus), &JobTableFile::table);
  if (file == files.end()) throw std::logic_error("no table of arguments: " + std::string(table));
  auto below = file->text.substr(0, file->text.find('\n'));
  below.remove_prefix(below.starts_with('&') ? 1 : below.size());
  if (plus != table.npos) below = table.substr(plus + 1);
  const auto* under = below.empty() ? nullptr : &arguments_of(below);
  return made.try_emplace(std::string(table), file->text, under).first->second;
}

}  // namespace scenarios
