// SPDX-License-Identifier: Apache-2.0
// Damaged stores: named, never read, and repaired.
#include <algorithm>
#include <bit>
#include <limits>

#include "tests/catch.hpp"
#include "tests/store/files.hpp"

namespace damage_spec {

using store::Damaged;
using store::Row;
using store::Store;
using namespace tests;

namespace {

// The eight bytes in which SQLite keeps a real number.
std::string stored(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
  return bytes;
}

void flip(const fs::path& file, std::size_t at, int bit) {
  auto bytes = bytes_of(file);
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  put_bytes(file, bytes);
}

// Makes a store of three points, the second of which takes 4.2578 s.
void make(const fs::path& file) {
  auto store = Store::writer(file, identity(), columns);
  store.add(std::vector{row(0), row(1, 4.257837564302), row(2)});
  store.close();
}

void write_whole(const fs::path& file, const store::Identity& of, std::int64_t first,
                 std::int64_t rows) {
  auto store = Store::writer(file, of, columns);
  std::vector<Row> all;
  for (std::int64_t i = 0; i < rows; ++i) all.push_back(row(first + i));
  store.add(all);
  store.finish();
}

void check_refused(const fs::path& file) {
  CHECK_THROWS_AS(Store::reader(file), Damaged);
  CHECK_THROWS_AS(Store::writer(file, identity(), columns), Damaged);
}

}  // namespace

TEST_CASE("a bit that changed is found, its position named, and nothing read or written") {
  const Folder folder;
  make(folder / "s");
  const auto at = bytes_of(folder / "s").find(stored(4.257837564302));
  REQUIRE(at != std::string::npos);
  flip(folder / "s", at, 6);
  const auto before = bytes_of(folder / "s");
  const auto said =
      "s: is damaged, and nothing of it is used: 2 of 3 points and 3 of 3 positions are sound\n"
      "  position 1, {\"plan.tensor\": 1}: its point id1 is lost\n"
      "run its sweep, or its shard, again with --repair: it keeps what is sound, and this file "
      "under another name";
  CHECK(complaint([&] { Store::reader(folder / "s"); }) == said);
  CHECK(complaint([&] { Store::writer(folder / "s", identity(), columns); }) == said);
  auto other = Store::writer(folder / "other", identity(), columns);
  CHECK(complaint([&] { other.take(folder / "s"); }) == said);
  CHECK(other.placed() == 0);
  CHECK(bytes_of(folder / "s") == before);
}

TEST_CASE("no bit of a store can change unseen and change the rows that are read") {
  const Folder folder;
  make(folder / "s");
  const auto sound = bytes_of(folder / "s");
  int refused = 0;
  // Bits that nothing uses may change: the rows are then read as they were written.
  for (std::size_t at = 0; at < sound.size(); at += 11) {
    flip(folder / "s", at, static_cast<int>(at % 8));
    try {
      const auto store = Store::reader(folder / "s");
      REQUIRE(store.identity().definition == "{}");
      REQUIRE(store.placed() == 3);
      for (std::int64_t i = 0; i < 3; ++i) {
        REQUIRE(store.row(i)->figures == std::vector<double>{i == 1 ? 4.257837564302 : 1.5, 8});
        REQUIRE(store.row(i)->axes == "{\"plan.tensor\": 1}");
      }
    } catch (const store::Error&) {
      ++refused;
    }
    put_bytes(folder / "s", sound);
  }
  CHECK(refused > 100);
}

TEST_CASE("SQL that changes, removes or adds rows damages a store; tables that users add do not") {
  const Folder folder;
  make(folder / "s");
  const auto sound = bytes_of(folder / "s");
  for (const auto* sql :
       {"UPDATE points SET time_s = 2 WHERE id = 'id1'", "UPDATE points SET time_s = NULL",
        "UPDATE places SET id = 'id0' WHERE position = 1", "DELETE FROM places WHERE position = 2",
        "DELETE FROM points WHERE id = 'id0'", "DELETE FROM points; DELETE FROM places",
        "UPDATE meta SET value = 'g' WHERE key = 'fingerprint'", "DELETE FROM meta",
        "INSERT INTO places SELECT 3, id, axes, checksum FROM places WHERE position = 2",
        "UPDATE points SET checksum = (SELECT checksum FROM points WHERE id = 'id0')",
        "UPDATE points SET gpus = 8.5", "DROP VIEW sweep",
        "ALTER TABLE points RENAME COLUMN gpus TO cpus", "PRAGMA user_version = 3",
        "PRAGMA application_id = 3"}) {
    CAPTURE(sql);
    REQUIRE(execute(folder / "s", sql));
    check_refused(folder / "s");
    put_bytes(folder / "s", sound);
  }
  REQUIRE(execute(folder / "s", "CREATE TABLE mine (x); CREATE INDEX by_time ON points (time_s)"));
  CHECK(Store::reader(folder / "s").placed() == 3);
}

TEST_CASE("rows that are valid but older than the others are found by the digest of all") {
  const Folder folder;
  write_whole(folder / "s", identity(), 0, 60);
  const auto older = bytes_of(folder / "s");
  write_whole(folder / "s", identity(), 60, 60);
  const auto newer = bytes_of(folder / "s");
  constexpr std::size_t page = 4096;
  int changed = 0;
  for (std::size_t at = 0; at < older.size(); at += page) {
    if (older.compare(at, page, newer, at, page) == 0) continue;
    ++changed;
    auto mixed = newer;
    mixed.replace(at, page, older, at, page);
    put_bytes(folder / "s", mixed);
    CAPTURE(at / page);
    check_refused(folder / "s");
  }
  CHECK(changed >= 4);
  // A store that is set back as a whole is its state of then, and so is the log of its writer.
  put_bytes(folder / "s", older);
  CHECK(Store::reader(folder / "s").placed() == 60);
}

TEST_CASE("a row of another sweep's store is not taken for one of this sweep") {
  const Folder folder;
  make(folder / "s");
  auto store = Store::writer(folder / "other", identity("other values"), columns);
  store.add(std::vector{row(0), row(1), row(2)});
  store.close();
  REQUIRE(execute(folder / "s", "ATTACH '" + (folder / "other").string() +
                                    "' AS other; DELETE FROM places WHERE position = 1; INSERT "
                                    "INTO places SELECT * FROM other.places WHERE position = 1"));
  CHECK_THAT(complaint([&] { Store::reader(folder / "s"); }),
             STEPCAST_HOLDS("3 of 3 points and 2 of 3 positions are sound\n  position 1: which "
                            "point stands there is lost\n"));
}

TEST_CASE("an index that has lost an entry hides no row") {
  const Folder folder;
  make(folder / "s");
  // An index over a part of the rows takes the place of the one over all.
  REQUIRE(execute(folder / "s",
                  "PRAGMA writable_schema = ON;"
                  "CREATE UNIQUE INDEX part ON points (id) WHERE id <> 'id1';"
                  "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE "
                  "name = 'part') WHERE name = 'sqlite_autoindex_points_1';"
                  "DELETE FROM sqlite_schema WHERE name = 'part'"));
  CHECK_THAT(complaint([&] { Store::reader(folder / "s"); }),
             STEPCAST_HOLDS("3 of 3 points and 3 of 3 positions are sound ("));
  check_refused(folder / "s");
}

TEST_CASE("a list of lost rows ends after twenty of them") {
  const Folder folder;
  write_whole(folder / "s", identity(), 0, 30);
  REQUIRE(execute(folder / "s", "UPDATE points SET reason = 'x' WHERE id <> 'id7'"));
  const auto said = complaint([&] { Store::reader(folder / "s"); });
  CHECK_THAT(said, STEPCAST_HOLDS("1 of 30 points and 30 of 30 positions are sound\n"));
  CHECK_THAT(said, STEPCAST_HOLDS("\n  position 20, {\"plan.tensor\": 1}: its point id20 is lost\n"
                                  "  and 9 more\n"));
}

TEST_CASE("whatever numbers and texts are written verify when they are read") {
  const Folder folder;
  using Limits = std::numeric_limits<double>;
  std::vector<Row> rows;
  for (const double value : {0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -1e-300, Limits::denorm_min(),
                             Limits::max(), Limits::infinity(), -Limits::infinity(), 9.1e18})
    rows.push_back(row(static_cast<std::int64_t>(rows.size()), value));
  rows.push_back(row(100, Limits::quiet_NaN()));
  rows.back().reason = std::string("a\0b\xff", 4);
  rows.push_back(row(101));
  rows.back().figures.clear();
  rows.back().scenario.clear();
  rows.push_back(row(std::numeric_limits<std::int64_t>::max()));
  {
    auto store = Store::writer(folder / "s", identity(), columns);
    store.add(rows);
    auto moved = row(3);  // moved to a position that has a point
    moved.id = "id5";
    moved.status.clear();
    store.add(std::span(&moved, 1));
  }
  const auto store = Store::reader(folder / "s");
  CHECK(store.placed() == std::ssize(rows));
  CHECK(store.row(5)->figures[0] == 1e300);
  CHECK(store.row(3)->id == "id5");
  CHECK(store.row(100)->reason == rows[12].reason);
}

TEST_CASE("a store of the layout without checksums is refused in words, and replaced if asked") {
  const Folder folder;
  REQUIRE(execute(
      folder / "s",
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
      "CREATE TABLE points (id TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT NOT NULL, "
      "\"time_s\" REAL, \"gpus\" INTEGER, scenario TEXT NOT NULL, result TEXT NOT NULL);"
      "CREATE TABLE places (position INTEGER PRIMARY KEY, id TEXT NOT NULL, axes TEXT NOT NULL);"
      "CREATE VIEW sweep AS SELECT places.position, places.axes, points.* "
      "FROM places JOIN points USING (id);"
      "INSERT INTO points VALUES ('id0', 'ok', '', 1.5, 8, '{}', '{}');"
      "INSERT INTO places VALUES (0, 'id0', '{}');"
      "PRAGMA application_id = 1937007984; PRAGMA user_version = 1"));
  const auto said =
      "s: was made before stores had checksums (layout 1), so that nothing shows whether it is "
      "sound; read it with the version that wrote it, or name another file, or run its sweep again "
      "with --repair, which computes every point again and leaves this file under another name";
  CHECK(complaint([&] { Store::reader(folder / "s"); }) == said);
  CHECK(complaint([&] { Store::writer(folder / "s", identity(), columns); }) == said);
  const auto before = bytes_of(folder / "s");
  const auto made = store::repair(folder / "s", identity(), columns);
  REQUIRE(made);
  CHECK(made->points == 0);
  CHECK(bytes_of(folder / "s.damaged") == before);
  CHECK(Store::writer(folder / "s", identity(), columns).placed() == 0);
}

TEST_CASE("a store that was killed early, or copied without its log, says which part it lacks") {
  const Folder folder;
  auto store = Store::writer(folder / "s", identity(), columns);
  store.add(std::vector{row(0)});
  fs::copy_file(folder / "s", folder / "alone");
  CHECK(complaint([&] { Store::reader(folder / "alone"); })
            .starts_with("alone: holds no finished point: its sweep was stopped while it made it, "
                         "or it was copied without /"));
  // The store of a writer that was killed in the middle of a change, which a reader may not take
  // back.
  store.close();
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((folder / "s").c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database,
                       "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; BEGIN; "
                       "UPDATE points SET reason = 'x'",
                       nullptr, nullptr, nullptr) == SQLITE_OK);
  fs::copy_file(folder / "s", folder / "killed");
  fs::copy_file(folder / "s-journal", folder / "killed-journal");
  sqlite3_close(database);
  CHECK_THAT(complaint([&] { Store::reader(folder / "killed"); }),
             STEPCAST_HOLDS("killed: its writer was killed in the middle of a change; run its "
                            "sweep again, which takes that back and goes on"));
  CHECK(Store::writer(folder / "killed", identity(), columns).placed() == 1);
}

TEST_CASE("repair keeps sound rows, and the damaged file with its log under another name") {
  const Folder folder;
  make(folder / "s");
  CHECK_FALSE(store::repair(folder / "s", identity(), columns));
  CHECK_FALSE(store::repair(folder / "none", identity(), columns));
  flip(folder / "s", bytes_of(folder / "s").find(stored(4.257837564302)), 6);
  const auto damaged = bytes_of(folder / "s");
  put_bytes(folder / "s.copy", "somebody's");
  put_bytes(folder / "s.repaired", "somebody's");
  const auto made = store::repair(folder / "s", identity(), columns);
  REQUIRE(made);
  CHECK(made->points == 2);
  CHECK(made->placed == 2);
  CHECK(made->damaged == folder / "s.damaged");
  CHECK(bytes_of(folder / "s.damaged") == damaged);
  {
    auto store = Store::writer(folder / "s", identity(), columns);
    CHECK_FALSE(store.row(1));
    store.add(std::vector{row(1)});
    store.close();
  }
  CHECK(Store::reader(folder / "s").placed() == 3);

  // A file of which nothing can be read goes the same way, and takes no name that is there.
  put_bytes(folder / "s", std::string(5000, 'x'));
  const auto again = store::repair(folder / "s", identity(), columns);
  REQUIRE(again);
  CHECK(again->points == 0);
  CHECK(again->damaged == folder / "s.damaged2");
  CHECK(bytes_of(folder / "s.damaged2") == std::string(5000, 'x'));
  CHECK(bytes_of(folder / "s.copy") == "somebody's");
  CHECK(bytes_of(folder / "s.repaired") == "somebody's");
  CHECK(std::distance(fs::directory_iterator((folder / "s").parent_path()), {}) == 5);
}

TEST_CASE("repair of a finished shard leaves it unfinished; one of another sweep is left alone") {
  const Folder folder;
  auto part = identity();
  part.shard = {2, 3};
  write_whole(folder / "s", part, 0, 3);
  auto other = part;
  other.axes = "simulate over plan.zero";
  const auto sound = bytes_of(folder / "s");
  CHECK_THAT(complaint([&] { store::repair(folder / "s", other, columns); }),
             STEPCAST_HOLDS("s: is of another sweep"));
  REQUIRE(execute(folder / "s", "UPDATE points SET time_s = 2 WHERE id = 'id1'"));
  CHECK_THAT(complaint([&] { store::repair(folder / "s", other, columns); }),
             STEPCAST_HOLDS("s: is of another sweep"));
  const auto made = store::repair(folder / "s", part, columns);
  REQUIRE(made);
  CHECK(made->placed == 2);
  CHECK_FALSE(fs::exists(folder / "s"));
  CHECK(Store::writer(folder / "s", part, columns).placed() == 2);
}

TEST_CASE("repair of a store whose values changed keeps points, to be placed again") {
  const Folder folder;
  make(folder / "s");
  REQUIRE(execute(folder / "s", "UPDATE points SET time_s = 2 WHERE id = 'id1'"));
  const auto made = store::repair(folder / "s", identity("other values"), columns);
  REQUIRE(made);
  CHECK(made->points == 2);
  CHECK(made->placed == 0);
  CHECK(Store::writer(folder / "s", identity("other values"), columns).unplaced() ==
        std::vector<std::string>{"id0", "id2"});
}

}  // namespace damage_spec
