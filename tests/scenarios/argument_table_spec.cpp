// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>

#include "scenarios/documents/file.hpp"
#include "scenarios/jobs/argument_table.hpp"
#include "tests/catch.hpp"

TEST_CASE("no table has an argument twice, by its name or by another") {
  const auto folder = std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios/jobs/tables";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".csv") continue;
    INFO(file.path());
    std::set<std::string_view> seen;
    for (const auto& known : scenarios::arguments_of(file.path().stem().string()).all()) {
      INFO(known.name);
      CHECK(seen.insert(known.name).second);
      for (const auto alias : known.aliases) {
        INFO(alias);
        CHECK(seen.insert(alias).second);
      }
    }
  }
}

TEST_CASE("arguments that begin alike are found once each, in the order of their names") {
  const scenarios::ArgumentTable table("--ab,--a --abc,1,,none,\n--b,,1,,none,\n--ad,,1,,none,\n");
  const auto found = table.beginning("--a");
  REQUIRE(found.size() == 2);
  CHECK(found[0]->name == "--ab");
  CHECK(found[1]->name == "--ad");
  CHECK(table.beginning("--c").empty());
}

TEST_CASE("the documentation counts the arguments of Megatron-LM's table") {
  std::size_t without_effect = 0;
  const auto& all = scenarios::arguments_of("megatron").all();
  for (const auto& known : all)
    if (known.effect == scenarios::Effect::none) ++without_effect;
  const auto text =
      scenarios::read_file(std::filesystem::path(STEPCAST_SOURCE_DIR) / "docs/jobs.md");
  const auto said = std::to_string(all.size() - without_effect) + " that may change a step and " +
                    std::to_string(without_effect) + " others";
  INFO(said);
  CHECK(text.find(said) != text.npos);
}
