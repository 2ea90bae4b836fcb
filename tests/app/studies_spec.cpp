// SPDX-License-Identifier: Apache-2.0
// The studies that ship: their sweeps run, and their page shows figures that are there.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "search/points.hpp"
#include "tests/report/golden.hpp"

namespace studies_spec {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> studies() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("scenarios/studies"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// The texts in a page between `begin` and `end`, each once.
std::set<std::string> between(const std::string& page, const std::string& begin, char end) {
  std::set<std::string> found;
  for (auto at = page.find(begin); at != page.npos; at = page.find(begin, at + 1)) {
    const auto from = at + begin.size();
    found.insert(page.substr(from, page.find(end, from) - from));
  }
  return found;
}

}  // namespace

TEST_CASE("every study reads, and its first points and its last are forecast") {
  REQUIRE(studies().size() >= 8);
  for (const auto& file : studies()) {
    CAPTURE(file);
    const auto grid = scenarios::load_grid(file);
    CHECK(grid.name != file.stem());
    std::vector<std::int64_t> points;
    scenarios::for_each_sorted(grid, [&](std::int64_t position) {
      if (holds(grid, position)) points.push_back(position);
    });
    REQUIRE(points.size() >= 8);
    points.erase(points.begin() + 3, points.end() - 3);
    scenarios::PointReader reader(grid);
    for (const auto position : points) {
      CAPTURE(position);
      const auto read = reader.scenario(position);
      INFO(read.reason);
      REQUIRE(read.value);
      CHECK(search::figures_of(*read.value, forecast::simulate(*read.value)).front() > 0);
    }
  }
}

TEST_CASE("the page of studies names every study, and shows the pictures that are there") {
  const auto page = golden::read("docs/studies.md");
  for (const auto& file : studies()) {
    CAPTURE(file);
    CHECK(golden::contains(page, file.string()));
  }
  std::set<std::string> pictures;
  for (const auto& entry : fs::directory_iterator("docs/studies"))
    pictures.insert(entry.path().filename().string());
  CHECK(between(page, "](studies/", ')') == pictures);
}

}  // namespace studies_spec
