// SPDX-License-Identifier: Apache-2.0
// Sweeps as people write them: axes, conditions, points, and every mistake at once.
#include <filesystem>
#include <fstream>

#include "scenarios/documents/value_json.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace sweep_file_spec {

namespace {

using scenarios::Grid;

const std::string base = R"(
base:
  model: gpt3-175b
  cluster: {node: dgx-a100-80gb, nodes: 16}
  training: {sequence_length: 2048, global_batch: 1536}
  plan: {pipeline: 8}
)";

Grid grid(const std::string& text, const tests::Sets& sets = {}) {
  return scenarios::read_grid(base + text, "s.yaml", sets);
}

// The values of the varied paths at a position, in the order of axis_names.
std::vector<const scenarios::Value*> values_at(const Grid& grid, std::int64_t position) {
  const auto indices = scenarios::indices_at(grid, position);
  std::vector<const scenarios::Value*> values;
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    for (const auto& value : grid.axes[axis].values[indices[axis]]) values.push_back(&value);
  return values;
}

// The values of every position, as "16 1, 16 2".
std::string points(const Grid& grid) {
  std::string all;
  for (std::int64_t position = 0; position < scenarios::positions(grid); ++position) {
    if (!scenarios::holds(grid, position)) continue;
    std::string one;
    for (const auto* value : values_at(grid, position))
      one += (one.empty() ? "" : " ") + value->text;
    all += (all.empty() ? "" : ", ") + one;
  }
  return all;
}

std::string mistakes(const std::string& text, const tests::Sets& sets = {}) {
  try {
    scenarios::read_grid(text, "s.yaml", sets);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("the points of a grid are every combination, the last axis fastest") {
  const auto two = grid("vary: {cluster.nodes: [16, 32], plan.tensor: [1, 2, 4]}");
  CHECK(points(two) == "16 1, 16 2, 16 4, 32 1, 32 2, 32 4");
  CHECK(scenarios::axis_names(two) == std::vector<std::string>{"cluster.nodes", "plan.tensor"});
  CHECK(scenarios::count(two) == 6);
}

TEST_CASE("ranges step or multiply, their end included") {
  CHECK(points(grid("vary: {plan.tensor: {from: 1, to: 8, factor: 2}}")) == "1, 2, 4, 8");
  CHECK(points(grid("vary: {plan.tensor: {from: 1, to: 7, factor: 2}}")) == "1, 2, 4");
  CHECK(points(grid("vary: {cluster.nodes: {from: 16, to: 64, step: 16}}")) == "16, 32, 48, 64");
  CHECK(points(grid("vary: {cluster.nodes: {from: 4, to: 1, step: -1}}")) == "4, 3, 2, 1");
  CHECK(points(grid("vary: {cluster.memory_fraction: {from: 0.7, to: 1, step: 0.1}}")) ==
        "0.7, 0.8, 0.9, 1");
}

TEST_CASE("axes that move together make one value of each list a point") {
  const auto both = grid(R"(
vary: {plan.tensor: [1, 2]}
together:
  - {cluster.node: [dgx-a100-80gb, dgx-h100], training.precision: [bf16, fp8]}
)");
  CHECK(points(both) ==
        "1 dgx-a100-80gb bf16, 1 dgx-h100 fp8, 2 dgx-a100-80gb bf16, 2 dgx-h100 fp8");
}

TEST_CASE("a condition sees varied values, written ones, and defaults of keys left out") {
  CHECK(points(grid("vary: {plan.tensor: [1, 2, 4, 8]}\n"
                    "only_if: plan.tensor * plan.pipeline <= 32")) == "1, 2, 4");
  CHECK(points(grid("vary: {plan.tensor: [1, 8]}\nonly_if: plan.context == 1")) == "1, 8");
  CHECK(points(grid("vary: {plan.schedule: [gpipe, 1f1b]}\nonly_if: plan.schedule != 'gpipe'")) ==
        "1f1b");
  CHECK(points(grid("vary: {plan.sequence_parallel: [true, false]}\n"
                    "only_if: not plan.sequence_parallel")) == "false");
}

TEST_CASE("a condition sees GPUs, nodes and replicas that follow from the rest") {
  const std::string axes = "vary: {cluster.nodes: [15, 16], plan.tensor: [2, 4]}\n";
  CHECK(points(grid(axes + "only_if: cluster.gpus == 120")) == "15 2, 15 4");
  CHECK(points(grid(axes + "only_if: cluster.gpus % (plan.tensor * plan.pipeline) == 0")) ==
        "16 2, 16 4");
  CHECK(points(grid(axes + "only_if: plan.data == 8 and cluster.nodes == 16")) == "16 2");
}

TEST_CASE("a point is the base with its values, read as any scenario") {
  const auto two = grid("vary: {plan.tensor: [8, 7], plan.recompute: [null, full]}");
  scenarios::PointReader reader(two);
  const auto first = reader.scenario(0), second = reader.scenario(1), third = reader.scenario(2);
  REQUIRE(first.value);
  CHECK(first.value->plan.tensor == 8);
  CHECK(first.value->plan.data == 2);  // 128 GPUs over 8 x 8
  CHECK(first.value->plan.recompute.kind == strategies::Recompute::Kind::none);
  CHECK(second.value->plan.recompute.kind == strategies::Recompute::Kind::full);
  CHECK_FALSE(third.value);
  CHECK_THAT(third.reason, STEPCAST_HOLDS("plan.tensor: 7 does not divide 96"));
  CHECK(reader.document(3) ==
        R"({"model":"gpt3-175b","cluster":{"node":"dgx-a100-80gb","nodes":16},)"
        R"("training":{"sequence_length":2048,"global_batch":1536},)"
        R"("plan":{"pipeline":8,"tensor":7,"recompute":"full"}})");
}

TEST_CASE("a point reads as the file with the same --set does") {
  const auto grid = sweep_file_spec::grid(R"(vary:
  cluster.nodes: [16, 64]
  cluster.node.nics.latency: [1 us, 3 us]
  model.layers: [48, 96]
  plan.zero: [0, 1]
)");
  scenarios::PointReader reader(grid);
  const auto text = base.substr(base.find("model"));
  for (std::int64_t position = 0; position < scenarios::positions(grid); ++position) {
    tests::Sets sets{};
    const auto names = scenarios::axis_names(grid);
    const auto values = values_at(grid, position);
    for (std::size_t i = 0; i < names.size(); ++i) sets.push_back(names[i] + "=" + values[i]->text);
    std::string alone = "  " + text;  // the mapping under `base`, two columns to the right
    CHECK(scenarios::read_scenario(alone, "f.yaml", sets) == *reader.scenario(position).value);
  }
}

TEST_CASE("--set changes the sweep where it has the key, and its base elsewhere") {
  const tests::Sets sets{"plan.pipeline=4", "vary.plan.tensor=[1, 2]", "mode=search",
                         "base.training.global_batch=64"};
  const auto changed = grid("vary: {plan.tensor: [8], plan.zero: [0]}", sets);
  CHECK(points(changed) == "1 0, 2 0");  // zero stays in its place
  CHECK(changed.mode == Grid::Mode::search);
  CHECK_THAT(scenarios::json_of(changed.base), STEPCAST_HOLDS(R"("plan":{"pipeline":4})"));
  CHECK_THAT(scenarios::json_of(changed.base), STEPCAST_HOLDS(R"("global_batch":64)"));
  CHECK(points(grid("vary: {plan.tensor: [8], plan.zero: [0, 1]}", {"vary.plan.tensor=null"})) ==
        "0, 1");
}

TEST_CASE("every mistake of a sweep is told at once, at its place") {
  CHECK(mistakes(R"(name: x
bas: y
mode: simulat
vary:
  cluster.node.nics.cound: [1]
  plan.tensor: []
  plan.zero: 3
  cluster.nodes: {from: 1, to: 8}
  training.global_batch: [1, 2, 1]
  name.first: [1]
together:
  - {plan.tensor: [1, 2], plan.context: [1]}
  - plan.pipeline
only_if: plan.tensor <=
)") == R"(s.yaml:1:1: missing key 'base'; a sweep needs a scenario: a file, or the scenario itself
s.yaml:2:1: bas: unknown key; expected one of name, base, mode, vary, together, follow, only_if; did you mean 'base'?
s.yaml:3:7: mode: unknown value 'simulat'; expected one of simulate, search; did you mean 'simulate'?
s.yaml:5:3: vary.cluster.node.nics.cound: unknown key 'cound'; expected one of count, bandwidth, latency; did you mean 'count'?
s.yaml:6:16: vary.plan.tensor: a list without values; expected one at least
s.yaml:7:14: vary.plan.zero: expected a list of values, or a range such as {from: 1, to: 8, factor: 2}
s.yaml:8:18: vary.cluster.nodes: a range has from, to, and either step or factor: {from: 1, to: 8, factor: 2}
s.yaml:9:26: vary.training.global_batch: 1 stands there twice; keep one of them
s.yaml:10:3: vary.name.first: 'first' leads nowhere: no scenario has keys there
s.yaml:12:41: together.0.plan.context: 1 values, but plan.tensor has 2; they move together
s.yaml:13:5: together.1: a single value where a map belongs
s.yaml:14:24: only_if: expected a path, a number or '(', but the condition ends)");
}

TEST_CASE("ranges that never end, or that nobody can mean, are refused") {
  const auto of = [](const std::string& range) {
    const auto all = mistakes(base + "vary: {plan.tensor: " + range + "}");
    return all.substr(all.find("tensor: ") + 8);
  };
  CHECK(of("{from: 1, to: 8, step: -1}") == "a step of -1 never leads from 1 to 8");
  CHECK(of("{from: 1, to: 8, step: 0}") == "a step of 0 never leads from 1 to 8");
  const auto grows = "a range with a factor grows: from above zero, to no less, factor above one";
  CHECK(of("{from: 0, to: 8, factor: 2}") == grows);
  CHECK(of("{from: 1, to: 8, factor: 1}") == grows);
  CHECK(of("{from: 8, to: 1, factor: 2}") == grows);
  CHECK(of("{from: 1, to: 1e9, step: 1}") == "makes more than 1,000,000 values");
}

TEST_CASE("mistakes of conditions point into them") {
  const auto of = [](const std::string& condition) {
    return mistakes(base + "vary: {plan.tensor: [1, 2]}\nonly_if: " + condition);
  };
  CHECK(of("plan.tensor * plan.pipelin <= 64")
            .starts_with("s.yaml:8:24: only_if: plan.pipelin: unknown key 'pipelin'; expected"));
  const auto both = of("plan.tensr * plan.zro <= 64");
  CHECK(both.starts_with("s.yaml:8:10: only_if: plan.tensr: unknown key 'tensr'; expected"));
  CHECK(both.find("s.yaml:8:23: only_if: plan.zro: unknown key 'zro'; expected") != both.npos);
  CHECK(of("plan.tensor <= ") ==
        "s.yaml:8:24: only_if: expected a path, a number or '(', but the condition ends");
  CHECK(of("\"plan.tensor < 'a'\"") ==
        "s.yaml:8:23: only_if: 1 and 'a' cannot be compared: they are of different kinds");
  CHECK(of("plan.tensor > 2") == "s.yaml:8:10: only_if: holds for no point of the sweep");
  CHECK(of("model == 3") ==
        "s.yaml:8:16: only_if: 'gpt3-175b' and 3 cannot be compared: they are of different kinds");
  CHECK(of("plan.layers_per_stage == 3") ==
        "s.yaml:8:10: only_if: plan.layers_per_stage is neither varied nor written in the base; "
        "write it there");
  CHECK(of("cluster == 3").starts_with("s.yaml:8:10: only_if: unknown name; a path has"));
}

TEST_CASE("a sweep needs axes, and not too many points") {
  CHECK(mistakes(base) ==
        "s.yaml:2:1: missing key 'vary'; a sweep needs axes: paths with a list or a range of "
        "values");
  CHECK(mistakes(base + R"(vary:
  cluster.nodes: {from: 1, to: 10000, step: 1}
  training.global_batch: {from: 1, to: 100000, step: 1}
)") == "s.yaml:2:1: the axes make 1,000,000,000 combinations; at most 10,000,000 make a sweep");
  CHECK(mistakes("base: no-such.yaml\nvary: {plan.tensor: [1]}") ==
        "s.yaml:1:7: base: cannot be read: no-such.yaml: no such file");
  CHECK(mistakes("[]") ==
        "s.yaml:1:1: expected a map with base, vary and perhaps mode, together, only_if");
  CHECK(mistakes(base + "vary: {plan.tensor: [1], plan.tensor: [2]}") ==
        "s.yaml:7:26: vary.plan.tensor: is varied twice; keep one of them");
  CHECK(mistakes(base + "vary: {plan.tensor: [1]}", {"vary.plan.zer=[1]", "plan.tensor=9"})
            .starts_with("--set 1: vary.plan.zer: unknown key 'zer'; expected"));
}

TEST_CASE("a --set of a key that is varied is refused, with one that changes the axis") {
  const auto text = base +
                    "vary: {plan.tensor: [1, 2], cluster.node: [dgx-h100]}\n"
                    "together: [{plan.zero: [0, 1]}]\n";
  CHECK(mistakes(text, {"plan.micro_batch=2", "plan.tensor=8", "base.plan.tensor=4"}) ==
        "--set 2: plan.tensor: is varied; change the axis: --set 'vary.plan.tensor=[8]'\n"
        "--set 3: plan.tensor: is varied; change the axis: --set 'vary.plan.tensor=[4]'");
  CHECK(mistakes(text, {"plan.zero=1", "cluster.node.gpus=4"}) ==
        "--set 1: plan.zero: is varied; change together.0.plan.zero in the sweep\n"
        "--set 2: cluster.node.gpus: cluster.node, which holds it, is varied; change "
        "vary.cluster.node in the sweep");
  CHECK(mistakes(text, {"vary.plan.tensor=[8]"}) == "none");
  CHECK(mistakes(text, {"vary.plan.tensor=null", "plan.tensor=8"}) == "none");
}

TEST_CASE("no path of a sweep overwrites values of another") {
  CHECK(mistakes(base + "vary: {plan.zero: [0, 1, x], plan: [{tensor: 2, zero: 1}]}") ==
        "s.yaml:7:30: vary.plan: overwrites values of plan.zero, which is varied too; keep one of "
        "them");
  CHECK(mistakes(base + "vary: {plan: [{tensor: 2, zero: 1}], plan.zero: [0, 1]}") ==
        "s.yaml:7:38: vary.plan.zero: overwrites values of plan, which is varied too; keep one of "
        "them");
  CHECK(mistakes(base + "together: [{plan.zero: [0, 1], plan: [{tensor: 1}, {tensor: 2}]}]") ==
        "s.yaml:7:32: together.0.plan: overwrites values of plan.zero, which is varied too; keep "
        "one of them");
  CHECK(mistakes(base + "vary: {plan.tensor: [1, 2]}\nfollow: {plan: {of: [plan.tensor], values: "
                        "[{zero: 1}, {tensor: 8}]}}") ==
        "s.yaml:7:8: vary.plan.tensor: overwrites values of plan, which is varied too; keep one of "
        "them");
  CHECK(mistakes(base + "vary: {plan: [{tensor: 1}]}\nfollow: {plan.zero: {of: [plan], values: "
                        "[1]}}") ==
        "s.yaml:7:8: vary.plan: overwrites values of plan.zero, which is varied too; keep one of "
        "them");
}

TEST_CASE("a path may add to what another one says before it") {
  const auto sizes = grid(
      "vary: {cluster.node: [dgx-a100-80gb, dgx-h100], "
      "cluster.node.nics.bandwidth: [200 Gbit/s, 400 Gbit/s], plan: [{tensor: 2}, {tensor: 4}], "
      "plan.zero: [0, 1]}");
  CHECK(count(sizes) == 16);
  scenarios::PointReader points(sizes);
  const auto& last = points.scenario(15).value;
  CHECK(last->plan.tensor == 4);
  CHECK(last->plan.zero == 1);
}

TEST_CASE("rows are sorted by value: numbers and quantities by size, words by their letters") {
  const auto sorted = [](const std::string& list) {
    const auto one = grid("vary: {cluster.node.nics.bandwidth: " + list + "}");
    const auto order = scenarios::sorted_indices(one);
    std::string words;
    for (const auto index : order.front())
      words += (words.empty() ? "" : ", ") + one.axes.front().values[index].front().text;
    return words;
  };
  CHECK(sorted("[128, 16, 32]") == "16, 32, 128");
  CHECK(sorted("[400 Gbit/s, 25 GB/s, 1 Tbit/s]") == "25 GB/s, 400 Gbit/s, 1 Tbit/s");
  CHECK(sorted("[selective, none, full]") == "full, none, selective");
  CHECK(sorted("[b, 10, a, 9]") == "9, 10, a, b");
}

TEST_CASE("a definition stands for the grid: read again, it has the same points") {
  const auto first = grid(R"(
vary: {cluster.nodes: {from: 16, to: 64, factor: 2}, plan.recompute: [none, {full_layers: 3}]}
together: [{plan.tensor: [1, 2], plan.zero: [0, 1]}]
only_if: plan.tensor * cluster.nodes < 100
)");
  const auto text = scenarios::definition(first);
  const auto again = scenarios::read_grid(text, "definition");
  CHECK(scenarios::definition(again) == text);
  CHECK(points(again) == points(first));
  CHECK(text.find('\n') == text.npos);
}

TEST_CASE("files that scenarios name belong to a sweep") {
  const auto folder = std::filesystem::temp_directory_path() / "stepcast_sweep_beside";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "my.csv") << "kernels";
  const auto beside = [&](const std::string& text) {
    return scenarios::files_beside(scenarios::read_grid(text, "s.yaml", {}, folder));
  };
  CHECK(beside(base + "vary: {plan.tensor: [1]}").empty());
  CHECK(beside(base + "vary: {cluster.node.device.kernels: [my.csv]}") == "my.csv\nkernels");
  CHECK(beside("base: {cluster: {node: {device: {kernels: my.csv}}}}\nvary: {plan.tensor: [1]}") ==
        "my.csv\nkernels");
  std::ofstream(folder / "s.yaml")
      << base << "vary: {cluster.node.device.kernels: [my.csv, h100.csv]}";
  scenarios::Files read;
  scenarios::load_grid(folder / "s.yaml", {}, &read);  // h100.csv is the catalog's
  CHECK(read == scenarios::Files{folder / "s.yaml", folder / "my.csv"});
  std::filesystem::remove_all(folder);
}

}  // namespace sweep_file_spec
