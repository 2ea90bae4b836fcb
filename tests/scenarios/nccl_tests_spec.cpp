// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/nccl_tests.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "topology/collective.hpp"

namespace nccl_tests_spec {

using scenarios::read_nccl_tests;
using topology::Collective;

namespace {

const std::filesystem::path logs =
    std::filesystem::path(STEPCAST_SOURCE_DIR) / "tests/scenarios/nccl";

std::string complaint(const std::string& log) {
  try {
    read_nccl_tests(log, "log");
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "none";
}

const std::string two_ranks =
    "# nThread 1 nGpus 2\n"
    "# Collective test starting: all_reduce_perf\n"
    "#  Rank  0 Group  0 Pid 1 on a device  0 [0x07] NVIDIA A100\n"
    "#  Rank  1 Group  0 Pid 1 on a device  1 [0x0f] NVIDIA A100\n";

}  // namespace

TEST_CASE("a log of two nodes becomes a fabric with its measured table") {
  const auto fabric = scenarios::load_nccl_tests(logs / "all_reduce_2x2.txt");
  REQUIRE(fabric.measured.size() == 1);
  const auto& table = fabric.measured.front();
  CHECK(table.collective == Collective::all_reduce);
  CHECK(table.ranks == 4);
  CHECK(table.nodes == 2);
  REQUIRE(table.points.size() == 4);
  CHECK(table.points[0].first.value == 1 << 20);
  CHECK(table.points[0].second.value == 80e-6);
  CHECK(table.points[3].second.value == 1.28e-3);
  CHECK(fabric.link_bandwidth.value == 78.64e9 / 2);  // the best bus bandwidth, two GPUs a node
}

TEST_CASE(
    "a log of several programs has one table each, sizes of zero left out, repeats averaged") {
  const auto fabric = scenarios::load_nccl_tests(logs / "rccl_two_tests.txt");
  REQUIRE(fabric.measured.size() == 2);
  const auto& gather = fabric.measured[0];
  CHECK(gather.collective == Collective::all_gather);
  CHECK(gather.ranks == 4);
  CHECK(gather.nodes == 1);
  REQUIRE(gather.points.size() == 2);
  CHECK(gather.points[1].second.value == 31e-6);  // of 30 and 32 us
  CHECK(fabric.measured[1].collective == Collective::all_to_all);
  CHECK(fabric.measured[1].points.front().second.value == 25e-6);
}

TEST_CASE("a log that does not name its program is told by its bandwidths") {
  const std::string ranks =
      "# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 1 on a device 1\n# Rank 2 Pid 1 on b device 0\n"
      "# Rank 3 Pid 1 on b device 1\n";
  const auto kind = [&](const std::string& row) {
    return read_nccl_tests(ranks + row, "log").measured.front().collective;
  };
  CHECK(kind("8000000 2 float sum -1 100 80.0 120.0 0 100 80.0 120.0 0") == Collective::all_reduce);
  CHECK(kind("8000000 2 float sum -1 100 80.0 60.0 0") == Collective::reduce_scatter);
  CHECK(kind("8000000 2 float none 0 100 80.0 80.0 0") == Collective::broadcast);
  CHECK(kind("8000000 2 float sum 0 100 80.0 80.0 0") == Collective::reduce);
  CHECK(
      complaint(ranks + "8000000 2 float none -1 100 80.0 60.0 0") ==
      "log:1:1: which collective it is cannot be told; keep the line that names the program, such "
      "as '# Collective test starting: all_gather_perf'");
}

TEST_CASE("a malformed log is refused where it is wrong") {
  const std::string row = "1024 256 float sum -1 20.0 0.05 0.05 0 20.0 0.05 0.05 0\n";
  CHECK(complaint(two_ranks + row) == "none");
  CHECK(complaint("") ==
        "log:1:1: no nccl-tests output: expected '# Rank' lines and rows of size and time");
  CHECK(complaint(row) ==
        "log:1:1: rows without '# Rank' lines: how many GPUs took part is not said");
  CHECK(complaint(two_ranks) == "log:3:1: no row of measurements follows the ranks");
  CHECK(complaint(two_ranks + "1024 256 float sum -1 20.0\n") ==
        "log:3:1: no row of measurements follows the ranks\n"
        "log:5:1: expected a row of size, count, type, redop, root, time, algbw, busbw and #wrong");
  CHECK(
      complaint(two_ranks + row + "2048 512 float sum -1 2x.0 0.05 0.05 0\n") ==
      "log:6:23: expected a row of size, count, type, redop, root, time, algbw, busbw and #wrong");
  CHECK(complaint(two_ranks + row + "2048 512 float sum -1 0.0 0.05 0.05 0\n") ==
        "log:6:23: size and time must be more than zero");
  CHECK(complaint(two_ranks + row + "2048 512 float sum -1 9.0 0.05 0.05 17\n") ==
        "log:6:37: the run computed wrong results (#wrong 17); it measures nothing");
  CHECK(complaint("# Rank 0 Pid 1 on a device 0\n# Rank 2 Pid 1 on a device 1\n" + row) ==
        "log:1:1: rank 1 is missing in the list of 2");
  CHECK(complaint("# Rank 0 Pid 1 on a device 0\n# Rank 0 Pid 1 on a device 1\n" + row) ==
        "log:1:1: one rank alone has nobody to communicate with\nlog:2:8: rank 0 is listed twice");
  CHECK(complaint("# Rank 0 Pid 1\n" + row) ==
        "log:1:1: expected '# Rank N … on HOST device N'\n"
        "log:2:1: rows without '# Rank' lines: how many GPUs took part is not said");
}

TEST_CASE("a scenario may carry a measured table, and mistakes in it have a place") {
  const auto scenario = [](const std::string& measured) {
    return "model: llama2-7b\n"
           "cluster: {node: dgx-h100, nodes: 2, fabric: {base: ndr-rail-fat-tree,\n"
           "  measured: " +
           measured +
           "}}\n"
           "training: {sequence_length: 2048, global_batch: 16}\n";
  };
  const auto read = scenarios::read_scenario(
      scenario("[{collective: all_gather, ranks: 16, nodes: 2, points: [[1 MiB, 50 us], "
               "[4194304, 1e-4]]}]"),
      "file");
  const auto& table = read.cluster.fabric.measured.at(0);
  CHECK(table.collective == Collective::all_gather);
  CHECK(table.points.at(0).second.value == 50e-6);
  CHECK(table.points.at(1).first.value == 4 << 20);
  const auto wrong = [&](const std::string& measured) {
    try {
      scenarios::read_scenario(scenario(measured), "file");
    } catch (const scenarios::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string head = "[{collective: all_gather, ranks: 16, nodes: 2, points: ";
  CHECK(wrong(head + "[[2 MiB, 5 us], [1 MiB, 6 us]]}]") ==
        "file:3:84: cluster.fabric.measured.0.points.1: the sizes of a measured table must rise");
  CHECK_THAT(wrong(head + "[[2 MiB]]}]"), STEPCAST_HOLDS("points.0: a list of 1 values"));
  CHECK_THAT(wrong(head + "[[2 MiB, 3 GiB]]}]"),
             STEPCAST_HOLDS("points.0.1: '3 GiB' is a size, not a duration"));
  CHECK_THAT(wrong("[{ranks: 4}]"), STEPCAST_HOLDS("missing key 'points'"));
}

TEST_CASE("a log of a million mistakes is refused with the first hundred") {
  std::string log;
  for (int i = 0; i < 1'000'000; ++i) log += "# Rank  0\n";
  const auto text = complaint(log);
  CHECK(text.starts_with("log:1:1: expected '# Rank N … on HOST device N'\n"));
  CHECK(text.ends_with("\nlog: and 100000 more mistakes, behind which nothing was read"));
  CHECK(std::ranges::count(text, '\n') == 100);
}

TEST_CASE("a column counts from where the line begins, with the tag of mpirun") {
  CHECK(complaint("[1,0]<stdout>:# Rank 0 Pid 1\n") ==
        "log:1:15: expected '# Rank N … on HOST device N'");
}

}  // namespace nccl_tests_spec
