// SPDX-License-Identifier: Apache-2.0
// What commands write: nothing that was there is harmed.
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

namespace fs = std::filesystem;

namespace {

using tests::stepcast;

// A folder of this test's own, gone when the test is.
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
  // The system's null or full device under a name of this folder: what harms it harms nobody.
  // Empty where only this user may not make one.
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

// What the program itself does; its arguments as a shell reads them.
int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const std::string program = STEPCAST_PROGRAM;

}  // namespace

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

TEST_CASE("who reads a pipe gets the answer, and the pipe stays") {
  const Folder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::ostringstream got;
  std::thread reader([&] { got << std::ifstream(pipe).rdbuf(); });
  // Where the pipe is not written into, its reader must not wait for ever.
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
  // More than a pipe holds.
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

TEST_CASE("a link stays, and what it leads to is written, whether it is there or not") {
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

TEST_CASE("a file keeps its mode; a new one has what the umask leaves") {
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
  if (geteuid() == 0) return;  // who may write everything
  const auto run = stepcast({"catalog", "list", "--output", folder / "kept"});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("it may only be read"));
  CHECK(folder.read("kept") == "old");
}

TEST_CASE("of several hard links the others keep what they had") {
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

TEST_CASE("of several that write one file each is complete, and one wins") {
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

TEST_CASE("--output /dev/stdout goes where standard output goes, behind what is there") {
  const Folder folder;
  const auto file = folder.write("x", "first\n");
  CHECK(shell(program + " catalog list --output /dev/stdout >> " + file) == app::success);
  CHECK(folder.read("x") == "first\n" + listed());
  CHECK(shell(program + " catalog list --output /dev/stdout | cat > " + file) == app::success);
  CHECK(folder.read("x") == listed());
}

TEST_CASE("what is printed into a full or closed standard output is an exit status of 2") {
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
