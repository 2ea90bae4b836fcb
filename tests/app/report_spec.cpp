// SPDX-License-Identifier: Apache-2.0
// --report: pages beside the answer.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace report_spec {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::stepcast;

const std::string gpt3 = "scenarios/examples/gpt3-175b-1024-a100.yaml";

// What the page that the command writes was given.
json data_of(std::vector<std::string> command) {
  const auto path = fs::temp_directory_path() / "stepcast_report_spec.html";
  command.insert(command.end(), {"--quiet", "--report", path.string()});
  const auto run = stepcast(command);
  CHECK(run.status == app::success);
  std::ifstream in(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  fs::remove(path);
  const std::string begin = "id=\"data\">";
  const auto at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

}  // namespace

TEST_CASE("simulate --report writes a page beside the answer, with the same figures") {
  const auto data = data_of({"simulate", gpt3});
  CHECK(data["kind"] == "simulate");
  auto carried = data["runs"][0]["document"];
  auto printed = json::parse(stepcast({"simulate", gpt3, "--json"}).out);
  carried.erase("simulation");
  printed.erase("simulation");
  CHECK(carried == printed);
  CHECK(data["runs"][0]["timeline"]["lanes"].size() >= 16);
}

TEST_CASE("simulate --against --report writes a page of both, the one compared with first") {
  const auto data = data_of({"simulate", gpt3, "--set", "plan.micro_batch=2", "--against", gpt3});
  REQUIRE(data["runs"].size() == 2);
  const auto micro_batch = [&](std::size_t run) {
    return data["runs"][run]["document"]["scenario"]["plan"]["micro_batch"];
  };
  CHECK(micro_batch(0) == 1);
  CHECK(micro_batch(1) == 2);
  CHECK_THAT(data["changes"].get<std::string>(), STEPCAST_HOLDS("plan.micro_batch"));
}

TEST_CASE("search --report writes a page with every plan that is reported") {
  const auto data =
      data_of({"search", "scenarios/examples/llama3-8b-search-cluster-h100.yaml", "--set",
               "cluster.nodes=2", "--set",
               "search={tensor: [1, 2], pipeline: \"<= 2\", micro_batch: 1, context: 1, zero: 1}",
               "--top", "3"});
  CHECK(data["kind"] == "search");
  REQUIRE(data["runs"].size() == data["search"]["plans"].size());
  for (std::size_t i = 0; i < data["runs"].size(); ++i)
    CHECK(data["runs"][i]["document"]["step"]["time_s"] ==
          data["search"]["plans"][i]["step_time_s"]);
}

TEST_CASE(
    "schedule --report writes a page whose bars are the operations, in units of the makespan") {
  const std::vector<std::string> asked{"schedule", "--schedule",     "1f1b", "--stages",
                                       "4",        "--forward",      "1",    "--backward",
                                       "2",        "--microbatches", "8"};
  const auto data = data_of(asked);
  CHECK(data["kind"] == "schedule");
  CHECK(data["name"] == "1f1b");
  CHECK(data["schedule"]["makespan"] == 33);  // 8 x 3 in the steady state, 3 x 3 to fill and drain
  CHECK(data["unit"] == 1e12);
  CHECK(data["timeline"]["lanes"].size() == 4);
  CHECK(data["timeline"]["lanes"][0][3] == 16);
}

TEST_CASE("a page is HTML, and a name that ends otherwise is refused before anything runs") {
  const auto run = stepcast({"simulate", gpt3, "--report", "page.pdf"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err ==
        "stepcast: --report page.pdf: a page is written as HTML; end the name in .html\n");
}

TEST_CASE("a page that cannot be written is a mistake, not a fault") {
  const auto run = stepcast({"simulate", gpt3, "--report", "no/such/folder/page.html"});
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS("cannot write 'no/such/folder/page.html'"));
}

}  // namespace report_spec
