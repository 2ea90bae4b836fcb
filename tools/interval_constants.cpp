// SPDX-License-Identifier: Apache-2.0
// Turns the table of error bars, scenarios/catalog/intervals.yaml, into constants of the program.
//   interval_constants OUTPUT.cpp FILE.yaml
// Runs when the program is built, so that nothing of it is parsed when it runs. If a value cannot
// be passed on, it complains with FILE:LINE and writes nothing.
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iostream>
#include <string>

namespace {

std::string word_of(const YAML::Node& text) {
  const auto word = text.as<std::string>();
  if (word.find_first_of("\"\\\n") != std::string::npos)
    throw YAML::Exception(text.Mark(), "a word without quotes, backslashes and line ends");
  return word;
}

// A list of words as one literal, in which a line end follows each word.
std::string words(const YAML::Node& list) {
  std::string text = "\"";
  for (const auto& word : list) text += word_of(word) + "\\n";
  return text + '"';
}

// Returns the number as the file writes it. Throws if the value is no number.
std::string number(const YAML::Node& value) {
  static_cast<void>(value.as<double>());
  return value.Scalar();
}

constexpr const char* opening = R"(// Written by tools/interval_constants.cpp; do not edit.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scenarios/intervals.hpp"

namespace scenarios {
namespace {

struct Regime {
  std::string_view words;
  std::size_t rows, datasets;
  double low, high;
};
struct Measured {
  std::string_view name;
  std::int64_t gpus, sequence;
  std::string_view words;
};

)";

constexpr const char* closing = R"(};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

forecast::Intervals catalog_intervals() {
  forecast::Intervals table;
  table.between = between;
  for (const auto& one : regimes)
    table.regimes.push_back({lines_of(one.words), one.rows, one.datasets, one.low, one.high});
  for (const auto& one : devices)
    table.devices.push_back({std::string(one.name), one.gpus, one.sequence, lines_of(one.words)});
  return table;
}

}  // namespace scenarios
)";

std::string source_of(const YAML::Node& table) {
  std::string text = opening;
  text += "constexpr double between = " + number(table["between"]) + ";\n\n";
  text += "constexpr Regime regimes[] = {\n";
  for (const auto& one : table["regimes"])
    text += "    {" + words(one["of"]) + ", " + number(one["rows"]) + ", " +
            number(one["datasets"]) + ", " + number(one["low"]) + ", " + number(one["high"]) +
            "},\n";
  text += "};\n\nconstexpr Measured devices[] = {\n";
  for (const auto& one : table["devices"])
    text += "    {\"" + word_of(one["name"]) + "\", " + number(one["gpus"]) + ", " +
            number(one["sequence"]) + ", " + words(one["traits"]) + "},\n";
  return text + closing;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: interval_constants OUTPUT.cpp FILE.yaml\n";
    return 2;
  }
  try {
    const auto source = source_of(YAML::LoadFile(arguments[2]));
    std::ofstream(arguments[1]) << source;
  } catch (const YAML::Exception& wrong) {
    std::cerr << arguments[2] << ':' << wrong.mark.line + 1 << ": " << wrong.msg << '\n';
    return 1;
  }
  return 0;
}
