// SPDX-License-Identifier: Apache-2.0
// Sweeps as users meet them: the files that they leave behind, which depend on nothing but the
// question.
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "store/store.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace sweep_spec {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using tests::stepcast;

// A folder with a small sweep, removed at the end of the test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("sweep_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
    write("s.yaml", small);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name).rdbuf();
    return text.str();
  }

  // The sweep has 24 points; some do not fit, some are no scenario.
  static constexpr auto small = R"(base:
  model: llama3-8b
  cluster: {node: dgx-1v, nodes: 1}
  training: {sequence_length: 1024, global_batch: 64, precision: fp16}
  plan: {micro_batch: 4, sequence_parallel: true}
vary:
  plan.tensor: [8, 2, 3, 4]
  plan.zero: [0, 1, 2]
  plan.recompute: [none, full]
only_if: plan.zero < 3
)";

 private:
  fs::path path_;
};

// A variable of the environment, set back at the end of the test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// The eight bytes in which SQLite keeps a real number.
std::string stored(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
  return bytes;
}

std::string csv(const std::vector<std::string>& stores) {
  std::vector<std::string> arguments{"sweep", "export"};
  arguments.insert(arguments.end(), stores.begin(), stores.end());
  const auto run = stepcast(arguments);
  CHECK(run.status == app::success);
  return run.out;
}

// Makes a store of the same rows but for a figure that no forecast gives, which shows that a point
// was not computed anew.
void put_figure(const std::string& file, const std::string& name, double value) {
  std::vector<store::Row> rows;
  std::optional<store::Identity> identity;
  std::vector<store::Column> columns;
  {
    const auto store = store::Store::reader(file);
    identity = store.identity();
    columns = store.columns();
    const auto at = std::ranges::find(columns, name, &store::Column::name) - columns.begin();
    store.for_each_row([&](store::Row row) {
      if (!row.figures.empty()) row.figures[static_cast<std::size_t>(at)] = value;
      rows.push_back(std::move(row));
    });
  }
  fs::remove(file);
  auto store = store::Store::writer(file, *identity, columns);
  store.add(rows);
  store.close();
}

}  // namespace

TEST_CASE("the example sweep has its points and its pictures") {
  const Folder folder;
  const std::string example = "scenarios/examples/sweeps/gpt3-175b-a100.yaml";
  const Environment unicode("LC_ALL", "C.UTF-8"), columns("COLUMNS", "");
  const auto run = stepcast({"sweep", example, "--store", folder / "g.sqlite", "--quiet"});
  CHECK(run.status == app::success);
  const auto plot = stepcast({"sweep", "plot", folder / "g.sqlite", "--figure", "step_time_s"});
  CHECK(plot.status == app::success);
  golden::check("sweep.txt", run.out + plot.out);
}

TEST_CASE("every point is a row, sorted by its axes; points without answer say why") {
  const Folder folder;
  const auto run = stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--json",
                             "--csv", folder / "s.csv"});
  CHECK(run.status == app::success);
  CHECK(run.err.empty());
  const auto document = json::parse(run.out);
  CHECK(document["sweep"]["name"] == "s");
  CHECK(document["sweep"]["mode"] == "simulate");
  CHECK(document["sweep"]["axes"][0] == json({{"name", "plan.tensor"}, {"values", {2, 3, 4, 8}}}));
  REQUIRE(document["points"].size() == 24);
  std::string statuses;
  for (const auto& point : document["points"]) {
    const auto status = point["status"].get<std::string>();
    statuses += status[0];
    CHECK((status == "ok") == point["reason"].is_null());
    CHECK((status == "invalid") == point["step_time_s"].is_null());
    if (status == "does-not-fit") CHECK(point["fits"] == false);
  }
  CHECK(statuses ==
        "ddddod"
        "iiiiii"
        "ddoooo"
        "oooooo");
  const auto& invalid = document["points"][6];
  CHECK(invalid["axes"] ==
        json({{"plan.tensor", 3}, {"plan.zero", 0}, {"plan.recompute", "full"}}));
  CHECK_THAT(invalid["reason"].get<std::string>(),
             STEPCAST_HOLDS("plan.tensor: 3 does not divide"));
  CHECK(folder.read("s.csv") == csv({folder / "s.sqlite"}));
  CHECK(folder.read("s.csv").starts_with(
      "id,plan.tensor,plan.zero,plan.recompute,status,reason,step_time_s,tokens_per_s_per_gpu,mfu,"
      "peak_bytes,fits,bubble_fraction,"));
  CHECK(stepcast({"sweep", "export", folder / "s.sqlite", "--json"}).out == run.out);
}

TEST_CASE("a point has the forecast of simulate") {
  const Folder folder;
  const auto sweep = json::parse(
      stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--json"}).out);
  folder.write("one.yaml", R"(
model: llama3-8b
cluster: {node: dgx-1v, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, precision: fp16}
plan: {micro_batch: 4, sequence_parallel: true, tensor: 8, zero: 1, recompute: full}
)");
  const auto one = json::parse(stepcast({"simulate", folder / "one.yaml", "--json"}).out);
  for (const auto& point : sweep["points"]) {
    if (point["axes"] != json({{"plan.tensor", 8}, {"plan.zero", 1}, {"plan.recompute", "full"}}))
      continue;
    CHECK(point["step_time_s"] == one["step"]["time_s"]);
    CHECK(point["time_high_s"] == one["step"]["time_high_s"]);
    CHECK(point["mfu"] == one["step"]["mfu"]);
    CHECK(point["peak_bytes"] == one["memory"]["peak_bytes"]);
    CHECK(point["tensor_comm_s"] == one["time"]["tensor_comm_s"]);
    CHECK(point["gpus"] == 8);
  }
}

TEST_CASE("neither threads nor shards nor their order change a byte of the export") {
  const Folder folder;
  const auto file = folder / "s.yaml";
  CHECK(stepcast({"sweep", file, "--store", folder / "a.sqlite", "--threads", "1"}).status == 0);
  CHECK(stepcast({"sweep", file, "--store", folder / "b.sqlite", "--threads", "7"}).status == 0);
  for (const char* shard : {"2/3", "0/3", "1/3"})
    CHECK(stepcast({"sweep", file, "--store", folder / "c.sqlite", "--shard", shard}).status == 0);
  const std::vector<std::string> shards{folder / "c.shard-3-of-3.sqlite",
                                        folder / "c.shard-1-of-3.sqlite",
                                        folder / "c.shard-2-of-3.sqlite"};
  const auto merged = stepcast({"sweep", "merge", shards[0], shards[1], shards[2]});
  CHECK(merged.status == app::success);
  CHECK(merged.err == "24 points are in " + (folder / "c.sqlite") + "\n");
  const auto all = csv({folder / "a.sqlite"});
  CHECK(csv({folder / "b.sqlite"}) == all);
  CHECK(csv({folder / "c.sqlite"}) == all);
  CHECK(csv(shards) == all);
  // Each point of the whole sweep counts once, however many stores hold it. The third shard has 7
  // points, the first 8.
  const auto told = [&](const std::string& one, const std::string& other) {
    return stepcast({"sweep", "status", one, other}).out;
  };
  CHECK_THAT(told(shards[0], folder / "c.sqlite"), STEPCAST_HOLDS(": 24 points"));
  CHECK_THAT(told(shards[0], shards[0]), STEPCAST_HOLDS("7 of 24 points"));
  CHECK_THAT(told(shards[0], shards[1]), STEPCAST_HOLDS("15 of 24 points"));
}

TEST_CASE("a sweep that is complete is not run again, one that has grown only where it is new") {
  const Folder folder;
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"}).status ==
        app::success);
  put_figure(folder / "s.sqlite", "mfu", 7);
  const auto before = csv({folder / "s.sqlite"});
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"}).status ==
        app::success);
  CHECK(csv({folder / "s.sqlite"}) == before);
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--set",
                  "vary.plan.tensor=[1, 8, 2]"})
            .status == app::success);
  std::istringstream grown(csv({folder / "s.sqlite"}));
  std::size_t kept = 0, all = 0;
  for (std::string line; std::getline(grown, line); ++all)
    if (before.find(line + '\n') != before.npos) ++kept;
  CHECK(all == 1 + 18);
  CHECK(kept == 1 + 12);
}

TEST_CASE("a damaged store is named and never used, and --repair computes its lost points") {
  const Folder folder;
  REQUIRE(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"}).status ==
          app::success);
  const auto sound = csv({folder / "s.sqlite"});
  const auto step =
      json::parse(stepcast({"sweep", "export", folder / "s.sqlite", "--json"}).out)["points"][4];
  auto bytes = folder.read("s.sqlite");
  const auto at = bytes.find(stored(step["step_time_s"].get<double>()));
  REQUIRE(at != bytes.npos);
  bytes[at] ^= 0x40;
  folder.write("s.sqlite", bytes);
  const auto said = "stepcast: " + (folder / "s.sqlite") +
                    ": is damaged, and nothing of it is used: 23 of 24 points and 24 of 24 "
                    "positions are sound\n  position ";
  const std::vector<std::vector<std::string>> commands{
      {"sweep", "export", folder / "s.sqlite"},
      {"sweep", "export", folder / "s.sqlite", "--csv", folder / "s.csv"},
      {"sweep", "export", folder / "s.sqlite", "--json", "--output", folder / "s.json"},
      {"sweep", "status", folder / "s.sqlite"},
      {"sweep", "plot", folder / "s.sqlite", "--output", folder / "s.svg"},
      {"sweep", "merge", folder / "s.sqlite", "--store", folder / "m.sqlite"},
      {"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--csv", folder / "s.csv"}};
  for (const auto& command : commands) {
    CAPTURE(command);
    const auto run = stepcast(command);
    CHECK(run.status == app::wrong_input);
    CHECK(run.out.empty());
    CHECK(run.err.starts_with(said));
    CHECK_THAT(run.err, STEPCAST_HOLDS("\"plan.recompute\": \"full\"}: its point " +
                                       step["id"].get<std::string>() + " is lost\n"));
    CHECK(run.err.ends_with(
        "run its sweep, or its shard, again with --repair: it keeps what is sound, and this file "
        "under another name\n"));
  }
  CHECK(folder.read("s.sqlite") == bytes);
  for (const auto* file : {"s.csv", "s.json", "s.svg", "m.sqlite"})
    CHECK_FALSE(fs::exists(folder / file));

  const auto run =
      stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--repair"});
  CHECK(run.status == app::success);
  CHECK(run.err == "stepcast: " + (folder / "s.sqlite") +
                       " was damaged: 23 points are kept, at 23 of 24 positions; what is missing "
                       "is computed again; the damaged file is now " +
                       (folder / "s.sqlite.damaged") + "\n");
  CHECK(folder.read("s.sqlite.damaged") == bytes);
  CHECK(csv({folder / "s.sqlite"}) == sound);
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--repair"})
            .err.empty());
}

TEST_CASE("--repair makes a new store of a file that cannot be read, and mends a finished shard") {
  const Folder folder;
  folder.write("s.sqlite", std::string(5000, 'x'));
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"}).status ==
        app::wrong_input);
  CHECK(stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--repair"}).status ==
        app::success);
  CHECK(folder.read("s.sqlite.damaged") == std::string(5000, 'x'));

  const std::vector<std::string> shard{
      "sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--shard", "1/2"};
  REQUIRE(stepcast(shard).status == app::success);
  const auto file = folder / "s.shard-1-of-2.sqlite";
  const auto sound = csv({file});
  auto bytes = folder.read("s.shard-1-of-2.sqlite");
  std::fill(bytes.begin() + 16384, bytes.begin() + 20480, '\0');
  folder.write("s.shard-1-of-2.sqlite", bytes);
  CHECK(stepcast(shard).status == app::wrong_input);
  auto repair = shard;
  repair.emplace_back("--repair");
  const auto run = stepcast(repair);
  CHECK(run.status == app::success);
  CHECK_THAT(run.err, STEPCAST_HOLDS(file + " was damaged: "));
  CHECK(csv({file}) == sound);
  CHECK_FALSE(fs::exists(file + ".part"));
}

TEST_CASE("an empty store, and one that was killed early, say so") {
  const Folder folder;
  folder.write("e.sqlite", "");
  for (const auto* command : {"status", "export", "plot", "merge"}) {
    const auto run = stepcast({"sweep", command, folder / "e.sqlite"});
    CHECK(run.status == app::wrong_input);
    CHECK(run.err == "stepcast: " + (folder / "e.sqlite") +
                         ": the file is empty: it holds no finished point; run its sweep, or name "
                         "another file\n");
  }
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((folder / "k.sqlite").c_str(), &database) == SQLITE_OK);
  sqlite3_exec(database, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  REQUIRE_FALSE(folder.read("k.sqlite").empty());
  CHECK_THAT(stepcast({"sweep", "export", folder / "k.sqlite"}).err,
             STEPCAST_HOLDS("k.sqlite: holds no finished point: its sweep was stopped while it "
                            "made it, or it was copied without "));
}

TEST_CASE("Ctrl-C ends a sweep with the finished points, and the same command goes on") {
  const Folder folder;
  const std::vector<std::string> many{
      "sweep",   folder / "s.yaml",
      "--store", folder / "s.sqlite",
      "--set",   "vary.training.sequence_length={from: 8, to: 1024, step: 8}"};
  std::thread user([store = folder / "s.sqlite"] {
    while (!fs::exists(store)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::raise(SIGINT);
  });
  // If the sweep is over by then, the signal is ignored.
  const auto before = std::signal(SIGINT, SIG_IGN);
  const auto run = stepcast(many);
  user.join();
  std::signal(SIGINT, before);
  CHECK(run.status == app::interrupted);
  CHECK(run.out.empty());
  CHECK(run.err == "stepcast: interrupted; what is finished stays, and the same command goes on\n");
  const auto status = json::parse(stepcast({"sweep", "status", folder / "s.sqlite", "--json"}).out);
  CHECK(status["counts"]["points"] == 24 * 128);
  CHECK(status["counts"]["missing"].get<int>() > 0);
  CHECK(stepcast(many).status == app::success);
  auto alone = many;
  alone[3] = folder / "alone.sqlite";
  CHECK(stepcast(alone).status == app::success);
  CHECK(csv({folder / "s.sqlite"}) == csv({folder / "alone.sqlite"}));
}

TEST_CASE("merge says which points are missing, and which shards to run") {
  const Folder folder;
  for (const char* shard : {"1/3", "3/3"})
    stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite", "--shard", shard});
  const auto run = stepcast({"sweep", "merge", folder / "s.shard-1-of-3.sqlite",
                             folder / "s.shard-3-of-3.sqlite", "--store", folder / "m.sqlite"});
  CHECK(run.status == app::no_answer);
  CHECK_THAT(run.err, STEPCAST_HOLDS(" of 24 points are missing:\n  plan.tensor "));
  CHECK_THAT(run.err, STEPCAST_HOLDS("run these shards again, and then merge all of them: 2/3\n"));
  const auto status = json::parse(stepcast({"sweep", "status", folder / "m.sqlite", "--json"}).out);
  CHECK(status["counts"]["points"] == 24);
  CHECK(status["counts"]["missing"].get<int>() > 0);
  CHECK_THAT(stepcast({"sweep", "export", folder / "m.sqlite"}).err,
             STEPCAST_HOLDS("of 24 points are not there yet"));
  // A damaged shard is named, and all other shards are merged.
  folder.write("s.shard-2-of-3.sqlite", std::string(4096, 'x'));
  const auto damaged = stepcast({"sweep", "merge", folder / "s.shard-2-of-3.sqlite",
                                 folder / "s.shard-1-of-3.sqlite", "--store", folder / "d.sqlite"});
  CHECK(damaged.status == app::wrong_input);
  CHECK_THAT(damaged.err,
             STEPCAST_HOLDS("s.shard-2-of-3.sqlite: is no store of a sweep, or damaged"));
  CHECK_THAT(damaged.err, STEPCAST_HOLDS("points are in " + (folder / "d.sqlite")));
}

TEST_CASE("searched points have their best plan; points without one say why") {
  const Folder folder;
  folder.write("f.yaml", R"(
mode: search
base:
  model: llama3-8b
  cluster: {node: dgx-a100-80gb}
  training: {sequence_length: 1024, global_batch: 16, precision: fp16}
  search: {zero: [0], pipeline: [1], recompute: [none]}
vary: {cluster.gpus: [4, 8], training.sequence_length: [1024, 131072], plan.tensor: [4, 3]}
)");
  const auto document = json::parse(
      stepcast({"sweep", folder / "f.yaml", "--store", folder / "f.sqlite", "--json"}).out);
  REQUIRE(document["points"].size() == 8);
  std::string statuses;
  for (const auto& point : document["points"]) statuses += point["status"].get<std::string>()[0];
  CHECK(statuses == "ioinioin");
  CHECK(document["points"][0]["plan"].is_null());
  CHECK(document["points"][1]["plan"]["tensor"] == 4);
  CHECK(document["points"][0]["gap"].is_null());
  CHECK(document["points"][1]["gap"].get<double>() <= 0.05);
  CHECK_THAT(document["points"][3]["reason"].get<std::string>(), STEPCAST_HOLDS("nothing fits"));
  const auto table = csv({folder / "f.sqlite"});
  CHECK_THAT(table.substr(0, table.find('\n')), STEPCAST_HOLDS(",other_s,plan,gap"));
}

TEST_CASE("the script of a job array runs every shard, and failed shards again") {
  const Folder folder;
  const auto run = stepcast({"sweep", folder / "s.yaml", "--emit", "slurm", "--shards", "20",
                             "--set", "plan.micro_batch=2"});
  CHECK(run.status == app::success);
  for (const auto* part :
       {"#!/bin/bash\n", "#SBATCH --array=1-20\n", "#SBATCH --requeue\n", "--shard \"$task/20\"",
        "--set 'plan.micro_batch=2'", "scontrol requeue"})
    CHECK_THAT(run.out, STEPCAST_HOLDS(part));
  CHECK(std::system(("bash -n <<'EOF'\n" + run.out + "EOF\n").c_str()) == 0);
  const auto measured = stepcast({"sweep", folder / "s.yaml", "--emit", "slurm"});
  CHECK_THAT(measured.out, STEPCAST_HOLDS("#SBATCH --array=1-1\n"));
  CHECK_THAT(measured.err, STEPCAST_HOLDS("24 points at some "));
}

TEST_CASE("a plot shows the points of --where, relative and against a figure if asked") {
  const Folder folder;
  const Environment unicode("LC_ALL", "C.UTF-8"), columns("COLUMNS", "");
  stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"sweep", "plot", folder / "s.sqlite"});
    if (std::ranges::find(more, "--where") == more.end())
      more.insert(more.end(), {"--where", "plan.tensor >= 4 and plan.zero == 1"});
    const auto run = stepcast(more);
    CHECK(run.status == app::success);
    CHECK(run.err.empty());
    return run.out;
  };
  const auto bare = with({"--by", "plan.recompute"});
  CHECK_THAT(bare, STEPCAST_HOLDS(" full"));
  CHECK(bare.find("the best over") == bare.npos);
  CHECK_THAT(bare, STEPCAST_HOLDS("where plan.tensor >= 4 and plan.zero == 1\n"));
  CHECK_THAT(with({"--by", "plan.recompute", "--where", "plan.tensor >= 4 and plan.zero >= 1"}),
             STEPCAST_HOLDS("the best over the other axes"));
  CHECK_THAT(with({"--by", "plan.zero", "--relative", "--band", "85", "95"}),
             STEPCAST_HOLDS("plan.zero: ● 1  ╌ 85 to 95"));
  CHECK_THAT(with({"--figure", "peak_bytes", "--against", "step_time_s"}),
             STEPCAST_HOLDS("peak_bytes against step_time_s"));
  // The figure to the right is that of the best point, not the best of all: of two points the one
  // that recomputes takes less memory and more time.
  std::string more_time;
  const auto rows = json::parse(stepcast({"sweep", "export", folder / "s.sqlite", "--json"}).out);
  for (const auto& point : rows["points"])
    if (point["axes"] == json({{"plan.tensor", 8}, {"plan.zero", 1}, {"plan.recompute", "full"}})) {
      std::ostringstream text;
      text << std::setprecision(4) << point["step_time_s"].get<double>();
      more_time = text.str();
    }
  CHECK_THAT(with({"--where", "plan.tensor == 8 and plan.zero == 1", "--figure", "peak_bytes",
                   "--against", "step_time_s"}),
             STEPCAST_HOLDS(" " + more_time + "\n"));
  CHECK(with({"--output", folder / "s.svg"}).empty());
  CHECK(folder.read("s.svg").starts_with("<svg xmlns="));
}

TEST_CASE("mistakes in the command line of a sweep") {
  const Folder folder;
  stepcast({"sweep", folder / "s.yaml", "--store", folder / "s.sqlite"});
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{"sweep"}, "sweep: name a sweep file, or one of status, export, merge, plot"},
      {{"sweep", "no-such.yaml"}, "no-such.yaml: no such file"},
      {{"sweep", folder / "s.yaml", "--shard", "4/3"}, "--shard 4/3: expected i/N"},
      {{"sweep", folder / "s.yaml", "--shard", "x"}, "--shard x: expected i/N"},
      {{"sweep", folder / "s.yaml", "--emit", "pbs"}, "pbs"},
      {{"sweep", folder / "s.yaml", "--store", folder / "no/such.sqlite"}, "is its folder there"},
      {{"sweep", folder / "s.yaml", "--set", "vary.plan.tensr=[1]"}, "did you mean 'tensor'?"},
      {{"sweep", "status", folder / "no.sqlite"}, "no.sqlite: no such file"},
      {{"sweep", "status"}, "store is required"},
      {{"sweep", "plot", folder / "s.sqlite", "--figure", "mfi"}, "did you mean 'mfu'?"},
      {{"sweep", "plot", folder / "s.sqlite", "--along", "plan.zeo"}, "did you mean 'plan.zero'?"},
      {{"sweep", "plot", folder / "s.sqlite", "--against", "mfi"},
       "--against mfi: expected one of"},
      {{"sweep", "plot", folder / "s.sqlite", "--band", "95", "85"}, "--band: the first number"},
      {{"sweep", "plot", folder / "s.sqlite", "--band", "0", "inf"}, "--band: the first number"},
      {{"sweep", "plot", folder / "s.sqlite", "--band", "95"}, "--band"},
      {{"sweep", "plot", folder / "s.sqlite", "--json"}, "`sweep export --json` has points"},
      {{"sweep", "plot", folder / "s.sqlite", "--where", "plan.tensor == 3"},
       "no point there is ok"},
      {{"sweep", "plot", folder / "s.sqlite", "--where", "plan.tensor == 5"},
       "holds for no point of the sweep"},
      {{"sweep", "plot", folder / "s.sqlite", "--where", "plan.zero + == 5"}, "', character 13: "},
      {{"sweep", "plot", folder / "s.sqlite", "--where", "plan.zeo == plan.tensr"},
       "', character 1: plan.zeo: unknown key"},
      {{"sweep", "plot", folder / "s.sqlite", "--where", "plan.zeo == plan.tensr"},
       "did you mean 'tensor'?"},
      {{"sweep", "plot", folder / "s.sqlite", "--figure", "bubble_fraction", "--relative"},
       "--relative: bubble_fraction is zero at plan.tensor 8 of plan.zero 0, the first of its"}};
  for (const auto& [arguments, said] : mistakes) {
    const auto run = stepcast(arguments);
    CAPTURE(arguments, run.err);
    CHECK(run.status == app::wrong_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, STEPCAST_HOLDS(said));
  }
}

TEST_CASE("a sweep in which no point has an answer says why, and which change would help") {
  const Folder folder;
  folder.write("none.yaml",
               "base:\n  model: llama3-70b\n  cluster: {node: dgx-h100, nodes: 1}\n  training: "
               "{sequence_length: 4096, global_batch: 64}\nvary:\n  cluster.nodes: [1, 2]\n  "
               "training.global_batch: [16, 17]\n");
  const auto store = folder / "none.sqlite";
  const auto run = stepcast({"sweep", folder / "none.yaml", "--store", store});
  INFO(run.out << run.err);
  CHECK(run.status == app::success);
  CHECK_THAT(run.out, STEPCAST_HOLDS("2 does-not-fit, such as: ") &&
                          STEPCAST_HOLDS("2 invalid, such as: ") &&
                          STEPCAST_HOLDS("the closest is cluster.nodes "));
  CHECK_THAT(run.out, STEPCAST_HOLDS("what would help: a plan that is left out divides"));
  const auto plot = stepcast({"sweep", "plot", store});
  CHECK(plot.status == app::no_answer);
  CHECK(plot.out.empty());
  CHECK_THAT(plot.err,
             STEPCAST_HOLDS("stepcast: there is nothing to draw, for no point of the sweep "
                            "is ok:\n  2 does-not-fit, such as: "));
  const auto points = json::parse(stepcast({"sweep", "export", store, "--json"}).out);
  CHECK(points["points"].size() == 4);
  CHECK(points["nothing_ok"]["reasons"].size() == 2);
  CHECK(points["nothing_ok"]["words"].size() == 4);
  const auto status = json::parse(stepcast({"sweep", "status", store, "--json"}).out);
  CHECK(status["nothing_ok"]["reasons"][0]["points"] == 2);

  folder.write("same.yaml",
               "base:\n  model: llama3-8b\n  cluster: {node: dgx-h100, nodes: 1}\n  training: "
               "{sequence_length: 4096}\nvary: {plan.tensor: [1, 2]}\n");
  const auto same = stepcast({"sweep", folder / "same.yaml", "--store", folder / "same.sqlite"});
  CHECK_THAT(same.out, STEPCAST_HOLDS("what would help: all points have this mistake, so mend"));
}

}  // namespace sweep_spec
