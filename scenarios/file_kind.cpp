// SPDX-License-Identifier: Apache-2.0
#include "scenarios/file_kind.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "scenarios/documents/error.hpp"

namespace scenarios {
namespace {

using Keys = std::span<const std::string_view>;

// Keys at the top of a file that no other kind of file has there.
constexpr std::array<std::string_view, 8> of_scenario{"model",    "cluster", "training",  "plan",
                                                      "software", "alerts",  "published", "job"};
constexpr std::array<std::string_view, 6> of_sweep_file{"base",     "mode",   "vary",
                                                        "together", "follow", "only_if"};
constexpr std::array<std::string_view, 6> of_purchase{"workload",  "workloads",   "constraints",
                                                      "economics", "reliability", "options"};

struct KindFacts {
  FileKind kind;
  Keys keys;
  std::string_view words, commands;
};
constexpr std::array<KindFacts, 3> kinds{
    {{FileKind::scenario, of_scenario, "a scenario", "stepcast simulate or stepcast search"},
     {FileKind::sweep, of_sweep_file, "a sweep", "stepcast sweep"},
     {FileKind::purchase, of_purchase, "a purchase", "stepcast purchase"}}};

std::ptrdiff_t keys_among(const Value& document, Keys keys) {
  return std::ranges::count_if(keys, [&](auto key) { return document.find(key) != nullptr; });
}

}  // namespace

FileKind file_kind_of(const Value& document) {
  return std::ranges::max_element(kinds, {},
                                  [&](const auto& one) { return keys_among(document, one.keys); })
      ->kind;
}

void refuse_other_kind(const Value& document, FileKind expected, const std::string& file) {
  if (document.kind != Value::Kind::map) return;
  const auto& wanted = *std::ranges::find(kinds, expected, &KindFacts::kind);
  if (keys_among(document, wanted.keys) > 0) return;
  constexpr std::ptrdiff_t enough = 2;  // one may be a mistype
  const auto& other = *std::ranges::find(kinds, file_kind_of(document), &KindFacts::kind);
  if (keys_among(document, other.keys) < enough) return;
  const auto& first = document.members.front().key;
  throw Error({{Complaints(file).text_of({first.line, first.column, first.set}),
                "this is " + std::string(other.words) + ", not " + std::string(wanted.words) +
                    "; give it to " + std::string(other.commands)}});
}

}  // namespace scenarios
