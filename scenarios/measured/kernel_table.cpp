// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured/kernel_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

// Facts that are keys of a device; the others are for people.
constexpr std::array<std::string_view, 5> figures{"memory", "usable_memory", "memory_bandwidth",
                                                  "sms", "power"};
constexpr std::string_view peak = "peak.";

bool is_figure(const TableFact& fact) {
  return fact.key.starts_with(peak) || std::ranges::find(figures, fact.key) != figures.end();
}

// Adds the fact of a comment "# key: value"; other comments have none.
void add_fact(KernelTable& table, std::string_view comment, int line) {
  const auto text = units::trimmed(comment.substr(1));
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos || text.substr(0, colon).find(' ') != std::string_view::npos)
    return;
  const auto value = units::trimmed(text.substr(colon + 1));
  table.facts.push_back({std::string(text.substr(0, colon)), std::string(value), line,
                         static_cast<int>(value.data() - comment.data()) + 1});
}

Value cell_scalar(std::string_view text, int line, int column = 1) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = text;
  value.line = line;
  value.column = column;
  return value;
}

// Returns the data sheet as a mapping whose values have their places in the table's comments.
Value kernel_document(const KernelTable& table, const std::string& base) {
  Value map;
  map.kind = Value::Kind::map;
  if (!base.empty()) map.members.push_back({cell_scalar("base", 1), cell_scalar(base, 1)});
  Value peaks;
  peaks.kind = Value::Kind::map;
  for (const auto& fact : table.facts) {
    if (!is_figure(fact)) continue;
    const bool of_peak = fact.key.starts_with(peak);
    const auto key = std::string_view(fact.key).substr(of_peak ? peak.size() : 0);
    (of_peak ? peaks : map)
        .members.push_back(
            {cell_scalar(key, fact.line), cell_scalar(fact.value, fact.line, fact.column)});
  }
  if (!peaks.members.empty()) map.members.push_back({cell_scalar("peak", 1), std::move(peaks)});
  return map;
}

void require_sheet(const Value& sheet, const std::string& base, const Cursor& at) {
  if (!base.empty()) return;
  for (const auto& [key, example] : {std::pair{"memory", "memory: 80 GiB"},
                                     {"memory_bandwidth", "memory_bandwidth: 3.35 TB/s"},
                                     {"peak", "peak.bf16: 989 TFLOP/s"}})
    if (sheet.find(key) == nullptr)
      at.complain("the table does not say the device's " + std::string(key) +
                  "; write a comment line '# " + example +
                  "', or name a device of the catalog with --base");
}

}  // namespace

std::string_view KernelTable::fact(std::string_view key) const {
  const auto found = std::ranges::find(facts, key, &TableFact::key);
  return found == facts.end() ? std::string_view() : found->value;
}

KernelTable read_kernel_table(std::string_view csv, const std::string& file_name) {
  KernelTable table{.file = file_name};
  Complaints complaints(file_name);
  table.measured = topology::parse_measured(csv, [&](const topology::MeasuredMistake& mistake) {
    complaints.add({mistake.line, mistake.column}, mistake.text);
  });
  const auto& m = table.measured;
  if (!complaints.any() && m.products.empty() && m.attention.empty() && m.narrow.empty() &&
      m.streams.empty())
    complaints.add({},
                   "the table has no row; expected a line of column names and "
                   "rows such as 'product,forward,1,4096,4096,4096,,,0.75'");
  complaints.throw_if_any();
  int line = 0;
  for (auto rest = csv; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    ++line;
    if (rest.starts_with('#')) add_fact(table, rest.substr(0, end), line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return table;
}

topology::Device device_of(const KernelTable& table, const std::string& base) {
  const auto sheet = kernel_document(table, base);
  Reading reading(table.file, {});
  const Cursor at(sheet, "", reading);
  require_sheet(sheet, base, at);
  reading.throw_if_any();
  topology::Device device;
  read_device(device, at);
  reading.throw_if_any();
  return device;
}

std::string device_yaml(const KernelTable& table, const std::string& base, const std::string& csv) {
  std::string source = "kernels measured";
  for (const auto* key : {"device", "date", "driver"})
    if (const auto said = table.fact(key); !said.empty())
      source += (key == std::string_view("device") ? " on " : ", " + std::string(key) + " ") +
                std::string(said);
  std::erase(source, '\'');  // which would end the text
  std::string text = base.empty() ? "" : "base: " + base + '\n';
  text += "source: '" + source + "'\n";
  std::string peaks;
  for (const auto& fact : table.facts) {
    if (!is_figure(fact)) continue;
    if (fact.key.starts_with(peak))
      peaks += (peaks.empty() ? "" : ", ") + fact.key.substr(peak.size()) + ": " + fact.value;
    else
      text += fact.key + ": " + fact.value + '\n';
  }
  if (!peaks.empty()) text += "peak: {" + peaks + "}\n";
  if (const auto power = table.fact("power"); !power.empty())
    text += "efficiency: {measured_power: " + std::string(power) + "}\n";
  return text + "kernels: " + csv + '\n';
}

}  // namespace scenarios
