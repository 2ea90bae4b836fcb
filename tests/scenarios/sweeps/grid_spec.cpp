// SPDX-License-Identifier: Apache-2.0
// Grids of a sweep: how points are numbered, sorted and left out, beside a slow way to the same.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/sweeps/grid.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace grid_spec {

namespace {

using scenarios::Axis;
using scenarios::Grid;
using scenarios::Value;

Value scalar(const std::string& text) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = text;
  return value;
}

// An axis of one path with these values.
Axis axis(const std::string& path, const std::vector<std::string>& texts) {
  Axis made{{path}, {}};
  for (const auto& text : texts) made.values.push_back({scalar(text)});
  return made;
}

Grid sized(const std::vector<std::size_t>& sizes) {
  Grid grid;
  for (const auto size : sizes) grid.axes.push_back(axis("a", std::vector<std::string>(size, "1")));
  return grid;
}

// The values of one axis in the order in which reports sort them.
std::string in_order(const std::vector<std::string>& texts) {
  Grid grid;
  grid.axes = {axis("a", texts)};
  const auto order = scenarios::sorted_indices(grid);
  std::string all;
  for (const auto index : order.front()) all += (all.empty() ? "" : ", ") + texts[index];
  return all;
}

const std::string base =
    "base:\n  model: gpt3-175b\n  cluster: {node: dgx-a100-80gb, nodes: 16}\n"
    "  training: {sequence_length: 2048, global_batch: 1536}\n  plan: {pipeline: 8}\n";

Grid read(const std::string& text) { return scenarios::read_grid(base + text, "s.yaml", {}); }

std::string mistake(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a position and the indices along all axes are the same point") {
  std::mt19937 random(3);
  for (unsigned n = 0; n < 200 / tests::fewer; ++n) {
    std::vector<std::size_t> sizes(1 + random() % 4);
    for (auto& size : sizes) size = 1 + random() % 5;
    const auto grid = sized(sizes);
    std::vector<std::size_t> all(sizes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::size_t product = 1;
    for (const auto size : sizes) product *= size;
    REQUIRE(scenarios::positions(grid) == static_cast<std::int64_t>(product));
    CHECK(scenarios::combinations(grid, all) == product);
    std::vector<std::size_t> counted(sizes.size(), 0);  // as an odometer counts
    for (std::size_t at = 0; at < product; ++at) {
      CHECK(scenarios::indices_at(grid, static_cast<std::int64_t>(at)) == counted);
      CHECK(scenarios::combination_of(grid, all, counted) == at);
      CHECK(scenarios::indices_of(grid, all, at) == counted);
      for (auto i = sizes.size(); i-- > 0;) {
        if (++counted[i] < sizes[i]) break;
        counted[i] = 0;
      }
    }
  }
}

TEST_CASE("combinations of some axes leave the others at their first value") {
  const auto grid = sized({2, 3, 4});
  const std::vector<std::size_t> outer{0, 2}, none;
  CHECK(scenarios::combinations(grid, outer) == 8);
  CHECK(scenarios::combinations(grid, none) == 1);
  CHECK(scenarios::indices_of(grid, outer, 5) == std::vector<std::size_t>{1, 0, 1});
  CHECK(scenarios::combination_of(grid, outer, std::vector<std::size_t>{1, 2, 1}) == 5);
}

TEST_CASE("a grid of too many points has as many as can be counted") {
  CHECK(scenarios::positions(sized({1000, 1000, 1000})) == 1'000'000'000);
  CHECK(scenarios::positions(sized(std::vector<std::size_t>(7, 1000))) == std::int64_t{1} << 62);
}

TEST_CASE("values of an axis are sorted by their size, in the unit that all of them have") {
  struct Case {
    std::vector<std::string> texts;
    const char* sorted;
  };
  for (const auto& one :
       std::vector<Case>{{{"10", "9", "1e1", "-3"}, "-3, 9, 10, 1e1"},
                         {{"2 GiB", "512 MiB", "1 GiB"}, "512 MiB, 1 GiB, 2 GiB"},
                         {{"1 ms", "900 us", "2 s"}, "900 us, 1 ms, 2 s"},
                         {{"400 Gbit/s", "60 GB/s"}, "400 Gbit/s, 60 GB/s"},
                         {{"2 PFLOP/s", "989 TFLOP/s"}, "989 TFLOP/s, 2 PFLOP/s"},
                         {{"1 MW", "700 W"}, "700 W, 1 MW"},
                         {{"3e5 USD", "20 USD"}, "20 USD, 3e5 USD"},
                         {{"gpipe", "1f1b", "8"}, "8, 1f1b, gpipe"},
                         {{"true", "false"}, "false, true"},
                         {{"2 GiB", "1 ms"}, "1 ms, 2 GiB"}}) {  // of two kinds: by letters
    CHECK(in_order(one.texts) == one.sorted);
  }
}

TEST_CASE("the sorted visit comes to every position once, in the order of all axes") {
  Grid grid;
  grid.axes = {axis("a", {"8", "2", "4"}), axis("b", {"b", "a"})};
  std::vector<std::int64_t> visited;
  scenarios::for_each_sorted(grid, [&](std::int64_t position) { visited.push_back(position); });
  // Positions count b fastest: 2 is at 2 and 3, 4 at 4 and 5, 8 at 0 and 1.
  CHECK(visited == std::vector<std::int64_t>{3, 2, 5, 4, 1, 0});
  CHECK(std::set<std::int64_t>(visited.begin(), visited.end()).size() == 6);
}

TEST_CASE("the points that a condition leaves in are those of a loop over all values") {
  const auto grid = read(
      "vary: {plan.tensor: [1, 2, 4, 8], plan.micro_batch: [1, 2, 3], cluster.nodes: [8, 16]}\n"
      "only_if: plan.tensor * plan.micro_batch < 9 and (cluster.nodes == 16 or plan.tensor > 2)\n");
  int expected = 0;
  std::int64_t position = 0;
  for (const int tensor : {1, 2, 4, 8})
    for (const int micro : {1, 2, 3})
      for (const int nodes : {8, 16}) {
        const bool in = tensor * micro < 9 && (nodes == 16 || tensor > 2);
        CHECK(scenarios::holds(grid, position++) == in);
        expected += in ? 1 : 0;
      }
  CHECK(scenarios::count(grid) == expected);
  CHECK(scenarios::positions(grid) == 24);
}

TEST_CASE("mistakes of axes and of what follows them say what to write") {
  struct Case {
    const char *text, *mistake;
  };
  for (const auto& one : std::vector<Case>{
           {"vary: {plan.tensor: []}",
            "s.yaml:6:21: vary.plan.tensor: a list without values; expected one at least"},
           {"vary: {}",
            "s.yaml:1:1: missing key 'vary'; a sweep needs axes: paths with a list or a range of "
            "values"},
           {"vary: {plan.tensor: 4}",
            "s.yaml:6:21: vary.plan.tensor: expected a list of values, or a range such as {from: "
            "1, to: 8, factor: 2}"},
           {"vary: {plan.tensor: {from: 1, to: 8}}",
            "s.yaml:6:21: vary.plan.tensor: a range has from, to, and either step or factor: "
            "{from: 1, to: 8, factor: 2}"},
           {"vary: {plan.tensor: {from: 1, to: 8, step: 0}}",
            "s.yaml:6:21: vary.plan.tensor: a step of 0 never leads from 1 to 8"},
           {"vary: {plan.tensor: {from: 1, to: 8, factor: 1}}",
            "s.yaml:6:21: vary.plan.tensor: a range with a factor grows: from above zero, to no "
            "less, factor above one"},
           {"together: [{plan.tensor: [1, 2], plan.zero: [1]}]",
            "s.yaml:6:45: together.0.plan.zero: 1 values, but plan.tensor has 2; they move "
            "together"},
           {"vary: {plan.tensor: [1, 2]}\nfollow: {plan.zero: {of: [plan.tensor], values: [1]}}",
            "s.yaml:7:49: follow.plan.zero.values: 1 values, but these axes have 2 combinations"},
           {"vary: {plan.tensor: [1]}\nfollow: {plan.zero: {of: [plan.pipeline], values: [1]}}",
            "s.yaml:7:27: follow.plan.zero.of.0: 'plan.pipeline' is not varied; name paths under "
            "vary or together"},
           {"vary: {plan.tensor: [1]}\nfollow: {plan.zero: {of: [plan.tensor]}}",
            "s.yaml:7:21: follow.plan.zero: expected {of: [PATH], values: [a value for each "
            "combination]}"},
           {"vary: {plan.tensor: [1]}\nonly_if: plan.layers == 1",
            "s.yaml:7:10: only_if: plan.layers is neither varied nor written in the base; write it "
            "there"},
           {"vary: {plan.tensor: [1]}\nonly_if: plan.tensor == 3",
            "s.yaml:7:10: only_if: holds for no point of the sweep"}}) {
    INFO(one.text);
    CHECK(mistake(one.text) == one.mistake);
  }
}

}  // namespace grid_spec
