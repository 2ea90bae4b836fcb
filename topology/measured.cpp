// SPDX-License-Identifier: Apache-2.0
#include "topology/measured.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace topology {
namespace {

constexpr std::array<std::string_view, 10> columns{
    "kind", "pass", "batch", "m", "n", "k", "causal", "implementation", "efficiency", "precision"};
constexpr std::size_t required = 9;  // the last may be missing

struct CsvRow {
  std::string_view text;
  std::array<std::string_view, columns.size()> cells;
  int line;

  std::string_view operator[](std::string_view column) const {
    return cells[static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin())];
  }
  // Throws a mistake in the cell of that column, or in the row where it has none.
  [[noreturn]] void refuse(std::string_view column, const std::string& what) const {
    const auto cell = (*this)[column];
    throw MeasuredMistake{
        line, cell.data() == nullptr ? 1 : static_cast<int>(cell.data() - text.data()) + 1, what};
  }
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
Number number(const CsvRow& row, std::string_view column) {
  const std::string_view text = row[column];
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0))
    row.refuse(column,
               std::string(column) + " must be a positive number, not '" + std::string(text) + "'");
  return value;
}

double efficiency(const CsvRow& row) {
  const auto value = number<double>(row, "efficiency");
  if (!(value <= 1.5)) row.refuse("efficiency", "efficiency is a share of peak, not more than 1.5");
  return value;
}

units::Kernel::Layout layout_of(const CsvRow& row) {
  using Layout = units::Kernel::Layout;
  if (row["pass"] == "forward") return Layout::forward;
  if (row["pass"] == "input_gradient") return Layout::input_gradient;
  if (row["pass"] == "weight_gradient") return Layout::weight_gradient;
  row.refuse("pass", "unknown pass '" + std::string(row["pass"]) +
                         "'; expected forward, input_gradient or weight_gradient");
}

MeasuredAttention::Pass pass_of(const CsvRow& row) {
  using Pass = MeasuredAttention::Pass;
  if (row["pass"] == "forward") return Pass::forward;
  if (row["pass"] == "backward") return Pass::backward;
  if (row["pass"] == "both") return Pass::both;
  row.refuse("pass",
             "unknown pass '" + std::string(row["pass"]) + "'; expected forward, backward or both");
}

bool causal_of(const CsvRow& row) {
  if (row["causal"] == "1") return true;
  if (row["causal"] == "0") return false;
  row.refuse("causal", "causal must be 0 or 1, not '" + std::string(row["causal"]) + "'");
}

MeasuredProduct product_of(const CsvRow& row) {
  return {layout_of(row),
          number<std::int64_t>(row, "batch"),
          number<std::int64_t>(row, "m"),
          number<std::int64_t>(row, "n"),
          number<std::int64_t>(row, "k"),
          efficiency(row)};
}

// The measured attention of a row; nothing if its kernel is not known.
std::optional<MeasuredAttention> attention_of(const CsvRow& row) {
  using enum units::FusedAttention;
  constexpr std::array<std::pair<std::string_view, units::FusedAttention>, 5> known{
      {{"flash-1", flash_1},
       {"flash-2", flash_2},
       {"flash-3", flash_3},
       {"memory-efficient", memory_efficient},
       {"cudnn", cudnn}}};
  MeasuredAttention measured{pass_of(row), number<std::int64_t>(row, "k"),
                             number<std::int64_t>(row, "n"), causal_of(row), efficiency(row)};
  if (row["implementation"].empty()) return measured;
  for (const auto& [name, fused] : known)
    if (name == row["implementation"]) {
      measured.fused = fused;
      return measured;
    }
  return std::nullopt;
}

// The place of each known column: columns[i] is at place[i] of the file.
std::array<std::size_t, columns.size()> header(std::string_view text, int line) {
  const auto names = split(text, ',');
  std::array<std::size_t, columns.size()> place{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto found = std::ranges::find(names, columns[i]);
    if (found == names.end() && i < required)
      throw MeasuredMistake{line, 1, "column '" + std::string(columns[i]) + "' is missing"};
    place[i] = static_cast<std::size_t>(found - names.begin());
  }
  return place;
}

using Places = std::array<std::size_t, columns.size()>;

CsvRow read_row(std::string_view text, const Places& places, std::size_t width, int line) {
  const auto cells = split(text, ',');
  CsvRow row{text, {}, line};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (places[i] >= width) continue;  // a column that is not there
    if (places[i] >= cells.size()) throw MeasuredMistake{line, 1, "the row has too few cells"};
    row.cells[i] = cells[places[i]];
  }
  return row;
}

bool is_narrow(const CsvRow& row) {
  const auto precision = row["precision"];
  if (precision.empty() || precision == "bf16" || precision == "fp16") return false;
  if (precision == "fp8") return true;
  row.refuse("precision",
             "unknown precision '" + std::string(precision) + "'; expected bf16, fp16 or fp8");
}

void add(Measured& table, const CsvRow& row) {
  const bool narrow = is_narrow(row);
  if (narrow && row["kind"] != "product")
    row.refuse("precision", "only products are measured in fp8; leave the precision out");
  if (row["kind"] == "product") {
    (narrow ? table.narrow : table.products).push_back(product_of(row));
  } else if (row["kind"] == "attention") {
    if (const auto measured = attention_of(row)) table.attention.push_back(*measured);
  } else if (row["kind"] == "stream") {
    table.streams.push_back({std::string(row["pass"]),
                             units::Bytes{static_cast<double>(number<std::int64_t>(row, "n"))},
                             efficiency(row)});
  } else {
    row.refuse("kind", "unknown kind '" + std::string(row["kind"]) +
                           "'; expected product, attention or stream");
  }
}

}  // namespace

Measured parse_measured(std::string_view csv) {
  return parse_measured(csv, [](const MeasuredMistake& mistake) {
    throw std::invalid_argument("line " + std::to_string(mistake.line) + ": " + mistake.text);
  });
}

Measured parse_measured(std::string_view csv,
                        const std::function<void(const MeasuredMistake&)>& complain) {
  Measured table;
  std::optional<Places> places;
  std::size_t width = 0;
  for (int line = 1; !csv.empty(); ++line) {
    const auto end = std::min(csv.find('\n'), csv.size());
    auto text = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty() || text.starts_with('#')) continue;
    try {
      if (places) {
        add(table, read_row(text, *places, width, line));
      } else {
        width = split(text, ',').size();
        places = header(text, line);
      }
    } catch (const MeasuredMistake& mistake) {
      complain(mistake);
      if (!places) return table;  // without columns no row means anything
    }
  }
  return table;
}

}  // namespace topology
