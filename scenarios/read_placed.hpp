// SPDX-License-Identifier: Apache-2.0
// Private to the room: reads every kind of file, whatever is made of its document.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/placed.hpp"

namespace scenarios {

// Applies `sets` to a YAML text and returns the result of `read(document, reading)` with its place.
// Names of files in the text start at `base`. Throws all complaints of `read` together.
template <class Read>
auto read_placed(std::string_view text, const std::string& file_name,
                 std::span<const std::string> sets, const std::filesystem::path& base,
                 const Read& read) {
  Value document = parse_yaml(text, file_name);
  Reading reading(file_name, base);
  apply_sets(document, sets, reading);
  auto value = read(std::as_const(document), reading);
  reading.throw_if_any();
  Files files;
  reading.texts().tell(&files);
  return Placed<decltype(value)>{
      std::move(value), {file_name, std::move(document), std::move(files), {}, reading.notes()}};
}

// Reads a file, or a text in memory, as read_placed() does; the file is among those that were read.
template <class Read>
auto load_placed(const Source& source, std::span<const std::string> sets, const Read& read) {
  auto placed = read_placed(source.read(), source.file.string(), sets, source.folder(), read);
  source.tell(&placed.origin.read);
  return placed;
}

}  // namespace scenarios
