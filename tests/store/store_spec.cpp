// SPDX-License-Identifier: Apache-2.0
// Stores of sweeps: what survives, and what they say where something is wrong with the file.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "store/digest.hpp"
#include "store/store.hpp"
#include "tests/catch.hpp"

namespace store_spec {

namespace fs = std::filesystem;

namespace {

using store::Identity;
using store::Row;
using store::Store;

// A folder that is gone with the test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("store_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

const std::vector<store::Column> columns{{"time_s", false}, {"gpus", true}};

Identity identity(const std::string& fingerprint = "f") {
  return {"1.0", "{}", "simulate over plan.tensor", fingerprint, "/", {}, 3};
}

Row row(std::int64_t position, double time = 1.5) {
  return {position,
          "id" + std::to_string(position),
          "{\"plan.tensor\": 1}",
          "ok",
          "",
          "{\"a\":1}",
          "{\"b\":2}",
          {time, 8}};
}

// What is complained of, without the folder.
template <class Do>
std::string complaint(Do&& act) {
  try {
    act();
  } catch (const store::Error& wrong) {
    const std::string text = wrong.what();
    return text.substr(text.rfind('/', text.find(": ")) + 1);
  }
  return "none";
}

void overwrite(const fs::path& file, std::size_t at, std::size_t length) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out << std::string(length, '\x5a');
}

}  // namespace

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

TEST_CASE("what was added is there again, its numbers exact") {
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
  CHECK(store.counts() ==
        std::vector<std::pair<std::string, std::int64_t>>{{"invalid", 1}, {"ok", 2}});
  CHECK(store.most("time_s", "ok") == 0);
  CHECK_FALSE(store.most("time_s", "no-plan"));
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

TEST_CASE("shards are taken whole, and only those of the same sweep") {
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

TEST_CASE("what is no store says so") {
  const Folder folder;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  CHECK(complaint([&] { Store::reader(folder / "text"); }) ==
        "text: is no store of a sweep, or damaged; move it away or name another file (file is not "
        "a database)");
  CHECK(complaint([&] { Store::writer(folder / "text", identity(), columns); }) ==
        "text: is no store of a sweep, or damaged; move it away or name another file (file is not "
        "a database)");
  fs::create_directory(folder / "folder");
  CHECK(complaint([&] { Store::reader(folder / "folder"); }) ==
        "folder: is a folder; expected a store of a sweep");
  CHECK_THAT(complaint([&] { Store::writer(folder / "folder", identity(), columns); }),
             STEPCAST_HOLDS("folder: cannot be opened for writing (Is a directory); is its folder "
                            "there, and writable?"));
  std::ofstream(folder / "empty");
  CHECK_THAT(complaint([&] { Store::reader(folder / "empty"); }),
             STEPCAST_HOLDS("empty: is a database, but no store of a sweep; name another file"));
  CHECK_THAT(complaint([&] { Store::writer(folder / "no/such", identity(), columns); }),
             STEPCAST_HOLDS("No such file or directory"));
}

TEST_CASE("a disk that takes no more is told, and what was there before stays") {
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
