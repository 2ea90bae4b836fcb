// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include <system_error>
#include <utility>

#include "store/lock.hpp"
#include "store/sqlite.hpp"

namespace store {

namespace fs = std::filesystem;

namespace {

// In the file's header: what the file is, and how its tables are laid out.
constexpr int application = 0x73746570;  // "step"
constexpr int format = 1;

std::string words_of(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

std::string quoted(const std::string& name) { return '"' + name + '"'; }

void create(Database& database, const std::vector<Column>& columns) {
  std::string figures;
  for (const auto& column : columns)
    figures += ", " + quoted(column.name) + (column.whole ? " INTEGER" : " REAL");
  database.run(
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
      "CREATE TABLE points (id TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT NOT NULL" +
      figures +
      ", scenario TEXT NOT NULL, result TEXT NOT NULL);"
      "CREATE TABLE places (position INTEGER PRIMARY KEY, id TEXT NOT NULL, axes TEXT NOT NULL);"
      "CREATE VIEW sweep AS SELECT places.position, places.axes, points.* "
      "FROM places JOIN points USING (id);"
      "PRAGMA application_id = " +
      std::to_string(application) + ";PRAGMA user_version = " + std::to_string(format));
}

void put(Database& database, const Identity& identity) {
  Statement statement(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
  const auto keep = [&](const char* key, const std::string& value) {
    statement.text(0, key).text(1, value).once();
  };
  keep("program", identity.program);
  keep("definition", identity.definition);
  keep("axes", identity.axes);
  keep("fingerprint", identity.fingerprint);
  keep("folder", identity.folder);
  keep("shard", std::to_string(identity.shard.index));
  keep("shards", std::to_string(identity.shard.count));
  keep("points", std::to_string(identity.points));
}

Identity identity_of(Database& database) {
  const auto value = [&](const char* key) {
    Statement statement(database, "SELECT value FROM meta WHERE key = ?");
    return statement.text(0, key).step() ? statement.text(0) : std::string();
  };
  const auto number = [&](const char* key) {
    return std::strtoll(value(key).c_str(), nullptr, 10);
  };
  Identity identity{value("program"),     value("definition"), value("axes"),
                    value("fingerprint"), value("folder"),     {number("shard"), number("shards")},
                    number("points")};
  if (identity.definition.empty() || identity.shard.count < 1)
    throw Error(database.file().string() +
                ": is damaged: it does not say what it is of; move it away and run again");
  return identity;
}

void check_format(Database& database) {
  const auto& file = database.file().string();
  if (database.ask("PRAGMA application_id") != std::to_string(application))
    throw Error(file + ": is a database, but no store of a sweep; name another file");
  if (const auto found = database.ask("PRAGMA user_version"); found != std::to_string(format))
    throw Error(file + ": has layout " + found + ", and this program reads layout " +
                std::to_string(format) +
                "; read it with the version that wrote it, or name another file");
}

// What forbids to go on with a store; a shard is of one sweep, a whole store may see it grow.
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

struct Store::State {
  std::unique_ptr<Lock> lock;  // of a writer; let go of last
  Database database;
  Identity identity;
  std::vector<Column> columns;
  fs::path final_file;  // of a writer
  std::optional<Statement> add_point, add_place, find_row;

  void prepare_reading() {
    std::string figures;
    for (const auto& column : columns) figures += ", " + quoted(column.name);
    find_row.emplace(database, "SELECT id, axes, status, reason, result" + figures +
                                   " FROM sweep WHERE position = ?");
  }
  void prepare_writing() {
    std::string values = "?, ?, ?, ?, ?", names = "id, status, reason, scenario, result";
    for (const auto& column : columns) {
      values += ", ?";
      names += ", " + quoted(column.name);
    }
    add_point.emplace(database,
                      "INSERT OR IGNORE INTO points (" + names + ") VALUES (" + values + ")");
    add_place.emplace(database, "INSERT OR REPLACE INTO places VALUES (?, ?, ?)");
  }
  void forget_statements() {
    for (auto* statement : {&add_point, &add_place, &find_row}) statement->reset();
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

fs::path unfinished(const fs::path& file) { return file.string() + ".part"; }

namespace {

std::vector<Column> columns_of(Database& database) {
  std::vector<Column> columns;
  Statement statement(database, "SELECT name, type FROM pragma_table_info('points')");
  while (statement.step())
    if (statement.text(1) != "TEXT")
      columns.push_back({statement.text(0), statement.text(1) == "INTEGER"});
  return columns;
}

// Transactions last through a loss of power: without waiting for the disk a log would not.
void open_for_writing(Database& database, const Identity& identity,
                      const std::vector<Column>& columns) {
  // What other machines see cannot have the memory that SQLite shares between processes.
  if (identity.shard.count > 1) database.run("PRAGMA locking_mode = EXCLUSIVE");
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  Transaction transaction(database);
  if (database.ask("SELECT count(*) FROM sqlite_schema") == "0") {
    create(database, columns);
    put(database, identity);
  } else {
    check_format(database);
    const auto there = identity_of(database);
    check_same(database.file(), there, identity);
    if (there.fingerprint != identity.fingerprint) database.run("DELETE FROM places");
    put(database, identity);
  }
  transaction.commit();
}

}  // namespace

Store Store::writer(const fs::path& file, const Identity& identity,
                    const std::vector<Column>& columns) {
  const auto written = identity.shard.count > 1 ? unfinished(file) : file;
  auto lock = std::make_unique<Lock>(written);
  auto state =
      std::make_unique<State>(State{std::move(lock),
                                    Database(written, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE),
                                    identity,
                                    columns,
                                    file,
                                    {},
                                    {},
                                    {}});
  open_for_writing(state->database, identity, columns);
  state->prepare_reading();
  state->prepare_writing();
  return Store(std::move(state));
}

Store Store::reader(const fs::path& file) {
  std::error_code wrong;
  if (!fs::exists(file, wrong)) throw Error(file.string() + ": no such file");
  if (fs::is_directory(file, wrong))
    throw Error(file.string() + ": is a folder; expected a store of a sweep");
  Database database(file, SQLITE_OPEN_READONLY);
  check_format(database);
  auto identity = identity_of(database);
  auto columns = columns_of(database);
  auto state = std::make_unique<State>(
      State{{}, std::move(database), std::move(identity), std::move(columns), {}, {}, {}, {}});
  state->prepare_reading();
  return Store(std::move(state));
}

const Identity& Store::identity() const { return state_->identity; }
std::vector<Column> Store::columns() const { return state_->columns; }

std::int64_t Store::placed() const {
  Statement statement(state_->database, "SELECT count(*) FROM places");
  return statement.step() ? statement.whole(0) : 0;
}

void Store::for_each_place(const std::function<void(std::int64_t)>& visit) const {
  Statement statement(state_->database, "SELECT position FROM places");
  while (statement.step()) visit(statement.whole(0));
}

std::vector<std::string> Store::unplaced() const {
  Statement statement(state_->database,
                      "SELECT id FROM points EXCEPT SELECT id FROM places ORDER BY id");
  std::vector<std::string> ids;
  while (statement.step()) ids.push_back(statement.text(0));
  return ids;
}

std::optional<Row> Store::row(std::int64_t position) const {
  auto& statement = *state_->find_row;
  std::optional<Row> row;
  if (statement.whole(0, position).step()) {
    row = Row{position,          statement.text(0),
              statement.text(1), statement.text(2),
              statement.text(3), {},
              statement.text(4), {}};
    constexpr int first = 5;
    for (std::size_t i = 0; i < state_->columns.size() && !statement.empty(first); ++i)
      row->figures.push_back(statement.real(first + static_cast<int>(i)));
  }
  statement.reset();
  return row;
}

std::vector<std::pair<std::string, std::int64_t>> Store::counts() const {
  Statement statement(state_->database,
                      "SELECT status, count(*) FROM sweep GROUP BY status ORDER BY status");
  std::vector<std::pair<std::string, std::int64_t>> counts;
  while (statement.step()) counts.emplace_back(statement.text(0), statement.whole(1));
  return counts;
}

std::optional<std::int64_t> Store::most(const std::string& column,
                                        const std::string& status) const {
  Statement statement(state_->database, "SELECT position FROM sweep WHERE status = ? ORDER BY " +
                                            quoted(column) + " DESC, position LIMIT 1");
  if (!statement.text(0, status).step()) return {};
  return statement.whole(0);
}

void Store::add(std::span<const Row> rows) {
  Transaction transaction(state_->database);
  for (const auto& row : rows) {
    state_->add_place->whole(0, row.position).text(1, row.id).text(2, row.axes).once();
    if (row.status.empty()) continue;  // a point that is known
    auto& point = *state_->add_point;
    point.text(0, row.id).text(1, row.status).text(2, row.reason).text(3, row.scenario);
    point.text(4, row.result);
    for (std::size_t i = 0; i < state_->columns.size(); ++i) {
      const int parameter = 5 + static_cast<int>(i);
      if (row.figures.empty())
        point.nothing(parameter);
      else if (state_->columns[i].whole)
        point.whole(parameter, static_cast<std::int64_t>(row.figures[i]));
      else
        point.real(parameter, row.figures[i]);
    }
    point.once();
  }
  transaction.commit();
}

void Store::take(const fs::path& other) {
  auto& database = state_->database;
  {
    auto shard = reader(other);
    const auto& there = shard.identity();
    if (there.program != state_->identity.program ||
        there.fingerprint != state_->identity.fingerprint)
      throw Error(
          other.string() +
          ": is of another sweep or program than the others; leave it out, or run it again");
    const auto found = shard.state_->database.ask("PRAGMA quick_check(1)");
    if (found != "ok") throw Error(other.string() + ": is damaged (" + found + "); move it away");
  }
  Statement attach(database, "ATTACH ? AS other");
  attach.text(0, other.string()).once();
  try {
    Transaction transaction(database);
    std::string names = "id, status, reason, scenario, result";
    for (const auto& column : state_->columns) names += ", " + quoted(column.name);
    database.run("INSERT OR IGNORE INTO points (" + names + ") SELECT " + names +
                 " FROM other.points; INSERT OR IGNORE INTO places SELECT * FROM other.places");
    transaction.commit();
  } catch (const Error&) {
    database.run("DETACH other");
    throw Error(other.string() + ": cannot be taken over: it is damaged, or of another layout");
  }
  database.run("DETACH other");
}

void Store::close() {
  auto& database = state_->database;
  state_->forget_statements();
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
