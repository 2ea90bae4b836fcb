// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/edit.hpp"

#include <algorithm>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"

namespace scenarios {
namespace {

constexpr std::string_view origin = "# fitted by stepcast calibrate: ";

// Returns the offset of the value in the text.
std::size_t offset(std::string_view text, const Value& value) {
  std::size_t at = 0;
  for (int line = 1; line < value.line; ++line) at = text.find('\n', at) + 1;
  return at + static_cast<std::size_t>(value.column - 1);
}

[[noreturn]] void refuse(const std::string& file, const Value& at, std::string_view key,
                         const std::string& why) {
  throw Error({{file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                std::string(key) + ": " + why}});
}

// Returns the end of a scalar, which must be plain in the text.
std::size_t end_of(std::string_view text, const std::string& file, const Value& scalar,
                   std::string_view key) {
  const auto begin = offset(text, scalar);
  if (scalar.kind != Value::Kind::scalar || scalar.quoted ||
      text.substr(begin, scalar.text.size()) != scalar.text)
    refuse(file, scalar, key, "expected a plain value, which a fitted one can replace");
  return begin + scalar.text.size();
}

std::string replaced(std::string_view text, std::size_t begin, std::size_t end,
                     std::string_view value) {
  return std::string(text.substr(0, begin)) + std::string(value) + std::string(text.substr(end));
}

// Returns the text with a new last key of the map: before the brace of a map in braces, else on a
// line of its own.
std::string added(std::string_view text, const std::string& file, const Value& map,
                  std::string_view key, std::string_view value) {
  if (map.kind != Value::Kind::map || map.members.empty())
    refuse(file, map, key, "expected a map with a key, which a fitted one can follow");
  const auto pair = std::string(key) + ": " + std::string(value);
  const auto& last = map.members.back();
  if (text[offset(text, map)] == '{') {
    const auto end = end_of(text, file, last.value, last.key.text);
    return replaced(text, end, end, ", " + pair);
  }
  auto end = end_of(text, file, last.value, last.key.text);
  end = std::min(text.find('\n', end), text.size());
  return replaced(text, end, end,
                  '\n' + std::string(static_cast<std::size_t>(last.key.column - 1), ' ') + pair);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns the line "from_memory: [a, b]" without the keys; empty if none is left.
std::string remembered(std::string_view line, std::span<const std::string> keys) {
  const auto open = line.find('['), close = line.find(']');
  std::string kept;
  for (auto rest = line.substr(open + 1, close - open - 1); !rest.empty();) {
    const auto end = std::min(rest.find(','), rest.size());
    auto word = rest.substr(0, end);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (std::ranges::find(keys, word) == keys.end())
      kept += (kept.empty() ? "" : ", ") + std::string(word);
  }
  return kept.empty() ? "" : "from_memory: [" + kept + "]\n";
}

}  // namespace

std::string with_value(std::string_view yaml, const std::string& file, std::string_view key,
                       std::string_view value) {
  const auto document = parse_yaml(yaml, file);
  const auto dot = key.find('.');
  const auto outer = key.substr(0, dot);
  const auto* found = document.find(outer);
  if (dot == std::string_view::npos) {
    if (found == nullptr) {
      // A new key at the end is right whatever value comes last in the file.
      const std::string_view end = yaml.ends_with('\n') ? "" : "\n";
      return std::string(yaml) + std::string(end) + std::string(key) + ": " + std::string(value) +
             '\n';
    }
    return replaced(yaml, offset(yaml, *found), end_of(yaml, file, *found, key), value);
  }
  const auto inner = key.substr(dot + 1);
  if (found == nullptr)
    return with_value(yaml, file, outer,
                      "{" + std::string(inner) + ": " + std::string(value) + "}");
  const auto* old = found->find(inner);
  if (old == nullptr) return added(yaml, file, *found, inner, value);
  return replaced(yaml, offset(yaml, *old), end_of(yaml, file, *old, key), value);
}

std::string with_origin(std::string_view yaml, std::span<const std::string> keys) {
  std::string text(origin);
  for (const auto& key : keys) text += (&key == &keys.front() ? "" : ", ") + key;
  text += '\n';
  for (const auto line : lines_of(yaml)) {
    if (line.starts_with(origin)) continue;
    if (line.starts_with("from_memory: [") && line.ends_with(']'))
      text += remembered(line, keys);
    else
      text += std::string(line) + '\n';
  }
  return text;
}

void stand_at(Value& value, const Place& at) {
  value.line = static_cast<int>(at.line);
  value.column = static_cast<int>(at.column);
  for (auto& item : value.items) stand_at(item, at);
  for (auto& member : value.members) {
    stand_at(member.key, at);
    stand_at(member.value, at);
  }
}

}  // namespace scenarios
