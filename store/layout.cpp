// SPDX-License-Identifier: Apache-2.0
#include "store/layout.hpp"

#include <locale>
#include <sstream>
#include <utility>

#include "store/digest.hpp"

namespace store {
namespace {

// In the file's header: what the file is, and how its tables are laid out.
constexpr int application = 0x73746570;  // "step"
constexpr int layout = 2;

constexpr const char* digest_key = "digest";

std::string quoted(const std::string& name) { return '"' + name + '"'; }

std::string listed(const std::vector<Column>& columns, const std::string& prefix) {
  std::string names;
  for (const auto& column : columns) names += ", " + prefix + quoted(column.name);
  return names;
}

// The statements that make the tables, by name; SQLite keeps these texts as they are.
std::vector<std::pair<std::string, std::string>> definitions(const std::vector<Column>& columns) {
  std::string figures;
  for (const auto& column : columns)
    figures += ", " + quoted(column.name) + (column.whole ? " INTEGER" : " REAL");
  return {
      {"meta",
       "CREATE TABLE meta (key TEXT PRIMARY KEY, value, checksum TEXT NOT NULL) WITHOUT ROWID"},
      {"places",
       "CREATE TABLE places (position INTEGER PRIMARY KEY, id TEXT NOT NULL, axes TEXT NOT NULL, "
       "checksum TEXT NOT NULL)"},
      {"points",
       "CREATE TABLE points (id TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT NOT NULL" +
           figures + ", scenario TEXT NOT NULL, result TEXT NOT NULL, checksum TEXT NOT NULL)"},
      {"sweep",
       "CREATE VIEW sweep AS SELECT places.position, places.axes, points.id, points.status, "
       "points.reason" +
           listed(columns, "points.") +
           ", points.scenario, points.result FROM places JOIN points USING (id)"}};
}

// The definitions of the tables that the database has, by name.
std::vector<std::pair<std::string, std::string>> definitions_in(Database& database) {
  std::vector<std::pair<std::string, std::string>> found;
  Statement statement(database,
                      "SELECT name, sql FROM sqlite_schema WHERE name IN ('meta', 'places', "
                      "'points', 'sweep') ORDER BY name");
  while (statement.step()) found.emplace_back(statement.text(0), statement.text(1));
  return found;
}

std::vector<std::pair<std::string, std::string>> entries(const Identity& identity) {
  return {{"program", identity.program},
          {"definition", identity.definition},
          {"axes", identity.axes},
          {"fingerprint", identity.fingerprint},
          {"folder", identity.folder},
          {"shard", std::to_string(identity.shard.index)},
          {"shards", std::to_string(identity.shard.count)},
          {"points", std::to_string(identity.points)}};
}

Sum checksum_of(const std::string& key, const std::string& value) {
  return Content("meta", "").text(key).text(value).checksum();
}

std::string bound_of(const Identity& identity, const std::vector<Column>& columns) {
  std::string all;
  for (const auto& [key, value] : entries(identity)) all += to_text(checksum_of(key, value));
  for (const auto& [name, text] : definitions(columns)) all += text;
  return digest(all);
}

std::string digest_words(const Digest& digest, const std::string& bound) {
  std::string text;
  for (const auto& [rows, sum] : {digest.points, digest.places})
    text += std::to_string(rows) + ' ' + to_text(sum) + ' ';
  return text + std::to_string(digest.commits) + ' ' + bound;
}

std::optional<Digest> digest_of(const std::string& words, const std::string& bound) {
  std::istringstream text(words);
  text.imbue(std::locale::classic());
  std::string points, places;
  Digest digest;
  text >> digest.points.rows >> points >> digest.places.rows >> places >> digest.commits;
  const auto sum_of_points = sum_of_text(points), sum_of_places = sum_of_text(places);
  if (!text || !sum_of_points || !sum_of_places) return {};
  digest.points.sum = *sum_of_points;
  digest.places.sum = *sum_of_places;
  return digest_words(digest, bound) == words ? std::optional(digest) : std::nullopt;
}

void put_entry(Statement& statement, const std::string& key, const std::string& value) {
  statement.text(0, key).text(1, value).text(2, to_text(checksum_of(key, value))).once();
}

constexpr const char* put_sql = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)";

std::string value_of(Database& database, const std::string& key) {
  Statement statement(database, "SELECT value, checksum FROM meta WHERE key = ?");
  if (!statement.text(0, key).step()) throw damage(database, "it does not say its " + key);
  auto value = statement.text(0);
  if (statement.text(1) != to_text(checksum_of(key, value)))
    throw damage(database, "its " + key + " is not what was written");
  return value;
}

}  // namespace

Damaged damage(const Database& database, const std::string& words) {
  return Damaged(database.file().string() + ": is damaged: " + words + "; " + repair_words);
}

Table points_table(const std::vector<Column>& columns, const std::string& program) {
  return {"points", "rowid", "id, status, reason, scenario, result" + listed(columns, ""),
          5 + static_cast<int>(columns.size()), program};
}

Table places_table(const std::string& fingerprint) {
  return {"places", "position", "position, id, axes", 3, fingerprint};
}

std::string selection(const Table& table) {
  return "SELECT " + table.number + ", " + table.columns + ", checksum FROM " + table.name;
}

std::optional<Sum> sound(const Table& table, const Statement& row, int first) {
  Content content(table.name, table.salt);
  for (int i = 0; i < table.width; ++i) row.put_into(content, first + i);
  const auto sum = content.checksum();
  if (row.view(first + table.width) != to_text(sum)) return {};
  return sum;
}

void Tally::add(const Sum& checksum) {
  ++rows;
  sum += checksum;
}
void Tally::remove(const Sum& checksum) {
  --rows;
  sum -= checksum;
}

bool is_blank(Database& database) {
  if (database.ask("SELECT count(*) FROM sqlite_schema") != "0") return false;
  if (std::stoll(database.ask("PRAGMA page_count")) <= 1) return true;
  throw damage(database, "the list of its tables is lost");
}

void create(Database& database, const std::vector<Column>& columns) {
  for (const auto& [name, text] : definitions(columns)) database.run(text);
  database.run("PRAGMA application_id = " + std::to_string(application) +
               ";PRAGMA user_version = " + std::to_string(layout));
}

void check_layout(Database& database) {
  const auto& file = database.file().string();
  const auto found = definitions_in(database);
  if (database.ask("PRAGMA application_id") != std::to_string(application)) {
    if (found.size() == 4) throw damage(database, "its header does not say that it is a store");
    throw Error(file + ": is a database, but no store of a sweep; name another file");
  }
  const auto version = database.ask("PRAGMA user_version");
  if (version == "1")
    throw Damaged(file +
                  ": was made before stores had checksums (layout 1), so that nothing "
                  "shows whether it is sound; read it with the version that wrote it, or "
                  "name another file, or run its sweep again with --repair, which computes "
                  "every point again and leaves this file under another name");
  if (version != std::to_string(layout))
    throw Damaged(file + ": has layout " + version + ", and this program reads layout " +
                  std::to_string(layout) +
                  "; read it with the version that wrote it, or name another file; if no other "
                  "version wrote it, it is damaged: " +
                  repair_words);
  if (found != definitions(columns_of(database)))
    throw damage(database, "its tables are not those that were made");
}

std::vector<Column> columns_of(Database& database) {
  std::vector<Column> columns;
  Statement statement(database, "SELECT name, type FROM pragma_table_info('points')");
  while (statement.step())
    if (statement.text(1) != "TEXT")
      columns.push_back({statement.text(0), statement.text(1) == "INTEGER"});
  return columns;
}

Meta meta_of(Database& database, const std::vector<Column>& columns) {
  const auto value = [&](const char* key) { return value_of(database, key); };
  const auto number = [&](const char* key) {
    return std::strtoll(value(key).c_str(), nullptr, 10);
  };
  Meta meta;
  meta.identity = {value("program"),     value("definition"), value("axes"),
                   value("fingerprint"), value("folder"),     {number("shard"), number("shards")},
                   number("points")};
  const auto digest = digest_of(value(digest_key), bound_of(meta.identity, columns));
  if (!digest) throw damage(database, "what it is of and what it holds are not of the same time");
  meta.digest = *digest;
  return meta;
}

void put(Database& database, const Meta& meta, const std::vector<Column>& columns) {
  Statement statement(database, put_sql);
  for (const auto& [key, value] : entries(meta.identity)) put_entry(statement, key, value);
  Seal(database, meta.identity, columns).put(meta.digest);
}

Seal::Seal(Database& database, const Identity& identity, const std::vector<Column>& columns)
    : bound_(bound_of(identity, columns)), statement_(database, put_sql) {}

void Seal::put(const Digest& digest) {
  put_entry(statement_, digest_key, digest_words(digest, bound_));
}

}  // namespace store
