// SPDX-License-Identifier: Apache-2.0
// Error bars from the command line: the table that `validate` writes, and the intervals that
// `simulate` reads from it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "report/intervals.hpp"
#include "scenarios/intervals.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace intervals_spec {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::stepcast;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string gpt3 = "scenarios/examples/gpt3-175b-1024-a100.yaml";

}  // namespace

TEST_CASE("the table that is written is the one that is read, byte for byte") {
  const auto carried = scenarios::catalog_intervals();
  const auto text = report::intervals_yaml(carried);
  CHECK(scenarios::read_intervals(text, "again") == carried);
  CHECK(text == content("scenarios/catalog/intervals.yaml"));
}

TEST_CASE(
    "validate writes the table and the page, the same twice, from all data sets of a folder") {
  const auto folder = fs::temp_directory_path() / "stepcast-intervals";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"megatron_sc21_table1.yaml", "korthikanti2022_table5.yaml"})
    fs::copy_file(fs::path("scenarios/published") / name, folder / name);
  const auto table = (folder / "out.txt").string(), page = (folder / "out.html").string();
  const std::vector<std::string> arguments{"validate",    "--data", folder.string(), "--quiet",
                                           "--intervals", table,    "--report",      page};
  REQUIRE(stepcast(arguments).status == app::success);
  const auto first = content(table), first_page = content(page);
  CHECK(scenarios::read_intervals(first, "out").regimes.front().rows == 9);
  CHECK(first_page.find("<!doctype html>") == 0);
  REQUIRE(stepcast(arguments).status == app::success);
  CHECK(content(table) == first);
  CHECK(content(page) == first_page);
  fs::remove_all(folder);
}

TEST_CASE("a forecast carries its interval, wider where it was never measured") {
  const auto step = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"simulate", gpt3, "--json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(stepcast(arguments).out);
  };
  const auto known = step({});
  const auto unknown = step({"--set", "cluster.node.device.base=gaudi3"});
  for (const auto& document : {known, unknown}) {
    CHECK(document["step"]["time_low_s"] < document["step"]["time_s"]);
    CHECK(document["step"]["time_high_s"] > document["step"]["time_s"]);
  }
  CHECK(known["validated"]["regime"][0] == "Ampere dense");
  CHECK(known["validated"]["outside"].empty());
  CHECK(unknown["validated"]["outside"][0] == "no run on gaudi3 was measured");
  const auto ratio = [](const json& document) {
    return document["step"]["time_high_s"].get<double>() /
           document["step"]["time_low_s"].get<double>();
  };
  CHECK(ratio(unknown) > ratio(known));
}

TEST_CASE("intervals are made from all data sets, and not from collectives") {
  CHECK(stepcast({"validate", "mt_nlg_530b", "--intervals", "out.yaml"}).err ==
        "stepcast: --intervals is made from all data sets; name none\n");
  CHECK(stepcast({"validate", "collectives", "--report", "out.html"}).err ==
        "stepcast: --report and --intervals are of training runs; leave them out\n");
}

}  // namespace intervals_spec
