// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <map>
#include <string>

#include "scenarios/documents/error.hpp"
#include "scenarios/measured/collective_tables.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace collective_tables_spec {

using scenarios::load_collective_table;

namespace {

namespace fs = std::filesystem;

const fs::path tables = fs::path(STEPCAST_SOURCE_DIR) / "scenarios/collectives";

// A folder with one table, removed at the end of the test.
struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& yaml, const std::string& csv) const {
    std::ofstream(path / "mine.yaml") << yaml;
    std::ofstream(path / "mine.csv") << csv;
  }
  fs::path path = fs::temp_directory_path() / "stepcast_collective_tables_spec";
};

const std::string yaml = "source: me\ncluster: {node: dgx-h100, nodes: 1}\n";
const std::string header = "tool,collective,nodes,gpus,size_bytes,time_us\n";

std::string complaint(const std::string& machine, const std::string& csv) {
  const Folder folder;
  folder.write(machine, csv);
  try {
    load_collective_table(folder.path, "mine");
  } catch (const scenarios::Error& wrong) {
    auto text = std::string(wrong.what());
    const auto where = folder.path.string() + "/";
    for (auto at = text.find(where); at != text.npos; at = text.find(where))
      text.erase(at, where.size());
    return text;
  }
  return "none";
}

}  // namespace

// The bounds are those of docs/model/collectives.md: 8 % from 32 MiB up and 15 % below. Tables
// taken through a framework scatter by more and are not held to them.
TEST_CASE("every published table of the library is predicted within its bounds") {
  // No smooth curve follows the two p5 nodes: 64 and 128 MiB have the same bandwidth, then it
  // triples up to 2 GiB (the choice of a plug-in of the provider).
  const std::map<std::string, double> missed{{"h100_2x8_allreduce_efa_eks_aws", 0.14}};
  int rows = 0;
  for (const auto& name : scenarios::collective_table_names(tables)) {
    const auto scored = topology::score(load_collective_table(tables, name));
    rows += static_cast<int>(scored.rows.size());
    if (scored.framework) continue;
    INFO(name);
    const auto exception = missed.find(name);
    const double bound = exception == missed.end() ? 0.08 : exception->second;
    if (scored.large.absolute) CHECK(*scored.large.absolute <= bound);
    if (scored.small.absolute) CHECK(*scored.small.absolute <= 0.15);
  }
  CHECK(rows > 500);
}

TEST_CASE("a published table is read as it is, quotes and other columns included") {
  const Folder folder;
  folder.write(yaml + "framework: true\ncall: 3 us\n",
               header + "\"nccl-tests, -g 8\",all_gather,1,8,1024,12.5\r\n# a remark\n");
  const auto table = load_collective_table(folder.path, "mine");
  REQUIRE(table.points.size() == 1);
  CHECK(table.points[0].collective == topology::Collective::all_gather);
  CHECK(table.points[0].group.ranks == 8);
  CHECK(table.points[0].size.value == 1024);
  CHECK(table.points[0].measured.value == 12.5e-6);
  CHECK(table.framework);
  CHECK(table.call.value == 3e-6);
  const std::vector<std::string> sets{"cluster.node.nvlink.launch=9 us"};
  CHECK(load_collective_table(folder.path, "mine", sets).cluster.node.nvlink.launch ==
        units::Seconds{9e-6});
}

TEST_CASE("a wrong table is refused where it is wrong") {
  const std::string good = "x,all_reduce,1,8,1024,12.5\n";
  CHECK(complaint(yaml, header + good) == "none");
  CHECK(complaint(yaml, header) ==
        "mine.csv:1:1: expected a header line and at least one measurement");
  CHECK(complaint(yaml, header + good + "x,all_reduce,1,8,1024,no\n") ==
        "mine.csv:3:23: time_us must be a positive number, not 'no'");
  CHECK(complaint(yaml, header + "x,gather,1,8,1024,1\n") ==
        "mine.csv:2:3: unknown collective 'gather'; expected all_reduce, all_gather, "
        "reduce_scatter, all_to_all, broadcast or reduce");
  CHECK(complaint(yaml, header + "x,all_reduce,2,16,1024,1\n") ==
        "mine.csv:2:16: the group is larger than the cluster: 2 nodes of 8 GPUs on 1 nodes of 8");
  CHECK(complaint(yaml, header + "x,all_reduce,2,3,1024,1\n") ==
        "mine.csv:2:14: 3 GPUs do not lie evenly on 2 nodes");
  CHECK(complaint(yaml, header + "x,all_reduce,1,8,1024,no\n" + good + "x,all_reduce,1,8,0,1\n") ==
        "mine.csv:2:23: time_us must be a positive number, not 'no'\n"
        "mine.csv:4:18: size_bytes must be a positive number, not '0'");
  CHECK(complaint("source: me\ncluster: {node: dgx-h10, nodes: 1}\n", header + good)
            .starts_with("mine.yaml:2:17: cluster.node: unknown node 'dgx-h10'"));
  CHECK_THAT(complaint("cluster: {node: dgx-h100, nodes: 1}\n", header + good),
             STEPCAST_HOLDS("missing key 'source'"));
}

TEST_CASE("NICs that do not match the GPUs, and links without bandwidth, are refused") {
  const auto refused = [](const std::string& cluster) {
    try {
      scenarios::read_scenario(
          "model: llama2-7b\ncluster: " + cluster +
              "\ntraining: {sequence_length: 2048, global_batch: 48, precision: fp16}\n",
          "file");
    } catch (const scenarios::Error& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  CHECK(refused("{node: {base: dgx-h100, nics: {count: 3}}, nodes: 2}") ==
        "file:2:48: cluster.node.nics.count: 3 NICs do not match 8 GPUs; one number must divide "
        "the other, so that every GPU has a NIC nearest to it");
  CHECK(refused("{node: {base: dgx-h100, nics: {count: 16}}, nodes: 2}").empty());
  CHECK(refused("{node: {base: dgx-1v, gpus: 6}, nodes: 2}").empty());  // 3 of its 4 NICs
  CHECK(refused("{node: {base: dgx-1v, gpus: 3}, nodes: 2}") ==         // half of 4, rounded up
        "file:2:38: cluster.node.gpus: 2 NICs do not match 3 GPUs; one number must divide the "
        "other, so that every GPU has a NIC nearest to it");
  CHECK_THAT(refused("{node: dgx-h100, nodes: 2, fabric: {base: efa-100g, link_bandwidth: 0}}"),
             STEPCAST_HOLDS("cluster.fabric.link_bandwidth: 0 is out of range"));
}

}  // namespace collective_tables_spec
