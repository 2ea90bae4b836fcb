// SPDX-License-Identifier: Apache-2.0
#include "store/opening.hpp"

#include <algorithm>
#include <utility>

#include "store/scan.hpp"

namespace store {

namespace fs = std::filesystem;

namespace {

std::string words_of(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

// Throws Error if the sweep cannot go on with this store. A shard's sweep must be the same; a whole
// store may see its sweep grow.
void check_same(const fs::path& file, const Identity& there, const Identity& wanted) {
  const auto name = file.string() + ": ";
  if (there.program != wanted.program)
    throw Error(name + "was written by stepcast " + there.program + ", and this is " +
                wanted.program + ", whose forecasts may differ; name another file");
  if (!(there.shard == wanted.shard))
    throw Error(name + "holds shard " + words_of(there.shard) + ", not " + words_of(wanted.shard) +
                "; name another file");
  if (there.axes != wanted.axes)
    throw Error(name + "is of another sweep (" + there.axes + "; this one: " + wanted.axes +
                "); name another file");
  if (wanted.shard.count > 1 && there.fingerprint != wanted.fingerprint)
    throw Error(name +
                "is of the same sweep with other values; move it away, or name another file");
}

}  // namespace

bool alike(const std::vector<Column>& a, const std::vector<Column>& b) {
  return std::ranges::equal(a, b, {}, &Column::name, &Column::name);
}

void be_lenient(Database& database, bool lenient) {
  database.run(lenient ? "PRAGMA writable_schema = ON" : "PRAGMA writable_schema = OFF");
}

namespace {

Opened described(Database& database) {
  check_layout(database);
  auto columns = columns_of(database);
  auto meta = meta_of(database, columns);
  return {std::move(meta), std::move(columns)};
}

}  // namespace

Opened checked(Database& database) {
  auto there = described(database);
  verify(database, there.meta, there.columns);
  return there;
}

Opened checked(Database& database, const Identity& identity, const std::vector<Column>& columns) {
  auto there = described(database);
  check_same(database.file(), there.meta.identity, identity);
  if (!alike(there.columns, columns))
    throw Error(database.file().string() +
                ": has other figures than this program's; name another file");
  verify(database, there.meta, there.columns);
  if (sqlite3_db_readonly(database.handle(), "main") == 1)
    throw damage(database, "its header says that nobody may write to it");
  return there;
}

}  // namespace store
