// SPDX-License-Identifier: Apache-2.0
#include "report/launch/argument_places.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"

namespace report {
namespace {

using scenarios::JudgedArgument;

// Returns the texts and places of the arguments of that name.
std::vector<std::pair<std::string, std::string>> named(const std::vector<JudgedArgument>& arguments,
                                                       std::string_view name) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& one : arguments)
    if (std::string_view(one.text).substr(0, one.text.find(' ')) == name)
      found.emplace_back(one.text, one.place);
  return found;
}

std::string place_at(std::string_view text, std::size_t at, const std::string& file) {
  const auto before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const auto feed = before.rfind('\n');
  return scenarios::Complaints(file).text_of(
      {line, static_cast<std::int64_t>(feed == before.npos ? at + 1 : at - feed)});
}

// A reader of one text after another, which remembers the last one.
struct PlaceReader {
  JobFile file;
  scenarios::JobHints hints;
  std::string text{};
  std::vector<JudgedArgument> arguments{};

  std::optional<std::size_t> choose(std::string_view script, std::string_view name,
                                    const std::vector<std::size_t>& places);
};

std::optional<std::size_t> PlaceReader::choose(std::string_view script, std::string_view name,
                                               const std::vector<std::size_t>& places) {
  if (text.empty() || text != script) {
    text = script;
    auto job = read_if_right(text, file, hints);
    arguments = job ? std::move(job->account.arguments) : std::vector<JudgedArgument>{};
  }
  const auto given = named(arguments, name);
  if (given.empty()) return {};
  for (const auto place : places)
    if (place_at(script, place, file.name) == given.back().second) return place;
  // The reader tells where a variable stands whose value has the argument. The place that counts is
  // the one without which the reader finds another argument, or none.
  std::optional<std::size_t> counts, matters;
  for (const auto place : places) {
    auto without = text;
    auto& letter = without[place + std::min(name.find_first_not_of('-'), name.size() - 1)];
    letter = letter == 'x' ? 'y' : 'x';
    const auto others = read_if_right(without, file, hints);
    const auto left = others ? named(others->account.arguments, name) : decltype(given){};
    if (left.empty() || left.back() != given.back()) counts = place;
    if (left != given) matters = place;
  }
  return counts ? counts : matters;
}

}  // namespace

PlaceChoice places_that_count(const JobFile& file, const scenarios::JobHints& hints) {
  auto reader = std::make_shared<PlaceReader>(PlaceReader{file, hints});
  return [reader](std::string_view text, std::string_view name,
                  const std::vector<std::size_t>& places) {
    return reader->choose(text, name, places);
  };
}

}  // namespace report
