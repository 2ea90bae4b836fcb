// SPDX-License-Identifier: Apache-2.0
// Completion scripts and the manual page, in the shells that this machine has.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace manual_spec {

using tests::stepcast;

namespace {

const std::vector<std::string> commands{"simulate", "search", "schedule",   "validate", "calibrate",
                                        "catalog",  "import", "completion", "man",      "sweep"};

// The output of a shell command; `input` is its file argument $0.
std::string printed(const std::string& input, const std::string& command) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("stepcast_manual_" + std::to_string(std::random_device()()));
  std::ofstream(file) << input;
  std::string text;
  FILE* pipe = popen(("bash -c '" + command + "' " + file.string() + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  while (const auto read = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, read);
  pclose(pipe);
  std::filesystem::remove(file);
  return text;
}

// The words that bash offers to complete these, the last of which is unfinished.
std::string offered(const std::string& words, int last) {
  return printed(stepcast({"completion", "bash"}).out, "source $0; COMP_WORDS=(" + words +
                                                           "); COMP_CWORD=" + std::to_string(last) +
                                                           "; _stepcast; echo ${COMPREPLY[@]}");
}

}  // namespace

TEST_CASE("bash completes commands, the commands of commands, and options") {
  CHECK(offered("stepcast sim", 1) == "simulate\n");
  CHECK(offered("stepcast catalog s", 2).find("show schema") == 0);
  CHECK(offered("stepcast simulate x.yaml --js", 3) == "--json\n");
  CHECK(offered("stepcast schedule --micro", 2) == "--microbatches\n");
  CHECK(offered("stepcast catalog show --node", 3) == "--nodes --node\n");
}

TEST_CASE("every shell's script knows every command") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto run = stepcast({"completion", shell});
    REQUIRE(run.status == app::success);
    for (const auto& command : commands) {
      INFO(shell << " " << command);
      CHECK(run.out.find(command) != std::string::npos);
    }
    CHECK(run.out.find("microbatches") != std::string::npos);
  }
  const auto wrong = stepcast({"completion", "tcsh"});
  CHECK(wrong.status == app::wrong_input);
  CHECK(wrong.err == "stepcast: completion tcsh: unknown shell; expected bash, zsh or fish\n");
}

TEST_CASE("the manual page has every command with its options and its example") {
  const auto page = stepcast({"man"}).out;
  CHECK(page.find(".TH STEPCAST 1") == 0);
  for (const auto& command : commands)
    CHECK_THAT(page, STEPCAST_HOLDS(".SS stepcast " + command + "\n"));
  CHECK_THAT(page, STEPCAST_HOLDS("\\fB\\-\\-microbatches\\fR"));
  CHECK_THAT(page, STEPCAST_HOLDS("stepcast schedule \\-\\-schedule 1f1b"));
  if (std::system("command -v groff > /dev/null 2>&1") != 0) {
    WARN("groff is not installed: not checked");
    return;
  }
  CHECK(printed(page, "groff -man -ww -z $0") == "");
  CHECK_THAT(printed(page, "groff -man -Tascii -P-cbou $0"), STEPCAST_HOLDS("EXIT STATUS"));
}

TEST_CASE("the help of every command shows an example") {
  for (const auto& command : commands) {
    const auto run = stepcast({command, "--help"});
    CHECK(run.status == app::success);
    CHECK(run.out.find("Example") != std::string::npos);
  }
}

TEST_CASE("texts are as wide as the terminal, and ASCII where it cannot show more") {
  const auto drawn = [](const char* name, const char* value, int columns) {
    const std::string before = std::getenv(name) ? std::getenv(name) : "";
    setenv(name, value, 1);
    std::ostringstream out, err;
    const auto options = app::text_options({out, err, true, true, columns});
    before.empty() ? unsetenv(name) : setenv(name, before.c_str(), 1);
    return options;
  };
  CHECK(drawn("LC_ALL", "en_US.UTF-8", 0).unicode);
  CHECK_FALSE(drawn("LC_ALL", "C", 0).unicode);
  CHECK_FALSE(drawn("LC_ALL", "de_DE.ISO-8859-1", 0).unicode);
  CHECK_FALSE(drawn("TERM", "dumb", 0).unicode);
  CHECK_FALSE(drawn("TERM", "dumb", 0).colour);
  CHECK(drawn("COLUMNS", "", 132).width == 132);
  CHECK(drawn("COLUMNS", "90", 132).width == 90);
  CHECK(drawn("COLUMNS", "", 0).width == report::TextOptions{}.width);
}

}  // namespace manual_spec
