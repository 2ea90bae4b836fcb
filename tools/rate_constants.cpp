// SPDX-License-Identifier: Apache-2.0
// Turns the rate surfaces of scenarios/catalog/rates into constants of the program.
//   rate_constants OUTPUT.cpp FILE.rates…
// Runs when the program is built. Numbers are passed on as they are written. If a value cannot be
// passed on, it complains with FILE:LINE and writes nothing.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Surface {
  std::string kind, kernel, numbers, unit;
  std::vector<std::vector<std::string>> axes;
  std::vector<std::string> values;
};

struct File {
  std::string name, source, date, licence;
  std::vector<Surface> surfaces;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

std::string number(const std::string& text) {
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  require(end == text.size() && value > 0, "'" + text + "' is no positive number");
  return text;
}

std::string as_float(const std::string& text) {
  return number(text) + (text.find_first_of(".e") == std::string::npos ? ".F" : "F");
}

std::string unit_of(const std::string& word) {
  if (word == "TFLOP/s") return "teraflops";
  if (word == "GB/s") return "gigabytes";
  require(word == "us", "unknown unit '" + word + "'");
  return "microseconds";
}

void add_head(File& file, const std::vector<std::string>& words) {
  require(words.size() == 5, "expected: surface KIND KERNEL NUMBERS UNIT");
  auto numbers = words[3];
  std::ranges::replace(numbers, '-', '_');
  auto& surface = file.surfaces.emplace_back();
  surface.kind = words[1];
  surface.kernel = words[2];
  surface.numbers = numbers;
  surface.unit = unit_of(words[4]);
}

void add_axis(Surface& surface, const std::vector<std::string>& words) {
  require(words.size() > 2 && surface.axes.size() < 3, "expected: axis NAME NODE…, three at most");
  surface.axes.emplace_back();
  double last = 0;
  for (std::size_t i = 2; i < words.size(); ++i) {
    surface.axes.back().push_back(number(words[i]));
    require(std::stod(words[i]) > last, "the nodes of an axis must rise");
    last = std::stod(words[i]);
  }
}

// Checks a time beside the rates, which the program does not take.
void check_cost(const std::vector<std::string>& words) {
  require(words.size() == 3, "expected: cost NAME VALUE");
  static_cast<void>(number(words[2]));
  for (const auto* name : {"start_us", "us_per_byte", "us_per_row", "us_per_own_byte"})
    if (words[1] == name) return;
  throw std::invalid_argument("unknown cost '" + words[1] + "'");
}

// Adds a line such as "# date: 2026-08-21" to the file's facts.
void add_comment(File& file, const std::string& line) {
  for (const auto& [key, text] : {std::pair{"# source: ", &file.source},
                                  {"# date: ", &file.date},
                                  {"# licence: ", &file.licence}})
    if (line.starts_with(key)) *text = line.substr(std::string(key).size());
}

void add_line(File& file, const std::string& line) {
  const auto words = words_of(line);
  if (words.empty()) return;
  if (words[0] == "surface") return add_head(file, words);
  if (words[0] == "#") return add_comment(file, line);
  require(!file.surfaces.empty(), "expected a surface first");
  auto& surface = file.surfaces.back();
  if (words[0] == "axis") return add_axis(surface, words);
  if (words[0] == "cost") return check_cost(words);
  require(surface.axes.size() > 1 && words.size() == surface.axes.back().size(),
          "expected a value for each node of the last axis");
  for (const auto& word : words) surface.values.push_back(word == "-" ? "0" : as_float(word));
}

void check_size(const Surface& surface) {
  std::size_t nodes = 1;
  for (const auto& axis : surface.axes) nodes *= axis.size();
  require(nodes == surface.values.size(), surface.kernel + " has " +
                                              std::to_string(surface.values.size()) +
                                              " values for " + std::to_string(nodes) + " nodes");
}

File read(const std::filesystem::path& path) {
  File file;
  file.name = path.stem().string();
  std::ifstream in(path);
  int line_number = 0;
  try {
    require(in.is_open(), "cannot be opened");
    for (std::string line; std::getline(in, line);) {
      ++line_number;
      add_line(file, line);
    }
    for (const auto& surface : file.surfaces) check_size(surface);
    require(!file.source.empty() && !file.date.empty() && !file.licence.empty(),
            "source, date or licence is missing");
  } catch (const std::exception& wrong) {
    throw std::runtime_error(path.string() + ":" + std::to_string(line_number) + ": " +
                             wrong.what());
  }
  return file;
}

void write_list(std::ostream& out, const std::string& type, const std::string& name,
                const std::vector<std::string>& items) {
  out << "constexpr " << type << ' ' << name << "[] = {";
  for (const auto& item : items) out << item << ',';
  out << "};\n";
}

void write_surfaces(std::ostream& out, const File& file, const std::string& name) {
  std::vector<std::string> entries;
  for (const auto& s : file.surfaces) {
    const auto own = name + "_" + std::to_string(entries.size());
    std::string axes;
    for (std::size_t i = 0; i < s.axes.size(); ++i) {
      const auto axis = own + "_" + std::to_string(i);
      write_list(out, "double", axis, s.axes[i]);
      axes += (i > 0 ? ", std::span<const double>(" : "std::span<const double>(") + axis + ")";
    }
    write_list(out, "float", own + "_values", s.values);
    entries.push_back("\n  {Kind::" + s.kind + ", \"" + s.kernel + "\", Numbers::" + s.numbers +
                      ", Unit::" + s.unit + ", {" + axes + "}, " + own + "_values}");
  }
  write_list(out, "RateSurface", name, entries);
}

void write(std::ostream& out, const std::vector<File>& files) {
  out << "// SPDX-License-Identifier: Apache-2.0\n"
         "// Made by tools/rate_constants.cpp when the program is built.\n"
         "#include \"topology/rate_surface.hpp\"\n"
         "namespace topology {\nnamespace {\n"
         "using Kind = RateSurface::Kind;\nusing Numbers = RateSurface::Numbers;\n"
         "using Unit = RateSurface::Unit;\n";
  std::vector<std::string> devices;
  for (const auto& file : files) {
    const auto name = "rates_" + std::to_string(devices.size());
    write_surfaces(out, file, name);
    devices.push_back("\n  {\"" + file.name + "\", \"" + file.source + "\", \"" + file.date +
                      "\", \"" + file.licence + "\", " + name + "}");
  }
  write_list(out, "DeviceRates", "all_rates", devices);
  out << "}  // namespace\n"
         "std::span<const DeviceRates> measured_rates() { return all_rates; }\n"
         "}  // namespace topology\n";
}

}  // namespace

int main(int count, char** arguments) {
  try {
    std::vector<File> files;
    for (int i = 2; i < count; ++i) files.push_back(read(arguments[i]));
    require(!files.empty(), "expected: rate_constants OUTPUT.cpp FILE.rates…");
    std::ofstream out(arguments[1]);
    write(out, files);
    out.flush();
    require(out.good(), std::string(arguments[1]) + " cannot be written");
  } catch (const std::exception& wrong) {
    std::cerr << wrong.what() << '\n';
    return 1;
  }
  return 0;
}
