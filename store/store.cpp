// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include <system_error>
#include <utility>

#include "store/inserter.hpp"
#include "store/lock.hpp"
#include "store/opening.hpp"
#include "store/reading.hpp"
#include "store/scan.hpp"

namespace store {

namespace fs = std::filesystem;

struct Store::State {
  std::unique_ptr<Lock> lock;  // of a writer; let go of last
  Database database;
  Meta meta;
  std::vector<Column> columns;
  fs::path final_file;  // of a writer
  std::optional<Reading> read = {};
  std::optional<Inserter> insert = {};  // of a writer

  const Digest& digest() const { return insert ? insert->digest() : meta.digest; }
  template <class Write>
  void write(Write&& rows);  // in a transaction
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

fs::path unfinished(const fs::path& file) { return file.string() + ".part"; }

namespace {

// Transactions survive a loss of power because each waits for the disk: a log alone would not
// survive.
Meta open_for_writing(Database& database, const Identity& identity,
                      const std::vector<Column>& columns) {
  // A shard may lie on a file system that other machines share: they cannot have the memory that
  // SQLite shares between processes.
  if (identity.shard.count > 1) database.run("PRAGMA locking_mode = EXCLUSIVE");
  database.leave_log(true);  // the log may be damaged, or belong to another state of the file
  be_lenient(database, true);
  const bool blank = is_blank(database);
  Meta meta{identity, {}};
  bool grown = false;
  if (!blank) {
    const auto there = checked(database, identity, columns);
    meta.digest = there.meta.digest;
    grown = there.meta.identity.fingerprint != identity.fingerprint;
  }
  be_lenient(database, false);
  database.leave_log(false);
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  Transaction transaction(database);
  if (blank) create(database, columns);
  if (grown) {
    database.run("DELETE FROM places");
    meta.digest.places = {};
  }
  ++meta.digest.commits;
  put(database, meta, columns);
  transaction.commit();
  return meta;
}

// The error about a store without tables, with the reasons that there may be.
Error no_points_yet(const fs::path& file, bool had_log) {
  const auto log = file.string() + "-wal";
  return Error(file.string() + ": holds no finished point: its sweep was stopped while it made it" +
               (had_log ? std::string() : ", or it was copied without " + log) +
               "; run the sweep again" + (had_log ? "" : ", or copy that file too"));
}

}  // namespace

Store Store::writer(const fs::path& file, const Identity& identity,
                    const std::vector<Column>& columns) {
  const auto written = identity.shard.count > 1 ? unfinished(file) : file;
  auto lock = std::make_unique<Lock>(written);
  auto state =
      std::make_unique<State>(State{std::move(lock),
                                    Database(written, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE),
                                    {},
                                    columns,
                                    file});
  state->meta = open_for_writing(state->database, identity, columns);
  state->read.emplace(state->database, identity, columns);
  state->insert.emplace(state->database, state->meta, columns);
  return Store(std::move(state));
}

Store Store::reader(const fs::path& file) {
  std::error_code wrong;
  const auto name = file.string();
  if (!fs::exists(file, wrong)) throw Error(name + ": no such file");
  if (fs::is_directory(file, wrong))
    throw Error(name + ": is a folder; expected a store of a sweep");
  if (!fs::is_regular_file(file, wrong))
    throw Error(name + ": is no plain file; expected a store of a sweep");
  const bool has_log = fs::exists(name + "-wal", wrong);
  if (fs::file_size(file, wrong) == 0 && !has_log)
    throw Error(
        name +
        ": the file is empty: it holds no finished point; run its sweep, or name another file");
  Database database(file, SQLITE_OPEN_READONLY);
  database.run("BEGIN");  // so that all is of one moment
  be_lenient(database, true);
  if (is_blank(database)) throw no_points_yet(file, has_log);
  auto [meta, columns] = checked(database);
  be_lenient(database, false);
  auto state = std::make_unique<State>(
      State{{}, std::move(database), std::move(meta), std::move(columns), {}});
  state->read.emplace(state->database, state->meta.identity, state->columns);
  return Store(std::move(state));
}

const Identity& Store::identity() const { return state_->meta.identity; }
std::vector<Column> Store::columns() const { return state_->columns; }
std::int64_t Store::placed() const { return state_->digest().places.rows; }

void Store::for_each_place(const std::function<void(std::int64_t)>& visit) const {
  state_->read->each_place(visit);
}
std::optional<Row> Store::row(std::int64_t position) const { return state_->read->at(position); }
void Store::for_each_row(const std::function<void(const Row&)>& visit) const {
  state_->read->each(visit);
}

std::vector<std::string> Store::unplaced() const {
  Statement statement(state_->database,
                      "SELECT id FROM points EXCEPT SELECT id FROM places ORDER BY id");
  std::vector<std::string> ids;
  while (statement.step()) ids.push_back(statement.text(0));
  return ids;
}

template <class Write>
void Store::State::write(Write&& rows) {
  const auto before = insert->digest();
  Transaction transaction(database);
  try {
    rows();
    insert->seal();
    transaction.commit();
  } catch (...) {
    insert->forget(before);
    throw;
  }
}

void Store::add(std::span<const Row> rows) {
  state_->write([&] {
    for (const auto& row : rows) state_->insert->add(row);
  });
}

void Store::take(const fs::path& other) {
  const auto shard = reader(other);
  const auto& there = shard.identity();
  if (there.program != identity().program || there.fingerprint != identity().fingerprint)
    throw Error(other.string() +
                ": is of another sweep or program than the others; leave it out, or run it again");
  if (!alike(shard.columns(), state_->columns))
    throw Error(other.string() + ": has other figures than this program's; run its sweep again");
  auto& from = shard.state_->database;
  auto& into = *state_->insert;
  Tally points, places;
  const auto ignore = [](std::int64_t) {};
  state_->write([&] {
    scan(from, points_table(state_->columns, there.program),
         {[&](const Statement& row, const Sum& sum) {
            points.add(sum);
            into.copy_point(row, sum);
          },
          ignore});
    scan(from, places_table(there.fingerprint),
         {[&](const Statement& row, const Sum& sum) {
            places.add(sum);
            into.copy_place(row, sum);
          },
          ignore});
    if (!(points == shard.state_->digest().points && places == shard.state_->digest().places))
      throw damage(from, "it changes while it is read");
  });
}

void Store::close() {
  auto& database = state_->database;
  const auto digest = state_->digest();
  state_->insert.reset();
  state_->read.reset();
  state_->meta.digest = digest;
  // Where somebody reads just now, the log stays beside the file; that is as good.
  const int code =
      sqlite3_exec(database.handle(), "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) database.fail(code);
  sqlite3_exec(database.handle(), "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
  database.close();
}

void Store::finish() {
  close();
  const auto& written = state_->database.file();
  if (written == state_->final_file) return;
  std::error_code wrong;
  fs::rename(written, state_->final_file, wrong);
  if (wrong)
    throw Error(state_->final_file.string() + ": cannot be written: " + wrong.message() +
                "; the shard is " + written.string());
}

}  // namespace store
