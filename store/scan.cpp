// SPDX-License-Identifier: Apache-2.0
#include "store/scan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace store {
namespace {

constexpr std::size_t most_named = 20;

std::string from_number(const Table& table) {
  return selection(table) + " WHERE " + table.number + " >= ? ORDER BY " + table.number;
}

bool is_readable(Database& database, const Table& table, std::int64_t from) {
  try {
    Statement statement(database, from_number(table) + " LIMIT 1");
    statement.whole(0, from).step();
    return true;
  } catch (const Damaged&) {
    return false;
  }
}

// The first number above `broken` from which the table can be read on. A page holds rows of
// successive numbers, so that twice the distance soon leaves it behind.
std::optional<std::int64_t> first_readable(Database& database, const Table& table,
                                           std::int64_t broken) {
  constexpr std::int64_t farthest = std::int64_t{1} << 40;
  for (std::int64_t step = 1; step <= farthest; step *= 2) {
    if (broken > std::numeric_limits<std::int64_t>::max() - step) return {};
    auto readable = broken + step;
    if (!is_readable(database, table, readable)) continue;
    for (auto below = broken + step / 2; readable - below > 1;) {
      const auto middle = below + (readable - below) / 2;
      (is_readable(database, table, middle) ? readable : below) = middle;
    }
    return readable;
  }
  return {};
}

// The findings about a store whose rows were all read.
struct Found {
  Digest digest;                                             // of the rows that are sound
  std::vector<std::string> points;                           // their ids
  std::vector<std::pair<std::int64_t, std::string>> places;  // sound ones, with their points' ids
  std::vector<std::int64_t> broken_places;
  std::string structure;  // the first thing that SQLite finds wrong
};

// Returns the first thing that SQLite finds wrong with pages, the order of rows, or the index of
// the ids; empty if there is none.
std::string wrong_structure(Database& database) {
  try {
    auto said = database.ask("PRAGMA integrity_check(1)");
    if (said == "ok") return "";
    if (said.starts_with("***")) said.erase(0, said.find('\n') + 1);  // which database it is
    return said.substr(0, said.find('\n'));
  } catch (const Damaged&) {
    return "pages cannot be read";
  }
}

Found found_in(Database& database, const Table& points, const Table& places) {
  Found found;
  scan(database, points,
       {[&](const Statement& row, const Sum& sum) {
          found.digest.points.add(sum);
          found.points.push_back(row.text(1));
        },
        [](std::int64_t) {}});
  scan(database, places,
       {[&](const Statement& row, const Sum& sum) {
          found.digest.places.add(sum);
          found.places.emplace_back(row.whole(1), row.text(2));
        },
        [&](std::int64_t number) { found.broken_places.push_back(number); }});
  found.structure = wrong_structure(database);
  std::ranges::sort(found.points);
  return found;
}

std::string axes_at(Database& database, std::int64_t position) {
  try {
    Statement statement(database, "SELECT axes FROM places WHERE position = ?");
    return statement.whole(0, position).step() ? ", " + statement.text(0) : "";
  } catch (const Damaged&) {
    return "";
  }
}

// A line for each position that has lost its point, or its place.
std::string lost_rows(Database& database, const Found& found) {
  std::vector<std::pair<std::int64_t, std::string>> lost;
  for (const auto position : found.broken_places)
    lost.emplace_back(position, "which point stands there");
  for (const auto& [position, id] : found.places)
    if (!std::ranges::binary_search(found.points, id))
      lost.emplace_back(position, "its point " + id);
  std::ranges::sort(lost);
  std::string text;
  for (std::size_t i = 0; i < std::min(lost.size(), most_named); ++i) {
    const auto& [position, what] = lost[i];
    const bool is_placed = what.starts_with("its");
    text += "\n  position " + std::to_string(position) +
            (is_placed ? axes_at(database, position) : "") + ": " + what + " is lost";
  }
  if (lost.size() > most_named)
    text += "\n  and " + std::to_string(lost.size() - most_named) + " more";
  return text;
}

std::string of(std::int64_t sound, std::int64_t written, const char* what) {
  return std::to_string(sound) + " of " + std::to_string(written) + " " + what;
}

}  // namespace

void scan(Database& database, const Table& table, const Visit& visit) {
  auto from = std::numeric_limits<std::int64_t>::min();
  for (;;) {
    auto next = from;
    try {
      Statement row(database, from_number(table));
      row.whole(0, from);
      while (row.step()) {
        const auto number = row.whole(0);
        next = number == std::numeric_limits<std::int64_t>::max() ? number : number + 1;
        const auto checksum = sound(table, row, 1);
        checksum ? visit.sound(row, *checksum) : visit.broken(number);
      }
      return;
    } catch (const Damaged&) {
      // Numbers count from zero or one: below that, there is no row to look for.
      const auto readable = first_readable(database, table, std::max<std::int64_t>(next, 0) - 1);
      if (!readable || *readable <= from) return;
      from = *readable;
    }
  }
}

void verify(Database& database, const Meta& meta, const std::vector<Column>& columns) {
  const auto found = found_in(database, points_table(columns, meta.identity.program),
                              places_table(meta.identity.fingerprint));
  const auto lost = lost_rows(database, found);
  const auto& written = meta.digest;
  if (lost.empty() && found.structure.empty() && found.digest.points == written.points &&
      found.digest.places == written.places)
    return;
  auto words = of(found.digest.points.rows, written.points.rows, "points and ") +
               of(found.digest.places.rows, written.places.rows, "positions are sound");
  if (found.digest.points.rows == written.points.rows &&
      found.digest.places.rows == written.places.rows && found.structure.empty())
    words += " by themselves, but some are older than the others";
  if (!found.structure.empty()) words += " (" + found.structure + ")";
  throw Damaged(database.file().string() + ": is damaged, and nothing of it is used: " + words +
                lost + "\n" + repair_words);
}

}  // namespace store
