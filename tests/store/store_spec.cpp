// SPDX-License-Identifier: Apache-2.0
// Stores of sweeps: rows that survive, and sentences about files that are wrong.
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <locale>

#include "store/digest.hpp"
#include "tests/catch.hpp"
#include "tests/store/files.hpp"

namespace store_spec {

using store::Identity;
using store::Row;
using store::Store;
using namespace tests;

TEST_CASE("a digest is XXH128 as xxhsum prints it") {
  CHECK(store::digest("") == "99aa06d3014798d86001c324468d497f");
  CHECK(store::digest("a").size() == 32);
  CHECK(store::digest("a") != store::digest("b"));
}

TEST_CASE("every text is in one shard, and shards are of much the same size") {
  std::vector<int> sizes(7);
  for (int i = 0; i < 7000; ++i) {
    const auto shard = store::shard_of(std::to_string(i), 7);
    REQUIRE((shard >= 0 && shard < 7));
    ++sizes[static_cast<std::size_t>(shard)];
  }
  for (const int size : sizes) CHECK((size > 900 && size < 1100));
}

TEST_CASE("a store that a host wrote in its own locale is read in any other") {
  struct EveryDigitApart : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
  };
  const Folder folder;
  const auto usual = std::locale::global(std::locale(std::locale(), new EveryDigitApart));
  {
    auto store = Store::writer(folder / "s", identity(), columns);
    std::vector<Row> rows;
    for (int i = 0; i < 12; ++i) rows.push_back(row(i));
    store.add(rows);
  }
  const auto reopened = complaint([&] { Store::reader(folder / "s"); });
  std::locale::global(usual);
  CHECK(reopened == "none");
  CHECK(complaint([&] { Store::reader(folder / "s"); }) == "none");
}

TEST_CASE("added rows are there again, their numbers exact") {
  const Folder folder;
  {
    auto store = Store::writer(folder / "s", identity(), columns);
    store.add(std::vector{row(2, 0.1), row(0)});
    Row invalid{1, "x", "{}", "invalid", "why, \"so\"", "{}", "", {}};
    store.add(std::span(&invalid, 1));
  }
  const auto store = Store::reader(folder / "s");
  CHECK(store.identity().fingerprint == "f");
  CHECK(store.identity().points == 3);
  CHECK(store.placed() == 3);
  CHECK(store.row(2)->figures == std::vector<double>{0.1, 8});
  CHECK(store.row(2)->result == "{\"b\":2}");
  CHECK(store.row(1)->reason == "why, \"so\"");
  CHECK(store.row(1)->figures.empty());
  CHECK_FALSE(store.row(3));
  std::string statuses;
  store.for_each_row([&](const Row& one) {
    CHECK(one.position == static_cast<std::int64_t>(statuses.size()));
    statuses += one.status[0];
    CHECK(one.scenario == (one.status == "ok" ? "{\"a\":1}" : "{}"));
  });
  CHECK(statuses == "oio");
}

TEST_CASE("a sweep whose values change keeps its points, to be placed again") {
  const Folder folder;
  Store::writer(folder / "s", identity(), columns).add(std::vector{row(0), row(1)});
  auto store = Store::writer(folder / "s", identity("other"), columns);
  CHECK(store.placed() == 0);
  CHECK(store.unplaced() == std::vector<std::string>{"id0", "id1"});
  Row known = row(7);
  known.id = "id1";
  known.status.clear();
  store.add(std::span(&known, 1));
  CHECK(store.row(7)->figures == std::vector<double>{1.5, 8});
}

TEST_CASE("one process writes at a time, others read") {
  const Folder folder;
  auto store = Store::writer(folder / "s", identity(), columns);
  store.add(std::vector{row(0)});
  CHECK(complaint([&] { Store::writer(folder / "s", identity(), columns); }) ==
        "s: another process writes to it; wait until that has ended, or name another file");
  CHECK(Store::reader(folder / "s").placed() == 1);
}

TEST_CASE("a store of another program, sweep or shard is refused and left as it is") {
  const Folder folder;
  Store::writer(folder / "s", identity(), columns).add(std::vector{row(0)});
  auto other = identity();
  other.program = "2.0";
  CHECK(complaint([&] { Store::writer(folder / "s", other, columns); }) ==
        "s: was written by stepcast 1.0, and this is 2.0, whose forecasts may differ; name another "
        "file");
  other = identity();
  other.axes = "simulate over plan.zero";
  CHECK(complaint([&] { Store::writer(folder / "s", other, columns); }) ==
        "s: is of another sweep (simulate over plan.tensor; this one: simulate over plan.zero); "
        "name another file");
  CHECK(Store::reader(folder / "s").placed() == 1);
}

TEST_CASE("a shard has its name when it is finished, and not before") {
  const Folder folder;
  auto part = identity();
  part.shard = {2, 3};
  {
    auto shard = Store::writer(folder / "s", part, columns);
    shard.add(std::vector{row(0)});
    CHECK_FALSE(fs::exists(folder / "s"));
  }
  auto shard = Store::writer(folder / "s", part, columns);
  CHECK(shard.placed() == 1);
  shard.add(std::vector{row(1)});
  shard.finish();
  CHECK_FALSE(fs::exists(folder / "s.part"));
  CHECK_FALSE(fs::exists(folder / "s.part-wal"));
  CHECK(Store::reader(folder / "s").placed() == 2);
}

TEST_CASE("shards are taken whole, and only shards of the same sweep") {
  const Folder folder;
  const auto shard = [&](const char* name, const Identity& of, std::int64_t first) {
    auto store = Store::writer(folder / name, of, columns);
    std::vector<Row> rows;
    for (std::int64_t i = 0; i < 200; ++i) rows.push_back(row(first + i));
    store.add(rows);
    store.finish();
  };
  shard("a", identity(), 0);
  shard("b", identity(), 100);
  shard("c", identity("other"), 200);
  shard("d", identity(), 300);
  overwrite(folder / "d", 8192, 4096 * 3);
  auto all = Store::writer(folder / "all", identity(), columns);
  all.take(folder / "a");
  all.take(folder / "b");
  CHECK(all.placed() == 300);
  CHECK(complaint([&] { all.take(folder / "c"); }) ==
        "c: is of another sweep or program than the others; leave it out, or run it again");
  CHECK_THAT(complaint([&] { all.take(folder / "d"); }), STEPCAST_HOLDS("d: is damaged"));
  CHECK(complaint([&] { all.take(folder / "e"); }) == "e: no such file");
  CHECK(all.placed() == 300);
}

TEST_CASE("a file that is no store is refused") {
  const Folder folder;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  const auto no_store =
      "text: is no store of a sweep, or damaged; name another file, or run its sweep, or its "
      "shard, again with --repair: it keeps what is sound, and this file under another name (file "
      "is not a database)";
  CHECK(complaint([&] { Store::reader(folder / "text"); }) == no_store);
  CHECK(complaint([&] { Store::writer(folder / "text", identity(), columns); }) == no_store);
  fs::create_directory(folder / "folder");
  CHECK(complaint([&] { Store::reader(folder / "folder"); }) ==
        "folder: is a folder; expected a store of a sweep");
  CHECK_THAT(complaint([&] { Store::writer(folder / "folder", identity(), columns); }),
             STEPCAST_HOLDS("folder: cannot be opened for writing (Is a directory); is its folder "
                            "there, and writable?"));
  CHECK(complaint([&] { Store::reader("/dev/null"); }) ==
        "null: is no plain file; expected a store of a sweep");
  std::ofstream(folder / "empty");
  CHECK(
      complaint([&] { Store::reader(folder / "empty"); }) ==
      "empty: the file is empty: it holds no finished point; run its sweep, or name another file");
  execute(folder / "other", "CREATE TABLE points (x)");
  CHECK(complaint([&] { Store::reader(folder / "other"); }) ==
        "other: is a database, but no store of a sweep; name another file");
  CHECK_THAT(complaint([&] { Store::writer(folder / "no/such", identity(), columns); }),
             STEPCAST_HOLDS("No such file or directory"));
}

TEST_CASE("a disk that takes no more is told, and the rows there before stay") {
  const Folder folder;
  auto store = Store::writer(folder / "s", identity(), columns);
  store.add(std::vector{row(0)});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Row large = row(1);
  large.scenario.assign(1'000'000, 'x');
  const auto said = complaint([&] { store.add(std::span(&large, 1)); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(said, STEPCAST_HOLDS("s: cannot be read or written; is the disk full or broken? What "
                                  "is finished stays"));
  CHECK(store.placed() == 1);
  store.add(std::span(&large, 1));
  CHECK(store.placed() == 2);
}

}  // namespace store_spec
