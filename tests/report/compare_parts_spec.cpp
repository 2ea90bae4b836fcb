// SPDX-License-Identifier: Apache-2.0
// The parts of a difference between two scenarios, made one after the other.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "report/compare.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace compare_parts_spec {

using forecast::Scenario;
using report::changes_between;

namespace {

// A scenario of which some parts are others. No key of it is there because of another: of a model
// with experts the division of experts is, under ZeRO 2 and 3 the time at which gradients go.
Scenario drawn(std::mt19937& random) {
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[std::uniform_int_distribution<std::size_t>(0, words.size() - 1)(random)];
  };
  return scenarios::read_scenario(
      "name: drawn\nmodel: " + one_of({"llama3-8b", "llama2-7b", "{base: llama3-8b, layers: 16}"}) +
          "\ncluster: {node: " + one_of({"dgx-h100", "dgx-a100-80gb"}) +
          ", nodes: 2}\ntraining: {sequence_length: " + one_of({"2048", "4096"}) +
          ", global_batch: " + one_of({"64", "128"}) + ", optimizer: " + one_of({"adamw", "sgd"}) +
          "}\nsoftware: " + one_of({"megatron-core", "torchtitan"}) + "\nplan: {tensor: " +
          one_of({"1", "2"}) + ", sequence_parallel: true, zero: " + one_of({"0", "1"}) +
          ", micro_batch: " + one_of({"1", "2"}) +
          one_of({"", ", recompute: full", ", recompute: {full_layers: 2}"}) +
          one_of({"", ", bucket: 100 MB"}) + one_of({"", ", overlap: {tensor: true}"}) + "}\n",
      "drawn");
}

std::vector<std::string> paths_of(const std::vector<report::Change>& changes) {
  std::vector<std::string> paths;
  for (const auto& change : changes) paths.push_back(change.path);
  return paths;
}

}  // namespace

TEST_CASE("the changes of one scenario to another are those back, turned round") {
  std::mt19937 random(41);
  for (int i = 0; i < 60; ++i) {
    const auto from = drawn(random), to = drawn(random);
    auto there = changes_between(from, to), back = changes_between(to, from);
    const auto by_path = &report::Change::path;
    std::ranges::sort(there, {}, by_path);
    std::ranges::sort(back, {}, by_path);
    REQUIRE(paths_of(there) == paths_of(back));
    for (std::size_t c = 0; c < there.size(); ++c) {
      INFO(there[c].path);
      CHECK(there[c].from == back[c].to);
      CHECK(there[c].to == back[c].from);
      CHECK(there[c].from != there[c].to);
    }
    CHECK(changes_between(from, from).empty());
  }
}

// Steps between the two may not fit together; the document is looked at, not the scenario.
TEST_CASE("a part of a difference makes what it is of, and nothing that is of another part") {
  std::mt19937 random(42);
  int parts_tried = 0;
  for (int i = 0; i < 60; ++i) {
    const auto from = drawn(random), to = drawn(random);
    const auto all = changes_between(from, to);
    for (const auto& part : report::parts_of(all)) {
      Scenario made;
      try {
        made = scenarios::read_scenario(report::with_part(from, to, part), "made");
      } catch (const std::exception&) {
        continue;  // not alone
      }
      ++parts_tried;
      INFO(part);
      const auto is_of = [&](const std::string& path) {
        return path == part || path.starts_with(part + ".");
      };
      // The rest of the difference is of other parts, or follows.
      for (const auto& left : changes_between(made, to)) {
        INFO(left.path);
        CHECK_FALSE(is_of(left.path));
      }
      for (const auto& done : changes_between(from, made)) {
        INFO(done.path);
        CHECK((is_of(done.path) || done.path == "plan.data"));
      }
    }
  }
  CHECK(parts_tried >= 100);
}

}  // namespace compare_parts_spec
