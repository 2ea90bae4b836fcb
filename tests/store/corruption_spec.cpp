// SPDX-License-Identifier: Apache-2.0
// Stores damaged at random, in every way that a disk, a copy or a crash has to offer. The test
// damages 2,000 of them with STEPCAST_LONG=1 in the environment, else 150.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/catch.hpp"
#include "tests/store/files.hpp"

namespace corruption_spec {

using store::Row;
using store::Store;
using namespace tests;

namespace {

constexpr std::int64_t points = 120, batch = 20;
constexpr std::size_t page = 4096;

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

// The right row at a position; some rows take several pages.
Row truth(std::int64_t position) {
  auto right = row(position, 0.001 * static_cast<double>(position * position) + 0.1);
  const auto length = static_cast<std::size_t>(position * 7919 % 9000);
  right.scenario.assign(position % 3 == 0 ? length : 300, static_cast<char>('a' + position % 26));
  right.result += std::to_string(position);
  if (position % 10 == 7) right.figures.clear();
  return right;
}

bool is_right(const Row& found) {
  const auto right = truth(found.position);
  return found.id == right.id && found.axes == right.axes && found.status == right.status &&
         found.reason == right.reason && found.scenario == right.scenario &&
         found.result == right.result && found.figures == right.figures;
}

// A file with the log and the journal that SQLite keeps beside it.
struct Files {
  std::string file, log, journal;
};

Files files_at(const fs::path& file) {
  return {bytes_of(file), bytes_of(file.string() + "-wal"), bytes_of(file.string() + "-journal")};
}

void put(const fs::path& file, const Files& files) {
  for (const auto* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + ending);
  put_bytes(file, files.file);
  if (!files.log.empty()) put_bytes(file.string() + "-wal", files.log);
  if (!files.journal.empty()) put_bytes(file.string() + "-journal", files.journal);
}

// A journal that SQLite would roll back, of a transaction that changes everything.
std::string journal_of(const Folder& folder, const Files& files) {
  put(folder / "j", files);
  sqlite3* database = nullptr;
  sqlite3_open((folder / "j").c_str(), &database);
  sqlite3_exec(database,
               "PRAGMA synchronous = OFF; BEGIN; UPDATE points SET reason = reason || 'x'; "
               "UPDATE places SET axes = axes || 'x'",
               nullptr, nullptr, nullptr);
  auto journal = bytes_of((folder / "j").string() + "-journal");
  sqlite3_close(database);
  return journal;
}

// States of one store that is filled batch by batch, and of its neighbours.
struct World {
  Files older, whole;    // closed after two batches, after all
  Files running, early;  // as a kill leaves them, after five batches and after one
  Files other;           // of another sweep
  std::string old_journal, new_journal;
};

World world(const Folder& folder) {
  World made;
  const auto add = [&](Store& store, std::int64_t from, std::int64_t to) {
    for (auto first = from; first < to; first += batch) {
      std::vector<Row> rows;
      for (auto i = first; i < first + batch; ++i) rows.push_back(truth(i));
      store.add(rows);
      if (first == 0) made.early = files_at(folder / "s");
    }
  };
  const auto filled = [&](const char* name, const char* fingerprint, std::int64_t from,
                          std::int64_t to) {
    auto store = Store::writer(folder / name, identity(fingerprint), columns);
    add(store, from, to);
    if (to == 100) made.running = files_at(folder / "s");
    store.close();
    return files_at(folder / name);
  };
  made.other = filled("o", "other values", 0, points);
  made.older = filled("s", "f", 0, 40);
  const auto early = made.early;
  filled("s", "f", 40, 100);
  made.whole = filled("s", "f", 100, points);
  made.early = early;
  made.old_journal = journal_of(folder, made.older);
  made.new_journal = journal_of(folder, made.whole);
  return made;
}

void flip_bits(std::string& bytes, Random& random) {
  for (auto left = 1 + below(random, 8); left > 0 && !bytes.empty(); --left) {
    auto& byte = bytes[below(random, bytes.size())];
    byte = static_cast<char>(byte ^ (1 << below(random, 8)));
  }
}

void put_page(std::string& bytes, std::size_t number, const std::string& from, std::size_t other) {
  bytes.replace(number * page, page, from, other * page, page);
}

std::size_t pages(const std::string& bytes) { return bytes.size() / page; }

// A damaged store, and the name of its damage.
std::pair<std::string, Files> corrupted(const World& world, Random& random) {
  auto files = world.whole;
  auto& file = files.file;
  const auto any_page = [&](const std::string& of) { return below(random, pages(of)); };
  switch (below(random, 12)) {
    case 0:
    case 1:
      flip_bits(file, random);
      return {"bits", files};
    case 2:
      for (auto left = 1 + below(random, 2); left > 0; --left)
        file.replace(any_page(file) * page, page, page, '\0');
      return {"zeroed pages", files};
    case 3:
      file.resize(below(random, file.size()));
      return {"a cut", files};
    case 4:
      for (auto left = 1 + below(random, 5); left > 0; --left) {
        const auto number = any_page(world.older.file);
        put_page(file, number, world.older.file, number);
      }
      return {"older pages", files};
    case 5:
      put_page(file, any_page(file), world.whole.file, any_page(file));
      return {"a page in another's place", files};
    case 6: {
      const auto number = std::min(any_page(file), any_page(world.other.file));
      put_page(file, number, world.other.file, number);
      return {"a page of another sweep", files};
    }
    case 7:
      files.journal = below(random, 2) == 0 ? world.old_journal : world.new_journal;
      if (below(random, 2) == 0) files.journal.resize(below(random, files.journal.size()));
      if (below(random, 4) == 0) flip_bits(files.journal, random);
      return {"a journal rolled back", files};
    case 8:
      files.log = below(random, 2) == 0 ? world.early.log : world.running.log;
      if (below(random, 2) == 0) files.log.resize(below(random, files.log.size()));
      return {"a log of before", files};
    case 9:
      files = world.running;
      if (below(random, 3) == 0) files.log.clear();
      below(random, 2) == 0 ? flip_bits(files.log, random)
                            : files.log.resize(below(random, files.log.size() + 1));
      return {"a killed writer's log", files};
    case 10:
      files = world.running;
      flip_bits(files.file, random);
      return {"bits under a log", files};
    default: {
      const auto at = below(random, file.size()), length = 1 + below(random, 20'000);
      for (auto i = at; i < std::min(at + length, file.size()); ++i)
        file[i] = static_cast<char>(random());
      return {"noise", files};
    }
  }
}

struct Figures {
  int tried = 0, refused = 0, unchanged = 0, older = 0;  // found by readers
  int stopped = 0, repaired = 0, other = 0;              // found by writers
  std::int64_t kept = 0;                                 // points, over all repaired
};

// Checks that all rows are right, and of one moment; or that the store is refused.
void check_read(const fs::path& file, Figures& figures) {
  try {
    const auto store = Store::reader(file);
    std::int64_t rows = 0;
    store.for_each_row([&](const Row& found) {
      REQUIRE(found.position == rows++);
      REQUIRE(is_right(found));
    });
    REQUIRE(rows % batch == 0);
    REQUIRE(store.placed() == rows);
    for (std::int64_t i = 0; i < points; ++i) {
      const auto found = store.row(i);
      REQUIRE(found.has_value() == (i < rows));
      if (found) REQUIRE(is_right(*found));
    }
    ++(rows == points ? figures.unchanged : figures.older);
  } catch (const store::Error&) {
    ++figures.refused;
  }
}

// Goes on as a sweep does, and checks that the store ends with the rows of one that was never
// damaged.
void complete(const fs::path& file) {
  {
    auto store = Store::writer(file, identity(), columns);
    std::vector<bool> there(points);
    store.for_each_place([&](std::int64_t position) {
      REQUIRE(position < points);
      there[static_cast<std::size_t>(position)] = true;
    });
    const auto known = store.unplaced();
    std::vector<Row> rows;
    for (std::int64_t i = 0; i < points; ++i) {
      if (there[static_cast<std::size_t>(i)]) continue;
      rows.push_back(truth(i));
      if (std::ranges::binary_search(known, rows.back().id)) rows.back().status.clear();
    }
    store.add(rows);
    store.close();
  }
  const auto store = Store::reader(file);
  std::int64_t rows = 0;
  store.for_each_row([&](const Row& found) {
    REQUIRE(found.position == rows++);
    REQUIRE(is_right(found));
  });
  REQUIRE(rows == points);
}

void check_resumed(const fs::path& file, const Files& files, Figures& figures) {
  try {
    complete(file);
    return;
  } catch (const store::Damaged&) {
    ++figures.stopped;
  } catch (const store::Error&) {  // a writer takes it for another store
    ++figures.other;
    return;
  }
  if (files.journal.empty()) REQUIRE(bytes_of(file) == files.file);
  const auto before = files_at(file);
  const auto made = store::repair(file, identity(), columns);
  REQUIRE(made);
  REQUIRE(bytes_of(made->damaged) == before.file);
  REQUIRE(bytes_of(made->damaged.string() + "-wal") == before.log);
  ++figures.repaired;
  figures.kept += made->points;
  complete(file);
}

}  // namespace

TEST_CASE("of stores damaged at random no wrong row is read or kept, and repair completes them") {
  const char* asked = std::getenv("STEPCAST_LONG");
  const int tries = asked != nullptr && *asked != '\0' ? 2000 : 150;
  const Folder folder;
  const auto states = world(folder);
  Figures all;
  std::map<std::string, std::pair<int, int>> refused;  // by damage: tried, refused
  for (int i = 0; i < tries; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const auto [what, files] = corrupted(states, random);
    CAPTURE(i, what);
    const Folder place;
    put(place / "s", files);
    const auto before = all.refused;
    check_read(place / "s", all);
    ++refused[what].first;
    refused[what].second += all.refused - before;
    put(place / "s", files);
    check_resumed(place / "s", files, all);
    ++all.tried;
  }
  std::ostringstream text;
  text << all.tried << " damaged stores: read " << all.refused << " refused, " << all.unchanged
       << " as they were, " << all.older << " as they once were; resumed " << all.stopped
       << " refused, all of which repaired, " << all.kept << " of " << all.repaired * points
       << " points kept; " << all.other << " called no store\n";
  for (const auto& [what, counts] : refused)
    text << "  " << what << ": " << counts.second << " of " << counts.first << " refused\n";
  INFO(text.str());
  if (tries > 150) WARN(text.str());
  CHECK(all.refused > tries / 3);
  CHECK(all.stopped == all.repaired);
  CHECK(all.other <= tries / 50);
}

}  // namespace corruption_spec
