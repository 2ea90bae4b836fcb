// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured/collective_tables.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "scenarios/document.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using topology::CollectiveTable;
using topology::TablePoint;

Table<CollectiveTable> make_collective_table_keys() {
  return {text<CollectiveTable>("source", "Where the figures come from", &CollectiveTable::source),
          text<CollectiveTable>("note", "What the source does not say", &CollectiveTable::note),
          yes_no<CollectiveTable>("framework", "false", "Taken through a framework",
                                  &CollectiveTable::framework),
          duration<CollectiveTable>("call", "0 us",
                                    "What the measuring program adds to every collective",
                                    &CollectiveTable::call),
          {{"cluster", "The machine", "", map_of(cluster_fields())},
           [](CollectiveTable& table, const Cursor& at) { table.cluster = read_cluster(at); }}};
}

const Table<CollectiveTable>& collective_table_keys() {
  static const auto made = make_collective_table_keys();
  return made;
}

struct Cell {
  std::string text;
  int column = 1;  // from one
};

// Cells may stand in double quotes, and then hold commas.
std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      cells.push_back({{}, static_cast<int>(i) + 2});
    else
      cells.back().text += line[i];
  }
  return cells;
}

// A mistake in a line, and its column.
struct CsvMistake {
  int column;
  std::string text;
};

// One line of a CSV file, its cells by the name of their column.
class CsvRow {
 public:
  CsvRow(const std::vector<Cell>& columns, std::string_view line) {
    auto cells = cells_of(line);
    for (std::size_t i = 0; i < std::min(cells.size(), columns.size()); ++i)
      cells_[columns[i].text] = std::move(cells[i]);
  }

  std::string_view text(const std::string& column) const {
    const auto found = cells_.find(column);
    return found == cells_.end() ? std::string_view() : std::string_view(found->second.text);
  }

  double number(const std::string& column) const {
    const auto cell = text(column);
    double value = 0;
    const auto [end, wrong] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (wrong != std::errc{} || end != cell.data() + cell.size() || !(value > 0 && value < 1e18))
      refuse(column, column + " must be a positive number, not '" + std::string(cell) + "'");
    return value;
  }

  int whole(const std::string& column) const {
    const double value = number(column);
    if (value > 1e6 || value != static_cast<double>(static_cast<int>(value)))
      refuse(column, column + " must be a whole number up to 1,000,000, not '" +
                         std::string(text(column)) + "'");
    return static_cast<int>(value);
  }

  [[noreturn]] void refuse(const std::string& column, const std::string& what) const {
    const auto found = cells_.find(column);
    throw CsvMistake{found == cells_.end() ? 1 : found->second.column, what};
  }

 private:
  std::map<std::string, Cell> cells_;
};

TablePoint point_of(const CsvRow& row, const topology::Cluster& cluster) {
  TablePoint point;
  const auto collective = topology::parse_collective(row.text("collective"));
  if (!collective)
    row.refuse(
        "collective",
        "unknown collective '" + std::string(row.text("collective")) +
            "'; expected all_reduce, all_gather, reduce_scatter, all_to_all, broadcast or reduce");
  point.collective = *collective;
  const int gpus = row.whole("gpus"), nodes = row.whole("nodes");
  if (gpus % nodes != 0)
    row.refuse("nodes", std::to_string(gpus) + " GPUs do not lie evenly on " +
                            std::to_string(nodes) + " nodes");
  const int each = gpus / nodes;
  if (each > cluster.node.gpus || nodes > cluster.nodes())
    row.refuse("gpus", "the group is larger than the cluster: " + std::to_string(nodes) +
                           " nodes of " + std::to_string(each) + " GPUs on " +
                           std::to_string(cluster.nodes()) + " nodes of " +
                           std::to_string(cluster.node.gpus));
  point.group = {.ranks = gpus, .nodes = nodes, .least_per_node = each, .most_per_node = each};
  point.in_switch = row.text("nvls") != "off";
  point.size = {row.number("size_bytes")};
  point.measured = {row.number("time_us") / 1e6};
  return point;
}

void read_points(CollectiveTable& table, std::string_view rest, const std::string& file) {
  Complaints complaints(file);
  std::vector<Cell> columns;
  for (int number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    if (columns.empty()) {
      columns = cells_of(line);
      continue;
    }
    try {
      table.points.push_back(point_of(CsvRow(columns, line), table.cluster));
    } catch (const CsvMistake& wrong) {
      complaints.add({number, wrong.column}, wrong.text);
    }
  }
  if (table.points.empty() && !complaints.any())
    complaints.add({}, "expected a header line and at least one measurement");
  complaints.throw_if_any();
}

}  // namespace

std::vector<std::string> collective_table_names(const std::filesystem::path& folder) {
  std::error_code wrong;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, wrong))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  if (wrong) throw Error({{folder.string(), "cannot read the folder: " + wrong.message()}});
  std::ranges::sort(names);
  return names;
}

CollectiveTableFile load_collective_table_file(const std::filesystem::path& folder,
                                               const std::string& name,
                                               std::span<const std::string> sets, Files* read) {
  const auto file = folder / (name + ".yaml");
  Reading reading(file.string(), folder);
  Value document = parse_yaml(reading.texts().of(file), file.string());
  apply_sets(document, sets, reading);
  CollectiveTable table{.name = name};
  const Cursor root(document, "", reading);
  read_map(collective_table_keys(), table, root);
  require({"cluster", "source"}, "a table needs its machine and its source", root);
  reading.throw_if_any();
  const auto points = folder / (name + ".csv");
  read_points(table, reading.texts().of(points, table_limits), points.string());
  reading.texts().tell(read);
  return {std::move(table), std::make_shared<const Value>(std::move(document))};
}

CollectiveTable load_collective_table(const std::filesystem::path& folder, const std::string& name,
                                      std::span<const std::string> sets, Files* read) {
  return load_collective_table_file(folder, name, sets, read).table;
}

topology::Cluster read_again(const CollectiveTableFile& file, const Entries& entries,
                             std::set<std::string>* named) {
  Reading reading(file.table.name, {}, entries);
  CollectiveTable table;
  read_map(collective_table_keys(), table, Cursor(*file.description, "", reading));
  reading.throw_if_any();
  if (named != nullptr) *named = reading.named();
  return table.cluster;
}

}  // namespace scenarios
