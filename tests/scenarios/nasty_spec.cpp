// SPDX-License-Identifier: Apache-2.0
// The reader answers any text with a scenario or an Error, soon.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "scenarios/documents/yaml.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace nasty_spec {

namespace fs = std::filesystem;

namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string answer(const std::string& text) {
  try {
    scenarios::read_scenario(text, "f.yaml");
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "no complaint";
}

std::string bomb() {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'm'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [" + repeated("*" + before + ",", 9) + "*" + before +
            "]\n";
  }
  return text;
}

}  // namespace

TEST_CASE("nesting is refused before it can exhaust the stack") {
  const std::string text =
      GENERATE(repeated("[", 100'000), repeated("{a: ", 100'000), repeated("- ", 100'000),
               repeated("? ", 100'000), std::string("plan: ") + repeated("[", 100'000));
  CHECK_THAT(answer(text), STEPCAST_HOLDS("nested more than 64 levels deep"));
}

TEST_CASE("aliases that multiply or bite their own tail are refused") {
  CHECK_THAT(answer(bomb()), STEPCAST_HOLDS("once aliases are expanded"));
  CHECK_THAT(answer("a: &a [*a]\n"), STEPCAST_HOLDS("f.yaml:1:8: this alias names no value"));
  CHECK_THAT(answer("a: *nowhere\n"), STEPCAST_HOLDS("this is not YAML"));
}

TEST_CASE("an alias is read as the value that it names") {
  const auto value = scenarios::parse_yaml("a: &x {b: 1}\nc: *x\n", "f.yaml");
  REQUIRE(value.find("c") != nullptr);
  CHECK(value.find("c")->find("b")->text == "1");
}

TEST_CASE("the key << merges maps, over whose values those of the map itself stand") {
  const auto members = [](const std::string& text) {
    const auto document = scenarios::parse_yaml(text, "f.yaml");
    std::string all;
    for (const auto& [key, value] : document.find("c")->members)
      all += key.text + "=" + value.text + "@" + std::to_string(value.line) + " ";
    return all;
  };
  const std::string anchors = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\n";
  CHECK(members(anchors + "c:\n  <<: *a\n  y: 5\n") == "x=1@1 y=5@5 ");
  CHECK(members(anchors + "c:\n  y: 5\n  <<: *a\n") == "y=5@4 x=1@1 ");
  CHECK(members(anchors + "c: {<<: [*a, *b]}\n") == "x=1@1 y=2@1 z=4@2 ");
  CHECK(members(anchors + "c: {<<: {y: 6}, <<: *b}\n") == "y=6@3 z=4@2 ");
  CHECK(members("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n") == "x=1@1 y=2@2 ");
  CHECK(members("c: {\"<<\": 1}\n") == "<<=1@1 ");
  CHECK(answer("a: 1\nb: {<<: 2}\n") ==
        "f.yaml:2:5: << merges other maps; expected an alias of one, <<: *name, or a list of them, "
        "<<: [*one, *two]");
}

TEST_CASE("texts that are no scenario are refused with the place") {
  CHECK(answer("") == "f.yaml:1:1: the file is empty; expected YAML");
  CHECK(answer("# only a remark\n") == "f.yaml:1:1: the file is empty; expected YAML");
  CHECK(answer("hello") == "f.yaml:1:1: expected a map with model, cluster, training and plan");
  CHECK(answer("a: 1\n---\nb: 2\n") ==
        "f.yaml:2:1: a second document starts here; expected one document per file");
  CHECK_THAT(answer("? [a, b]\n: c\n"),
             STEPCAST_HOLDS("f.yaml:1:1: a key must be text, not a list"));
  CHECK(answer("model: gpt3-175b\n cluster: [\n") ==
        "f.yaml:2:9: this is not YAML: illegal map value");
}

TEST_CASE("hopeless files get a short answer") {
  std::string keys;
  for (int i = 0; i < 5000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  const auto text = answer(keys);
  CHECK_THAT(text,
             STEPCAST_HOLDS("f.yaml: and 4903 more mistakes"));  // 5000 + 3 missing keys - 100
  CHECK(answer("model: " + std::string(100'000, 'x')).size() < 20'000);
}

TEST_CASE("files that are none, or far too large, are refused unread") {
  const auto folder = fs::temp_directory_path() / "stepcast_nasty_spec";
  fs::create_directories(folder);
  const auto big = folder / "big.yaml";
  std::ofstream(big).close();
  fs::resize_file(big, std::uintmax_t{100} << 20);
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(scenarios::load_scenario(big), STEPCAST_HOLDS("larger than 1 MiB"));
  CHECK_THROWS_WITH(scenarios::load_scenario(folder),
                    STEPCAST_HOLDS("is a directory; expected a file"));
  CHECK_THROWS_WITH(scenarios::load_scenario(folder / "none.yaml"), STEPCAST_HOLDS("no such file"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  fs::remove_all(folder);
}

TEST_CASE("a scenario with damaged bytes gives a scenario or an Error, never anything else") {
  const std::string file = GENERATE("scenarios/examples/bloom-176b-384-a100.yaml",
                                    "tests/fuzz/corpus/scenario/valid_every_key");
  const auto whole = scenarios::read_file(fs::path(STEPCAST_SOURCE_DIR) / file);
  const std::string marks = "{}[]:,-?&*!|>'\"%@#\n\t 0129x\xff";
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 2000; ++round) {
    auto text = whole;
    for (std::size_t edits = 1 + pick(4); edits > 0; --edits) {
      const auto at = pick(text.size());
      const auto mark = marks.substr(pick(marks.size()), 1);
      if (pick(3) == 0)
        text.erase(at, 1 + pick(20));
      else
        text.replace(at, pick(2), mark);
    }
    CHECK_FALSE(answer(text).empty());
  }
}

}  // namespace nasty_spec
