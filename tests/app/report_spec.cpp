// SPDX-License-Identifier: Apache-2.0
// The option --report, which writes pages beside the answer.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace report_spec {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::stepcast;

const std::string gpt3 = "scenarios/examples/gpt3-175b-1024-a100.yaml";

// The data in the page that the command writes.
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
  CHECK(data["compared"]["changes"][0] ==
        json{{"path", "plan.micro_batch"}, {"from", 1}, {"to", 2}});
  const auto& effect = data["compared"]["effects"][0];
  CHECK(effect["of"] == "plan.micro_batch");
  CHECK(effect["step_time_s"] == data["runs"][1]["document"]["step"]["time_s"]);
}

TEST_CASE("a page knows the command that made it, and keys that another value can be asked for") {
  const auto data = data_of({"simulate", gpt3, "--set", "plan.micro_batch=2"});
  CHECK(data["runs"][0]["command"] ==
        json{"stepcast", "simulate", gpt3, "--set", "plan.micro_batch=2"});
  std::map<std::string, json> keys;
  for (const auto& key : data["keys"]) keys[key["path"]] = key;
  CHECK(keys.at("plan.tensor")["type"] == "whole");
  CHECK(keys.at("plan.tensor")["least"] == 1);
  CHECK(keys.at("plan.recompute")["choices"] ==
        json{"none", "selective", "full", "per-op", "optimal"});
  CHECK(keys.at("plan.sequence_parallel")["type"] == "yes_no");
  CHECK_FALSE(keys.contains("plan.layers_per_stage"));  // it is a list
  CHECK(keys.at("cluster.node")["choices"].size() > 5);
}

TEST_CASE("search --report writes a page with every configurable plan that is reported") {
  const auto data =
      data_of({"search", "scenarios/examples/llama3-8b-search-cluster-h100.yaml", "--set",
               "cluster.nodes=2", "--set",
               "search={tensor: [1, 2], pipeline: \"<= 2\", micro_batch: 1, context: 1, zero: 1}",
               "--top", "3"});
  CHECK(data["kind"] == "search");
  const auto& listed = data["search"]["configurable"];  // which the terminal's table has, too
  REQUIRE(!listed.empty());
  REQUIRE(data["runs"].size() == listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i)
    CHECK(data["runs"][i]["document"]["step"]["time_s"] == listed[i]["step_time_s"]);
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

namespace {

// A folder to work in, and no browser but the test's.
class Elsewhere {
 public:
  explicit Elsewhere(const std::string& browser)
      : folder_(fs::temp_directory_path() / "stepcast_open_spec"), before_(fs::current_path()) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::current_path(folder_);
    for (const char* screen : {"DISPLAY", "WAYLAND_DISPLAY"}) unsetenv(screen);
    setenv("BROWSER", browser.c_str(), 1);
  }
  ~Elsewhere() {
    unsetenv("BROWSER");
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  std::string file(const char* name) const { return (folder_ / name).string(); }
  std::string example(const std::string& path) const { return (before_ / path).string(); }

 private:
  fs::path folder_, before_;
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("open writes the page here, says where it lies, and how to see it without a browser") {
  const Elsewhere here("");
  const auto run = stepcast({"open", here.example(gpt3), "--set", "plan.micro_batch=2", "--quiet"});
  CHECK(run.status == app::success);
  const auto page = here.file("gpt3-175b-1024-a100.html");
  CHECK(run.out ==
        "page: " + page + "\nno browser to open it with: open the file by hand, or set BROWSER\n");
  CHECK_THAT(text_of(page), STEPCAST_HOLDS("\"micro_batch\":2"));
  CHECK(json::parse(stepcast({"open", here.example(gpt3), "--json", "--quiet"}).out) ==
        json{{"page", page}, {"browser", nullptr}});
}

TEST_CASE("open starts the browser of BROWSER with the address of the page, and does not wait") {
  const Elsewhere here("no-such-browser:touch seen-%s");
  fs::create_directories(here.file("seen-file:") + fs::path(here.file("")).string());
  const auto run = stepcast({"open", here.example(gpt3), "--quiet", "--report", "a b.html"});
  CHECK(run.out == "page: " + here.file("a b.html") + "\nopened with touch seen-%s\n");
  const auto seen = here.file("seen-file:") + here.file("a%20b.html");
  for (int tries = 0; tries < 500 && !fs::exists(seen); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(fs::exists(seen));
  CHECK(stepcast({"open", here.example(gpt3), "--quiet", "--only-write"}).out ==
        "page: " + here.file("gpt3-175b-1024-a100.html") + "\n");
}

TEST_CASE("open searches, sweeps and weighs as a file asks") {
  const Elsewhere here("");
  const auto kind_of = [&](std::vector<std::string> asked) {
    asked.insert(asked.begin(), "open");
    asked.insert(asked.end(), {"--quiet", "--report", "page.html"});
    CHECK(stepcast(asked).status == app::success);
    const auto page = text_of("page.html");
    const std::string begin = "id=\"data\">";
    const auto at = page.find(begin) + begin.size();
    return json::parse(page.substr(at, page.find("</script>", at) - at))["kind"];
  };
  CHECK(kind_of({here.example("scenarios/examples/llama3-8b-search-cluster-h100.yaml"), "--set",
                 "cluster.nodes=2", "--set",
                 "search={tensor: 2, pipeline: 1, micro_batch: 1, context: 1, zero: 1}"}) ==
        "search");
  CHECK(kind_of({here.example("scenarios/examples/sweeps/gpt3-175b-a100.yaml"), "--set",
                 "vary={cluster.nodes: [128], plan.tensor: [8], plan.pipeline: [8]}"}) == "sweep");
  CHECK(kind_of({here.example("scenarios/examples/purchase-a100-kept.yaml")}) == "purchase");
}

TEST_CASE("open replaces its own pages and nobody else's") {
  const Elsewhere here("");
  std::ofstream("gpt3-175b-1024-a100.html") << "<title>mine</title>";
  const auto run = stepcast({"open", here.example(gpt3), "--quiet"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err ==
        "stepcast: 'gpt3-175b-1024-a100.html' is here already and no page of stepcast; name "
        "another with --report FILE.html\n");
  CHECK(text_of("gpt3-175b-1024-a100.html") == "<title>mine</title>");
}

TEST_CASE("open refuses a file with the sentences of the command for it") {
  const Elsewhere here("");
  const auto run = stepcast({"open", "missing.yaml"});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err == stepcast({"simulate", "missing.yaml"}).err);
  CHECK_FALSE(fs::exists("missing.html"));
}

}  // namespace report_spec
