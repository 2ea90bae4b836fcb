// SPDX-License-Identifier: Apache-2.0
// Reads the instances of problems whose optimum is known.
#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace oracle {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

inline std::vector<std::int64_t> numbers(const std::string& text, char separator = '/') {
  std::vector<std::int64_t> result;
  for (const auto& part : split(text, separator)) result.push_back(std::stoll(part));
  return result;
}

// The optimum in a cell; "-" stands for no solution.
inline std::optional<std::int64_t> optimum(const std::string& text) {
  if (text == "-") return std::nullopt;
  return std::stoll(text);
}

// The lines of a file under oracles/, in cells; comments are left out.
inline std::vector<std::vector<std::string>> rows_of(const std::string& name) {
  std::ifstream file(STEPCAST_SOURCE_DIR "/tests/search/oracles/" + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) rows.push_back(split(line, ','));
  return rows;
}

}  // namespace oracle
