// SPDX-License-Identifier: Apache-2.0
// README shows the program's output. STEPCAST_GOLDEN=write writes the output into README.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace readme_spec {

namespace {

constexpr const char* file = STEPCAST_SOURCE_DIR "/README.md";

std::string read() {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines between the next fences behind a sentence.
struct Block {
  std::size_t begin = 0, end = 0;
  std::string of(const std::string& text) const { return text.substr(begin, end - begin); }
};
Block block_behind(const std::string& text, const std::string& sentence) {
  const auto fence = text.find("```", text.find(sentence));
  const auto begin = text.find('\n', fence) + 1;
  return {begin, text.find("```", begin)};
}

}  // namespace

TEST_CASE("README shows the output of ./demo") {
  setenv("LC_ALL", "C.UTF-8", 1);
  const auto run = tests::stepcast({"simulate", "scenarios/examples/gpt3-175b-1024-a100.yaml"});
  REQUIRE(run.status == app::success);
  auto text = read();
  const auto shown = block_behind(text, "`./demo` prints:");
  const char* mode = std::getenv("STEPCAST_GOLDEN");
  if (mode != nullptr && std::string_view(mode) == "write") {
    text.replace(shown.begin, shown.end - shown.begin, run.out);
    std::ofstream(file, std::ios::binary) << text;
  }
  CHECK(block_behind(read(), "`./demo` prints:").of(read()) == run.out);
}

TEST_CASE("README shows the mistake that the program names in README's own scenario") {
  const auto text = read();
  const auto scenario = block_behind(text, "## Your own question").of(text);
  const auto folder = std::filesystem::temp_directory_path() / "stepcast_readme";
  std::filesystem::create_directories(folder);
  const auto mine = (folder / "my.yaml").string();
  std::ofstream(mine) << scenario;
  CHECK(tests::stepcast({"simulate", mine}).status == app::success);
  std::string wrong = scenario;
  wrong.replace(wrong.find("tensor: 8"), 9, "tensor: 7");
  std::ofstream(mine) << wrong;
  const auto run = tests::stepcast({"simulate", mine});
  CHECK(run.status == app::wrong_input);
  const auto named = block_behind(text, "A wrong value is named").of(text);
  CHECK_THAT(run.err, STEPCAST_HOLDS(named.substr(0, named.size() - 1)));
}

}  // namespace readme_spec
