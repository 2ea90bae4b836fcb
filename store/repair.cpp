// SPDX-License-Identifier: Apache-2.0
// Makes a sound store of a damaged one, and destroys nothing.
#include <system_error>
#include <utility>

#include "store/inserter.hpp"
#include "store/lock.hpp"
#include "store/opening.hpp"
#include "store/scan.hpp"
#include "store/store.hpp"

namespace store {

namespace fs = std::filesystem;

namespace {

// Endings of the files that SQLite keeps beside a database, with changes that are not in it yet or
// not in it any more.
constexpr const char* logs[] = {"-wal", "-journal"};

fs::path beside(const fs::path& file, const std::string& ending) { return file.string() + ending; }

void remove_all_of(const fs::path& file) {
  std::error_code ignored;
  for (const auto* ending : {"", "-wal", "-journal", "-shm"})
    fs::remove(beside(file, ending), ignored);
}

// The file's name with an ending, and with a number where something has that name.
fs::path free_name(const fs::path& file, const std::string& ending) {
  auto name = beside(file, ending);
  for (int i = 2; fs::exists(name); ++i) name = beside(file, ending + std::to_string(i));
  return name;
}

// A name for a file that is gone in the end, unless it was renamed.
class Scratch {
 public:
  Scratch(const fs::path& file, const std::string& ending) : path_(free_name(file, ending)) {}
  ~Scratch() { remove_all_of(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void copy_all_of(const fs::path& file, const fs::path& to) {
  fs::copy_file(file, to);
  for (const auto* log : logs)
    if (fs::exists(beside(file, log))) fs::copy_file(beside(file, log), beside(to, log));
}

bool is_sound(const fs::path& copy, const fs::path& file, const Identity& identity,
              const std::vector<Column>& columns) {
  try {
    Database database(copy, SQLITE_OPEN_READWRITE, file);
    be_lenient(database, true);
    if (!is_blank(database)) checked(database, identity, columns);
    return true;
  } catch (const Damaged&) {
    return false;
  }
}

// Puts the rows of a damaged store that are sound into a new one.
void save_rows(Database& damaged, const Meta& meta, const std::vector<Column>& columns,
               Inserter& insert) {
  be_lenient(damaged, true);
  const auto ignore = [](std::int64_t) {};
  scan(damaged, points_table(columns, meta.identity.program),
       {[&](const Statement& row, const Sum& sum) { insert.copy_point(row, sum); }, ignore});
  scan(damaged, places_table(meta.identity.fingerprint),
       {[&](const Statement& row, const Sum& sum) {
          if (insert.has_point(row.text(2))) insert.copy_place(row, sum);
        },
        ignore});
}

Digest make_anew(const fs::path& damaged, const fs::path& file, const Identity& identity,
                 const std::vector<Column>& columns) {
  Database database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  database.run("PRAGMA synchronous = FULL");
  Transaction transaction(database);
  create(database, columns);
  const Meta meta{identity, {}};
  put(database, meta, columns);
  Inserter insert(database, meta, columns);
  try {
    Database from(damaged, SQLITE_OPEN_READWRITE);
    save_rows(from, meta, columns, insert);
  } catch (const Damaged&) {  // what was read before it stays
  }
  insert.seal();
  transaction.commit();
  return insert.digest();
}

// Keeps a file and its logs under the first name that is free.
fs::path move_away(const fs::path& file) {
  const auto name = free_name(file, ".damaged");
  fs::copy_file(file, name);  // the file itself stays until another one takes its place
  for (const auto* log : logs)
    if (fs::exists(beside(file, log))) fs::rename(beside(file, log), beside(name, log));
  return name;
}

std::optional<Repaired> repaired(const fs::path& file, const fs::path& written,
                                 const Identity& identity, const std::vector<Column>& columns) {
  const Lock lock(file);
  const Scratch copy(file, ".copy"), fresh(written, ".repaired");
  copy_all_of(file, copy.path());  // SQLite changes files that it opens to take a change back
  if (is_sound(copy.path(), file, identity, columns)) return {};
  const auto digest = make_anew(copy.path(), fresh.path(), identity, columns);
  fs::permissions(fresh.path(), fs::status(file).permissions());
  Repaired made{move_away(file), digest.points.rows, digest.places.rows};
  if (file != written && fs::exists(written)) move_away(written);
  fs::remove(beside(written, "-shm"));
  fs::rename(fresh.path(), written);
  if (file != written) remove_all_of(file);
  return made;
}

}  // namespace

std::optional<Repaired> repair(const fs::path& file, const Identity& identity,
                               const std::vector<Column>& columns) {
  try {
    const bool is_shard = identity.shard.count > 1;
    const auto part = is_shard ? unfinished(file) : file;
    const auto there = fs::exists(file) ? fs::canonical(file) : part;
    if (!fs::exists(there)) return {};
    return repaired(there, is_shard ? part : there, identity, columns);
  } catch (const fs::filesystem_error& wrong) {
    throw Error(file.string() + ": cannot be repaired: " + wrong.what());
  }
}

}  // namespace store
