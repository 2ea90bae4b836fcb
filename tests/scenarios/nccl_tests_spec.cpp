// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/nccl_tests.hpp"
#include "scenarios/measured/measured_fabric.hpp"
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
  CHECK(fabric.link_bandwidth.value == 78.64e9 / 2);  // the best bus bandwidth over two GPUs a node
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
  CHECK(gather.points[1].second.value == 31e-6);  // mean of 30 and 32 us
  CHECK(fabric.measured[1].collective == Collective::all_to_all);
  CHECK(fabric.measured[1].points.front().second.value == 25e-6);
}

TEST_CASE("tests of one node say nothing of a network's links") {
  CHECK(scenarios::load_nccl_tests(logs / "rccl_two_tests.txt").link_bandwidth.value == 0);
  const std::string row = "8000000 2000000 float sum -1 100 80.0 80.0 0\n", one = two_ranks + row,
                    both = one +
                           "# Collective test starting: all_reduce_perf\n"
                           "# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 1 on b device 0\n"
                           "8000000 2000000 float sum -1 400 20.0 20.0 0\n";
  CHECK(read_nccl_tests(one, "log").link_bandwidth.value == 0);
  const auto fabric = read_nccl_tests(both, "log");
  CHECK(fabric.measured.size() == 2);
  CHECK(fabric.link_bandwidth.value == 20e9);
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
      "as '# Collective test starting: all_gather_perf', or say it with --set "
      "collective=all_gather");
}

TEST_CASE("a malformed log is refused where it is wrong") {
  const std::string row = "1024 256 float sum -1 20.0 0.05 0.05 0 20.0 0.05 0.05 0\n";
  CHECK(complaint(two_ranks + row) == "none");
  CHECK(complaint("") ==
        "log:1:1: no nccl-tests output: expected '# Rank' lines and rows of size and time");
  CHECK(complaint(row) ==
        "log:1:1: rows without '# Rank' lines: how many GPUs took part is not said; say it with "
        "--set ranks=N,nodes=N");
  CHECK(complaint(two_ranks) == "log:3:1: no row of measurements follows the ranks");
  CHECK(complaint(two_ranks + "1024 256 float sum -1 20.0\n") ==
        "log:5:1: expected a row of size, count, type, redop, root, time, algbw, busbw and #wrong");
  CHECK(
      complaint(two_ranks + row + "2048 512 float sum -1 2x.0 0.05 0.05 0\n") ==
      "log:6:23: expected a row of size, count, type, redop, root, time, algbw, busbw and #wrong");
  CHECK(complaint(two_ranks + row + "2048 512 float sum -1 0.0 0.05 0.05 0\n") ==
        "log:6:23: size and time must be more than zero");
  CHECK(complaint(two_ranks + row + "2048 512 float sum -1 9.0 0.05 0.05 17\n") ==
        "log:6:37: the run computed wrong results (#wrong 17); it measures nothing");
  CHECK(complaint(two_ranks + row + "67108864 16777216 float sum -1 1.0 67108.9 67108.9 0\n") ==
        "log:6:32: 64.0 MiB in 1.00 us are 67109 GB/s, more than the links of any GPU carry; take "
        "the row out, or run the size again");
  CHECK(complaint(two_ranks + row + "67108864 16777216 float sum -1 48.0 139.81 139.81 0\n") ==
        "log:6:32: 64.0 MiB in 48.0 us are 1398.10 GB/s, but the row says algbw 139.81; a digit of "
        "one of them is wrong");
  CHECK(complaint(two_ranks + row + "268435456 67108864 float sum -1 50.0 5368.71 5368.71 0\n") ==
        "log:6:33: 256 MiB in 50.0 us are 5369 GB/s, more than the links of any GPU carry; take "
        "the row out, or run the size again");
  CHECK(complaint("# Rank 0 Pid 1 on a device 0\n# Rank 2 Pid 1 on a device 1\n" + row) ==
        "log:1:1: rank 1 is missing in the list of 2");
  CHECK(complaint("# Rank 0 Pid 1 on a device 0\n# Rank 0 Pid 1 on a device 1\n" + row) ==
        "log:1:1: one rank alone has nobody to communicate with\nlog:2:8: rank 0 is listed twice");
  CHECK(complaint("# Rank 0 Pid 1\n" + row) ==
        "log:1:1: expected '# Rank N … on HOST device N'\n"
        "log:2:1: rows without '# Rank' lines: how many GPUs took part is not said; say it with "
        "--set ranks=N,nodes=N");
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

TEST_CASE("the prefix that srun -l puts before a line is passed over") {
  const auto fabric = read_nccl_tests(
      "0: # Collective test starting: all_gather_perf\n"
      "0: #  Rank  0 Group  0 Pid 1 on a device  0 [0x07] NVIDIA A100\n"
      "1: #  Rank  1 Group  0 Pid 1 on b device  0 [0x07] NVIDIA A100\n"
      " 0:   1024  256 float none -1 20.0 0.05 0.05 0 20.0 0.05 0.05 0\n",
      "log");
  CHECK(fabric.measured.at(0).nodes == 2);
  CHECK(fabric.measured.at(0).points.at(0).second.value == 20e-6);
}

TEST_CASE("columns of releases before 2.11 are read as their heading or their number says") {
  const std::string head =
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw"
      "   busbw  error\n";
  const auto table = [&](const std::string& log) {
    return read_nccl_tests(two_ranks + log, "log").measured.at(0);
  };
  // A sum has an error column, whose value is no count of wrong results.
  for (const auto& before : {std::string(), head}) {
    const auto sums =
        table(before + "8000000 2000000 float sum 100.5 80.0 80.0 2e-07 99.0 80.8 80.8 2e-07\n");
    CHECK(sums.points.at(0).second.value == Approx(100.5e-6));
    // Older gathers are printed without the operation.
    const auto gathers = table(before + "8000000 2000000 float 100.5 80.0 40.0 0 99 80.8 40.4 0\n");
    CHECK(gathers.points.at(0).second.value == Approx(100.5e-6));
  }
  // The log of one node does not name its program.
  const auto one = read_nccl_tests(
      "# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 1 on a device 1\n# Rank 2 Pid 1 on a device 2\n"
      "# Rank 3 Pid 1 on a device 3\n" +
          head + "8000000 2000000 float sum 100.5 80.0 120.0 2e-07 99.0 80.8 121.2 2e-07\n",
      "log");
  CHECK(one.measured.at(0).collective == Collective::all_reduce);
  CHECK(one.measured.at(0).nodes == 1);
}

TEST_CASE("figures that a log leaves out are given beside it") {
  const std::string row = "8000000 2000000 float none -1 100 80.0 75.0 0 100 80.0 75.0 0\n";
  const std::vector<std::string> sets{"ranks=16,nodes=2", "collective=all_gather"};
  const auto fabric = read_nccl_tests(row, "log", scenarios::nccl_tests_hints(sets));
  CHECK(fabric.measured.at(0).ranks == 16);
  CHECK(fabric.measured.at(0).nodes == 2);
  CHECK(fabric.measured.at(0).collective == Collective::all_gather);
  CHECK(fabric.link_bandwidth.value == Approx(75e9 / 8));
  for (const std::string name : {"all_to_all", "alltoall", "alltoall_perf"})
    CHECK(scenarios::nccl_tests_hints(std::vector{"collective=" + name}).collective ==
          Collective::all_to_all);

  const auto refused = [](const std::vector<std::string>& wrong, const std::string& log) {
    try {
      read_nccl_tests(log, "log", scenarios::nccl_tests_hints(wrong));
    } catch (const scenarios::Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refused({"ranks=3"}, two_ranks + row) == "log:3:1: --set says ranks 3, the log 2");
  CHECK(refused({"ranks=16,nodes=3", "collective=all_gather"}, row) ==
        "log:1:1: 16 ranks do not lie evenly on 3 hosts");
  CHECK(refused({"ranks=0", "gpus=8"}, row) ==
        "--set 1: ranks: '0' is no number from 1 to 10000000\n"
        "--set 2: 'gpus=8' is nothing that a log leaves out; expected ranks=N, nodes=N or "
        "collective=NAME");
}

TEST_CASE("measured tables lie over the fabric of a scenario, whose text stays as it is") {
  const auto log = scenarios::load_nccl_tests(logs / "all_reduce_2x2.txt");
  const auto file = std::filesystem::temp_directory_path() / "stepcast_measured_fabric.yaml";
  const auto with = [&](const std::string& cluster) {
    std::ofstream(file) << "# mine\nmodel: llama2-7b\ncluster: " + cluster +
                               "\ntraining: {sequence_length: 2048, global_batch: 16}  # small\n";
    return scenarios::with_measured_fabric(file, log);
  };
  for (const std::string cluster :
       {"{node: dgx-h100, nodes: 2, fabric: ndr-rail-fat-tree}", "{node: dgx-h100, nodes: 2}",
        "\n  node: dgx-h100\n  nodes: 2"}) {
    const auto text = with(cluster);
    CHECK(text.starts_with("# mine\n"));
    CHECK(text.ends_with("# small\n"));
    const auto read = scenarios::read_scenario(text, "with");
    CHECK(read.cluster.fabric.name == "ndr-rail-fat-tree");
    CHECK(read.cluster.fabric.measured == log.measured);
    CHECK(read.cluster.fabric.link_bandwidth.value == 50e9);
  }
  CHECK_THROWS_AS(with("{node: dgx-h100, nodes: 2, fabric: {base: ndr-rail-fat-tree}}"),
                  scenarios::Error);
  std::filesystem::remove(file);
}

TEST_CASE("rows that are far faster than node and fabric can be are doubted") {
  auto cluster = scenarios::read_scenario(
                     "model: llama2-7b\ncluster: {node: dgx-h100, nodes: 2}\n"
                     "training: {sequence_length: 2048, global_batch: 16}\n",
                     "mine")
                     .cluster;
  // Eight NICs of 50 GB/s pass 15/8 of a buffer in 160 MB / 400 GB/s · 15/8 = 0.75 ms at least.
  topology::MeasuredCollective table{.ranks = 16, .nodes = 2};
  table.points = {{{1e3}, {1e-6}}, {{160e6}, {0.75e-3}}};
  cluster.fabric.measured = {table};
  CHECK(scenarios::doubtful_rows(cluster).empty());
  cluster.fabric.measured[0].points[1].second = {0.1e-3};
  REQUIRE(scenarios::doubtful_rows(cluster).size() == 1);
  CHECK_THAT(scenarios::doubtful_rows(cluster).front(),
             STEPCAST_HOLDS("all_reduce of 16 ranks on 2 nodes: 153 MiB in 100 us is"));
  cluster.fabric.measured[0].nodes = 4;  // larger than the cluster
  CHECK(scenarios::doubtful_rows(cluster).empty());
}

TEST_CASE("a column counts from where the line begins, with the tag of mpirun") {
  CHECK(complaint("[1,0]<stdout>:# Rank 0 Pid 1\n") ==
        "log:1:15: expected '# Rank N … on HOST device N'");
}

}  // namespace nccl_tests_spec
