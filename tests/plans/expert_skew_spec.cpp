// SPDX-License-Identifier: Apache-2.0
// Rows of the fullest rank under a power law beside measured times of the fullest rank's layer
// (expert_skew.csv, which tools/expert_skew.py makes: medians over devices and layers).
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "plans/expert_loads.hpp"
#include "tests/catch.hpp"

namespace expert_skew_spec {

using namespace strategies;

namespace {

struct Row {
  std::string kernel;
  std::int64_t tokens = 0, top_k = 0, experts = 0, ranks = 0;
  int layers = 0;
  double time = 0;  // the fullest rank's layer over a balanced one
};

std::vector<Row> measured() {
  std::ifstream file(STEPCAST_SOURCE_DIR "/tests/plans/expert_skew.csv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream words(line);
    Row row;
    words >> row.kernel >> row.tokens >> row.top_k >> row.experts >> row.ranks >> row.layers >>
        row.time;
    rows.push_back(row);
  }
  return rows;
}

// The rows of the fullest rank over the mean, by the collector's law: density x^-1.2 up to 0.8
// times the tokens of the group.
double fullest(const Row& row) {
  const model::Moe moe{.experts = row.experts, .top_k = row.top_k};
  const Routing law{
      .skew = Skew::power_law, .exponent = 1.2, .spread = 0.8 * static_cast<double>(row.tokens)};
  return expert_loads(moe, law, row.ranks).fullest;
}

struct Medians {
  double time = 0, rows = 0, time_over_rows = 0;
};

// The median of values, each of which counts for so many layers.
double median(std::vector<std::pair<double, int>> values) {
  std::ranges::sort(values);
  int all = 0, before = 0;
  for (const auto& [value, layers] : values) all += layers;
  for (const auto& [value, layers] : values)
    if ((before += layers) * 2 >= all) return value;
  return 0;
}

Medians medians(const std::string& kernel, std::int64_t tokens, std::int64_t ranks) {
  std::vector<std::pair<double, int>> time, rows, quotient;
  for (const auto& row : measured()) {
    if (row.kernel != kernel || row.tokens != tokens || row.ranks != ranks) continue;
    const double load = fullest(row);
    time.emplace_back(row.time, row.layers);
    rows.emplace_back(load, row.layers);
    quotient.emplace_back(row.time / load, row.layers);
  }
  return {median(time), median(rows), median(quotient)};
}

}  // namespace

TEST_CASE("with many copies, the time of the fullest rank's layer grows as its rows do") {
  const auto eight = medians("trtllm:cutlass", 16'384, 8);
  CAPTURE(eight.time, eight.rows);
  CHECK(eight.time_over_rows == Approx(0.94).margin(0.03));
  // Each rank has a quarter of the copies, so the other work of both layers weighs more.
  const auto thirty_two = medians("trtllm:cutlass", 16'384, 32);
  CAPTURE(thirty_two.time, thirty_two.rows);
  CHECK(thirty_two.time_over_rows == Approx(0.70).margin(0.05));
  CHECK(medians("trtllm:cutlass", 4096, 32).time_over_rows < thirty_two.time_over_rows);
}

TEST_CASE("no kernel's layers take more longer, in the median, than the fullest rank has rows") {
  for (const std::int64_t ranks : {8, 16, 32})
    for (const auto& [kernel, tokens] : {std::pair("all", 4096), std::pair("all", 16'384)})
      CHECK(medians(kernel, tokens, ranks).time_over_rows < 1);
}

}  // namespace expert_skew_spec
