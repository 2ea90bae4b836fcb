// SPDX-License-Identifier: Apache-2.0
// The files that commands write: no other file is harmed, and none that they read.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "app/files.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace outputs_spec {

namespace fs = std::filesystem;

namespace {

using tests::stepcast;

// A folder of this test's own, removed at its end.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("outputs_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return *this / name;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  // A node of the system's null or full device under a name of this folder, so that harm to it
  // harms no other file. Empty where this user may not make one.
  std::string device(const std::string& name, unsigned minor) const {
    const auto file = *this / name;
    return mknod(file.c_str(), S_IFCHR | 0666, makedev(1, minor)) == 0 ? file : std::string();
  }

 private:
  fs::path path_;
};

constexpr unsigned null_device = 3, full_device = 7;

struct stat status_of(const std::string& file) {
  struct stat status {};
  CHECK(lstat(file.c_str(), &status) == 0);
  return status;
}

std::string listed() { return stepcast({"catalog", "list"}).out; }

constexpr auto scenario =
    "model: llama3-8b\n"
    "cluster: {node: dgx-h100, nodes: 1}\n"
    "training: {sequence_length: 4096, global_batch: 16}\n"
    "plan: {tensor: 8, zero: 1}\n";

constexpr auto sweep =
    "base: s.yaml\n"
    "vary: {plan.tensor: [4, 8]}\n";

std::string last_of(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + ' ';
  return text;
}

// Checks that the command is refused with both names, and that every file stays as it was.
void check_refused(const Folder& folder, const std::string& input,
                   const std::vector<std::string>& command) {
  CAPTURE(last_of(command));
  const auto before = folder.read(input);
  const auto names = folder.names();
  const auto run = stepcast(command);
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err,
             STEPCAST_HOLDS(command[command.size() - 2] + " " + command.back() + " would"));
  CHECK_THAT(run.err, STEPCAST_HOLDS("overwrite '" + folder / input + "'"));
  CHECK(folder.read(input) == before);
  CHECK(folder.names() == names);
}

// The exit status of the program itself; a shell reads its arguments.
int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const std::string program = STEPCAST_PROGRAM;

}  // namespace

TEST_CASE("an output named - is the standard output, and no file of that name") {
  const auto run = stepcast({"catalog", "list", "--output", "-"});
  CHECK(run.status == app::success);
  CHECK(run.out == stepcast({"catalog", "list"}).out);
  CHECK_FALSE(std::filesystem::exists("-"));
}

TEST_CASE("a device is written into and stays a device") {
  const Folder folder;
  const auto null = folder.device("null", null_device);
  if (null.empty()) return;
  folder.write("s.yaml", scenario);
  folder.write("g.yaml", sweep);
  const auto file = folder / "s.yaml";
  const std::vector<std::string> commands[] = {
      {"catalog", "list", "--output", null},
      {"simulate", file, "--output", null},
      {"sweep", folder / "g.yaml", "--store", folder / "g.sqlite", "--csv", null, "--output", null},
      {"sweep", "export", folder / "g.sqlite", "--csv", null}};
  for (const auto& command : commands) {
    CAPTURE(last_of(command));
    CHECK(stepcast(command).status == app::success);
    REQUIRE(S_ISCHR(status_of(null).st_mode));
  }
  fs::create_symlink(null, folder / "page.html");
  fs::create_symlink(null, folder / "trace.json");
  CHECK(stepcast(
            {"simulate", file, "--report", folder / "page.html", "--trace", folder / "trace.json"})
            .status == app::success);
  CHECK(S_ISCHR(status_of(null).st_mode));
  CHECK(fs::is_symlink(folder / "page.html"));
  CHECK_FALSE(fs::exists(null + ".part"));
}

TEST_CASE("a device that is full is an exit status of 2, and says so") {
  const Folder folder;
  const auto full = folder.device("full", full_device);
  if (full.empty()) return;
  const auto run = stepcast({"catalog", "list", "--output", full});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err == "stepcast: cannot write into '" + full + "' (No space left on device)\n");
  CHECK(S_ISCHR(status_of(full).st_mode));
}

TEST_CASE("a reader of a pipe gets the answer, and the pipe stays") {
  const Folder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::ostringstream got;
  std::thread reader([&] { got << std::ifstream(pipe).rdbuf(); });
  // If the command does not write into the pipe, its reader must not wait for ever.
  const auto run = stepcast({"catalog", "list", "--output", pipe});
  close(open(pipe.c_str(), O_WRONLY | O_NONBLOCK));
  if (!fs::is_fifo(pipe)) reader.detach();
  REQUIRE(fs::is_fifo(pipe));
  reader.join();
  CHECK(run.status == app::success);
  CHECK(got.str() == listed());
}

TEST_CASE("a reader that goes away ends nothing but the command, with a status of 2") {
  const Folder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  static volatile std::sig_atomic_t signalled;
  signalled = 0;
  const auto before = std::signal(SIGPIPE, [](int) { signalled = 1; });
  std::thread reader([&] { close(open(pipe.c_str(), O_RDONLY)); });
  // The answer is longer than a pipe's buffer.
  const auto run =
      stepcast({"schedule", "--schedule", "1f1b", "--stages", "64", "--microbatches", "256",
                "--forward", "1", "--backward", "2", "--json", "--output", pipe});
  if (!fs::is_fifo(pipe)) reader.detach();
  CHECK(fs::is_fifo(pipe));
  if (reader.joinable()) reader.join();
  std::signal(SIGPIPE, before);
  CHECK(signalled == 0);
  CHECK(run.status == app::wrong_input);
  CHECK(run.err == "stepcast: cannot write into '" + pipe +
                       "' (Broken pipe); its reader went away before the end\n");
}

TEST_CASE("a link stays, and the file that it leads to is written, whether it is there or not") {
  const Folder folder;
  folder.write("there/target", "old");
  fs::create_symlink("there/target", folder / "link");
  fs::create_symlink("link", folder / "second");
  fs::create_symlink("there/new", folder / "dangling");
  for (const auto* link : {"second", "dangling"}) {
    CHECK(stepcast({"catalog", "list", "--output", folder / link}).status == app::success);
    CHECK(fs::is_symlink(folder / link));
  }
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(folder.read("there/target") == listed());
  CHECK(folder.read("there/new") == listed());
  fs::create_symlink("round", folder / "round");
  CHECK_THAT(stepcast({"catalog", "list", "--output", folder / "round"}).err,
             STEPCAST_HOLDS("(Too many levels of symbolic links)"));
}

TEST_CASE("a file keeps its mode; a new one has the mode that the umask leaves") {
  const Folder folder;
  chmod(folder.write("private", "old").c_str(), 0600);
  chmod(folder.write("script", "old").c_str(), 0754);
  const auto before = umask(0027);
  for (const auto* name : {"private", "script", "new"})
    CHECK(stepcast({"catalog", "list", "--output", folder / name}).status == app::success);
  umask(before);
  CHECK((status_of(folder / "private").st_mode & 07777) == 0600);
  CHECK((status_of(folder / "script").st_mode & 07777) == 0754);
  CHECK((status_of(folder / "new").st_mode & 07777) == 0640);
  CHECK(folder.names() == std::vector<std::string>{"new", "private", "script"});
}

TEST_CASE("a file that may only be read is refused, and so is a folder") {
  const Folder folder;
  CHECK(stepcast({"catalog", "list", "--output", folder / "."}).status == app::wrong_input);
  chmod(folder.write("kept", "old").c_str(), 0400);
  if (geteuid() == 0) return;  // root may write everything
  const auto run = stepcast({"catalog", "list", "--output", folder / "kept"});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("it may only be read"));
  CHECK(folder.read("kept") == "old");
}

TEST_CASE("a file with several hard links is replaced, and its other links keep their bytes") {
  const Folder folder;
  fs::create_hard_link(folder.write("old", "old"), folder / "new");
  CHECK(stepcast({"catalog", "list", "--output", folder / "new"}).status == app::success);
  CHECK(folder.read("old") == "old");
  CHECK(folder.read("new") == listed());
}

TEST_CASE("a file of somebody else's that ends in .part is left alone") {
  const Folder folder;
  folder.write("x.part", "mine");
  CHECK(stepcast({"catalog", "list", "--output", folder / "x"}).status == app::success);
  CHECK(folder.read("x.part") == "mine");
  CHECK(folder.names() == std::vector<std::string>{"x", "x.part"});
}

TEST_CASE("a file that cannot be finished leaves the old one, and nothing beside it") {
  const Folder folder;
  const auto file = folder.write("x", "old");
  const auto half = [](std::ostream& out) {
    out << std::string(100'000, 'x');
    throw std::runtime_error("half way");
  };
  CHECK_THROWS_WITH(app::write_file(file, half), "half way");
  CHECK(folder.read("x") == "old");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("one of several processes that write a file wins, and the file is complete") {
  const Folder folder;
  const auto file = folder / "x";
  constexpr std::size_t size = 1 << 20;
  {
    std::vector<std::jthread> writers;
    for (char letter = 'a'; letter < 'i'; ++letter)
      writers.emplace_back([&, letter] {
        for (int i = 0; i < 4; ++i) app::write_file(file, std::string(size, letter));
      });
  }
  const auto text = folder.read("x");
  CHECK(text == std::string(size, text.front()));
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("a name as long as names may be can be written") {
  const Folder folder;
  CHECK(stepcast({"catalog", "list", "--output", folder / std::string(255, 'x')}).status ==
        app::success);
}

TEST_CASE("--output /dev/stdout goes where standard output goes, behind the bytes there") {
  const Folder folder;
  const auto file = folder.write("x", "first\n");
  CHECK(shell(program + " catalog list --output /dev/stdout >> " + file) == app::success);
  CHECK(folder.read("x") == "first\n" + listed());
  CHECK(shell(program + " catalog list --output /dev/stdout | cat > " + file) == app::success);
  CHECK(folder.read("x") == listed());
}

TEST_CASE("no output overwrites a file that the command reads") {
  const Folder folder;
  const auto file = folder.write("s.yaml", scenario), other = folder.write("o.yaml", scenario);
  fs::create_symlink("s.yaml", folder / "link.json");
  fs::create_hard_link(file, folder / "page.html");
  check_refused(folder, "s.yaml", {"simulate", file, "--output", file});
  check_refused(folder, "s.yaml", {"simulate", file, "--output", folder / "./s.yaml"});
  check_refused(folder, "s.yaml", {"simulate", file, "--trace", folder / "link.json"});
  check_refused(folder, "s.yaml", {"simulate", file, "--report", folder / "page.html"});
  check_refused(folder, "o.yaml", {"simulate", file, "--against", other, "--output", other});
  check_refused(folder, "s.yaml", {"simulate", file, "--against", other, "--output", file});
  check_refused(folder, "s.yaml", {"search", file, "--output", file});
  const auto order = folder.write("order.csv", "0F0,0B0\n");
  check_refused(
      folder, "order.csv",
      {"schedule", "--order", order, "--forward", "1", "--backward", "2", "--output", order});
  const auto trace = folder.write("trace.json", "{}");
  check_refused(folder, "trace.json", {"trace", trace, "--output", trace});
  check_refused(folder, "s.yaml", {"trace", trace, "--against", file, "--output", file});
  const auto config = folder.write("config.json", "{}");
  check_refused(folder, "config.json", {"import", "huggingface", config, "--output", config});
  check_refused(folder, "config.json", {"import", "nccl-tests", config, "--output", config});
  fs::copy("scenarios/examples/purchase-a100-kept.yaml", folder / "buy.yaml");
  check_refused(folder, "buy.yaml",
                {"purchase", folder / "buy.yaml", "--output", folder / "buy.yaml"});
}

TEST_CASE("no output overwrites a file that an input names") {
  const Folder folder;
  const auto config = folder / "config.json", kernels = folder / "mine.csv";
  fs::copy("scenarios/examples/configs/llama3.1-70b.config.json", config);
  fs::copy("scenarios/catalog/kernels/h100.csv", kernels);
  const auto file = folder.write("s.yaml",
                                 "model: {huggingface: config.json}\n"
                                 "cluster:\n"
                                 "  node: {base: dgx-h100, device: {base: h100-80gb-sxm,\n"
                                 "    kernels: mine.csv}}\n"
                                 "  nodes: 8\n"
                                 "training: {sequence_length: 4096, global_batch: 64}\n"
                                 "plan: {tensor: 8, zero: 1}\n");
  const auto corrections = folder.write("measured.yaml", "- {scenario: s.yaml, measured: 10 s}\n");
  const auto plain = folder.write("plain.yaml", scenario);
  REQUIRE(stepcast({"simulate", file, "--quiet"}).err.empty());
  for (const auto* command : {"simulate", "search"}) {
    check_refused(folder, "config.json", {command, file, "--output", config});
    check_refused(folder, "mine.csv", {command, file, "--output", kernels});
    for (const auto* named : {"measured.yaml", "s.yaml", "config.json", "mine.csv"})
      check_refused(folder, named,
                    {command, plain, "--corrections", corrections, "--output", folder / named});
  }
  const auto grid = folder.write("g.yaml", sweep);
  const auto store = folder / "g.sqlite";
  for (const auto* named : {"g.yaml", "s.yaml", "config.json", "mine.csv"}) {
    check_refused(folder, named, {"sweep", grid, "--store", store, "--csv", folder / named});
    check_refused(folder, named, {"sweep", grid, "--store", folder / named});
    check_refused(folder, named,
                  {"sweep", grid, "--store", store, "--emit", "slurm", "--output", folder / named});
  }
  const auto varied =
      folder.write("v.yaml", "base: plain.yaml\nvary: {model.huggingface: [config.json]}\n");
  check_refused(folder, "config.json", {"sweep", varied, "--store", store, "--csv", config});
  check_refused(
      folder, "measured.yaml",
      {"sweep", grid, "--store", store, "--corrections", corrections, "--csv", corrections});
}

TEST_CASE("no output overwrites the measurements that validate and calibrate read") {
  const Folder folder;
  for (const auto* file : {"published/mt_nlg_530b.yaml", "collectives/v100_1x8_allreduce_oci.yaml",
                           "collectives/v100_1x8_allreduce_oci.csv"}) {
    fs::create_directories(fs::path(folder / file).parent_path());
    fs::copy(fs::path("scenarios") / file, folder / file);
  }
  const auto published = folder / "published", collectives = folder / "collectives";
  const std::string set = "published/mt_nlg_530b.yaml";
  for (const auto* option : {"--output", "--report", "--intervals"})
    check_refused(folder, set, {"validate", "--data", published, option, folder / set});
  check_refused(folder, set, {"validate", "search", "--data", published, "--output", folder / set});
  check_refused(folder, set,
                {"validate", "corrections", "--data", published, "--likeness", folder / set});
  for (const auto* ending : {".yaml", ".csv"}) {
    const auto table = std::string("collectives/v100_1x8_allreduce_oci") + ending;
    check_refused(folder, table,
                  {"validate", "collectives", "--data", collectives, "--output", folder / table});
  }
  const auto parameters = folder.write(
      "few.yaml",
      "datasets: [mt_nlg_530b]\n"
      "parameters:\n"
      "  - {file: software/megatron-2021.yaml, key: launch_forward, unit: us, start: 40, low: 5,\n"
      "     high: 100, width: 0.5, meaning: host time of a kernel}\n");
  for (const auto& input : {std::string("few.yaml"), set})
    check_refused(folder, input,
                  {"calibrate", "--parameters", parameters, "--data", published, "--only-print",
                   "--output", folder / input});
  const std::string fresh = "new/software/megatron-2021.yaml";  // an output that does not exist yet
  fs::create_directories(folder / "new/software");
  const auto run = stepcast({"calibrate", "--parameters", parameters, "--data", published,
                             "--catalog", folder / "new", "--output", folder / fresh});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("--output") && STEPCAST_HOLDS("--catalog"));
  CHECK_FALSE(fs::exists(folder / fresh));
}

TEST_CASE("a table of measured kernels may lie where its entry is written") {
  const Folder folder;
  folder.write("my-gpu.csv",
               "# device: My GPU\n# power: 350 W\n"
               "kind,pass,batch,m,n,k,causal,implementation,efficiency\n"
               "product,forward,1,4096,4096,4096,,,0.6\n"
               "product,forward,1,8192,8192,8192,,,0.65\n"
               "stream,copy,,,1000000,,,,0.06\nstream,add,,,1000000000,,,,0.8\n");
  const auto before = folder.read("my-gpu.csv");
  const std::vector<std::string> command{"calibrate",  "--kernels", folder / "my-gpu.csv",
                                         "--name",     "my-gpu",    "--catalog",
                                         folder / ".", "--base",    "h100-80gb-sxm"};
  CHECK(stepcast(command).status == app::success);
  CHECK(folder.read("my-gpu.csv") == before);
  CHECK(fs::exists(folder / "my-gpu.yaml"));
  auto into = command;
  into.insert(into.end(), {"--output", folder / "my-gpu.csv"});
  check_refused(folder, "my-gpu.csv", into);
}

TEST_CASE("no output overwrites a store, nor the files that SQLite keeps beside it") {
  const Folder folder;
  folder.write("s.yaml", scenario);
  const auto grid = folder.write("g.yaml", sweep), store = folder / "s.sqlite";
  REQUIRE(stepcast({"sweep", grid, "--store", store}).status == app::success);
  fs::create_symlink("s.sqlite", folder / "link.sqlite");
  for (const auto& name : {store, folder / "link.sqlite"}) {
    check_refused(folder, "s.sqlite", {"sweep", "export", store, "--csv", store});
    for (const auto* command : {"status", "export", "plot"})
      check_refused(folder, "s.sqlite", {"sweep", command, store, "--output", name});
    for (const auto* option : {"--csv", "--output"}) {
      const auto before = folder.read("s.sqlite");
      CHECK_THAT(stepcast({"sweep", grid, "--store", store, option, name}).err,
                 STEPCAST_HOLDS(" are one file; name two\n"));
      CHECK(folder.read("s.sqlite") == before);
    }
    for (const auto* suffix : {"-wal", "-shm", "-journal", ".part"})
      check_refused(folder, std::string("s.sqlite") + suffix,
                    {"sweep", "status", name, "--output", store + suffix});
  }
  check_refused(folder, "s.sqlite-wal",
                {"sweep", "merge", store, "--store", folder / "s.sqlite-wal"});
  fs::create_hard_link(store, folder / "page.html");
  const auto page = stepcast({"sweep", "export", store, "--report", folder / "page.html"});
  CHECK_THAT(page.err, STEPCAST_HOLDS("page.html would overwrite '" + store + "', a store of"));
  CHECK(stepcast({"sweep", "status", store}).status == app::success);
}

TEST_CASE("a store is a plain file") {
  const Folder folder;
  folder.write("s.yaml", scenario);
  const auto grid = folder.write("g.yaml", sweep), pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(stepcast({"sweep", grid, "--store", pipe}).err,
             STEPCAST_HOLDS("--store " + pipe + ": a store is a plain file"));
}

TEST_CASE("two outputs are two files; a device may be both") {
  const Folder folder;
  const auto file = folder.write("s.yaml", scenario), grid = folder.write("g.yaml", sweep);
  folder.write("ranks/rank-0.json", "old");
  fs::create_symlink("x.html", folder / "x.json");
  fs::create_symlink("x.html", folder / "x.pickle");
  const auto x = folder / "x.html", ranks = folder / "ranks/";
  const std::vector<std::string> twice[] = {
      {"simulate", file, "--report", x, "--output", x},
      {"simulate", file, "--report", x, "--output", folder / "./x.html"},
      {"simulate", file, "--report", x, "--trace", folder / "x.json"},
      {"simulate", file, "--report", x, "--memory-snapshot", folder / "x.pickle"},
      {"simulate", file, "--trace", ranks, "--output", ranks + "rank-0.json"},
      {"simulate", file, "--trace", ranks, "--output", ranks + "rank-8.json"},
      {"sweep", grid, "--store", x, "--csv", x},
      {"sweep", grid, "--store", folder / "g.sqlite", "--csv", x, "--output", x}};
  const auto names = folder.names();
  for (const auto& command : twice) {
    CAPTURE(last_of(command));
    const auto run = stepcast(command);
    CHECK(run.status == app::wrong_input);
    CHECK_THAT(run.err, STEPCAST_HOLDS(" are one file; name two\n"));
    CHECK(folder.names() == names);
  }
  CHECK(stepcast({"simulate", file, "--trace", ranks, "--output", ranks + "x.json"}).status ==
        app::success);
  CHECK(folder.read("ranks/rank-0.json") != "old");
  const auto null = folder.device("null", null_device);
  if (null.empty()) return;
  CHECK(stepcast({"sweep", grid, "--store", folder / "g.sqlite", "--csv", null, "--output", null})
            .status == app::success);
}

TEST_CASE("an output that cannot be written is refused before anything is computed") {
  const Folder folder;
  folder.write("s.yaml", scenario);
  const auto grid = folder.write("g.yaml", sweep), store = folder / "g.sqlite";
  for (const auto& output : {folder / "no/such.csv", folder / "."}) {
    const auto run = stepcast({"sweep", grid, "--store", store, "--csv", output});
    CHECK(run.status == app::wrong_input);
    CHECK_THAT(run.err, STEPCAST_HOLDS("cannot write '" + output + "'"));
    CHECK_FALSE(fs::exists(store));
  }
}

TEST_CASE("printing into a full or closed standard output has the exit status 2") {
  for (const auto* arguments :
       {"--help", "--version", "simulate --help", "catalog list", "man", "completion bash"})
    for (const auto* output : {" > /dev/full", " >&-"}) {
      const Folder folder;
      CAPTURE(arguments, output);
      CHECK(shell(program + " " + arguments + output + " 2> " + folder / "err") ==
            app::wrong_input);
      CHECK(folder.read("err") == "stepcast: cannot write the answer to standard output\n");
    }
}

TEST_CASE("no file takes the place of a standard output that is closed") {
  const Folder folder;
  folder.write("s.yaml", scenario);
  const auto grid = folder.write("g.yaml", sweep), store = folder / "g.sqlite";
  const auto told = " >&- 2> " + folder / "err";
  CHECK(shell(program + " sweep " + grid + " --store " + store + told) == app::wrong_input);
  CHECK(folder.read("err") == "stepcast: cannot write the answer to standard output\n");
  CHECK(stepcast({"sweep", "status", store}).status == app::success);
}

TEST_CASE("a store that nobody named is in the current folder, and the program says so") {
  const Folder folder;
  fs::create_directories(folder / "here");
  folder.write("source/s.yaml", scenario);
  folder.write("source/g.yaml", sweep);
  const auto go = "cd " + folder / "here" + " && " + fs::absolute(program).string();
  const auto told = "'" + folder / "here/g.sqlite" + "'; --store names another file\n";
  CHECK(shell(go + " sweep ../source/g.yaml > out 2> err") == app::success);
  CHECK(folder.read("here/err") == "stepcast: keeps the results in " + told);
  CHECK(fs::exists(folder / "here/g.sqlite"));
  CHECK_FALSE(fs::exists(folder / "source/g.sqlite"));
  CHECK(shell(go + " sweep ../source/g.yaml > out 2> err") == app::success);
  CHECK(folder.read("here/err") == "stepcast: goes on with the results in " + told);
  CHECK(shell(go + " sweep ../source/g.yaml --shard 1/2 > out 2> err") == app::success);
  CHECK_THAT(folder.read("here/err"), STEPCAST_HOLDS("here/g.shard-1-of-2.sqlite'"));
  CHECK(shell(go + " sweep ../source/g.yaml --emit slurm --shards 2 > out 2> err") == app::success);
  CHECK_THAT(folder.read("here/out"), STEPCAST_HOLDS("--store '" + folder / "here/g.sqlite'"));
  CHECK_THAT(folder.read("here/err"), STEPCAST_HOLDS(told));
  CHECK(shell(go + " sweep ../source/g.yaml --store named.sqlite > out 2> err") == app::success);
  CHECK(folder.read("here/err").empty());
}

}  // namespace outputs_spec
