// SPDX-License-Identifier: Apache-2.0
// Logs of nccl-tests: figures that are counted by hand, and every mistake that a log may have.
#include <random>
#include <string>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/nccl_tests.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "topology/collective.hpp"

namespace nccl_log_spec {

namespace {

using topology::Collective;

// The lines that list so many ranks, some on each host.
std::string ranks(int count, int each) {
  std::string lines;
  for (int rank = 0; rank < count; ++rank)
    lines += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host" +
             std::to_string(rank / each) + " device " + std::to_string(rank % each) + "\n";
  return lines;
}

std::string starts(const std::string& program) {
  return "# Collective test starting: " + program + "\n";
}

std::string complaint(const std::string& log) {
  try {
    scenarios::read_nccl_tests(log, "log");
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "none";
}

const std::string row = "1000000 250000 float sum -1 100 10.0 15.0 0 90 11.0 16.5 0\n";

}  // namespace

TEST_CASE("every program of nccl-tests is its collective") {
  struct Program {
    const char* name;
    Collective collective;
  };
  for (const auto& one : std::vector<Program>{{"all_reduce_perf", Collective::all_reduce},
                                              {"all_gather_perf", Collective::all_gather},
                                              {"reduce_scatter_perf", Collective::reduce_scatter},
                                              {"alltoall_perf", Collective::all_to_all},
                                              {"broadcast_perf", Collective::broadcast},
                                              {"reduce_perf", Collective::reduce}}) {
    INFO(one.name);
    const auto fabric = scenarios::read_nccl_tests(starts(one.name) + ranks(4, 2) + row, "log");
    CHECK(fabric.measured.at(0).collective == one.collective);
    CHECK(fabric.measured.at(0).ranks == 4);
    CHECK(fabric.measured.at(0).nodes == 2);
  }
}

// A table's time is the one out of place, the first of the two; the link's rate is the best bus
// bandwidth over the ranks of a host.
TEST_CASE("a row is a size, its time out of place, and a bound of the link's rate") {
  const auto log = starts("all_reduce_perf") + ranks(8, 4) + row +
                   "2000000 500000 float sum -1 150 13.3 23.3 0 90 11.0 99.0 0\n";
  const auto fabric = scenarios::read_nccl_tests(log, "log");
  const auto& points = fabric.measured.at(0).points;
  REQUIRE(points.size() == 2);
  CHECK(points[0].first.value == 1e6);
  CHECK(points[0].second.value == Approx(100e-6));
  CHECK(points[1].second.value == Approx(150e-6));
  CHECK(fabric.link_bandwidth.value == Approx(23.3e9 * 2 / 8));
  CHECK(fabric.efficiency == 1);
}

// 100 us and 300 us of the same size are 200 us, in whatever order rows come.
TEST_CASE("repeated sizes are averaged, and sizes rise in the table") {
  const std::string slow = "1000000 250000 float sum -1 300 3.3 5.0 0\n";
  const std::string large = "4000000 1000000 float sum -1 400 10.0 15.0 0\n";
  for (const auto& rows : {row + slow + large, large + slow + row, slow + large + row}) {
    const auto points =
        scenarios::read_nccl_tests(starts("all_reduce_perf") + ranks(4, 4) + rows, "log")
            .measured.at(0)
            .points;
    REQUIRE(points.size() == 2);
    CHECK(points[0].second.value == Approx(200e-6));
    CHECK(points[1].first.value == 4e6);
  }
}

// The bus bandwidth of n ranks is 2 (n - 1) / n times the algorithm's of a sum over all, and
// (n - 1) / n times that of a scattered one.
TEST_CASE("a log without a name is told by the ratio of its bandwidths") {
  struct Told {
    const char *figures, *collective;
  };
  const auto told = [](const std::string& figures) {
    try {
      const auto fabric = scenarios::read_nccl_tests(
          ranks(4, 4) + "1000000 250000 float " + figures + " 0\n", "log");
      return std::string(topology::to_text(fabric.measured.at(0).collective));
    } catch (const scenarios::Error& wrong) {
      return std::string("unknown");
    }
  };
  for (const auto& one : std::vector<Told>{{"sum -1 100 10.0 15.0", "all_reduce"},
                                           {"sum -1 100 10.0 14.9", "all_reduce"},
                                           {"sum -1 100 10.0 7.5", "reduce_scatter"},
                                           {"none 0 100 10.0 10.0", "broadcast"},
                                           {"sum 0 100 10.0 10.0", "reduce"},
                                           {"none -1 100 10.0 7.5", "unknown"},  // or all-to-all
                                           {"sum -1 100 10.0 12.0", "unknown"},
                                           {"sum -1 100 0.0 0.0", "unknown"}}) {
    INFO(one.figures);
    CHECK(told(one.figures) == one.collective);
  }
}

TEST_CASE("every mistake of a log is said where it stands") {
  const auto head = starts("all_reduce_perf") + ranks(2, 2);  // three lines
  struct Case {
    std::string log, complaint;
  };
  for (const auto& one : std::vector<Case>{
           {"", "log:1:1: no nccl-tests output: expected '# Rank' lines and rows of size and time"},
           {"hello\n",
            "log:1:1: no nccl-tests output: expected '# Rank' lines and rows of size and time"},
           {head, "log:2:1: no row of measurements follows the ranks"},
           {head + "1000 250 float sum -1 x 1 1 0\n",
            "log:4:23: expected a row of size, count, type, redop, root, time, algbw, busbw and "
            "#wrong"},
           {head + "1000 250 float sum\n",
            "log:4:1: expected a row of size, count, type, redop, root, time, algbw, busbw and "
            "#wrong"},
           {head + "1000 250 float sum -1 0 1 1 0\n",
            "log:4:23: size and time must be more than zero"},
           {head + "-8 250 float sum -1 5 1 1 0\n",
            "log:4:1: size and time must be more than zero"},
           {head + "1000 250 float sum -1 5 1 1 3\n",
            "log:4:29: the run computed wrong results (#wrong 3); it measures nothing"},
           {head + "1000000000 250 float sum -1 1 1 1 0\n",
            "log:4:29: 954 MiB in 1.00 us are 1000000 GB/s, more than the links of any GPU carry; "
            "take the row out, or run the size again"},
           {starts("all_reduce_perf") + ranks(1, 1) + row,
            "log:2:1: one rank alone has nobody to communicate with"},
           {head + ranks(2, 2) + row,
            "log:4:9: rank 0 is listed twice\nlog:5:9: rank 1 is listed twice"},
           {starts("all_reduce_perf") + "# Rank 0 on a\n# Rank 2 on a\n" + row,
            "log:2:1: rank 1 is missing in the list of 2"},
           {starts("all_reduce_perf") + ranks(3, 2) + row,
            "log:2:1: 3 ranks do not lie evenly on 2 hosts"},
           {"# Rank x on a\n", "log:1:1: expected '# Rank N … on HOST device N'"},
           {row,
            "log:1:1: rows without '# Rank' lines: how many GPUs took part is not said; say it "
            "with --set ranks=N,nodes=N"}}) {
    INFO(one.log);
    CHECK(complaint(one.log) == one.complaint);
  }
}

TEST_CASE("a log that is cut off or damaged anywhere is read or refused with a place") {
  const auto log = starts("all_gather_perf") + ranks(4, 2) + row + row;
  std::mt19937 random(5);
  const auto survives = [](const std::string& text) {
    const auto said = complaint(text);
    return said == "none" || said.starts_with("log");
  };
  for (std::size_t length = 0; length < log.size(); ++length)
    CHECK(survives(log.substr(0, length)));
  for (unsigned n = 0; n < 500 / tests::fewer; ++n) {
    auto damaged = log;
    for (int i = 0; i < 3; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 128);
    CHECK(survives(damaged));
  }
}

}  // namespace nccl_log_spec
